#!/usr/bin/env python3
"""Measures how fast goodqueue is and writes docs/speed.md with its picture: the only page that states a speed.

Programs run in turn on one core. Packets are those that left the bottleneck in the whole run, warm-up included; CPU seconds are user
and system time of the whole process, start-up included. Instructions are counted with valgrind and do not depend on other work.

    run.py --install                       everything that can be installed is: goodqueue, ns-2, ns-3 (needs matplotlib for the picture)
    run.py --htsim DIR --rattan PROGRAM    also htsim, from a clone of its sources, and rattan, built by its own rules
    run.py --quick                         short runs of a few of all: a check that everything works, not a measurement
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "peers")]

import growth  # noqa: E402
import rivals  # noqa: E402
import worlds  # noqa: E402
from process import finish, machine  # noqa: E402
from tables import table  # noqa: E402

PAGE = ROOT / "docs/speed.md"
FUNCTIONS = 10
# Runs of the small world by one process each, and in one process.
SMALL_RUNS = 100
SMALL_WORLDS = 1000
SMALL_WORLD = """goodqueue = 1
warmup = "0 s"
duration = "10 ms"
[link.bottleneck]
rate = "10 Mbit/s"
delay = "1 ms"
buffer = "100 packets"
[[traffic]]
kind = "bulk"
flows = 1
"""
# Counted instructions per function that are no function of ours but of the C library.
LIBRARY = "the C library"


def fastest(options, world):
    """Packets and least CPU seconds of several runs with one seed: other work only adds to times."""
    runs = [worlds.run(options.gq, world) for _ in range(options.runs)]
    return worlds.departed(runs[0][0]), min(done.cpu_s for _, done in runs)


def cost_rows(options, cases):
    rows = []
    for world in cases:
        packets, cpu_s = fastest(options, world)
        rows.append([f"`{world.name}`", world.about, f"{packets:,.0f}", f"{cpu_s:.2f}", f"{packets / cpu_s / 1e6:.1f}"])
    return rows


COST_HEADS = ["what", "packets:", "CPU seconds:", "million packets per CPU-second:"]


def compare(options, words, seconds, out, before=()):
    """One run of `gq compare`: its only point and the process."""
    warmup, duration = seconds
    fixed = ["--warmup", f"{warmup}s", "--duration", f"{duration}s", "--replications", "1", "--jobs", "1", "--no-report", "--record", "nothing", "--force"]
    done = finish([*before, str(options.gq), "compare", *words.split(), *fixed, "--out", str(out), "--json", "-"], ROOT)
    (point,) = json.loads(done.out)["points"]
    return point, done


def counted(options, words, seconds, folder):
    """Packets, instructions, and instructions of each function of one run."""
    file = folder / "callgrind"
    point, done = compare(options, words, seconds, folder / "out", ("valgrind", "--tool=callgrind", f"--callgrind-out-file={file}"))
    said = subprocess.run(["callgrind_annotate", "--threshold=100", str(file)], capture_output=True, text=True, check=True).stdout
    functions = {}
    for line in said.splitlines():
        found = re.match(r"\s*([\d,]+) \([ \d.]+%\)\s+(\S*?):(.+?)(?: \[(.*)\])?$", line)
        if found and found[3] != "PROGRAM TOTALS":
            name = plain(found[3]) if found[4] and Path(found[4]).name == options.gq.name else LIBRARY
            functions[name] = functions.get(name, 0) + int(found[1].replace(",", ""))
    return worlds.departed(point), int(re.search(r"Collected : (\d+)", done.err)[1]), functions


def plain(symbol):
    """A function's name without crates, traits and parameters of types."""
    symbol = re.sub(r"<impl ([^<>]*(?:<[^<>]*>)?[^<>]*)>", lambda found: found[1].split(" for ")[-1].split("::")[-1], symbol)
    symbol = re.sub(r"<([\w:]+)(?:<[^<>]*>)? as [^>]*(?:<[^<>]*>)?>+", lambda found: found[1], symbol)
    symbol = re.sub(r"<[^<>]*>", "", symbol)
    words = [word for word in symbol.split("::") if word]
    return "::".join(words[-2:])


def daily(options):
    """Rows of the mixes, and instructions of each function per packet, as means over the mixes."""
    rows, shares = [], {}
    for name, words in worlds.DAILY.items():
        warmup, short, long = worlds.DAILY_S.get(name, worlds.DAILY_USUAL_S)
        if options.quick:
            short, long = 1, 2
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            runs = [compare(options, words, (warmup, long), folder / "out") for _ in range(options.runs)]
            packets, cpu_s = worlds.departed(runs[0][0]), min(done.cpu_s for _, done in runs)
            (fewer, before, was), (more, after, now) = (counted(options, words, (warmup, s), folder) for s in (short, long))
        each = (after - before) / (more - fewer)
        # The packets of the warm-up, which lasts a second, are not among those that were counted.
        rows.append([name, f"`{words}`", f"{packets:,.0f}", f"{cpu_s:.2f}", f"{packets / cpu_s / 1e6:.1f}", f"{each:,.0f}"])
        for function in now:
            share = max(0, now[function] - was.get(function, 0)) / (after - before)
            shares[function] = shares.get(function, 0.0) + share / len(worlds.DAILY)
        worlds.say(f"daily {name}: {each:.0f} instructions per packet")
    return rows, sorted(shares.items(), key=lambda one: -one[1])[:FUNCTIONS]


def small(options):
    """Rows of what a small world takes as a process of its own, and as one of many in a process."""
    runs, many = (2, 10) if options.quick else (SMALL_RUNS, SMALL_WORLDS)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "small.toml").write_text(SMALL_WORLD)

        def least_ms(count, *words):
            command = [str(options.gq), "run", "small.toml", "--jobs", "1", "--out", "out", "--force", *words]
            return min(1e3 * sum(finish(command, folder).cpu_s for _ in range(count)) / count for _ in range(options.runs))

        alone = least_ms(runs)
        together = least_ms(1, "--replications", str(many)) / many
    worlds.say(f"small: {alone:.2f} ms alone, {together:.3f} ms of {many:,}")
    return [[f"`gq run`, mean of {runs:,} runs", f"{alone:.2f}"], [f"`gq run --replications {many}`, per world", f"{together:.3f}"]]


def document(options, parts):
    version = subprocess.run([str(options.gq), "--version"], capture_output=True, text=True, check=True).stdout.strip()
    load = f"\nThe machine had a load of {options.load:.1f} when this began." if options.load > 0.5 else ""
    return f"""# Speed

`make bench-speed` makes this page and its picture; no other page states a speed.
Made with {version} on {machine()}; one core, the fastest of {rivals.number(options.runs, "run")} unless a table says otherwise.{load}

Packets are those that left the bottleneck, acknowledgements on lines of two directions included, and CPU seconds are user and system time of the whole process, start-up included.
Instructions are those of valgrind's callgrind, by the difference of two runs of different length: they are the same whatever else the machine does.
What an algorithm costs per packet, in instructions, is in [cost.md](cost.md), which `make bench-gate` holds the code to.

## The same work in other programs

{parts["rivals"]}

## Growth

![Cost of a packet and memory, with the number of flows, the rate, and the number of lines and circuits](images/speed.svg)

{parts["growth"]}

## Worlds that people run

The mixes of `gq compare` on lines where people ask, two directions each unless the rate is one: `gq compare` with the options below, 1 s of warm-up, whose packets are not counted, and 40 s (`isp-access`: 10 s).

{table(["mix", "options", "packets:", "CPU seconds:", "million packets per CPU-second:", "instructions per packet:"], parts["daily"][0])}

**The ten costliest functions** of these worlds, with their share of all instructions (mean over the seven) and the bound that each sets: how many times as fast everything would be if that function cost nothing.
Small functions are part of those that call them: the event loop has the receivers and the delay lines within.

{table(["function", "share, %:", "bound, times as fast:"], [[f"`{name}`" if name != LIBRARY else name, f"{100 * share:.1f}", f"{1 / (1 - share):.2f}"] for name, share in parts["daily"][1]])}

## Small questions

One CUBIC flow on 10 Mbit/s for 10 ms of simulated time, with all files of the result:

{table(["command", "CPU milliseconds:"], parts["small"])}

## Controls and kinds of traffic

Sixteen flows of each control on 100 Mbit/s and 20 ms one way with one bandwidth-delay product of buffer, 60 s:

{table(["control", *COST_HEADS], parts["controls"])}

Each kind of traffic on the same line under tail drop:

{table(["traffic", *COST_HEADS], parts["traffic"])}
"""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    rivals.add_options(parser)
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="runs of each world of goodqueue alone (default 3)")
    options = parser.parse_args()
    if options.runs < 1 or options.seeds < 1:
        parser.error("--runs and --seeds are at least 1")
    if options.quick:
        options.runs = options.seeds = 1
    options.load = os.getloadavg()[0]
    return options


def main():
    options = parse_arguments()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # inherited by every run
    programs = rivals.prepare(options)
    options.gq = options.gq.resolve()
    names = [control["name"] for control in json.loads(finish([str(options.gq), "list", "cc", "--json"], ROOT).out)]
    make = {
        "rivals": lambda: rivals.section(programs, options),
        "growth": lambda: growth.section(options),
        "daily": lambda: daily(options),
        "small": lambda: small(options),
        "controls": lambda: cost_rows(options, list(worlds.controls(names))[: 1 if options.quick else None]),
        "traffic": lambda: cost_rows(options, list(worlds.traffic())[: 1 if options.quick else None]),
    }
    parts = {name: part() for name, part in make.items()}
    text = document(options, parts)
    if options.quick:
        print(text)
    else:
        PAGE.write_text(text)
        worlds.say(f"written to {PAGE}")


if __name__ == "__main__":
    main()
