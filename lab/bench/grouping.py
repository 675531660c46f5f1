#!/usr/bin/env python3
"""What each part of the layered grouping brings: the table of lab/grouping.md.

    lab/bench/grouping.py FOLDER      the folder with the files of shared data; needs a release build

Makes the two generated sets, protects every file in each way at k = 5, m = 2 and k = 10, m = 3 (the paper's way with four
cluster sizes, of which the one with the least mean re counts), measures, and prints a table. Promise: algorithm-aware.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BINARY = ROOT / "target" / "release" / "disjoin"
FILES = ["bms-webview-1.dat", "bms-webview-2.dat", "T10I4D100K.dat", "bms-pos-275k.dat"]
SETTINGS = [(5, 2), (10, 3)]
WAYS = [
    ("paper", ["--grouping", "paper"], "told"),
    ("paper, every rare term once", ["--grouping", "paper"], "one"),
    ("paper, nothing shared", ["--grouping", "paper", "--no-refine"], "told"),
    ("rare terms rescued, nothing shared", ["--grouping", "layered", "--no-refine"], "told"),
    ("layered", ["--grouping", "layered"], "told"),
    ("layered, every rare term once", ["--grouping", "layered"], "one"),
]


def disjoin(*arguments):
    done = subprocess.run([str(BINARY), *map(str, arguments)], text=True, capture_output=True, stdin=subprocess.DEVNULL)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    return done.stdout


def measured(file, k, m, flags, multiplicity, folder):
    out = Path(folder) / "package"
    subprocess.run(["rm", "-rf", str(out)], check=True)
    disjoin("protect", file, "-k", k, "-m", m, *flags, "-o", out, "--quiet")
    text = disjoin("measure", out, "--original", file, "--multiplicity", multiplicity, "-n", 1, "--queries", 1, "--json", "--quiet")
    report = json.loads(text)
    windows = [window["re_e"]["mean"] for window in report["relative_error"] if window["re_e"]["mean"] is not None]
    top = report["top_k"]
    return {
        "tlost": report["terms_lost"]["tlost"],
        "tkd": top["tkd"]["all"],
        "tkd_a": top["tkd_a"]["all"],
        "windows": windows,
        "mean": sum(windows) / len(windows),
    }


def best(file, k, m, way, folder):
    _, flags, multiplicity = way
    if "paper" not in flags:
        return measured(file, k, m, flags, multiplicity, folder)
    sizes = [2 * k, 3 * k, 6 * k, 20 * k]
    rows = [measured(file, k, m, [*flags, "--max-cluster", size], multiplicity, folder) for size in sizes]
    return min(rows, key=lambda row: row["mean"])


def main():
    arguments = sys.argv[1:]
    if len(arguments) != 1:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(arguments[0]) / name for name in FILES]
        hospital, quest = Path(folder) / "hospital.dat", Path(folder) / "quest.dat"
        disjoin("generate", "hospital", "--patients", 20000, "--seed", 1, "--format", "basket", "-o", hospital, "--quiet")
        disjoin("generate", "quest", "--records", 100000, "--items", 3000, "--patterns", 2000, "--mean-length", 8, "--seed", 1, "-o", quest, "--quiet")
        for k, m in SETTINGS:
            print(f"\n### k = {k}, m = {m}\n")
            print("| data | way | tlost | tKd | tKd-a | re at ranks 0 / 100 / 200 / 300 / 400 | mean | of the paper's |")
            print("|---|---|---|---|---|---|---|---|")
            for file in [*files, hospital, quest]:
                paper = None
                for way in WAYS:
                    row = best(file, k, m, way, folder)
                    paper = paper or row
                    windows = " / ".join(f"{value:.3f}" for value in row["windows"])
                    numbers = f"{row['tlost']:.4f} | {row['tkd']:.3f} | {row['tkd_a']:.3f} | {windows} | {row['mean']:.3f}"
                    print(f"| {file.stem} | {way[0]} | {numbers} | {row['mean'] / paper['mean']:.2f} |", flush=True)


if __name__ == "__main__":
    main()
