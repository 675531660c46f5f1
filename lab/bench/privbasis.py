#!/usr/bin/env python3
"""PrivBasis: the share of the true K best itemsets that is missed, over many runs.

    lab/bench/privbasis.py [--runs 20] [--top 100] [--delta 1e-6] FILE...     files of integers, one record a line

Builds the example `privbasis` and prints a table: for each file and epsilon, pure and with delta, the mean share missed, its
deviation between runs, and the mean relative error of the supports of those found. Noise is new every time. Judges nothing: pure and
with delta are two promises, not two methods.
"""

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
EPSILONS = ["0.5", "1"]


def run(command):
    done = subprocess.run([str(part) for part in command], cwd=ROOT, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"{command[0]} failed:\n{done.stderr}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--top", type=int, default=100)
    parser.add_argument("--delta", default="1e-6")
    parser.add_argument("files", nargs="+", type=Path)
    arguments = parser.parse_args()
    run(["cargo", "build", "--release", "--quiet", "-p", "disjoin", "--example", "privbasis"])
    program = ROOT / "target/release/examples/privbasis"
    print("| data | epsilon | delta | missed | deviation | error of supports |")
    print("|---|---|---|---|---|---|")
    for file in arguments.files:
        for epsilon in EPSILONS:
            for delta in ["0", arguments.delta]:
                found = run([program, file.resolve(), arguments.top, epsilon, delta, arguments.runs])
                missed, deviation, error = found.split()
                print(f"| {file.stem} | {epsilon} | {delta} | {missed} | {deviation} | {error} |", flush=True)


if __name__ == "__main__":
    main()
