#!/usr/bin/env python3
"""Runs the cells of docs/fidelity-grid.md on a host and stores each run as a line of a file.

    runs.py --on linux                          the senders of a real kernel, kept in kernel-senders.csv (needs `make linux`)
    runs.py --on linux-7.3                      those of Linux 7.3, kept in kernel-senders-7.3.csv (needs `make linux-7.3`)
    runs.py --on sim --runs OUT/simulator.csv   the simulator's, for the cells that kernel-senders.csv has; grid.py compares them
    runs.py --on sim --series 7.3 --runs OUT/simulator-7.3.csv   for those that kernel-senders-7.3.csv has, with its receivers

Existing runs are not repeated, so the script can be stopped at any time and resumed. Cells are ordered so that any part of them is a fair sample, and all cells
are run with one seed before the next. To repeat everything (another kernel, a changed queue), remove the file. Needs polars.

Rows with seed 0 are means of three replications under seed 1, of an earlier version of the page.

Usage: runs.py --on linux|linux-7.3|sim [--series 6.12|7.3] [--runs FILE] [--gq PATH] [--minutes N]; on linux [--set wide|middle|cp-1|cp-8] [--rates 1,10,100] [--seeds 1,2,3]
"""
import argparse
import csv
import dataclasses
import fcntl
import hashlib
import io
import math
import pathlib
import sys
import time

from cells import FIGURES, KERNEL, NEW_KERNEL, NEW_RECEIVERS, TIMES, Cell, cp_1, cp_8, middle, run, stored, wide

COLUMNS = [field.name for field in dataclasses.fields(Cell)] + ["seed", *FIGURES]


def keep(runs, cell, seed, figures):
    """Appends a line in one piece, also when several of us run."""
    line = io.StringIO()
    rounded = (f"{figures[name]:.4g}" if name != "utilization_pct" else f"{figures[name]:.2f}" for name in FIGURES)
    csv.writer(line, lineterminator="\n").writerow([*dataclasses.astuple(cell), seed, *rounded])
    with runs.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if file.tell() == 0:
            file.write(",".join(COLUMNS) + "\n")
        file.write(line.getvalue())


def numbers(text):
    return [int(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--on", choices=("linux", "linux-7.3", "sim"), required=True)
    parser.add_argument("--series", choices=("6.12", "7.3"), default="6.12", help="the kernel that the simulator is compared with")
    parser.add_argument("--runs", type=pathlib.Path)
    parser.add_argument("--gq", default="target/release/gq")
    parser.add_argument("--set", choices=("wide", "middle", "cp-1", "cp-8"), default="wide")
    parser.add_argument("--rates", type=numbers, default=list(TIMES))
    parser.add_argument("--seeds", type=numbers, default=[1, 2, 3])
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no run after so many minutes")
    options = parser.parse_args()
    if options.on == "sim" and options.runs is None:
        sys.exit("runs.py: the simulator's runs need a file of their own: --runs FILE")
    options.runs = options.runs or (NEW_KERNEL if options.on == "linux-7.3" else KERNEL)
    is_new = options.on == "sim" and options.series == "7.3"
    done = stored(options.runs)
    if options.on == "sim":
        # Three at least: they cost little, and their spread says what one run of the kernel is
        # worth.
        wanted = [(cell, seed) for cell, seeds in stored(NEW_KERNEL if is_new else KERNEL).items() for seed in {*seeds, *(() if 0 in seeds else options.seeds)}]
        wanted.sort(key=lambda one: one[1])
    else:
        cells = {"wide": lambda: wide(options.rates), "middle": middle, "cp-1": cp_1, "cp-8": cp_8}[options.set]()
        cells.sort(key=lambda cell: hashlib.sha256(repr(cell).encode()).digest())
        wanted = [(cell, seed) for seed in options.seeds for cell in cells]
    wanted = [(cell, seed) for cell, seed in wanted if seed not in done.get(cell, {})]
    print(f"{len(wanted)} runs to do", flush=True)
    failed, end = 0, time.monotonic() + 60 * options.minutes
    for number, (cell, seed) in enumerate(wanted):
        if time.monotonic() > end:
            print(f"{len(wanted) - number} runs left for another time")
            break
        try:
            keep(options.runs, cell, seed, run(options.gq, options.on, cell, seed, NEW_RECEIVERS if is_new else None))
        except RuntimeError as error:
            failed += 1
            print(error, file=sys.stderr, flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
