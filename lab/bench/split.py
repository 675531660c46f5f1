#!/usr/bin/env python3
"""Break-Merge against LC_ALL=C sort of the same file, in one run.

    lab/bench/split.py [BINARY]              100,000 people: the default grouping, others, and --as-is; best of five in turn
    lab/bench/split.py [BINARY] --scale      --as-is of 1 and 10 million rows: time and memory; needs 3 GB of disk

People have 5 quasi-identifiers and 3 sensitive columns; k 5, l 2. For --as-is they are generalised first: ages in steps of 20,
the part of the country instead of the town. Sort writes to a file, too. Wall seconds, seconds of all cores (user and system), and
the most memory in use (MB). On a busy machine `chrt -r 10` before it, as root, gives both what a quiet one would.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
ROUNDS = 5
QUASI = ["age", "sex", "region", "education", "marital"]
SENSITIVE = ["occupation", "trait 1", "disease"]
WAYS = [
    ("default (least-loss)", []),
    ("--groups-by hilbert", ["--groups-by", "hilbert"]),
    ("--groups-by mondrian", ["--groups-by", "mondrian"]),
]


def measured(command, stdout=subprocess.DEVNULL):
    """Wall seconds, seconds of all cores and the most memory of a command."""
    start = time.perf_counter()
    process = subprocess.Popen(list(map(str, command)), stdout=stdout, stderr=subprocess.PIPE, env={**os.environ, "LC_ALL": "C"})
    told = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(told.decode())
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def sort(file, folder):
    return measured(["sort", "-o", folder / "sorted", file])


def protect(binary, file, folder, numeric, flags):
    names = ["--quasi", ",".join(QUASI), "--sensitive", ",".join(SENSITIVE)] + (["--numeric", "age"] if numeric else [])
    promise = ["--method", "break-merge", "-k", 5, "--l-diversity", 2]
    return measured([binary, "protect", file, *names, *promise, *flags, "-o", folder / "package", "--quiet"])


def generate(binary, rows, file):
    measured([binary, "generate", "people", "--rows", rows, "--quasi", 7, "--seed", 1, "-o", file, "--quiet"])


def generalise(file, to):
    """Ages in steps of 20, towns by the part of the country."""
    with open(file) as lines, open(to, "w") as out:
        out.write(next(lines))
        steps = {str(age): f"{age // 20 * 20}-{age // 20 * 20 + 19}" for age in range(200)}
        for line in lines:
            age, sex, region, rest = line.split(",", 3)
            out.write(f"{steps[age]},{sex},{region.split(' ')[0]},{rest}")


def best(runs):
    return [min(column) for column in zip(*runs)]


def table(rows, of_sort):
    print("| | wall s | x sort | cores s | x sort | MB |")
    print("|---|---|---|---|---|---|")
    for name, (wall, cores, memory) in rows:
        print(f"| {name} | {wall:.3f} | {wall / of_sort[0]:.2f} | {cores:.3f} | {cores / of_sort[1]:.2f} | {memory:.0f} |")


def speed(binary, folder):
    people, general = folder / "people.csv", folder / "general.csv"
    generate(binary, 100_000, people)
    generalise(people, general)
    for file, ways in [(people, WAYS), (general, [("--as-is", ["--as-is"])])]:
        runs = {name: [] for name in ["sort", *(name for name, _ in ways)]}
        for _ in range(ROUNDS):
            runs["sort"].append(sort(file, folder))
            for name, flags in ways:
                runs[name].append(protect(binary, file, folder, file == people, flags))
        rows = [(name, best(found)) for name, found in runs.items()]
        print(f"\n100,000 {'people' if file == people else 'people, generalised'}, {file.stat().st_size / 1e6:.1f} MB\n")
        table(rows, rows[0][1])


def scale(binary, folder):
    for rows in [1_000_000, 10_000_000]:
        people, general = folder / "people.csv", folder / "general.csv"
        generate(binary, rows, people)
        generalise(people, general)
        people.unlink()
        of_sort = sort(general, folder)
        print(f"\n{rows:,} rows, {general.stat().st_size / 1e6:.0f} MB\n")
        table([("sort", of_sort), ("--as-is", best([protect(binary, general, folder, False, ["--as-is"]) for _ in range(2)]))], of_sort)


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--scale"]
    if len(arguments) > 1 or any(argument.startswith("-") for argument in arguments):
        sys.exit(__doc__)
    binary = Path(arguments[0]) if arguments else ROOT / "target" / "release" / "disjoin"
    with tempfile.TemporaryDirectory() as folder:
        (scale if "--scale" in sys.argv else speed)(binary.resolve(), Path(folder))


if __name__ == "__main__":
    main()
