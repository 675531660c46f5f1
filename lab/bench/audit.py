#!/usr/bin/env python3
"""disjoin audit against pycanon, measure by measure, on tables of several tools.

    python3 -m venv venv && venv/bin/pip install pycanon==1.3.6 anonypy==0.2.1
    venv/bin/python lab/bench/audit.py [BINARY] [--adult DIR] [--small] [--store FILE]

Tables: Adult raw and as disjoin protects it (Mondrian, lattice with hierarchies, least loss, k, l, t, beta), samples of Adult as anonypy
protects them, tables written by hand, and synthetic ones. Every measure of pycanon is compared: k, l, entropy l, recursive (c,l), t, basic and
enhanced beta, delta, (alpha, k). `=` means equal within 1e-9; a letter is a difference that the list at the end explains; `!` is one that
nothing explains, and the exit code is then 1. --small leaves Adult out; --store writes the small tables with pycanon's numbers for the
tests. Seconds of both are printed for each table.
"""

import argparse
import io
import json
import math
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from pycanon import anonymity

ROOT = Path(__file__).resolve().parent.parent.parent
WHY = {
    "f": "pycanon rounds entropy l down to a whole number (int); ours rounded down is the same",
    "r": "pycanon rounds entropy l down after a rounding error: exp of the entropy of l equal shares came out just below l",
    "s": "recursive (c,l): pycanon sorts counts in ascending order and takes the least frequent value for r_1, and rounds c up; by the definition "
    "(Machanavajjhala et al. 2007) r_1 is the most frequent one. Ours equals the definition, counted here by other code",
    "n": "recursive (c,l): l is 1, for which pycanon says nan and we say nothing",
    "e": "enhanced beta: a value is more frequent in a class than p (1 - ln p), which no beta allows, and we say none. pycanon says "
    "min(beta, -ln p of the rarest value), for which enhanced beta-likeness does not hold",
    "d": "pandas reads NA as missing, and pycanon leaves such records out of all classes; for us NA is a cell that any reader sees",
    "1": "one sensitive value: pycanon divides by zero (nan)",
}


def written(name, text, quasi, sensitive, **how):
    return {"name": name, "text": text, "quasi": quasi, "sensitive": sensitive, **how}


def by_hand():
    """Small tables, in the spellings of several tools."""
    yield written(
        "hospital, ARX",
        """zip,age,nationality,condition
130**,"[20, 30[",*,heart
130**,"[20, 30[",*,heart
130**,"[20, 30[",*,viral
130**,"[20, 30[",*,viral
1485*,"[40, 60[",*,cancer
1485*,"[40, 60[",*,heart
1485*,"[40, 60[",*,viral
1485*,"[40, 60[",*,viral
130**,"[30, 40[",*,cancer
130**,"[30, 40[",*,cancer
130**,"[30, 40[",*,cancer
130**,"[30, 40[",*,cancer
""",
        ["zip", "age", "nationality"],
        ["condition"],
    )
    yield written(
        "salaries, t-closeness paper",
        """zip,age,salary,disease
476**,2*,3,gastric ulcer
476**,2*,4,gastritis
476**,2*,5,stomach cancer
4790*,>=40,6,gastritis
4790*,>=40,11,flu
4790*,>=40,8,bronchitis
476**,3*,7,bronchitis
476**,3*,9,pneumonia
476**,3*,10,stomach cancer
""",
        ["zip", "age"],
        ["salary", "disease"],
    )
    yield written(
        "anonypy, two sensitive",
        "age,work,ill,pay\n"
        + "".join(f"{a},{w},{i},{p}\n" for a, w, i, p in [
            ("20-29", '"Private,State"', "flu", 1), ("20-29", '"Private,State"', "hiv", 2), ("20-29", '"Private,State"', "flu", 2),
            ("30-45", "Private", "gout", 3), ("30-45", "Private", "flu", 1), ("30-45", "Private", "flu", 1), ("46", "State", "hiv", 9),
            ("46", "State", "flu", 9)]),
        ["age", "work"],
        ["ill", "pay"],
    )
    yield written("all equal", "a,s\n" + "x,1\nx,2\nx,3\n" * 4, ["a"], ["s"])
    yield written("all unique", "a,s\n" + "".join(f"{n},{'pq'[n % 2]}\n" for n in range(9)), ["a"], ["s"])
    yield written("one sensitive value", "a,s\nx,p\nx,p\ny,p\ny,p\n", ["a"], ["s"])
    yield written("skewed", "a,s\n" + "x,neg\n" * 49 + "x,pos\n" + "y,pos\n" * 25 + "y,neg\n" * 25, ["a"], ["s"])
    yield written(
        "suppressed, ARX",
        "age,sex,s\n" + '"[20, 40[",M,p\n"[20, 40[",M,q\n"[20, 40[",M,p\n"[40, 60[",F,q\n"[40, 60[",F,r\n*,*,p\n*,*,r\n',
        ["age", "sex"],
        ["s"],
    )
    yield written("sets, disjoin", "a,b,s\n" + "20..29,{F|M},p\n20..29,{F|M},q\n30..31,F,q\n30..31,F,p\n30..31,F,r\n", ["a", "b"], ["s"])
    yield written("NA, sdcMicro", "a,b,s\n20,M,p\n20,M,q\n20,NA,p\nNA,F,q\n30,F,p\n30,F,r\n", ["a", "b"], ["s"], na=True)


def synthetic():
    """Tables by chance: few and many classes, even and skewed values, numbers and words."""
    for seed in range(12):
        rng = random.Random(seed)
        rows, ranges, values = rng.choice([12, 30, 60]), rng.choice([1, 2, 4]), rng.choice([2, 3, 6])
        is_number = seed % 2 == 0
        lines = ["age,region,sensitive"]
        for _ in range(rows):
            low = 10 * rng.randrange(ranges)
            value = min(int(rng.expovariate(0.7)), values - 1) if seed % 3 else rng.randrange(values)
            age = [f"{low}-{low + 9}", f'"[{low}, {low + 10}["', f"[{low}-{low + 10})"][seed % 3]
            lines.append(f"{age},{rng.choice(['n*', 'so'])},{value * 3 + 1 if is_number else 'v%d' % value}")
        yield written(f"synthetic {seed}", "\n".join(lines) + "\n", ["age", "region"], ["sensitive"])


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def adult(binary, source, folder):
    """Adult raw, as disjoin protects it, and samples as anonypy does."""
    file = source / "adult.csv"
    raw = pd.read_csv(file, sep=";", dtype=str, keep_default_na=False)
    few, many = ["sex", "age", "race"], ["sex", "age", "race", "marital-status", "education", "native-country", "workclass"]
    def of(name, frame, quasi, sensitive):
        return written(name, frame.to_csv(index=False), quasi, sensitive)
    yield of("adult raw, 3 quasi", raw, few, ["occupation"])
    three = [f"--hierarchy={column}={source}/adult_hierarchy_{column}.csv" for column in few]
    all_of = [f"--hierarchy={column}={source}/adult_hierarchy_{column}.csv" for column in many]
    ways = [
        ("mondrian k 50", few, ["--method", "mondrian", "-k", 50, "--numeric", "age"]),
        ("mondrian k 20 l 3", few, ["--method", "mondrian", "-k", 20, "--l-diversity", 3, "--numeric", "age"]),
        ("mondrian k 100, 7 quasi", many, ["--method", "mondrian", "-k", 100, "--numeric", "age"]),
        ("mondrian t .2, 7 quasi", many, ["--method", "mondrian", "-k", 50, "--t-closeness", 0.2, "--distance", "equal", "--numeric", "age"]),
        ("lattice k 10", few, ["--method", "lattice", "-k", 10, *three]),
        ("lattice k 50, 7 quasi", many, ["--method", "lattice", "-k", 50, "--suppression-limit", 0.05, *all_of]),
        ("least loss k 100, 7 quasi", many, ["--method", "least-loss", "-k", 100, "--numeric", "age"]),
        ("burel beta 2", few, ["--method", "burel", "-k", 5, "--beta", 2, "--numeric", "age"]),
    ]
    for name, quasi, flags in ways:
        out = folder / name.replace(" ", "-")
        rest = [column for column in raw.columns if column not in quasi and column != "occupation"]
        run(binary, "protect", file, "--separator", ";", "--quasi", ",".join(quasi), "--sensitive", "occupation", "--identifier", ",".join(rest),
            *flags, "-o", out, "--quiet")
        yield written(f"adult {name}", (out / "release" / "data.csv").read_text(), quasi, ["occupation"])
    yield from of_anonypy(raw)


def of_anonypy(raw):
    import anonypy

    columns = ["age", "sex", "race", "education", "occupation"]
    for name, k, l in [("anonypy k 5", 5, 0), ("anonypy k 10", 10, 0), ("anonypy k 5 l 2", 5, 2)]:
        frame = raw[columns].sample(2000, random_state=k + l).reset_index(drop=True)
        frame["age"] = frame["age"].astype(int)
        for column in columns[1:]:
            frame[column] = frame[column].astype("category")
        preserver = anonypy.Preserver(frame, columns[:-1], "occupation")
        rows = preserver.anonymize_l_diversity(k, l) if l else preserver.anonymize_k_anonymity(k)
        # One row for each value of a class, with its count.
        table = pd.DataFrame(rows)
        table = table.loc[table.index.repeat(table["count"])].drop(columns="count").reset_index(drop=True)
        yield written(f"adult sample, {name}", table.to_csv(index=False), columns[:-1], ["occupation"])


def by_pycanon(table):
    """pycanon's numbers, and how long they took."""
    text, quasi, sensitive = table["text"], table["quasi"], table["sensitive"]
    frame = pd.read_csv(io.StringIO(text), dtype={column: str for column in quasi}, keep_default_na=bool(table.get("na")))
    start = time.perf_counter()
    with np.errstate(all="ignore"):
        c, _ = anonymity.recursive_c_l_diversity(frame, quasi, sensitive)
        alpha, _ = anonymity.alpha_k_anonymity(frame, quasi, sensitive)
        try:
            t = float(anonymity.t_closeness(frame, quasi, sensitive))
        except ZeroDivisionError:
            t = math.nan
        found = {
            "k": int(anonymity.k_anonymity(frame, quasi)),
            "l": int(anonymity.l_diversity(frame, quasi, sensitive)),
            "entropy": int(anonymity.entropy_l_diversity(frame, quasi, sensitive)),
            "c": float(c),
            "t": t,
            "beta": float(anonymity.basic_beta_likeness(frame, quasi, sensitive)),
            "enhanced": float(anonymity.enhanced_beta_likeness(frame, quasi, sensitive)),
            "delta": float(anonymity.delta_disclosure(frame, quasi, sensitive)),
            "alpha": float(alpha),
        }
    return found, time.perf_counter() - start


def by_definition(table):
    """c of recursive diversity by the definition, and the share of the rarest value of each column."""
    frame = pd.read_csv(io.StringIO(table["text"]), dtype=str, keep_default_na=False)
    classes, ratios, rarest = {}, {}, {}
    for row in frame.itertuples(index=False):
        of = row._asdict() if all(name.isidentifier() for name in frame.columns) else dict(zip(frame.columns, row))
        classes.setdefault(tuple(of[name] for name in table["quasi"]), []).append([of[name] for name in table["sensitive"]])
    for at, column in enumerate(table["sensitive"]):
        counts = [sorted(Counter(row[at] for row in rows).values(), reverse=True) for rows in classes.values()]
        l = min(map(len, counts))
        ratios[column] = (l, max(most[0] / sum(most[l - 1:]) for most in counts))
        rarest[column] = min(Counter(frame[column]).values()) / len(frame)
    return ratios, rarest


def by_disjoin(binary, table, folder):
    """Our numbers, and how long they took."""
    file = folder / "table.csv"
    file.write_text(table["text"])
    start = time.perf_counter()
    told = json.loads(run(binary, "audit", file, "--quasi", ",".join(table["quasi"]), "--sensitive", ",".join(table["sensitive"]), "--json", "--quiet"))
    return told, time.perf_counter() - start


def same(a, b):
    return a is not None and abs(a - b) <= 1e-9 * max(1, abs(b))


def compared(table, ours, theirs):
    """For each measure `=`, the letter of an explanation, or `!`."""
    columns = ours["sensitive"]
    worst = lambda of: max(of(column) for column in columns)
    t = lambda column: column["t_ordered" if column["numeric"] else "t_equal"]["value"]
    entropy, beta = min(column["entropy_l"]["value"] for column in columns), worst(lambda column: column["basic_beta"]["value"])
    marks = {
        "k": "=" if ours["k"] == theirs["k"] else "!",
        "l": "=" if min(column["distinct_l"]["value"] for column in columns) == theirs["l"] else "!",
        "t": "=" if same(worst(t), theirs["t"]) else "1" if math.isnan(theirs["t"]) and worst(lambda column: column["values"]) == 1 else "!",
        "beta": "=" if same(beta, theirs["beta"]) else "!",
        "delta": "=" if same(worst(lambda column: column["delta"]["value"]), theirs["delta"]) else "!",
        "alpha": "=" if same(worst(lambda column: column["alpha"]["value"]), theirs["alpha"]) else "!",
    }
    if math.floor(entropy + 1e-9) == theirs["entropy"]:
        marks["entropy"] = "=" if same(entropy, theirs["entropy"]) else "f"
    else:
        marks["entropy"] = "r" if abs(entropy - round(entropy)) < 1e-9 and round(entropy) - 1 == theirs["entropy"] else "!"
    ratios, rarest = by_definition(table)
    is_defined = all(
        column["distinct_l"]["value"] == ratios[column["column"]][0]
        and all(same(of["c"], ratios[column["column"]][1]) for of in column["recursive"] if of["l"] == ratios[column["column"]][0])
        for column in columns
    )
    marks["(c,l)"] = ("n" if math.isnan(theirs["c"]) else "s") if is_defined else "!"
    bounds = [column["enhanced_beta"] for column in columns]
    if all(bounds):
        marks["enhanced"] = "=" if same(max(bound["value"] for bound in bounds), theirs["enhanced"]) else "!"
    else:
        expected = max(min(column["basic_beta"]["value"], -math.log(rarest[column["column"]])) for column in columns)
        marks["enhanced"] = "e" if same(expected, theirs["enhanced"]) else "!"
    if table.get("na"):
        marks = {measure: "=" if mark == "=" else "d" for measure, mark in marks.items()}
    return marks


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", nargs="?", default=ROOT / "target" / "release" / "disjoin", type=Path)
    parser.add_argument("--adult", default=ROOT.parent / "shared" / "data" / "adult", type=Path)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--store", type=Path)
    args = parser.parse_args()
    tables = [*by_hand(), *synthetic()]
    if args.store:
        for table in tables:
            table["pycanon"] = by_pycanon(table)[0]
        text = json.dumps(tables, indent=1, allow_nan=True).replace("NaN", "null")
        return args.store.write_text(text + "\n")
    measures = ["k", "l", "entropy", "(c,l)", "t", "beta", "enhanced", "delta", "alpha"]
    print(f"{'table':<36}{'rows':>7}{'classes':>8}  " + "".join(f"{measure:>9}" for measure in measures) + f"{'ours s':>9}{'pycanon s':>11}")
    used, is_bad = set(), False
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        more = iter(()) if args.small else adult(args.binary, args.adult, folder)
        n = 0
        for table in [*tables, *more] if args.small else _chained(tables, more):
            (ours, own), (theirs, other) = by_disjoin(args.binary, table, folder), by_pycanon(table)
            marks = compared(table, ours, theirs)
            used |= set(marks.values()) - {"="}
            is_bad |= "!" in marks.values()
            n += 1
            print(f"{table['name']:<36}{ours['records']:>7}{ours['classes']:>8}  " + "".join(f"{marks[measure]:>9}" for measure in measures)
                  + f"{own:>9.2f}{other:>11.2f}", flush=True)
    print(f"\n{n} tables. = equal within 1e-9")
    for letter in sorted(used):
        print(f"{letter}  {WHY.get(letter, 'NOT EXPLAINED')}")
    sys.exit(1 if is_bad else 0)


def _chained(*parts):
    for part in parts:
        yield from part


if __name__ == "__main__":
    main()
