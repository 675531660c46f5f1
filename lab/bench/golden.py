#!/usr/bin/env python3
"""Whether a build of disjoin writes the same data as another one: digests of what it publishes, in every form and by every method.

    lab/bench/golden.py [--binary PATH] [--data FOLDER] [--write FILE | --check FILE] [--keep]

Makes its inputs with that build, makes every release of the tables RUNS and REAL_RUNS below, and prints a JSON of name -> exit code and SHA-256 of each
data file of release/ and each map of custody/. Claims and reports are left out: they may change. --write writes the JSON to a file, and refuses if
a run did not end as expected; --check compares with such a file, and ends with exit code 1 and the names that differ. FOLDER has the files of shared
data (default: ../shared/data); without it the runs of REAL_RUNS are left out. --keep keeps the folder with all packages. Takes 20 s of CPU.
"""

import argparse
import csv
import hashlib
import itertools
import json
import resource
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

# Everything runs in one folder. There are the inputs; real/ are the files of shared data, and out/NAME is what the run NAME wrote.

# Inputs that disjoin makes, in this order.
INPUTS = [
    "generate hospital --patients 3000 --seed 1 --hierarchy icd.csv -o hospital.csv",
    "generate hospital --patients 3000 --seed 1 --format basket -o hospital.dat",
    "generate hospital --patients 1000 --seed 2 --format long -o long.csv",
    "generate hospital --patients 1000 --seed 2 --format jsonl -o hospital.jsonl",
    "generate hospital --patients 1000 --seed 2 --format parquet -o hospital.parquet",
    "generate quest --records 5000 --items 300 --patterns 200 --seed 1 -o quest.dat",
    "generate quest --records 5000 --items 300 --patterns 200 --seed 1 --format spmf -o quest.spmf",
    "generate quest --records 20000 --items 2000 --patterns 1000 --mean-length 8 --seed 2 -o wide.dat.gz",
    "generate quest --records 4000 --items 12 --mean-length 3 --patterns 20 --seed 3 -o narrow.dat",
    "generate people --rows 2000 --seed 1 --hierarchy region.csv -o people.csv",
    "generate people --rows 12000 --quasi 8 --strength 0.5 --seed 2 -o crowd.csv",
    "policy random quest.dat --share 0.1 --seed 1 -o quest-privacy.txt",
    "policy random hospital.dat --share 0.1 --seed 7 -o hospital-privacy.txt",
    "policy pairs quest.dat --terms 140,89,167,283,160,162,133,237 -o quest-pairs.txt",
    "policy all quest.dat -o quest-utility.txt",
    "policy hierarchy hospital.dat --hierarchy icd.csv --depth 1 -o hospital-utility.txt",
    "policy hierarchy quest.dat --fanout 10 --depth 1 -o quest-tens.txt",
]

# Of the real files.
REAL_INPUTS = [
    "policy random real/bms-webview-1.dat --share 0.1 --seed 1 -o webview-privacy.txt",
    "policy pairs real/bms-webview-1.dat --terms 10307,10311,10315,10319,10323,10327,12379,18455 -o webview-pairs.txt",
]

# Inputs as they are.
FILES = {
    "sensitive.txt": "HIV disease\nschizophrenia\ndepression\n",
    "hide.txt": '"acute hepatitis B"\n"HIV disease"\n"schizoaffective disorder"\nautism,depression\n',
    "narrow.txt": '"acute hepatitis B","chronic hepatitis C"\n',
    "links.txt": '"essential hypertension","type 2 diabetes",obesity\n"COVID-19",pneumonia\n',
    "weights.csv": 'depression,4\nasthma,2.5\n"back pain",0.25\n',
    "quest-items.txt": "".join(f"{item}\n" for item in range(301)),
    "narrow-items.txt": "".join(f"{item}\n" for item in range(13)),
    "census.csv": "age,zip,gender,government,marital,salary\n" + 3 * (
        "30-50,13-23,F,State,Never,<=50k\n30-50,13-23,F,State,Never,<=50k\n30-50,13-23,F,Federal,Married,<=50k\n"
        "30-50,13-23,F,Private,Divorced,<=50k\n30-50,13-23,F,Local,Separated,>50k\n51-90,24-58,M,Private,Married,>50k\n"
        "51-90,24-58,M,Self-emp,Married,<=50k\n51-90,24-58,M,Private,Married,>50k\n51-90,24-58,M,Private,Divorced,<=50k\n"
        "51-90,24-58,M,Federal,Never,<=50k\n"
    ),
    "gaps.csv": "name,age,sex,disease\n" + "".join(
        f"p{i},{'' if i % 11 == 0 else 20 + 7 * i % 50},{'?' if i % 13 == 0 else 'fm'[i % 2]},{['flu', 'gout', 'asthma'][i * i % 7 % 3]}\n" for i in range(120)
    ),
}

# Recipes for disjoin run.
RECIPES = {
    "sets.toml": """
        [input]
        file = "hospital.csv"
        column = "diagnoses"
        [protect]
        k = 5
        m = 2
        sensitive = ["HIV disease", "schizophrenia"]
        l_diversity = 3
        [measure]
        seed = 1
    """,
    "mended.toml": """
        [input]
        file = "quest.dat"
        [protect]
        grouping = "paper"
        promise = "published"
        [repair]
        rounds = 5
        [output]
        format = "parquet"
    """,
    "table.toml": """
        [input]
        file = "people.csv"
        [protect]
        k = 5
        [table]
        quasi = ["age", "sex", "region"]
        sensitive = ["disease"]
        other = ["education", "occupation", "marital"]
        numeric = ["age"]
        [table.hierarchies]
        region = "region.csv"
        [table.criteria]
        beta = 2.0
        t = 0.5
    """,
    "set-column.toml": """
        [input]
        file = "hospital.csv"
        [protect]
        k = 4
        [table]
        quasi = ["age", "sex", "postcode"]
        identifier = ["patient"]
        other = ["admission_year"]
        set = "diagnoses"
        numeric = ["age", "postcode"]
    """,
    "hiding.toml": """
        [input]
        file = "people.csv"
        [protect]
        k = 5
        [table]
        quasi = ["age", "sex", "region"]
        sensitive = ["disease"]
        other = ["education", "occupation", "marital"]
        numeric = ["age"]
        method = "mondrian"
        hide = { confidence = 0.4, support = 3 }
    """,
    "split.toml": """
        [input]
        file = "people.csv"
        [protect]
        k = 5
        [table]
        quasi = ["age", "sex", "region"]
        sensitive = ["disease", "occupation", "marital"]
        identifier = ["education"]
        numeric = ["age"]
        split = "break-merge"
        [table.criteria]
        l = 2
        knowledge_breach = 0.5
    """,
    "as-is.toml": """
        [input]
        file = "census.csv"
        [protect]
        k = 5
        [table]
        quasi = ["age", "zip", "gender"]
        sensitive = ["government", "marital", "salary"]
        split = "break-merge"
        as_is = true
    """,
    "recoded.toml": """
        [input]
        file = "hospital.dat"
        [protect]
        method = "coat"
        k = 5
        privacy = "hide.txt"
        utility = "hospital-utility.txt"
        [attack]
        seed = 1
    """,
    "regrouped.toml": """
        [input]
        file = "hospital.dat"
        [protect]
        method = "pcta"
        k = 10
        privacy = "hospital-privacy.txt"
        [attack]
        counts = "counts.csv"
        most_beyond_blind = 0.0
        seed = 1
        [repair]
        limit = 3.0
    """,
    "hierarchy.toml": """
        [input]
        file = "hospital.dat"
        [protect]
        method = "apriori"
        k = 5
        m = 1
        hierarchy = "icd.csv"
    """,
    "noise.toml": """
        [input]
        file = "quest.dat"
        [protect]
        method = "privbasis"
        [protect.noise]
        epsilon = 1
        delta = 1e-6
        top = 50
        universe = "quest-items.txt"
        demonstration = true
        seed = 1
    """,
    "diffpart.toml": """
        [input]
        file = "narrow.dat"
        [protect]
        method = "diffpart"
        [protect.noise]
        epsilon = 2
        fanout = 4
        demonstration = true
        seed = 2
    """,
}

# Columns of the tables.
PEOPLE = "people.csv --quasi age,sex,region --sensitive disease --other education,occupation,marital --numeric age"
REGION = "--hierarchy region=region.csv"
CROWD = "crowd.csv --quasi age,sex,region,education --sensitive disease --other 'occupation,marital,trait 1,trait 2' --numeric age"
SPLIT = "people.csv --quasi age,sex,region --sensitive disease,occupation,marital --identifier education --numeric age"
HOSPITAL = "hospital.csv --quasi age,sex,postcode --identifier patient --other admission_year --set diagnoses --numeric age,postcode"
CENSUS = "census.csv --quasi age,zip,gender --sensitive government,marital,salary"
ADULT = "real/adult/adult.csv --separator ; --quasi sex,age,race,marital-status,education --sensitive occupation --other native-country,workclass,salary-class"
LEVELS = " ".join(f"--hierarchy {name}=real/adult/adult_hierarchy_{name}.csv" for name in ["sex", "age", "race", "marital-status", "education"])
DRAWN = "--demonstration --seed"

# Name and command; it ends in -o out/NAME, or OUT is where that stands.
RUNS = [
    # Disassociation.
    ("sets-hospital", "protect hospital.dat"),
    ("sets-hospital-column", "protect hospital.csv --column diagnoses"),
    ("sets-quest", "protect quest.dat"),
    ("sets-wide", "protect wide.dat.gz"),
    ("sets-long", "protect long.csv --format long --id-column id --item-column item"),
    ("sets-jsonl", "protect hospital.jsonl"),
    ("sets-parquet-input", "protect hospital.parquet"),
    ("sets-spmf", "protect quest.spmf --format spmf"),
    ("sets-k2-m1", "protect hospital.dat -k 2 -m 1"),
    ("sets-k3-m3", "protect quest.dat -k 3 -m 3"),
    ("sets-k10-m3", "protect hospital.dat -k 10 -m 3"),
    ("sets-k25-m2", "protect wide.dat.gz -k 25 -m 2"),
    ("sets-paper", "protect hospital.dat --grouping paper"),
    ("sets-paper-wide", "protect wide.dat.gz --grouping paper --promise published --max-cluster 100"),
    ("sets-published", "protect hospital.dat --promise published"),
    ("sets-paper-published", "protect quest.dat --grouping paper --promise published"),
    ("sets-no-refine", "protect hospital.dat --no-refine"),
    ("sets-paper-no-refine", "protect quest.dat --grouping paper --no-refine"),
    ("sets-max-cluster", "protect hospital.dat --max-cluster 40"),
    ("sets-paper-max-cluster", "protect quest.dat --grouping paper --max-cluster 60"),
    ("sets-paper-literal", "protect hospital.dat --paper-literal"),
    ("sets-paper-literal-quest", "protect quest.dat --paper-literal -k 3 -m 2 --max-cluster 20"),
    ("sets-sensitive", "protect hospital.dat --sensitive 'HIV disease,schizophrenia'"),
    ("sets-diverse", "protect hospital.dat --sensitive sensitive.txt --l-diversity 5"),
    ("sets-diverse-size", "protect hospital.dat --sensitive sensitive.txt --l-diversity 5 --diversity-rule size"),
    ("sets-diverse-paper", "protect hospital.dat --sensitive sensitive.txt --l-diversity 3 --grouping paper --promise published"),
    ("sets-utility", "protect hospital.dat --utility links.txt"),
    ("sets-weights", "protect hospital.dat --weights weights.csv"),
    ("sets-utility-weights", "protect hospital.dat --utility links.txt --weights weights.csv --grouping paper"),
    ("sets-parquet", "protect quest.dat --output-format parquet"),
    ("sets-parquet-diverse", "protect hospital.dat --output-format parquet --sensitive sensitive.txt --l-diversity 4"),
    # Tables: every method, then every criterion.
    ("table-default", f"protect {PEOPLE} -k 5"),
    ("table-least-loss", f"protect {PEOPLE} {REGION} -k 5 --method least-loss --beta 2"),
    ("table-mondrian", f"protect {PEOPLE} -k 5 --method mondrian"),
    ("table-mondrian-hierarchy", f"protect {PEOPLE} {REGION} -k 10 --method mondrian --l-diversity 3"),
    ("table-mondrian-relaxed", f"protect {PEOPLE} -k 5 --method mondrian-relaxed"),
    ("table-lattice", f"protect {PEOPLE} {REGION} -k 5 --method lattice --most-removed 0.1"),
    ("table-mdav", f"protect {PEOPLE} -k 5 --method mdav"),
    ("table-sorted", f"protect {PEOPLE} -k 5 --method sorted"),
    ("table-microaggregation-merge", f"protect {PEOPLE} -k 5 --method microaggregation-merge --t-closeness 0.4"),
    ("table-microaggregation-swap", f"protect {PEOPLE} -k 5 --method microaggregation-swap --t-closeness 0.4"),
    ("table-closeness-first", f"protect {PEOPLE} -k 5 --method closeness-first --t-closeness 0.3"),
    ("table-hilbert", f"protect {PEOPLE} {REGION} -k 5 --method hilbert --l-diversity 2"),
    ("table-burel", f"protect {PEOPLE} -k 5 --method burel --beta 2"),
    ("table-burel-basic", f"protect {PEOPLE} {REGION} -k 5 --method burel --beta 3 --basic"),
    ("table-k-primacy", f"protect {PEOPLE} -k 5 --method k-primacy --background 0.3"),
    ("table-beta-primacy", f"protect {PEOPLE} -k 5 --method beta-primacy --background 0.3 --knowledge naive-bayes"),
    ("table-seed", f"protect {PEOPLE} -k 5 --method beta-primacy --beta 3 --seed 4"),
    ("table-crowd", f"protect {CROWD} -k 10 --beta 3"),
    ("table-crowd-mondrian", f"protect {CROWD} -k 10 --method mondrian-relaxed --l-diversity 4"),
    ("table-crowd-hilbert", f"protect {CROWD} -k 10 --method hilbert"),
    ("table-l", f"protect {PEOPLE} -k 5 --l-diversity 4"),
    ("table-t-equal", f"protect {PEOPLE} -k 5 --t-closeness 0.4 --distance equal"),
    ("table-t-ordered", "protect people.csv --quasi sex,region --sensitive age --other education,occupation,marital,disease --numeric age -k 5 "
                        f"{REGION} --t-closeness 0.25 --distance ordered"),
    ("table-t-hierarchical", "protect people.csv --quasi age,sex --sensitive region --other education,occupation,marital,disease --numeric age -k 5 "
                             f"{REGION} --t-closeness 0.4 --distance hierarchical"),
    ("table-alpha", f"protect {PEOPLE} -k 5 --alpha 0.4"),
    ("table-entropy", f"protect {PEOPLE} -k 5 --entropy-l 3.5"),
    ("table-recursive", f"protect {PEOPLE} -k 5 --recursive-l 3,3"),
    ("table-background", f"protect {PEOPLE} -k 5 --background 0.5 --knowledge kernel --bandwidth 0.2"),
    ("table-background-file", f"protect {PEOPLE} -k 5 --background 0.5 --knowledge beliefs.csv --method k-primacy"),
    ("table-all-criteria", f"protect {PEOPLE} -k 8 --l-diversity 3 --alpha 0.5 --t-closeness 0.5 --beta 4 --entropy-l 2.5 --recursive-l 4,2"),
    ("table-missing", "protect gaps.csv --quasi age,sex --sensitive disease --identifier name --numeric age --missing ? -k 4"),
    ("table-two-sensitive", "protect people.csv --quasi age,sex,region --sensitive disease,marital --other education,occupation --numeric age "
                            "-k 5 --l-diversity 2"),
    ("table-sqlite", f"protect 'sqlite:people.db?table=people' {PEOPLE.split(' ', 1)[1]} -k 5"),
    ("table-set", f"protect {HOSPITAL} -k 4"),
    ("table-set-options", f"protect {HOSPITAL} -k 5 -m 3 --method mondrian --grouping paper --promise published --max-cluster 20 --no-refine"),
    ("table-set-hilbert", f"protect {HOSPITAL} -k 3 -m 1 --method hilbert"),
    ("hiding-default", f"protect {PEOPLE} -k 5 --method association-hiding"),
    ("hiding-mondrian", f"protect {PEOPLE} {REGION} -k 5 --method association-hiding --groups-by mondrian --confidence 0.3 --support 3"),
    ("hiding-hilbert", f"protect {PEOPLE} -k 8 --method association-hiding --groups-by hilbert --confidence 0.4"),
    # Split tables.
    ("split-break-merge", f"protect {SPLIT} -k 5 --method break-merge --l-diversity 2"),
    ("split-breach", f"protect {SPLIT} -k 5 --method break-merge --l-diversity 2 --knowledge-breach 0.3"),
    ("split-groups-by", f"protect {SPLIT} {REGION} -k 5 --method break-merge --groups-by hilbert"),
    ("split-groups-by-mdav", f"protect {SPLIT} -k 6 --method break-merge --groups-by mdav"),
    ("split-as-is", f"protect {CENSUS} -k 5 --method break-merge --as-is --l-diversity 2"),
    ("split-anatomy", "protect people.csv --quasi age,sex,region,education --sensitive disease --identifier occupation,marital --numeric age "
                      "-k 5 --method anatomy --l-diversity 4 --seed 1 --demonstration"),
    ("split-anatomy-breach", f"protect {SPLIT} -k 5 --method anatomy --l-diversity 2 --knowledge-breach 0.5 --seed 2 --demonstration"),
    # Recoded sets.
    ("recoded-apriori", "protect hospital.dat --method apriori --hierarchy icd.csv -k 5 -m 1"),
    ("recoded-apriori-m2", "protect quest.dat --method apriori --fanout 10 -k 5 -m 2"),
    ("recoded-apriori-alone", "protect narrow.dat --method apriori --fanout 3 --cost alone -k 20 -m 3"),
    ("recoded-apriori-count", "protect quest.dat --method apriori --fanout 5 --cost count -k 5 -m 2"),
    ("recoded-lra", "protect hospital.dat --method lra --hierarchy icd.csv -k 5 -m 1 --block 500"),
    ("recoded-lra-quest", "protect quest.dat --method lra --fanout 5 -k 3 -m 2 --block 1000"),
    ("recoded-lra-count", "protect quest.dat --method lra --fanout 5 -k 3 -m 2 --block 1000 --cost count"),
    ("recoded-vpa", "protect hospital.dat --method vpa --hierarchy icd.csv -k 5 -m 1"),
    ("recoded-vpa-parts", "protect quest.dat --method vpa --fanout 3 --parts 6 -k 3 -m 2"),
    ("recoded-vpa-narrow", "protect narrow.dat --method vpa --fanout 3 --parts 3 -k 20 -m 3"),
    ("recoded-suppression", "protect hospital.dat --method suppression -k 5 -m 2"),
    ("recoded-suppression-quest", "protect quest.dat --method suppression -k 10 -m 1"),
    ("recoded-suppression-partial", "protect hospital.dat --method suppression-partial -k 5 -m 2"),
    ("recoded-suppression-partial-quest", "protect quest.dat --method suppression-partial -k 3 -m 2"),
    ("recoded-coat", "protect hospital.dat --method coat --privacy hide.txt -k 5"),
    ("recoded-coat-utility", "protect hospital.dat --method coat --privacy hospital-privacy.txt --utility hospital-utility.txt -k 5 --max-suppressed 0.2"),
    ("recoded-coat-all", "protect quest.dat --method coat --privacy quest-privacy.txt --utility quest-utility.txt -k 200"),
    ("recoded-coat-suppressed", "protect hospital.dat --method coat --privacy hide.txt --utility narrow.txt -k 20 --max-suppressed 0.05"),
    ("recoded-coat-force", "protect hospital.dat --method coat --privacy hide.txt --utility narrow.txt -k 100 --force"),
    ("recoded-coat-random", "protect hospital.dat --method coat --privacy hospital-privacy.txt -k 10"),
    ("recoded-coat-pairs", "protect quest.dat --method coat --privacy quest-pairs.txt -k 40"),
    ("recoded-pcta", "protect hospital.dat --method pcta --privacy hide.txt -k 5"),
    ("recoded-pcta-pairs", "protect quest.dat --method pcta --privacy quest-pairs.txt --utility quest-tens.txt -k 40 --max-suppressed 0.1"),
    ("recoded-pcta-whole", "protect quest.dat --method pcta --privacy quest-pairs.txt --whole-constraints -k 40"),
    # Noise, drawn from a seed.
    ("noise-privbasis", f"protect quest.dat --method privbasis --epsilon 1 --delta 1e-6 --top 50 --universe quest-items.txt {DRAWN} 1"),
    ("noise-privbasis-pure", f"protect quest.dat --method privbasis --epsilon 5 --accounting pure {DRAWN} 2"),
    ("noise-privbasis-hospital", f"protect hospital.dat --method privbasis --epsilon 2 --delta 1e-5 --top 20 {DRAWN} 3"),
    ("noise-diffpart", f"protect quest.dat --method diffpart --epsilon 50 --universe quest-items.txt {DRAWN} 1"),
    ("noise-diffpart-narrow", f"protect narrow.dat --method diffpart --epsilon 1 --fanout 4 --thresholds 2,1 --universe narrow-items.txt {DRAWN} 2"),
    ("noise-diffpart-hospital", f"protect hospital.dat --method diffpart --epsilon 10 {DRAWN} 3"),
    # Recipes.
    *((f"run-{file.removesuffix('.toml')}", f"run {file}") for file in RECIPES),
    # Mended and converted releases.
    ("repair-published", "repair out/sets-published"),
    ("repair-paper-published", "repair out/sets-paper-published"),
    ("repair-wide", "repair out/sets-paper-wide/release"),
    ("repair-recoded", "repair out/recoded-coat-random --original hospital.dat --counts counts.csv --limit 3 --seed 1"),
    ("repair-recoded-nothing", "repair out/recoded-coat --original hospital.dat --counts counts.csv --limit 3 --seed 1"),
    ("convert-parquet", "convert out/sets-hospital OUT --to parquet"),
    ("convert-back", "convert out/convert-parquet OUT --to jsonl"),
    ("convert-jsonl", "convert out/sets-parquet-diverse OUT --to jsonl"),
    ("convert-recoded", "convert out/recoded-coat OUT --to basket"),
    ("convert-file-parquet", "convert quest.dat OUT --to parquet"),
    ("convert-file-back", "convert out/convert-file-parquet OUT --format parquet --to basket"),
    ("repair-parquet", "repair out/convert-parquet"),
]

# The same, with real files.
REAL_RUNS = [
    ("real-webview-1", "protect real/bms-webview-1.dat"),
    ("real-webview-1-k10-m3", "protect real/bms-webview-1.dat -k 10 -m 3"),
    ("real-webview-1-paper", "protect real/bms-webview-1.dat --grouping paper"),
    ("real-webview-1-literal", "protect real/bms-webview-1.dat --paper-literal"),
    ("real-webview-1-published", "protect real/bms-webview-1.dat --promise published"),
    ("real-webview-2", "protect real/bms-webview-2.dat"),
    ("real-webview-2-no-refine", "protect real/bms-webview-2.dat --no-refine -k 3"),
    ("real-webview-2-paper", "protect real/bms-webview-2.dat --grouping paper --max-cluster 50"),
    ("real-t10", "protect real/T10I4D100K.dat"),
    ("real-t10-published", "protect real/T10I4D100K.dat --promise published --grouping paper"),
    ("real-pos", "protect real/bms-pos-275k.dat"),
    ("real-pos-parquet", "protect real/bms-pos-275k.dat -k 10 -m 2 --grouping paper --output-format parquet"),
    ("real-groceries", "protect real/groceries.csv"),
    ("real-groceries-k3-m3", "protect real/groceries.csv -k 3 -m 3"),
    ("real-groceries-diverse", "protect real/groceries.csv --sensitive 'whole milk,yogurt,brandy' --l-diversity 3"),
    ("real-adult", f"protect {ADULT} {LEVELS} --numeric age -k 5"),
    ("real-adult-beta", f"protect {ADULT} --numeric age -k 5 --beta 2"),
    ("real-adult-mondrian", f"protect {ADULT} --numeric age -k 5 --method mondrian --l-diversity 3"),
    ("real-adult-lattice", f"protect {ADULT} {LEVELS} --numeric age -k 5 --method lattice"),
    ("real-adult-hilbert", f"protect {ADULT} --numeric age -k 5 --method hilbert --l-diversity 3"),
    ("real-adult-burel", f"protect {ADULT} --numeric age -k 5 --method burel --beta 2"),
    ("real-adult-t", f"protect {ADULT} --numeric age -k 5 --t-closeness 0.3 --distance hierarchical "
                     "--hierarchy occupation=real/adult/adult_hierarchy_occupation.csv"),
    ("real-adult-hiding", f"protect {ADULT} --numeric age -k 5 --method association-hiding --hierarchy occupation=real/adult/adult_hierarchy_occupation.csv"),
    ("real-adult-break-merge", "protect real/adult/adult.csv --separator ; --quasi sex,age,race,education,native-country "
                               "--sensitive marital-status,workclass,occupation,salary-class --numeric age -k 5 --l-diversity 2 --method break-merge"),
    ("real-adult-anatomy", f"protect {ADULT.replace('--other', '--identifier')} --numeric age -k 5 --method anatomy --l-diversity 4 --seed 1 --demonstration"),
    ("real-recoded-apriori", "protect real/groceries.csv --method apriori --fanout 5 -k 5 -m 2"),
    ("real-recoded-lra", "protect real/bms-webview-1.dat --method lra --fanout 10 -k 5 -m 2"),
    ("real-recoded-coat", "protect real/bms-webview-1.dat --method coat --privacy webview-privacy.txt -k 25"),
    ("real-recoded-pcta", "protect real/bms-webview-1.dat --method pcta --privacy webview-pairs.txt -k 25"),
    ("real-noise-privbasis", f"protect real/bms-webview-1.dat --method privbasis --epsilon 1 --delta 1e-6 --top 100 {DRAWN} 1"),
    ("real-repair", "repair out/real-webview-1-published"),
]

# Runs that end with exit code 1: a promise or a limit does not hold.
BROKEN = {"run-noise", "run-diffpart", "run-regrouped", "repair-recoded"}

# What is not compared of release/, and what is of custody/.
LEFT_OUT = {"claim.json", "report.html"}
MAPS = {"leaf_of.csv", "class_of.csv", "line_of.csv", "mapping.csv"}


def disjoin(binary, command, folder):
    """The exit code, and what went wrong."""
    done = subprocess.run([str(binary), *command, "--quiet"], cwd=folder, text=True, capture_output=True, stdin=subprocess.DEVNULL)
    return done.returncode, done.stderr.strip()


def made(binary, command, folder):
    code, told = disjoin(binary, shlex.split(command), folder)
    if code != 0:
        sys.exit(f"disjoin {command}\n{told}")


def write_counted(folder):
    """Files that are counted from others: a database, beliefs about diseases, and which diagnoses go together."""
    with open(folder / "people.csv", newline="") as file:
        header, *rows = csv.reader(file)
    database = sqlite3.connect(folder / "people.db")
    database.execute(f"CREATE TABLE people ({', '.join(header)})")
    database.executemany(f"INSERT INTO people VALUES ({', '.join('?' * len(header))})", rows)
    database.commit()
    database.close()
    beliefs = Counter((row[header.index("sex")], row[header.index("disease")]) for row in rows)
    lines = [f"{sex},{disease},{count}\n" for (sex, disease), count in sorted(beliefs.items())]
    (folder / "beliefs.csv").write_text("sex,disease,share\n" + "".join(lines))
    with open(folder / "hospital.dat", newline="") as file:
        records = [sorted({term for term in row if term}) for row in csv.reader(file)]
    alone = Counter(term for record in records for term in record)
    together = Counter(pair for record in records for pair in itertools.combinations(record, 2))
    with open(folder / "counts.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([("first", "second", "count"), ("", "", len(records))])
        writer.writerows((term, "", count) for term, count in sorted(alone.items()))
        writer.writerows((*pair, count) for pair, count in sorted(together.items()))


def write_inputs(binary, data, folder):
    """Writes all inputs; the digests of those that are made by disjoin, or from such."""
    for file, text in {**FILES, **RECIPES}.items():
        (folder / file).write_text(text)
    for command in INPUTS:
        made(binary, command, folder)
    write_counted(folder)
    # SQLite's files differ from version to version, and what is written in this script may be edited.
    generated = [file for file in folder.iterdir() if file.is_file() and file.suffix != ".db" and file.name not in {**FILES, **RECIPES}]
    digests = {file.name: digest(file) for file in sorted(generated)}
    if data:
        (folder / "real").symlink_to(data.resolve())
        for command in REAL_INPUTS:
            made(binary, command, folder)
    return digests


def digest(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def digests_of(out):
    """Digests of the data of a package, or of a file."""
    if out.is_file():
        return {"file": digest(out)}
    files = [file for file in (out / "release").glob("*") if file.name not in LEFT_OUT]
    files += [file for file in (out / "custody").glob("*") if file.name in MAPS]
    return {str(file.relative_to(out)): digest(file) for file in sorted(files)}


def ran(binary, name, command, folder):
    """What a run wrote and how it ended, and whether that was expected."""
    out = Path("out") / name
    words = shlex.split(command)
    words = [str(out) if word == "OUT" else word for word in words] if "OUT" in words else [*words, "-o", str(out)]
    code, told = disjoin(binary, words, folder)
    expected = 1 if name in BROKEN else 0
    if code != expected:
        print(f"{name}: exit code {code}, expected {expected}\n  disjoin {shlex.join(words)}\n  {told}", file=sys.stderr)
    return {"exit": code, **digests_of(folder / out)}, code == expected


def differences(found, expected, left_out):
    """Names that differ, each with what does."""
    lines = []
    for name in sorted((found.keys() | expected.keys()) - left_out):
        if name not in found or name not in expected:
            lines.append(f"{name}: {'is not in the file' if name in found else 'was not run'}")
            continue
        before, now = expected[name], found[name]
        parts = [key for key in sorted(before.keys() | now.keys()) if before.get(key) != now.get(key)]
        if parts:
            lines.append(f"{name}: {', '.join(parts)}")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=ROOT / "target" / "release" / "disjoin", metavar="PATH")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", metavar="FOLDER")
    parser.add_argument("--keep", action="store_true")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--write", type=Path, metavar="FILE")
    what.add_argument("--check", type=Path, metavar="FILE")
    asked = parser.parse_args()
    if not asked.binary.is_file():
        sys.exit(f"{asked.binary} is missing: build disjoin, or name a build with --binary")
    expected = json.loads(asked.check.read_text()) if asked.check else None
    data = asked.data if asked.data.is_dir() else None
    if not data:
        print(f"{asked.data} is missing: {len(REAL_RUNS)} runs with real files are left out", file=sys.stderr)
    runs = RUNS + REAL_RUNS if data else RUNS
    left_out = set() if data else {name for name, _ in REAL_RUNS}
    folder = Path(tempfile.mkdtemp(prefix="golden-"))
    try:
        (folder / "out").mkdir()
        found = {"inputs": write_inputs(asked.binary.resolve(), data, folder)}
        unexpected = 0
        for name, command in runs:
            found[name], is_expected = ran(asked.binary.resolve(), name, command, folder)
            unexpected += not is_expected
    finally:
        if asked.keep:
            print(f"packages: {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{len(runs)} runs, {unexpected} of them not as expected, {used.ru_utime + used.ru_stime:.0f} s of CPU", file=sys.stderr)
    text = json.dumps(found, indent=1, sort_keys=True) + "\n"
    if asked.check:
        lines = differences(found, expected, left_out)
        print("\n".join([*lines, f"{len(lines)} differ"]) if lines else "all the same")
        sys.exit(1 if lines else 0)
    if asked.write:
        if unexpected:
            sys.exit(f"{asked.write} is not written")
        asked.write.write_text(text)
        return
    print(text, end="")


if __name__ == "__main__":
    main()
