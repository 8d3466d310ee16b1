#!/usr/bin/env python3
"""Cost per packet of each congestion control and each kind of traffic, and of large worlds.

Packets are those that left the bottleneck; CPU seconds (user + system) and peak memory are of the whole process, start-up included. Times are the smallest of several runs of the same seed, since other work on the machine only adds to them.
--instructions counts instructions with valgrind instead, which are independent of other work; that takes fifty times as long.

    run.py                 all cases; writes results.md next to this script
    run.py --cases web,page --runs 1
    run.py --instructions  adds instructions per packet
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parent))

from tables import table  # noqa: E402
from process import finish, machine  # noqa: E402

LINE = """
goodqueue = 1
duration = "60 s"

[link.bottleneck]
rate = "100 Mbit/s"
delay = "20 ms"
buffer = "1 bdp"
queue = {queue}
"""
TAIL_DROP = '"tail-drop"'
# Scalable controls need marks: from 20 waiting packets on, every one.
STEP = '{ kind = "red", min_th = "20 packets", max_th = "20 packets", w_q = 1, gentle = false, ecn = true, use_mark_p = false }'
MARKED = {"dctcp", "prague"}
STARTS = 'start = "uniform 0 s .. 5 s"'

# What each kind of traffic is here: a label and the lines of its group.
TRAFFIC = {
    "bulk": ("16 flows of CUBIC", f'kind = "bulk"\nflows = 16\n{STARTS}'),
    "bulk-with-pauses": ("60 flows", f'kind = "bulk-with-pauses"\nflows = 60\n{STARTS}'),
    "short": ("100 kB, 100 per second", 'kind = "short"\nsize = "100 kB"\ninterval = "10 ms"\narrivals = "poisson"'),
    "flow-list": ("6,000 transfers of 100 kB", 'kind = "flow-list"\nfile = "flows.csv"'),
    "web": ("800 connections per second", 'kind = "web"\nrate = 800'),
    "web-1.1": ("300 connections per second, HTTP/1.1", 'kind = "web"\nrate = 300\nhttp = "1.1"'),
    "page": ("10 flows", f'kind = "page"\nflows = 10\n{STARTS}'),
    "video": ("20 flows", f'kind = "video"\nflows = 20\n{STARTS}'),
    "voip": ("1,000 flows", f'kind = "voip"\nflows = 1000\n{STARTS}'),
    "gaming": ("1,000 flows", f'kind = "gaming"\nflows = 1000\n{STARTS}'),
    "video-frames": ("45 flows", f'kind = "video-frames"\nflows = 45\n{STARTS}'),
    "cbr": ("20 flows of 4 Mbit/s", f'kind = "cbr"\nrate = "4 Mbit/s"\nflows = 20\n{STARTS}'),
    "poisson": ("20 flows of 4 Mbit/s", f'kind = "poisson"\nrate = "4 Mbit/s"\nflows = 20\n{STARTS}'),
    "on-off": ("20 flows of 4 Mbit/s", f'kind = "on-off"\npeak = "20 Mbit/s"\nmean_on = "20 ms"\nmean_off = "80 ms"\nflows = 20\n{STARTS}'),
}

LARGE = {
    "web-10000": (
        "web, 20 flows of 500 connections per second, round trips of 0.24 to 0.84 s: about 11,000 connections at once, 2 Gbit/s, 25 s",
        """
goodqueue = 1
duration = "25 s"

[link.bottleneck]
rate = "2 Gbit/s"
delay = "120 ms"
buffer = "100 ms"

[[traffic]]
kind = "web"
rate = 500
flows = 20
rtt_extra = "uniform 0 ms .. 600 ms"
""",
    ),
    "bulk-1000": (
        "bulk, 1,000 flows of CUBIC, 10 Gbit/s, round trips of 50 ms, one bandwidth-delay product of buffer, 5 s",
        """
goodqueue = 1
duration = "5 s"

[link.bottleneck]
rate = "10 Gbit/s"
delay = "24.8 ms"
buffer = "1 bdp"

[[traffic]]
kind = "bulk"
flows = 1000
start = "uniform 0 s .. 1 s"
""",
    ),
}


@dataclass(frozen=True)
class Case:
    """One scenario: which table it belongs to, its name there, what it is, and its file."""

    table: str
    name: str
    about: str
    text: str


@dataclass(frozen=True)
class Result:
    """What one case took."""

    case: Case
    packets: float
    cpu_s: float
    memory_mb: float
    instructions: float | None


def controls(gq):
    """Names of the congestion controls that gq knows."""
    listed = subprocess.run([gq, "list", "cc", "--json"], check=True, stdout=subprocess.PIPE, text=True)
    return [control["name"] for control in json.loads(listed.stdout)]


def all_cases(gq):
    found = []
    for cc in controls(gq):
        queue = STEP if cc in MARKED else TAIL_DROP
        traffic = f'[[traffic]]\nkind = "bulk"\ncc = "{cc}"\nflows = 16\n{STARTS}\n'
        found.append(Case("controls", cc, "marks from 20 packets on" if cc in MARKED else "tail drop", LINE.format(queue=queue) + traffic))
    for name, (about, lines) in TRAFFIC.items():
        found.append(Case("traffic", name, about, LINE.format(queue=TAIL_DROP) + "[[traffic]]\n" + lines + "\n"))
    found.extend(Case("large", name, about, text) for name, (about, text) in LARGE.items())
    return found


def write_flow_list(folder):
    """Transfers of 100 kB that begin as a Poisson process of 100 per second."""
    draws = random.Random(1)
    now, lines = 0.0, ["start, size"]
    for _ in range(6000):
        now += draws.expovariate(100.0)
        lines.append(f"{now:.6f} s, 100 kB")
    (folder / "flows.csv").write_text("\n".join(lines) + "\n")


def run_once(gq, folder, *, before=()):
    """One run: packets, CPU seconds, peak memory in MB, and what was written to standard error."""
    command = [*before, str(gq), "run", "case.toml", "--jobs", "1", "--replications", "1", "--no-report", "--record", "nothing", "--out", "out", "--json", "-"]
    done = finish(command, folder)
    (point,) = json.loads(done.out)["points"]
    packets = point["links"]["bottleneck"]["departed_packets"]["mean"]
    return packets, done.cpu_s, done.memory_mb, done.err


def measure(case, options):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "case.toml").write_text(case.text)
        write_flow_list(folder)
        runs = [run_once(options.gq, folder)[:3] for _ in range(options.runs)]
        packets, cpu_s, memory_mb = (min(column) for column in zip(*runs, strict=True))
        instructions = None
        if options.instructions and case.table != "large":
            *_, said = run_once(options.gq, folder, before=("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"))
            instructions = float(re.search(r"Collected : (\d+)", said)[1])
    print(f"{case.name}: {packets:.0f} packets, {cpu_s:.2f} s, {memory_mb:.0f} MB", file=sys.stderr, flush=True)
    return Result(case, packets, cpu_s, memory_mb, instructions)


def rows(results, *, first):
    counted = any(result.instructions for result in results)
    heads = [first, "what", "packets:", "CPU seconds:", "million packets per CPU-second:", "memory, MB:", *["instructions per packet:"] * counted]
    lines = []
    for result in results:
        speed = result.packets / result.cpu_s / 1e6
        each = f"{result.instructions / result.packets:,.0f}" if result.instructions else ""
        cells = [f"`{result.case.name}`", result.case.about, f"{result.packets:,.0f}", f"{result.cpu_s:.2f}", f"{speed:.1f}", f"{result.memory_mb:.0f}"]
        lines.append(cells + [each] * counted)
    return table(heads, lines)


def document(results, options):
    tables = {name: [result for result in results if result.case.table == name] for name in ("controls", "traffic", "large")}
    version = subprocess.run([str(options.gq), "--version"], capture_output=True, text=True, check=True).stdout.strip()
    load = f" The machine had a load of {options.load:.1f} when this began." if options.load > 0.5 else ""
    return f"""# What controls, kinds of traffic and large worlds cost

Made by `tools/bench/cost/run.py` with {version}. Machine: {machine()}; one core, the fastest of {options.runs} runs per case.{load} Packets are those that left the
bottleneck; CPU seconds and memory are of the whole process.

Sixteen flows of each control on 100 Mbit/s and 20 ms one way with one bandwidth-delay product of buffer, 60 s:

{rows(tables["controls"], first="control")}

Each kind of traffic on the same line:

{rows(tables["traffic"], first="traffic")}

Large worlds:

{rows(tables["large"], first="world")}
"""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", metavar="LIST", help="names in the tables (default all)")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="runs of each case (default 3)")
    parser.add_argument("--instructions", action="store_true", help="count instructions, too (needs valgrind; not for large worlds)")
    parser.add_argument("--gq", type=Path, default=ROOT / "target/release/gq", metavar="FILE", help="the gq program")
    parser.add_argument("--out", type=Path, default=HERE / "results.md", metavar="FILE")
    options = parser.parse_args()
    options.gq = options.gq.resolve()
    if not options.gq.is_file():
        parser.error(f"{options.gq} is not there: cargo build --release --bin gq")
    names = [case.name for case in all_cases(options.gq)]
    options.cases = options.cases.split(",") if options.cases else names
    unknown = set(options.cases) - set(names)
    if unknown or options.runs < 1:
        parser.error(f"unknown case {', '.join(sorted(unknown))}" if unknown else "--runs is at least 1")
    options.load = os.getloadavg()[0]
    return options


def main():
    options = parse_arguments()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # inherited by every run
    cases = all_cases(options.gq)
    results = [measure(case, options) for case in cases if case.name in options.cases]
    text = document(results, options)
    print(text)
    if len(results) == len(cases):
        options.out.write_text(text)
        print(f"written to {options.out}", file=sys.stderr)


if __name__ == "__main__":
    main()
