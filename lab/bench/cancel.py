#!/usr/bin/env python3
"""How long Ctrl-C takes, in every verb that reads much: interrupts at moments spread over the time that the verb takes.

    setsid nice -n -10 lab/bench/cancel.py [--binary PATH] [--data FILE] [--times N] [--limit MS] [VERB ...]

Prepares a folder with a package of the data, runs each command of COMMANDS once to its end, and then N times with an interrupt. Prints a line a command:
how long it takes, how many interrupts it heard (some come when it is done), and the median and the longest time from the interrupt to its end. After
each interrupt the folder must hold what it held before, byte by byte. Ends with exit code 1 if a command took longer than the limit (200 ms) or left
anything. Others' work on the same machine counts as ours: a raised priority keeps most of it out (Linux weighs sessions first and processes
within them, so that the session is raised as well, where that is allowed). Takes 15 minutes with 25 interrupts a command.
"""

import argparse
import hashlib
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

RECIPE = """\
[input]
file = "x.dat"
[output]
folder = "old"
"""

# What is there before: `old` is a package of other data, which a command that is interrupted must leave as it is.
PREPARED = [
    "generate quest --records 2000 --items 100 --seed 1 -o small.dat",
    "protect small.dat -o old",
    "protect x.dat -o out",
    "convert out packed --to parquet",
    "protect x.dat --method apriori --fanout 10 -o recoded",
]

COMMANDS = {
    "protect": "protect x.dat -o old",
    "protect guarded": "protect x.dat --grouping guarded -o old",
    "protect paper": "protect x.dat --grouping paper -o old",
    "protect apriori": "protect x.dat --method apriori --fanout 10 -o old",
    "run": "run",
    "sweep": "sweep -k 4,5 -o swept",
    "verify": "verify out",
    "verify --original": "verify out --original x.dat",
    "verify recoded": "verify recoded --original x.dat",
    "verify parquet": "verify packed",
    "attack": "attack out",
    "attack --original": "attack out --original x.dat",
    "measure": "measure out --original x.dat",
    "query": "query out --top 1000",
    "explain": "explain out 10",
    "inspect": "inspect x.dat -m 3",
    "audit": "audit x.dat -m 2",
    "repair": "repair out -o repaired",
    "convert": "convert out converted --to parquet",
    "convert data": "convert x.dat x.jsonl",
    "reconstruct": "reconstruct out -n 2 -o maybe",
    "hierarchy": "hierarchy build x.dat --by cooccurrence -o tree.csv",
    "policy": "policy random x.dat -o hide.txt",
    "generate": "generate quest --records 300000 -o made.dat",
}


def main():
    asked = arguments()
    raise_session()
    folder = Path(tempfile.mkdtemp(prefix="disjoin-cancel-"))
    try:
        shutil.copyfile(asked.data, folder / "x.dat")
        (folder / "recipe.toml").write_text(RECIPE)
        for command in PREPARED:
            finish(asked.binary, command, folder)
        names = asked.verbs or list(COMMANDS)
        # All of them: one that fails must not hide the others.
        good = [measured(name, asked, folder) for name in names]
    finally:
        shutil.rmtree(folder)
    sys.exit(0 if all(good) else 1)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=ROOT / "target/release/disjoin")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data/bms-pos-275k.dat")
    parser.add_argument("--times", type=int, default=25)
    parser.add_argument("--limit", type=float, default=200.0)
    parser.add_argument("verbs", nargs="*", metavar="VERB")
    asked = parser.parse_args()
    asked.binary = asked.binary.resolve()
    return asked


def raise_session():
    """Gives the session the niceness of the process, where sessions share the processor."""
    try:
        Path("/proc/self/autogroup").write_text(str(os.nice(0)))
    except OSError as error:
        print(f"the session keeps its priority: {error}", file=sys.stderr)


def finish(binary, command, folder):
    """Runs a command to its end, in seconds; 1 is an answer too: a limit does not hold."""
    start = time.perf_counter()
    done = subprocess.run([binary, *command.split()], cwd=folder, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{command}: {done.stderr}")
    return time.perf_counter() - start


def measured(name, asked, folder):
    command = COMMANDS[name]
    before = content(folder)
    kept = folder.with_name(folder.name + "-kept")
    shutil.copytree(folder, kept)
    seconds = finish(asked.binary, command, folder)
    restore(folder, kept)
    heard, left, at = [], 0, []
    for turn in range(asked.times):
        after = (turn + 0.5) / asked.times * seconds
        code, took = interrupted(asked.binary, command, folder, after)
        if code == 130:
            heard.append(took * 1000)
            at.append(after)
            if content(folder) != before:
                left += 1
        elif code not in (0, 1):
            sys.exit(f"{command}: exit code {code} after an interrupt at {after:.2f} s")
        if code != 130 or left:
            restore(folder, kept)
    shutil.rmtree(kept)
    if not heard:
        print(f"{name:18} {seconds:7.2f} s  none of {asked.times} interrupts was heard", flush=True)
        return False
    longest = max(heard)
    where = at[heard.index(longest)]
    print(
        f"{name:18} {seconds:7.2f} s  {len(heard):3} of {asked.times}  median {statistics.median(heard):5.0f} ms"
        f"  longest {longest:5.0f} ms (at {where:.2f} s)" + (f"  LEFT SOMETHING {left} TIMES" if left else ""),
        flush=True,
    )
    return longest <= asked.limit and not left


def interrupted(binary, command, folder, after):
    quiet = subprocess.DEVNULL
    child = subprocess.Popen([binary, *command.split()], cwd=folder, stdin=quiet, stdout=quiet, stderr=quiet)
    time.sleep(after)
    start = time.perf_counter()
    child.send_signal(signal.SIGINT)
    code = child.wait()
    return code, time.perf_counter() - start


def content(folder):
    """Every name below a folder with a digest of what it holds."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).digest() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def restore(folder, kept):
    shutil.rmtree(folder)
    shutil.copytree(kept, folder)


if __name__ == "__main__":
    main()
