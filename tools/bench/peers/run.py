#!/usr/bin/env python3
"""Runs the same dumbbells in goodqueue, ns-2 and ns-3, in turn on one core, and compares speed and results.

Speed is packets that left the bottleneck in the whole run, warm-up included, per CPU-second (user + system) of the whole
process, start-up included. Each figure is the median over seeds. The scenario files s*.toml next to this script are the only
description of the cases; the peers get their parameters from them.

    run.py              all cases with the peers that are installed; writes results.md next to this script
    run.py --install    the same after installing ns-2 (Debian's package) and ns-3 (the Python wheel, in a cache folder)
    run.py --quick      one seed and short runs: a check that everything works, not a measurement
"""

import argparse
import os
import statistics
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from programs import HERE, UNITS, GoodQueue, Ns2, Ns3, Sample, add_common_options, prepare, publish, quantity

from process import machine  # noqa: E402 (programs put it in reach)

CASES = ["s1", "s2", "s2b", "s2c", "s3", "s3-codel", "s4"]
ACCESS_DELAY_S = 0.0001  # each of the four access links; goodqueue's default, and the peers' programs'
PACKET_BYTES = 1500
# Queues available in each peer.
QUEUES = {Ns2.name: ("tail-drop", "ared"), Ns3.name: ("tail-drop", "codel")}


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
        return {
            "rate": self.rate,
            "delay": self.delay,
            "limit": self.limit,
            "queue": self.queue,
            "cc": self.cc,
            "flows": self.flows,
            "warmup": warmup,
            "duration": duration,
            "seed": seed,
        }


@dataclass(frozen=True)
class Row:
    """One program's medians in one case."""

    program: str
    measured_s: float
    packets: float
    cpu_s: float
    speed: float
    utilization: float
    queue_packets: float
    loss: float


def read_case(name):
    """Reads s*.toml and rejects settings that the peers cannot follow."""
    path = HERE / f"{name}.toml"
    plan = tomllib.loads(path.read_text())
    link, (traffic,) = plan["link"]["bottleneck"], plan["traffic"]
    if traffic["start"] != "uniform 0 s .. 5 s" or traffic["ack"] != "delayed" or traffic["kind"] != "bulk":
        raise SystemExit(f"run.py: {path.name}: the peers only know bulk flows, delayed ACKs and starts within 5 s")
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


def simulate(program, case, seed, warmup, duration):
    """goodqueue's figures at the bottleneck and its CPU seconds."""
    settings = {"warmup": f"{warmup} s", "duration": f"{duration} s"}
    (point,), cpu_s = program.points(case.file, seed, settings)
    return point, cpu_s


def run_goodqueue(program, case, seed, warmup, duration):
    point, cpu_s = simulate(program, case, seed, warmup, duration)
    link, (group,) = point["links"]["bottleneck"], point["groups"].values()
    # Departures are counted after the warm-up; the same run without a warm-up counts all of them.
    everything, _ = simulate(program, case, seed, 0, warmup + duration)
    return Sample(
        packets=everything["links"]["bottleneck"]["departed_packets"]["mean"],
        cpu_s=cpu_s,
        utilization=link["utilization"]["mean"],
        queue_packets=link["queue_packets"]["mean"],
        loss=link["drop_ratio"]["mean"],
        retransmitted=group["retransmitted_ratio"]["mean"],
    )


def can_run(program, case):
    return case.queue in QUEUES.get(program.name, (case.queue,))


def measure(case, programs, options):
    """All programs that can run the case, in turn, seed by seed; one row a program."""
    samples, measured = {p.name: [] for p in programs}, {}
    for seed in range(1, options.seeds + 1):
        for program in programs:
            if not can_run(program, case):
                continue
            warmup, duration = (6.0, 4.0) if options.quick else (case.warmup, case.duration)
            if isinstance(program, Ns3) and not options.quick:
                duration = min(duration, max(5.0, options.ns3_share * duration))
            print(f"{case.name}: {program.name}, seed {seed}", file=sys.stderr, flush=True)
            measured[program.name] = duration
            if isinstance(program, GoodQueue):
                sample = run_goodqueue(program, case, seed, warmup, duration)
            else:
                sample = program.run(case.peer_arguments(seed, warmup, duration))
            samples[program.name].append(sample)
    rows = []
    for name, runs in samples.items():
        if runs:

            def median(field, runs=runs):
                return statistics.median(field(run) for run in runs)

            rows.append(
                Row(
                    program=name,
                    measured_s=measured[name],
                    packets=median(lambda s: s.packets),
                    cpu_s=median(lambda s: s.cpu_s),
                    speed=median(lambda s: s.packets / s.cpu_s),
                    utilization=median(lambda s: s.utilization),
                    queue_packets=median(lambda s: s.queue_packets),
                    loss=median(lambda s: s.loss),
                )
            )
    return rows


def table(results):
    """The results as a Markdown table."""
    lines = [
        "| case | program | measured s | packets | CPU s | packets per CPU-s | goodqueue is | utilization % | queue, packets | loss % |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for case, rows in results:
        ours = next((row.speed for row in rows if row.program == GoodQueue.name), None)
        for row in rows:
            is_peer = row.program != GoodQueue.name
            ratio = f"{ours / row.speed:.0f} × faster" if is_peer and ours else ""
            lines.append(
                f"| {case.name} | {row.program} | {row.measured_s:g} | {row.packets:.0f} | {row.cpu_s:.3f} | {row.speed:,.0f} "
                f"| {ratio} | {100 * row.utilization:.2f} | {row.queue_packets:.1f} | {100 * row.loss:.3f} |"
            )
    return "\n".join(lines)


def document(results, programs, options):
    cases = "\n".join(f"- {case.title}" for case, _ in results)
    versions = "\n".join(f"- {program.version()}" for program in programs)
    seeds = "one seed" if options.quick or options.seeds == 1 else f"median of {options.seeds} seeds"
    command = "tools/bench/peers/run.py" + (" --quick" if options.quick else "")
    return f"""# The same work in goodqueue, ns-2 and ns-3

Made by `{command}`. Machine: {machine()}; one core, the programs in turn, {seeds}. Packets are those that left the
bottleneck in the whole run, warm-up included; CPU seconds are user and system time of the whole process, start-up included.
Utilization, queue (time average of waiting packets) and loss cover the measured part. All receivers delay ACKs.

{table(results)}

Cases (1500-byte packets, access links of 1 Gbit/s and 0.1 ms, flows start within the first 5 s):

{cases}

Programs:

{versions}

Reading it: the simulators have different TCPs, so results agree in kind and not in digits. ns-3 measures a shorter part where
the column gives one; speed hardly depends on that. ns-3 counts two bytes of framing per packet as utilization.
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
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # inherited by every program below
    programs = prepare([GoodQueue(options.gq), Ns2("dumbbell"), Ns3("dumbbell")], options)
    if not programs:
        raise SystemExit("run.py: nothing to run")
    results = [(case, measure(case, programs, options)) for case in map(read_case, options.cases.split(","))]
    publish(table(results), options, lambda: document(results, programs, options))


if __name__ == "__main__":
    main()
