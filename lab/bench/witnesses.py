#!/usr/bin/env python3
"""Does the guarded grouping keep what it promises, at size? Witnesses, the order of lines, the names of columns.

    lab/bench/witnesses.py FOLDER [N]     the folder with the files of shared data; needs a release build

Protects each file with `--grouping guarded` and draws N itemsets (1,000 if it is not said) that fewer than k records hold, of record chunks
and shared chunks. `disjoin attack --attack rerun` makes for each a dataset in which k records hold it, protects that again and
compares bytes. Then lines are shuffled, and items come from a column of another name: the data of the release must be the same bytes. Prints
a table; ends with exit code 1 if a witness is missing or a byte differs.
"""

import filecmp
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BINARY = Path(os.environ.get("DISJOIN", ROOT / "target" / "release" / "disjoin"))
FILES = ["bms-webview-1.dat", "bms-webview-2.dat", "T10I4D100K.dat", "bms-pos-275k.dat", "groceries.csv"]
SETTINGS = [(5, 2), (10, 2), (3, 3)]


def disjoin(*arguments):
    done = subprocess.run([str(BINARY), *map(str, arguments)], text=True, capture_output=True, stdin=subprocess.DEVNULL)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(map(str, arguments))}\n{done.stderr}")
    return done.stdout


def protect(file, flags, k, m, out):
    subprocess.run(["rm", "-rf", str(out)], check=True)
    disjoin("protect", file, *flags, "-k", k, "-m", m, "--grouping", "guarded", "-o", out, "--quiet")
    return out / "release" / "data.jsonl"


def generated(folder):
    """Two sets that no tuning has seen: sparse with many items, dense with long records."""
    shapes = [("sparse", 20_000, 4, 3_000), ("dense", 5_000, 25, 400)]
    for name, records, mean, items in shapes:
        rng = random.Random(name)
        weights = [1 / (rank + 5) for rank in range(items)]
        file = folder / f"{name}.dat"
        with open(file, "w") as out:
            for _ in range(records):
                length = max(1, round(rng.gauss(mean, mean / 2)))
                out.write(" ".join(sorted({f"i{item}" for item in rng.choices(range(items), weights, k=length)})) + "\n")
        yield file


def shuffled(file, folder):
    lines = file.read_text().splitlines()
    random.Random(1).shuffle(lines)
    other = folder / f"shuffled{file.suffix}"
    other.write_text("\n".join(lines) + "\n")
    return other


def in_column(file, name, separator, folder):
    """The same records as a table with one column of items, beside one that is not read."""
    other = folder / f"{name}.csv"
    with open(other, "w") as out:
        out.write(f"row;{name}\n")
        for number, line in enumerate(file.read_text().splitlines()):
            out.write(f"{number};{'|'.join(line.strip().split(separator))}\n")
    return other


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    is_good = True
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        files = [Path(sys.argv[1]) / name for name in FILES] + list(generated(scratch))
        print("| data | k, m | witnesses | runs of the program | seconds | lines shuffled | column renamed |")
        print("|---|---|---|---|---|---|---|")
        for file in files:
            flags = ["--separator", ","] if file.suffix == ".csv" else []
            separator = "," if flags else None
            for k, m in SETTINGS:
                data = protect(file, flags, k, m, scratch / "package")
                start = time.time()
                found = json.loads(
                    disjoin("attack", scratch / "package", "--attack", "rerun", "--witnesses", wanted, "--original", file, *flags,
                            "--json", "--quiet"))["rerun"]
                seconds = time.time() - start
                same = []
                tables = [in_column(file, name, separator, scratch) for name in ("first", "other")]
                column = lambda name: ["--format", "csv", "--column", name, "--list-separator", "|", "--separator", ";"]
                renamed = [protect(table, column(table.stem), k, m, scratch / table.stem) for table in tables]
                others = [protect(shuffled(file, scratch), flags, k, m, scratch / "again"), *renamed]
                same = [filecmp.cmp(data, other, shallow=False) for other in others]
                told = {True: "same bytes", False: "DIFFERENT"}
                witnesses = f"{found['with_witness']:,} of {found['itemsets']:,}"
                print(f"| {file.stem} | {k}, {m} | {witnesses} | {found['runs']} | {seconds:.1f} | {told[same[0]]} | "
                      f"{told[same[1] and same[2]]} |", flush=True)
                is_good &= all(same) and found["with_witness"] == found["itemsets"] > 0
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
