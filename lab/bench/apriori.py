#!/usr/bin/env python3
"""k^m-anonymity by generalisation: user seconds, memory and NCP of disjoin, beside those of the best peer.

    lab/bench/apriori.py [--check] [--no-build] FOLDER     with the files named below; those that are missing are left out

Builds the example `apriori`, unless it is told not to, and runs it on each file, with k = 5, m = 2 and 3, and ten
consecutive ids below each node of the hierarchy; reading is included. With --check every set of up to m nodes of the result is
counted anew, set by set, in a run of its own that is not measured: violations must be 0.

The peers' numbers are those of the best other program for each file, measured earlier on such a machine (2 cores, user CPU,
single runs) with the same hierarchy. They are not measured again here.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
K = 5
ROUNDS = 3

# File, m: user seconds, memory in GB, NCP of the best peer; none where no peer was measured.
PEERS = {
    ("bms-webview-1.dat", 2): (3.0, 0.4, 0.0407),
    ("bms-webview-1.dat", 3): (3.2, 0.5, 0.2011),
    ("bms-webview-2.dat", 2): (9.9, 1.3, 0.0298),
    ("bms-webview-2.dat", 3): (11.3, 1.3, 0.1614),
    ("T10I4D100K.dat", 2): (15.3, 1.4, 0.0115),
    ("T10I4D100K.dat", 3): (39.8, 2.1, 0.0209),
    ("bms-pos-275k.dat", 2): (23.5, 3.5, 0.0100),
    ("bms-pos-275k.dat", 3): None,
}


def run(command):
    """What a command printed, its user seconds and the most memory it had, in GB."""
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, text=True)
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command[0]} failed")
    return printed.split(), usage.ru_utime, usage.ru_maxrss / 2**20


def main():
    flags = {argument for argument in sys.argv[1:] if argument in ("--check", "--no-build")}
    arguments = [argument for argument in sys.argv[1:] if argument not in flags]
    if len(arguments) != 1:
        sys.exit(__doc__)
    program = ROOT / "target" / "release" / "examples" / "apriori"
    if "--no-build" not in flags:
        subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "disjoin", "--no-default-features",
                        "--example", "apriori"], cwd=ROOT, check=True)
    print(f"{'file':20}{'m':>3}{'user s':>9}{'peer':>8}{'ratio':>8}{'GB':>8}{'peer':>7}{'ratio':>7}{'NCP':>9}{'peer':>8}"
          f"{'violations':>12}")
    for (name, m), peer in PEERS.items():
        file = Path(arguments[0]) / name
        if not file.exists():
            continue
        runs = [run([program, file, K, m]) for _ in range(ROUNDS)]
        user, memory = min(user for _, user, _ in runs), max(memory for _, _, memory in runs)
        ncp = float(runs[0][0][0])
        violations = run([program, file, K, m, "--check"])[0][3] if "--check" in flags else "-"
        theirs = [f"{'-':>8}{'-':>8}", f"{'-':>7}{'-':>7}", f"{'-':>8}"]
        if peer:
            theirs = [f"{peer[0]:>8.1f}{user / peer[0]:>8.3f}", f"{peer[1]:>7.1f}{memory / peer[1]:>7.3f}", f"{peer[2]:>8.4f}"]
        print(f"{name:20}{m:>3}{user:>9.2f}{theirs[0]}{memory:>8.3f}{theirs[1]}{ncp:>9.4f}{theirs[2]}{violations:>12}",
              flush=True)


if __name__ == "__main__":
    main()
