#!/usr/bin/env python3
"""Runs the same dumbbells in goodqueue, ns-2 and ns-3, in turn on one core, and compares speed and results.

Speed is packets that left the bottleneck in the whole run, warm-up included, per CPU-second (user + system) of the whole
process, start-up included. Each figure is the median over seeds. The scenario files s*.toml beside this script are the one
description of the cases; the peers get their parameters from them.

    run.py              all cases with the peers that are installed; writes results.md beside this script
    run.py --install    the same after installing ns-2 (Debian's package) and ns-3 (the Python wheel, in a cache folder)
    run.py --quick      one seed and short runs: a check that everything works, not a measurement
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CASES = ["s1", "s2", "s2b", "s2c", "s3", "s3-codel", "s4"]
ACCESS_DELAY_S = 0.0001  # each of the four access links; goodqueue's default, and the peers' programs'
PACKET_BYTES = 1500
NS3_VERSION = "3.44"
NS3_WHEEL = f"ns3=={NS3_VERSION}.post0"
NS3_MODULES = ["core", "network", "internet", "point-to-point", "point-to-point-layout", "traffic-control", "applications"]


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
class Sample:
    """One run of one program."""

    packets: float
    cpu_s: float
    utilisation: float
    queue_packets: float
    loss: float


@dataclass(frozen=True)
class Row:
    """One program's medians in one case."""

    program: str
    measured_s: float
    packets: float
    cpu_s: float
    speed: float
    utilisation: float
    queue_packets: float
    loss: float


def quantity(text, units):
    number, unit = text.split()
    if unit not in units:
        raise SystemExit(f"run.py: unit `{unit}` in `{text}` is not one of {', '.join(units)}")
    return float(number) * units[unit]


def read_case(name):
    """Reads s*.toml, and refuses what the peers' programs could not follow."""
    path = HERE / f"{name}.toml"
    plan = tomllib.loads(path.read_text())
    link, (traffic,) = plan["link"]["bottleneck"], plan["traffic"]
    if traffic["start"] != "uniform 0 s .. 5 s" or traffic["ack"] != "delayed" or traffic["kind"] != "bulk":
        raise SystemExit(f"run.py: {path.name}: the peers only know bulk flows, delayed ACKs and starts within 5 s")
    seconds = {"ms": 1e-3, "s": 1.0}
    rate = quantity(link["rate"], {"Mbit/s": 1e6, "Gbit/s": 1e9})
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


def run_measured(command):
    """Runs a command to its end; returns what it printed and its CPU seconds, those of its own children included."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL, cwd=ROOT)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if child.returncode != 0:
            raise SystemExit(f"run.py: {' '.join(command)} ended with {child.returncode}:\n{err.read().decode()}")
        return out.read().decode(), usage.ru_utime + usage.ru_stime


class GoodQueue:
    name = "goodqueue"

    def __init__(self, binary):
        self.binary = binary

    def available(self):
        return self.binary.is_file()

    def install(self):
        subprocess.run(["cargo", "build", "--release", "--bin", "gq"], cwd=ROOT, check=True)

    def version(self):
        return subprocess.run([str(self.binary), "--version"], capture_output=True, text=True, check=True).stdout.strip()

    def can_run(self, case):
        return True

    def simulate(self, case, seed, warmup, duration):
        """The bottleneck's figures and the CPU seconds."""
        with tempfile.TemporaryDirectory() as folder:
            command = [
                *[str(self.binary), "run", str(case.file), "--seed", str(seed), "--replications", "1", "--jobs", "1"],
                *["--set", f"warmup={warmup} s", "--set", f"duration={duration} s"],
                *["--no-report", "--record", "nothing", "--out", folder, "--json", "-"],
            ]
            text, cpu_s = run_measured(command)
        (point,) = json.loads(text)["points"]
        return point["links"]["bottleneck"], cpu_s

    def run(self, case, seed, warmup, duration):
        link, cpu_s = self.simulate(case, seed, warmup, duration)
        # Departures are counted after the warm-up; the same run without a warm-up counts all of them.
        everything, _ = self.simulate(case, seed, 0, warmup + duration)
        return Sample(
            packets=everything["departed_packets"]["mean"],
            cpu_s=cpu_s,
            utilisation=link["utilization"]["mean"],
            queue_packets=link["queue_packets"]["mean"],
            loss=link["drop_ratio"]["mean"],
        )


class Peer:
    """A simulator whose program here prints one line of JSON."""

    def run(self, case, seed, warmup, duration):
        text, cpu_s = run_measured(self.command(case.peer_arguments(seed, warmup, duration)))
        line = next(line for line in text.splitlines() if line.startswith("{"))
        return Sample(cpu_s=cpu_s, **json.loads(line))


class Ns2(Peer):
    name = "ns-2.35"

    def available(self):
        return shutil.which("ns") is not None

    def install(self):
        if os.geteuid() != 0:
            print("run.py: ns-2 is missing; install it with: apt-get install ns2", file=sys.stderr)
            return
        subprocess.run(["apt-get", "install", "-y", "-qq", "ns2"], check=True, stdout=subprocess.DEVNULL)

    def version(self):
        return "ns-2.35, Debian's package"

    def can_run(self, case):
        return case.queue in ("tail-drop", "ared")

    def command(self, arguments):
        return ["ns", str(HERE / "dumbbell.tcl"), *[f"{key}={value}" for key, value in arguments.items()]]


class Ns3(Peer):
    name = f"ns-{NS3_VERSION}"

    def __init__(self):
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "goodqueue" / "peers"
        self.venv = cache / f"ns3-{NS3_VERSION}"
        self.binary = cache / "ns3-dumbbell"

    def available(self):
        return self.binary.is_file() and self.binary.stat().st_mtime >= (HERE / "dumbbell.cc").stat().st_mtime

    def install(self):
        if not list(self.venv.glob("lib/python*/site-packages/ns3")):
            subprocess.run([sys.executable, "-m", "venv", str(self.venv)], check=True)
            subprocess.run([str(self.venv / "bin/pip"), "install", "-q", NS3_WHEEL], check=True)
        (package,) = self.venv.glob("lib/python*/site-packages/ns3")
        # The wheel was built with logs and asserts, and its headers must be read with the same switches.
        switches = ["-std=c++23", "-O2", "-DNS3_LOG_ENABLE", "-DNS3_ASSERT_ENABLE", "-DNS3_BUILD_PROFILE_RELEASE"]
        libraries = [f"-L{package}/lib64", "-Wl,--no-as-needed", f"-Wl,-rpath,{package}/lib64"]
        libraries += [f"-lns{NS3_VERSION}-{module}" for module in NS3_MODULES]
        source = [f"-I{package}/include", str(HERE / "dumbbell.cc"), "-o", str(self.binary)]
        subprocess.run(["g++", *switches, *source, *libraries], check=True)

    def version(self):
        return f"ns-{NS3_VERSION}, the Python wheel (built with logs and asserts)"

    def can_run(self, case):
        return case.queue in ("tail-drop", "codel")

    def command(self, arguments):
        return [str(self.binary), *[f"--{key}={value}" for key, value in arguments.items()]]


def measure(case, programs, options):
    """All programs that can run the case, in turn, seed by seed; one row a program."""
    samples, measured = {p.name: [] for p in programs}, {}
    for seed in range(1, options.seeds + 1):
        for program in programs:
            if not program.can_run(case):
                continue
            warmup, duration = (6.0, 4.0) if options.quick else (case.warmup, case.duration)
            if isinstance(program, Ns3) and not options.quick:
                duration = min(duration, max(5.0, options.ns3_share * duration))
            print(f"{case.name}: {program.name}, seed {seed}", file=sys.stderr, flush=True)
            measured[program.name] = duration
            samples[program.name].append(program.run(case, seed, warmup, duration))
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
                    utilisation=median(lambda s: s.utilisation),
                    queue_packets=median(lambda s: s.queue_packets),
                    loss=median(lambda s: s.loss),
                )
            )
    return rows


def table(results):
    """The results as a Markdown table."""
    lines = [
        "| case | program | measured s | packets | CPU s | packets per CPU-s | goodqueue is | utilisation % | queue, packets | loss % |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for case, rows in results:
        ours = next((row.speed for row in rows if row.program == GoodQueue.name), None)
        for row in rows:
            is_peer = row.program != GoodQueue.name
            ratio = f"{ours / row.speed:.0f} × faster" if is_peer and ours else ""
            lines.append(
                f"| {case.name} | {row.program} | {row.measured_s:g} | {row.packets:.0f} | {row.cpu_s:.3f} | {row.speed:,.0f} "
                f"| {ratio} | {100 * row.utilisation:.2f} | {row.queue_packets:.1f} | {100 * row.loss:.3f} |"
            )
    return "\n".join(lines)


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "unknown processor")
    return f"{model}, {os.cpu_count()} processors, {platform.system()} {platform.release()}"


def document(results, programs, options):
    cases = "\n".join(f"- {case.title}" for case, _ in results)
    versions = "\n".join(f"- {program.version()}" for program in programs)
    seeds = "one seed" if options.quick or options.seeds == 1 else f"median of {options.seeds} seeds"
    command = "bench/peers/run.py" + (" --quick" if options.quick else "")
    return f"""# The same work in goodqueue, ns-2 and ns-3

Made by `{command}`. Machine: {machine()}; one core, the programs in turn, {seeds}. Packets are those that left the
bottleneck in the whole run, warm-up included; CPU seconds are user and system time of the whole process, start-up included.
Utilisation, queue (time average of waiting packets) and loss cover the measured part. All receivers delay ACKs.

{table(results)}

Cases (1500-byte packets, access links of 1 Gbit/s and 0.1 ms, flows start within the first 5 s):

{cases}

Programs:

{versions}

Reading it: the simulators have different TCPs, so results agree in kind and not in digits. ns-3 measures a shorter part where
the column says so; speed hardly depends on that. ns-3 counts two bytes of framing a packet as utilisation.
"""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--install", action="store_true", help="build goodqueue and install the peers first, where missing")
    parser.add_argument("--quick", action="store_true", help="one seed and short runs; does not write results.md")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="runs of each program in each case (default 3)")
    parser.add_argument("--cases", default=",".join(CASES), metavar="LIST", help=f"of {','.join(CASES)} (default all)")
    parser.add_argument("--ns3-share", type=float, default=0.2, metavar="X", help="share of the measured part ns-3 runs (default 0.2, at least 5 s)")
    parser.add_argument("--gq", type=Path, default=ROOT / "target/release/gq", metavar="FILE", help="the gq program")
    parser.add_argument("--without", default="", metavar="LIST", help="leave out: of ns-2,ns-3")
    parser.add_argument("--out", type=Path, default=HERE / "results.md", metavar="FILE")
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
    left_out = [word for word in options.without.split(",") if word]
    programs = [p for p in (GoodQueue(options.gq), Ns2(), Ns3()) if not any(p.name.startswith(word) for word in left_out)]
    for program in programs:
        if options.install and not program.available():
            print(f"installing {program.name}", file=sys.stderr, flush=True)
            program.install()
        if not program.available():
            print(f"skipped: {program.name} is not installed (run.py --install)", file=sys.stderr)
    programs = [program for program in programs if program.available()]
    if not programs:
        raise SystemExit("run.py: nothing to run")
    results = [(case, measure(case, programs, options)) for case in map(read_case, options.cases.split(","))]
    print(table(results))
    if not options.quick:
        options.out.write_text(document(results, programs, options))
        print(f"\nwritten to {options.out}", file=sys.stderr)


if __name__ == "__main__":
    main()
