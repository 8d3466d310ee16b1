#!/usr/bin/env python3
"""Runs the same dumbbells in goodqueue, ns-2 and ns-3, in turn, and compares results. How fast the programs are is measured by
tools/bench/speed.

Each figure is the median over seeds. The scenario files s*.toml next to this script are the only description of the cases; the peers
get their parameters from them.

    dumbbells.py              all cases with the peers that are installed; writes results.md next to this script
    dumbbells.py --install    the same after installing ns-2 (Debian's package) and both versions of ns-3 (a Python wheel, and a package of
                        Debian's unstable suite, each in a cache folder)
    dumbbells.py --quick      one seed and short runs: a check that everything works, not a measurement
"""

import argparse
import statistics
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from programs import ACCESS_DELAY_S, HERE, NS3, PACKET_BYTES, UNITS, GoodQueue, Ns2, Ns3, Sample, add_common_options, prepare, publish, quantity, versions

import tables
from process import machine  # noqa: E402 (programs put it in reach)

CASES = ["s1", "s2", "s2b", "s2c", "s3", "s3-codel", "s4"]
# Queues available in each peer.
QUEUES = {Ns2.name: ("tail-drop", "ared")} | {ns3.name: ("tail-drop", "codel") for ns3 in NS3}


@dataclass(frozen=True)
class Case:
    """One dumbbell. Seconds, bit/s and packets."""

    name: str
    title: str
    file: Path
    rate: float
    delay: float
    limit: int
    queue: str
    cc: str
    flows: int
    warmup: float
    duration: float

    def peer_arguments(self, seed, warmup, duration):
        own = {key: getattr(self, key) for key in ("rate", "delay", "limit", "queue", "cc", "flows")}
        return own | {"warmup": warmup, "duration": duration, "seed": seed}


def read_case(name):
    """Reads s*.toml and rejects settings that the peers cannot follow."""
    path = HERE / f"{name}.toml"
    plan = tomllib.loads(path.read_text())
    link, (traffic,) = plan["link"]["bottleneck"], plan["traffic"]
    if traffic["start"] != "uniform 0 s .. 5 s" or traffic["ack"] != "delayed" or traffic["kind"] != "bulk":
        raise SystemExit(f"dumbbells.py: {path.name}: the peers only know bulk flows, delayed ACKs and starts within 5 s")
    seconds = UNITS["time"]
    rate = quantity(link["rate"], UNITS["rate"])
    delay = quantity(link["delay"], seconds)
    base_rtt = 2 * delay + 4 * ACCESS_DELAY_S
    per_second = rate / 8 / PACKET_BYTES
    # The peers' programs have the settings of s3.toml built in.
    queue = link["queue"] if isinstance(link["queue"], str) else link["queue"]["kind"]
    buffers = {"packets": 1.0, "ms": 1e-3 * per_second, "bdp": base_rtt * per_second}
    return Case(
        name=name,
        title=plan["name"],
        file=path,
        rate=rate,
        delay=delay,
        limit=round(quantity(link["buffer"], buffers)),
        queue=queue,
        cc=traffic["cc"],
        flows=traffic["flows"],
        warmup=quantity(plan["warmup"], seconds),
        duration=quantity(plan["duration"], seconds),
    )


def measure(case, programs, options):
    """All programs that can run the case, in turn, seed by seed: of each the measured seconds, and its samples."""
    able = [program for program in programs if case.queue in QUEUES.get(program.name, (case.queue,))]
    samples, measured = {program.name: [] for program in able}, {}
    for seed in range(1, options.seeds + 1):
        for program in able:
            warmup, duration = (6.0, 4.0) if options.quick else (case.warmup, case.duration)
            if isinstance(program, Ns3) and not options.quick:
                duration = min(duration, max(5.0, options.ns3_share * duration))
            print(f"{case.name}: {program.name}, seed {seed}", file=sys.stderr, flush=True)
            measured[program.name] = duration
            if isinstance(program, GoodQueue):
                (point,), cpu_s = program.points(case.file, seed, {"warmup": f"{warmup} s", "duration": f"{duration} s"})
                samples[program.name].append(Sample.of_point(point, cpu_s))
            else:
                samples[program.name].append(program.run(case.peer_arguments(seed, warmup, duration)))
    return {name: (measured[name], runs) for name, runs in samples.items()}


def median(runs, figure):
    return statistics.median(figure(run) for run in runs)


def table(results):
    """The medians as a Markdown table."""
    numbers = ["measured s", "utilization %", "queue, packets", "loss %"]
    rows = []
    for case, by_program in results:
        for name, (measured_s, runs) in by_program.items():
            rows.append([
                case.name, name, f"{measured_s:g}", f"{100 * median(runs, lambda run: run.utilization):.2f}",
                f"{median(runs, lambda run: run.queue_packets):.1f}", f"{100 * median(runs, lambda run: run.loss):.3f}",
            ])
    return tables.table(["case", "program", *(f"{number}:" for number in numbers)], rows)


def document(results, programs, options):
    cases = "\n".join(f"- {case.title}" for case, _ in results)
    seeds = "one seed" if options.quick or options.seeds == 1 else f"median of {options.seeds} seeds"
    command = "tools/bench/peers/dumbbells.py" + (" --quick" if options.quick else "")
    return f"""# The same work in goodqueue, ns-2 and ns-3

Made by `{command}`. Machine: {machine()}; {seeds}.
Utilization, queue (time average of waiting packets) and loss cover the measured part. All receivers delay ACKs.

{table(results)}

Cases (1500-byte packets, access links of 1 Gbit/s and 0.1 ms, flows start within the first 5 s):

{cases}

Programs:

{versions(programs)}

Reading it: the simulators have different TCPs, so results agree in kind and not in digits. ns-3 measures a shorter part where
the column gives one. ns-3 counts two bytes of framing per packet as utilization.
"""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_common_options(parser, seeds=3, out="results.md")
    parser.add_argument("--cases", default=",".join(CASES), metavar="LIST", help=f"of {','.join(CASES)} (default all)")
    parser.add_argument("--ns3-share", type=float, default=0.2, metavar="X", help="share of the measured part ns-3 runs (default 0.2, at least 5 s)")
    options = parser.parse_args()
    unknown = set(options.cases.split(",")) - set(CASES)
    if unknown or options.seeds < 1 or not 0 < options.ns3_share <= 1:
        parser.error(f"unknown case {', '.join(unknown)}" if unknown else "--seeds is at least 1, --ns3-share within 0 and 1")
    if options.quick:
        options.seeds = 1
    return options


def main():
    options = parse_arguments()
    programs = prepare([GoodQueue(options.gq), Ns2("dumbbell"), *(ns3("dumbbell") for ns3 in NS3)], options)
    results = [(case, measure(case, programs, options)) for case in map(read_case, options.cases.split(","))]
    publish(table(results), options, lambda: document(results, programs, options))


if __name__ == "__main__":
    main()
