#!/usr/bin/env python3
"""Mining the best itemsets: disjoin against the eclat of pyfim, in one run.

    lab/bench/mining.py FILE...       files of integers, one record a line; needs python3 with venv, and pip

Builds the example `mine`, installs pyfim into a temporary folder, and runs both in turn: the best of five rounds of
five calls each, mining alone (no reading, no printing). disjoin is asked for the K best. pyfim cannot be, so it is told the
support of the K-th, which is to its advantage. Checks that both find the same, then prints a table; judges no speed.
"""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
K = 1000
ROUNDS = 5

# Prints the least seconds that a call took, then the itemsets: support, tab, terms.
PYFIM = """
import sys, time, fim
records = [tuple(sorted(set(map(int, line.split())))) for line in open(sys.argv[1]) if line.strip()]
least = float("inf")
for _ in range(int(sys.argv[3])):
    start = time.perf_counter()
    found = fim.eclat(records, target="s", supp=-int(sys.argv[2]), report="a")
    least = min(least, time.perf_counter() - start)
print(least)
for terms, support in found:
    print(support, " ".join(map(str, terms)), sep="\\t")
"""


def run(command, threads=None):
    env = dict(os.environ, **({"RAYON_NUM_THREADS": str(threads)} if threads else {}))
    done = subprocess.run([str(part) for part in command], env=env, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"{command[0]} failed:\n{done.stderr}")
    return done.stdout, done.stderr


def itemsets(lines):
    """Supports by itemset."""
    pairs = (line.split("\t") for line in lines)
    return {frozenset(map(int, terms.split())): int(support) for support, terms in pairs}


def check(file, ours, theirs):
    """Ours are all of theirs above the K-th support, and some of those that have it."""
    kth = min(ours.values())
    above = {terms: support for terms, support in ours.items() if support > kth}
    if above != {terms: support for terms, support in theirs.items() if support > kth}:
        sys.exit(f"{file}: the itemsets above support {kth} differ")
    if any(theirs.get(terms) != support for terms, support in ours.items()):
        sys.exit(f"{file}: an itemset of support {kth} differs")
    if len(ours) != min(K, len(theirs)):
        sys.exit(f"{file}: {len(ours)} itemsets, not {K}")
    return kth


def compare(file, python):
    mine = [ROOT / "target" / "release" / "examples" / "mine", file, K, "--repeat"]
    found, _ = run([*mine, 1])
    ours = itemsets(found.splitlines())
    kth = min(ours.values())
    best = {}
    for _ in range(ROUNDS):
        for threads in (1, 2):
            found, least = run([*mine, ROUNDS], threads)
            best[threads] = min(float(least), best.get(threads, float("inf")))
            if itemsets(found.splitlines()) != ours:
                sys.exit(f"{file}: another result with {threads} threads")
        found, _ = run([python, "-c", PYFIM, file, kth, ROUNDS])
        seconds, *lines = found.splitlines()
        best["pyfim"] = min(float(seconds) * 1000, best.get("pyfim", float("inf")))
        check(file, ours, itemsets(lines))
    ratios = (best["pyfim"] / best[1], best["pyfim"] / best[2])
    print(f"{Path(file).name:22}{kth:>12}{best['pyfim']:>11.1f}{best[1]:>11.1f}{best[2]:>11.1f}"
          f"{ratios[0]:>9.1f}{ratios[1]:>9.1f}", flush=True)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    files = [Path(file).resolve() for file in sys.argv[1:]]
    subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "disjoin", "--no-default-features",
                    "--example", "mine"], cwd=ROOT, check=True)
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / "bin" / "python"
        run([python, "-m", "pip", "install", "--quiet", "pyfim"])
        print(f"{'file':22}{'K-th support':>12}{'pyfim ms':>11}{'1 thread':>11}{'2 threads':>11}{'ratio 1':>9}{'ratio 2':>9}")
        for file in files:
            compare(file, python)


if __name__ == "__main__":
    main()
