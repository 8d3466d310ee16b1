#!/usr/bin/env python3
"""Runs one flow of each congestion control alone on a line, in goodqueue, ns-2, ns-3 and with the senders of a real kernel.

The scenario files controls*.toml next to this script are the only description; the peers get their parameters from them. Each
figure is the median over seeds with the smallest and the largest one; ns-3, whose runs differ only by when the flow starts and take most of the
time, runs with one seed unless --ns3-seeds says otherwise. Kernel senders (`gq run --on linux`, needs `make linux`)
run with one seed unless --kernel-seeds says otherwise.

    controls.py             all controls with the programs that are installed; writes controls.md next to this script
    controls.py --install   the same after installing ns-2 and ns-3, as dumbbells.py does
    controls.py --quick     one seed and short runs: a check that everything works, not a measurement
"""

import argparse
import itertools
import statistics
import subprocess
import sys
import tomllib
from dataclasses import dataclass

from programs import ACCESS_DELAY_S, HERE, NS3, PACKET_BYTES, UNITS, GoodQueue, Ns2, Ns3, Ns3Wheel, Sample, add_common_options, prepare, publish, quantity, versions

from tables import table  # noqa: E402 (programs put it in reach)

FILES = ["controls.toml", "controls-dctcp.toml"]
# Defaults of goodqueue, passed to the peers.
DEFAULTS = {"initial_window": 10, "ack_delay": 0.04}


class Ns3Classic(Ns3Wheel):
    """ns-3 with the recovery it had before proportional rate reduction became its default."""

    name = f"{Ns3Wheel.name}, classic recovery"

    def command(self, arguments):
        return [*super().command(arguments), "--ns3::TcpL4Protocol::RecoveryType=ns3::TcpClassicRecovery"]


# Names of the controls in each program.
CONTROLS = {
    Ns2.name: {"reno": "linux-reno", "cubic": "cubic", "htcp": "htcp", "compound": "compound"},
}
NS3_CONTROLS = {"reno": "linux-reno", "cubic": "cubic", "htcp": "htcp", "bbr": "bbr", "ledbat": "ledbat", "dctcp": "dctcp"}
CONTROLS |= {ns3.name: NS3_CONTROLS for ns3 in NS3}
CONTROLS[Ns3Classic.name] = {"reno": "linux-reno", "cubic": "cubic", "htcp": "htcp"}
KERNEL = "Linux 6.12"
KERNEL_CONTROLS = ["reno", "cubic", "htcp", "bbr", "dctcp"]
# Figures, their factor and number of digits in the table.
FIGURES = {"utilization": (100, 2), "queue_packets": (1, 2), "loss": (100, 4), "retransmitted": (100, 4)}
# How far goodqueue may be outside the span of the others before a row reports it.
MARGIN = 0.05


@dataclass(frozen=True)
class Point:
    """One control on one line. Seconds, bit/s and packets."""

    cc: str
    rate: float
    delay: float
    limit: int
    mark_from: int
    settings: tuple

    @property
    def rtt(self):
        return 2 * self.delay + 4 * ACCESS_DELAY_S

    @property
    def place(self):
        """Where the flow runs, for the table: what can wait, or from where packets are marked."""
        packets = self.mark_from or self.limit
        share = packets * PACKET_BYTES * 8 / self.rate / self.rtt
        nearest = min((0.25, 1, 4), key=lambda known: abs(known - share))
        return f"{1000 * self.rtt:.0f} ms", f"{nearest:g} BDP ({packets})"

    def peer_arguments(self, cc, seed, warmup, duration):
        arguments = {
            "rate": self.rate,
            "delay": self.delay,
            "limit": self.limit,
            "queue": "step" if self.mark_from else "tail-drop",
            "cc": cc,
            "flows": 1,
            "warmup": warmup,
            "duration": duration,
            "seed": seed,
        }
        return arguments | DEFAULTS | ({"mark_from": self.mark_from} if self.mark_from else {})


def read_points(name):
    """All points of a scenario file; settings that the peers cannot follow are rejected."""
    plan = tomllib.loads((HERE / name).read_text())
    (traffic,), sweep = plan["traffic"], plan["sweep"]
    known = {"kind": "bulk", "start": "uniform 0 s .. 5 s", "ack": "delayed", "cc": traffic["cc"]}
    if traffic != known:
        raise SystemExit(f"controls.py: {name}: the peers only know one bulk flow with delayed ACKs that starts within 5 s")
    if isinstance(sweep, list):
        settings = sweep
    else:
        settings = [dict(zip(sweep, values, strict=True)) for values in itertools.product(*sweep.values())]
    return plan, [read_point(name, plan, values) for values in settings]


def read_point(name, plan, settings):
    link = dict(plan["link"]["bottleneck"])
    link |= {key.removeprefix("link.bottleneck."): value for key, value in settings.items() if key.startswith("link.")}
    rate = quantity(link["rate"], UNITS["rate"])
    delay = quantity(link["delay"], UNITS["time"])
    bdp = rate * (2 * delay + 4 * ACCESS_DELAY_S) / 8 / PACKET_BYTES
    queue, mark_from = link["queue"], 0
    if queue != "tail-drop":
        step = dict(queue)
        thresholds = {step.pop("min_th"), step.pop("max_th")}
        if step != {"kind": "red", "w_q": 1, "gentle": False, "ecn": True, "use_mark_p": False} or len(thresholds) != 1:
            raise SystemExit(f"controls.py: {name}: the peers only know tail drop and RED as a step that marks")
        mark_from = round(quantity(thresholds.pop(), {"packets": 1.0}))
    return Point(
        cc=settings.get("traffic.0.cc", plan["traffic"][0]["cc"]),
        rate=rate,
        delay=delay,
        # A buffer in bytes holds only whole packets.
        limit=int(quantity(link["buffer"], {"packets": 1.0, "bdp": bdp}) + 1e-9),
        mark_from=mark_from,
        settings=tuple(sorted((key, str(value)) for key, value in settings.items())),
    )


def run_goodqueue(program, name, points, seed, times, *, on=()):
    """All points of a file in one run; or, for the kernel, those of the controls it has."""
    settings = {"warmup": f"{times[0]} s", "duration": f"{times[1]} s"}
    found = {}
    controls = sorted({point.cc for point in points})
    for cc in controls if on else [None]:
        wanted = [point for point in points if cc in (None, point.cc)]
        more = {"traffic.0.cc": cc} if cc else {}
        print(f"{name}: {'kernel senders, ' + cc if on else program.name}, seed {seed}", file=sys.stderr, flush=True)
        results, cpu_s = program.points(HERE / name, seed, settings | more, on=on)
        if len(results) != len(wanted):
            raise SystemExit(f"controls.py: {name}: {len(results)} points came back for {len(wanted)}")
        found |= {point: Sample.of_point(result, cpu_s / len(results)) for point, result in zip(wanted, results, strict=True)}
    return found


def measure(name, programs, options):
    """Samples of each point: a list of them for each program that has the control."""
    plan, points = read_points(name)
    points = [point for point in points if point.cc in options.controls]
    times = (6.0, 10.0) if options.quick else tuple(quantity(plan[key], UNITS["time"]) for key in ("warmup", "duration"))
    samples = {point: {} for point in points}
    if not points:
        return samples
    for program in programs:
        for seed in range(1, (options.ns3_seeds if isinstance(program, Ns3) else options.seeds) + 1):
            if isinstance(program, GoodQueue):
                _, everything = read_points(name)
                for point, sample in run_goodqueue(program, name, everything, seed, times).items():
                    if point in samples:
                        samples[point].setdefault(program.name, []).append(sample)
                continue
            known = CONTROLS[program.name]
            for point in points:
                if point.cc in known:
                    print(f"{name}: {program.name}, {point.cc} {' '.join(point.place)}, seed {seed}", file=sys.stderr, flush=True)
                    sample = program.run(point.peer_arguments(known[point.cc], seed, *times))
                    samples[point].setdefault(program.name, []).append(sample)
    gq = next((program for program in programs if isinstance(program, GoodQueue)), None)
    known = [point for point in points if point.cc in KERNEL_CONTROLS]
    for seed in range(1, options.kernel_seeds + 1):
        if gq and known:
            for point, sample in run_goodqueue(gq, name, known, seed, times, on=("--on", "linux")).items():
                samples[point].setdefault(KERNEL, []).append(sample)
    return samples


def cell(samples, figure):
    factor, digits = FIGURES[figure]
    values = sorted(factor * getattr(sample, figure) for sample in samples)
    middle = f"{statistics.median(values):.{digits}f}"
    if f"{values[0]:.{digits}f}" == f"{values[-1]:.{digits}f}":
        return middle
    return f"{middle} ({values[0]:.{digits}f} to {values[-1]:.{digits}f})"


def outside(ours, others):
    """The figures in which our median is outside the span of the others' runs, widened by the margin."""
    found = []
    for figure in FIGURES:
        values = [getattr(sample, figure) for sample in others]
        own = [getattr(sample, figure) for sample in ours]
        low, high = min(values), max(values)
        # With a single other program its spread is not enough: ours is added to it.
        spread = (max(own) - min(own)) / 2
        middle = statistics.median(own)
        if not low * (1 - MARGIN) - spread <= middle <= high * (1 + MARGIN) + spread:
            found.append(figure.replace("_packets", ""))
    return ", ".join(found) or "none"


def rows(samples):
    """Markdown rows: programs below one another, for each control and line."""
    figures = ["utilization %:", "mean queue, packets:", "loss %:", "retransmitted %:"]
    heads = ["control", "RTT:", "buffer (packets):", "program", *figures, "ours outside the peers' span", "outside the kernel's"]
    lines = []
    for point, by_program in samples.items():
        ours = by_program.get(GoodQueue.name)
        for name, runs in by_program.items():
            verdicts = ["", ""]
            if name == GoodQueue.name:
                peers = [sample for peer in (Ns2, *NS3) for sample in by_program.get(peer.name, [])]
                verdicts = [outside(ours, peers) if peers else "no peer", outside(ours, by_program[KERNEL]) if KERNEL in by_program else "not run"]
            lines.append([point.cc, *point.place, name, *(cell(runs, figure) for figure in FIGURES), *verdicts])
    return table(heads, lines)


def document(results, programs, options):
    kernel = f"; ns-3: {options.ns3_seeds}" + (f"; kernel senders: {options.kernel_seeds}" if options.kernel_seeds else "")
    return f"""# One flow of each control in goodqueue, ns-2, ns-3 and Linux

Made by `tools/bench/peers/controls.py --kernel-seeds {options.kernel_seeds}`. One flow on 10 Mbit/s; packets of 1500 bytes; initial windows of ten; acknowledgements of
every second packet, delayed by at most 40 ms; 60 s of warm-up, 300 s measured. Seeds: {options.seeds}{kernel}. Figures are medians, with the smallest and
the largest where they differ. For `dctcp` the number is the threshold from which every packet is marked, not the buffer.

*Outside*: goodqueue's median is beyond what the others' runs span, widened by {100 * MARGIN:.0f} % of their ends and half of its own spread; *classic
recovery* is not among them. What the differences come from is in `docs/peers.md`.

{rows(results)}

Programs:

{versions(programs)}
- {KERNEL}: senders and receivers of that kernel behind goodqueue's queues, `gq run --on linux`
"""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_common_options(parser, seeds=3, out="controls.md")
    every = [point.cc for name in FILES for point in read_points(name)[1]]
    parser.add_argument("--controls", default=",".join(dict.fromkeys(every)), metavar="LIST", help="which ones (default all)")
    parser.add_argument("--ns3-seeds", type=int, default=1, metavar="N", help="runs of ns-3 in each case (default 1)")
    parser.add_argument("--kernel-seeds", type=int, default=None, metavar="N", help="runs of kernel senders (default 1 where the guest kernel is built)")
    options = parser.parse_args()
    options.controls = options.controls.split(",")
    unknown = set(options.controls) - set(every)
    if unknown or options.seeds < 1:
        parser.error(f"unknown control {', '.join(unknown)}" if unknown else "--seeds is at least 1")
    if options.kernel_seeds is None:
        options.kernel_seeds = int(kernel_is_built(options.gq))
    if options.quick:
        options.seeds = options.ns3_seeds = 1
    return options


def kernel_is_built(gq):
    """Whether this machine can run kernel senders: `gq` refuses a scenario for them with exit code 2 otherwise."""
    if not gq.is_file():
        return False
    command = [str(gq), "run", str(HERE / "s2b.toml"), "--on", "linux", "--set", "warmup=0 s", "--set", "duration=0.1 s", "--no-report", "--json", "-"]
    return subprocess.run([*command, "--record", "nothing"], capture_output=True, check=False).returncode == 0


def main():
    options = parse_arguments()
    programs = prepare([GoodQueue(options.gq), Ns2("dumbbell"), *(ns3("dumbbell") for ns3 in (*NS3, Ns3Classic))], options)
    results = {}
    for name in FILES:
        results |= measure(name, programs, options)
    order = list(dict.fromkeys(point.cc for point in results))
    results = dict(sorted(results.items(), key=lambda item: order.index(item[0].cc)))
    publish(rows(results), options, lambda: document(results, programs, options))


if __name__ == "__main__":
    main()
