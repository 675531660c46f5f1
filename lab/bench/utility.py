#!/usr/bin/env python3
"""What each grouping of disassociation leaves of the data: a row for each source, k, m and grouping, and how groupings compare.

    lab/bench/utility.py FOLDER --half tune|report|all [--binary PATH] [--only NAME ...] [--csv FILE] [--page FILE] [--against NAME ...]

FOLDER has the files of shared data; those that are missing are left out. Ten shapes are made beside them, always the same. Every source is protected
at k, m = (5, 2), (10, 2) and (3, 3) by every grouping that the build knows (`protect --help` lists them), with its defaults, and measured.

The halves: names of files, and names of shapes, are sorted by the SHA-256 of the name; the first half of each (rounded down) is for tuning, the others
are reported. The rule was written before any number was seen. Nothing is chosen by what the half `report` shows.

Columns: tlost, tKd-e, tKd-a, re-e of ranks 0 and 200 (`-` where there are no pairs), visible occurrences, link error of pairs and triples, association
error, narrow links, user seconds of `protect`. Less is better, but for visible occurrences and narrow links. Then for each grouping, against each of
--against (default: paper, layered): the mean of each metric, how much it is worse or better, and the worst source.
Seconds are of this machine: compare them within one run only.
"""

import argparse
import csv
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SETTINGS = [(5, 2), (10, 2), (3, 3)]

FILES = {
    "WebView-1": "bms-webview-1.dat",
    "WebView-2": "bms-webview-2.dat",
    "T10I4D100K": "T10I4D100K.dat",
    "POS-275k": "bms-pos-275k.dat",
    "groceries": "groceries.csv",
    "icd9": "icd9-synthetic/records.dat",
}

# Shapes that disjoin makes.
GENERATED = {
    "long records": "quest --records 2500 --items 1500 --mean-length 170 --mean-pattern 20 --patterns 300 --seed 11",
    "dense": "quest --records 6000 --items 60 --mean-length 18 --mean-pattern 6 --patterns 40 --seed 12",
    "sparse": "quest --records 60000 --items 20000 --mean-length 8 --patterns 9000 --seed 13",
    "short records": "quest --records 40000 --items 400 --mean-length 2 --mean-pattern 2 --patterns 300 --seed 14",
    "hospital": "hospital --patients 20000 --seed 15 --format basket",
    "small hospital": "hospital --patients 1500 --seed 16 --format basket",
}

# And those that are made here: lines of terms.
HERE = ["heavy tails", "common and rare", "topics", "uneven records"]

METRICS = ["tlost", "tKd-e", "tKd-a", "re-e(0)", "re-e(200)", "visible", "pairs", "triples", "association", "narrow"]
MORE_IS_BETTER = {"visible", "narrow"}


def heavy_tails(draw):
    """Terms by Zipf's law, lengths by Pareto's."""
    weights = [1 / (rank + 1) for rank in range(5000)]
    for _ in range(20000):
        yield draw.choices(range(5000), weights, k=min(100, int(draw.paretovariate(1.3)) + 1))


def common_and_rare(draw):
    """Thirty terms that everybody may have, and one of many that few have."""
    for _ in range(15000):
        yield [term for term in range(30) if draw.random() < 0.3] + [30 + draw.randrange(1500)]


def topics(draw):
    """Forty subjects with words of their own, and some words of all."""
    for _ in range(20000):
        subject = draw.randrange(40)
        yield [100 * subject + int(99 * draw.random() ** 2) for _ in range(6)] + [4000 + draw.randrange(50)]


def uneven_records(draw):
    """Most people have two terms, one of two hundred has two hundred."""
    for _ in range(12000):
        length = 200 if draw.random() < 0.005 else 2
        yield [int(2000 * draw.random() ** 3) for _ in range(length)]


def half_of(name):
    """By the rule of the head."""
    for names in (list(FILES), list(GENERATED) + HERE):
        if name in names:
            names.sort(key=lambda other: hashlib.sha256(other.encode()).hexdigest())
            return "tune" if names.index(name) < len(names) // 2 else "report"
    raise ValueError(name)


def disjoin(binary, *arguments):
    """What a command printed, and its user seconds."""
    command = [str(binary), *map(str, arguments), "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    printed, told = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(command)}: {told}")
    return printed, usage.ru_utime


def groupings(binary):
    """Those that the build knows."""
    told = subprocess.run([str(binary), "protect", "--help"], text=True, capture_output=True, check=True).stdout
    found = re.search(r"--grouping <WAY>.*?\[possible values: ([^\]]*)\]", told, re.DOTALL)
    return [name.strip() for name in found.group(1).split(",")]


def source(name, shared, scratch, binary):
    """The file of a source, made if need be; none if it is missing."""
    if name in FILES:
        file = Path(shared) / FILES[name]
        return file if file.exists() else None
    file = Path(scratch) / (name.replace(" ", "-") + ".dat")
    if name in GENERATED:
        disjoin(binary, "generate", *GENERATED[name].split(), "-o", file)
        return file
    draw = random.Random(17)
    makers = {"heavy tails": heavy_tails, "common and rare": common_and_rare, "topics": topics, "uneven records": uneven_records}
    with open(file, "w") as out:
        for record in makers[name](draw):
            out.write(" ".join(str(term) for term in sorted(set(record))) + "\n")
    return file


def measured(binary, file, k, m, grouping, scratch):
    """The metrics of one release, and the user seconds that it took."""
    out = Path(scratch) / "package"
    subprocess.run(["rm", "-rf", str(out)], check=True)
    _, seconds = disjoin(binary, "protect", file, "-k", k, "-m", m, "--grouping", grouping, "-o", out)
    report = json.loads(disjoin(binary, "measure", out, "--original", file, "--json")[0])
    windows = {window["first"]: window["re_e"]["mean"] for window in report["relative_error"]}
    links = report["links"]
    row = {
        "tlost": report["terms_lost"]["tlost"],
        "tKd-e": report["top_k"]["tkd_e"]["all"],
        "tKd-a": report["top_k"]["tkd_a"]["all"],
        "re-e(0)": windows.get(0),
        "re-e(200)": windows.get(200),
        "visible": links["visible"],
        "pairs": links["pair_error"],
        "triples": links["triple_error"],
        "association": links["association_error"],
        "narrow": links["narrow"],
    }
    return row, seconds


def shown(value):
    return "-" if value is None else f"{value:.3f}"


def table(rows):
    heads = ["source", "half", "k", "m", "grouping", *METRICS, "seconds"]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for row in rows:
        cells = [row["source"], row["half"], str(row["k"]), str(row["m"]), row["grouping"], *(shown(row[metric]) for metric in METRICS)]
        lines.append("| " + " | ".join([*cells, f"{row['seconds']:.2f}"]) + " |")
    return lines


def compared(rows, grouping, other):
    """A grouping against another: means over the same sources, and the source where it is worst."""
    by = {(row["source"], row["k"], row["m"], row["grouping"]): row for row in rows}
    lines = [f"| {grouping} against {other} | mean | mean of {other} | change | worst source |", "|---|---|---|---|---|"]
    for metric in METRICS:
        both = []
        for (name, k, m, way), row in by.items():
            beside = by.get((name, k, m, other))
            if way == grouping and beside and row[metric] is not None and beside[metric] is not None:
                both.append((row[metric], beside[metric], f"{name} ({k}, {m})"))
        if not both:
            continue
        ours, theirs = (sum(pair[i] for pair in both) / len(both) for i in (0, 1))
        sign = -1 if metric in MORE_IS_BETTER else 1
        worst = max(both, key=lambda pair: sign * (pair[0] - pair[1]))
        change = "-" if theirs == 0 else f"{100 * (ours / theirs - 1):+.1f} %"
        lines.append(f"| {metric} | {ours:.4f} | {theirs:.4f} | {change} | {worst[2]}: {worst[0]:.3f}, {worst[1]:.3f} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--half", choices=["tune", "report", "all"], required=True)
    parser.add_argument("--binary", default=ROOT / "target" / "release" / "disjoin")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--against", nargs="*", default=["paper", "layered"])
    parser.add_argument("--csv")
    parser.add_argument("--page")
    asked = parser.parse_args()
    names = [name for name in [*FILES, *GENERATED, *HERE] if asked.half in ("all", half_of(name)) and (not asked.only or name in asked.only)]
    ways, rows = groupings(asked.binary), []
    with tempfile.TemporaryDirectory() as scratch:
        for name in names:
            file = source(name, asked.folder, scratch, asked.binary)
            if file is None:
                print(f"{name}: no such file, left out", file=sys.stderr)
                continue
            for (k, m), grouping in ((setting, way) for setting in SETTINGS for way in ways):
                metrics, seconds = measured(asked.binary, file, k, m, grouping, scratch)
                rows.append({"source": name, "half": half_of(name), "k": k, "m": m, "grouping": grouping, **metrics, "seconds": seconds})
                print(table(rows)[-1], file=sys.stderr)
    lines = table(rows)
    for grouping, other in ((way, other) for way in ways for other in asked.against if way != other and other in ways):
        lines += ["", *compared(rows, grouping, other)]
    text = "\n".join(lines) + "\n"
    if asked.page:
        Path(asked.page).write_text(f"# Utility by grouping, half: {asked.half}\n\n`lab/bench/utility.py`: its head says what is in the columns.\n\n{text}")
    else:
        print(text, end="")
    if asked.csv:
        with open(asked.csv, "w", newline="") as out:
            writer = csv.DictWriter(out, ["source", "half", "k", "m", "grouping", *METRICS, "seconds"])
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
