"""The same work in other programs: simulators on one core in turn, and programs that put a line between kernels in real time."""

import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import dumbbells
import programs as peers
from process import finish
from tables import table

CASES = ["s1", "s2", "s2c", "s3", "s3-codel", "s4", "s4-reno"]
# Rates of the lines in real time, Mbit/s; seconds of each run; round-trip time.
REAL_MBIT = (100, 1000)
REAL_S = 10
REAL_RTT_MS = 20
PACKET_BYTES = 1500


class Htsim(peers.Peer):
    """htsim, of which there is no package: from a clone of its sources."""

    name = "htsim"

    binary = peers.CACHE / "htsim"

    def __init__(self, clone):
        """Compiles the library with its own optimization, without its warnings, and our program with it."""
        self.sources = clone / "sim"
        peers.CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run(["make", "-s", "-C", str(self.sources), "CFLAGS=-std=c++11 -O3", "libhtsim.a"], check=True, stdout=subprocess.DEVNULL)
        program = str(peers.HERE / "htsim.cc")
        subprocess.run(["g++", "-std=c++17", "-O3", f"-I{self.sources}", program, str(self.sources / "libhtsim.a"), "-o", str(self.binary)], check=True)

    def available(self):
        return self.binary.is_file()

    def version(self):
        said = subprocess.run(["git", "-C", str(self.sources), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
        return f"htsim {said.stdout.strip()}, its library with -O3"


def add_options(parser):
    peers.add_common_options(parser, seeds=3, out="docs/speed.md")
    parser.add_argument("--htsim", type=Path, metavar="FOLDER", help="a clone of htsim (Broadcom/csg-htsim)")
    parser.add_argument("--rattan", type=Path, metavar="FILE", help="the program of rattan (stack-rs/rattan); needs root")


def prepare(options):
    known = [peers.GoodQueue(options.gq), peers.Ns2("dumbbell"), *(ns3("dumbbell") for ns3 in peers.NS3)]
    if options.htsim:
        known.append(Htsim(options.htsim))
    programs = peers.prepare(known, options)
    if not any(isinstance(program, peers.GoodQueue) for program in programs):
        raise SystemExit(f"run.py: {options.gq} is not there (--install builds it)")
    return programs


def can(program, case):
    if isinstance(program, Htsim):
        return (case.queue, case.cc) == ("tail-drop", "reno")
    return case.queue in dumbbells.QUEUES.get(program.name, (case.queue,))


def sample(program, case, seed, seconds):
    """Packets that left the bottleneck, and CPU seconds."""
    if isinstance(program, peers.GoodQueue):
        (point,), cpu_s = program.points(case.file, seed, {"warmup": "0 s", "duration": f"{seconds:g} s"})
        return point["links"]["bottleneck"]["departed_packets"]["mean"], cpu_s
    warmup = min(case.warmup, seconds / 2)
    figures, cpu_s = program.figures(case.peer_arguments(seed, warmup, seconds - warmup))
    return figures["packets"], cpu_s


def seconds_of(program, case, options):
    """ns-3 gets a shorter run, which takes minutes all the same: its speed hardly depends on the length."""
    if options.quick:
        return 4.0
    return case.warmup + (max(5.0, case.duration / 5) if isinstance(program, peers.Ns3) else case.duration)


def simulators(programs, options):
    rows, ours = [], peers.GoodQueue.name
    for case in map(dumbbells.read_case, CASES[: 2 if options.quick else None]):
        able = [program for program in programs if can(program, case)]
        runs = {program.name: [] for program in able}
        for seed in range(1, options.seeds + 1):
            for program in able:
                print(f"{case.name}: {program.name}, seed {seed}", file=sys.stderr, flush=True)
                runs[program.name].append(sample(program, case, seed, seconds_of(program, case, options)))
        speeds = {name: statistics.median(packets / cpu_s for packets, cpu_s in found) for name, found in runs.items()}
        for name, found in runs.items():
            packets, cpu_s = (statistics.median(column) for column in zip(*found, strict=True))
            ratio = "" if name == ours else f"{speeds[ours] / speeds[name]:.1f}"
            rows.append([case.title if name == ours else "", name, f"{packets:,.0f}", f"{cpu_s:.3f}", f"{speeds[name]:,.0f}", ratio])
    return table(["case", "program", "packets:", "CPU s:", "packets per CPU-s:", "goodqueue is so many times as fast:"], rows)


def iperf(text):
    """Bytes that arrived, CPU seconds of client and server, and the length of a transfer of iperf3."""
    end = json.loads(text[text.index("{") :])["end"]
    usage, seconds = end["cpu_utilization_percent"], end["sum_received"]["seconds"]
    return end["sum_received"]["bytes"], *(usage[side] / 100 * seconds for side in ("host_total", "remote_total")), seconds


def real_time(options):
    """Lines of 20 ms between kernels, by `gq shell` and by rattan, in turn: packets, and the CPU time of the program in between."""
    client = ["iperf3", "-J", "-C", "cubic", "-t", str(2 if options.quick else REAL_S), "-c"]
    rows = []
    for mbit in REAL_MBIT[: 1 if options.quick else None]:
        # One bandwidth-delay product.
        room = round(mbit * 1e6 * REAL_RTT_MS / 1e3 / 8 / PACKET_BYTES)
        line = ["--rate", f"{mbit}mbit", "--rtt", f"{REAL_RTT_MS}ms", "--aqm", "tail-drop", "--buffer", f"{room}packets"]
        lines = {"goodqueue": [str(options.gq), "shell", *line, "--server", "iperf3 -s -1", "--", *client, "server"]}
        if options.rattan:
            half = f"{REAL_RTT_MS / 2:g}ms"
            ways = []
            for way in ("uplink", "downlink"):
                queue = json.dumps({"packet_limit": room})
                ways += [f"--{way}-bandwidth", f"{mbit}Mbps", f"--{way}-delay", half, f"--{way}-queue", "droptail", f"--{way}-queue-args", queue]
            lines["rattan"] = [str(options.rattan), "link", *ways, "--", "sh", "-c", " ".join([*client, "$RATTAN_BASE"])]
        for name, command in lines.items():
            found = [one_real(name, command) for _ in range(options.seeds)]
            goodput, nanos, share = (statistics.median(column) for column in zip(*found, strict=True))
            rows.append([f"{mbit} Mbit/s", name, f"{goodput / 1e6:.1f}", f"{nanos / 1e3:.1f}", f"{100 * share:.0f}"])
    return table(["line", "program", "goodput, Mbit/s:", "CPU us per packet of data:", "of one processor, %:"], rows)


def one_real(name, command):
    """Goodput, CPU nanoseconds of the line for each packet of data, and the share of a processor that it takes."""
    print(f"real time: {name}", file=sys.stderr, flush=True)
    os.sched_setaffinity(0, range(os.cpu_count()))
    server = subprocess.Popen(["iperf3", "-s", "-1"], stdout=subprocess.DEVNULL) if name == "rattan" else None
    done = finish(command, "/")
    received, client_s, server_s, seconds = iperf(done.out)
    # gq runs both ends itself, rattan only the client.
    line_s = done.cpu_s - client_s - (0 if server else server_s)
    if server:
        server.terminate()
        server.wait()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    return 8 * received / seconds, 1e9 * line_s / (received / 1448), line_s / seconds


def number(count, what):
    return f"one {what}" if count == 1 else f"{count} {what}s"


def section(programs, options):
    versions = peers.versions([program for program in programs if not isinstance(program, peers.GoodQueue)])
    text = f"""Simulators, in turn, median of {number(options.seeds, "seed")}; ns-3 runs a shorter time.
Cases are those of [peers.md](peers.md), where the results are compared: all programs simulate packets and TCP, but not the same TCP (htsim's has no selective acknowledgements, and its receivers acknowledge every packet).

{simulators(programs, options)}

{versions}
"""
    if os.geteuid() != 0 or not shutil.which("iperf3"):
        return text + "\nLines in real time were not measured: that needs root and iperf3."
    said = ""
    if options.rattan:
        version = subprocess.run([str(options.rattan), "--version"], capture_output=True, text=True, check=True).stdout
        said = f" and {version.split(chr(10))[0].strip()}"
    return text + f"""
Programs that put a line between two kernels in real time (`gq shell`{said}): one CUBIC flow of iperf3 for {REAL_S} s, round trips of {REAL_RTT_MS} ms, tail drop of a bandwidth-delay product, median of {number(options.seeds, "run")}.
The CPU time is that of the program without iperf3, acknowledgements included.

{real_time(options)}"""
