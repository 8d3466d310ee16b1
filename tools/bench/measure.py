#!/usr/bin/env python3
"""Writes docs/evidence/YEAR-MONTH-measure.md: gq measure over lines whose rates and delays are known.

measure.py [GQ] [--seconds N] [--replications N] [--again]

Client and server are in network namespaces of their own, with gq bridge between them; needs root. The rates are those that the
bridge was given. The delays of each probe are known by the kernel: it stamps every probe when it leaves one end and arrives at
the other. Results are kept in out/measure, so that an interrupted run resumes; --again starts over.
"""

import argparse
import ctypes
import json
import math
import os
import secrets
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from process import machine
from tables import table

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "out/measure"
NAMES = {"client": "gqm-client", "line": "gqm-line", "server": "gqm-server"}
# Rates in Mbit/s, RTT and buffer in ms.
LINES = [(20, 2, 40, 300), (100, 20, 30, 200), (300, 30, 20, 100)]
QUEUES = ["tail-drop", "cake"]
PORT = 8018
# Bounds on the errors: of rates; of delays in s, and as a share of the delay.
RATE, DELAY_S, DELAY = 0.02, 1e-3, 0.05


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def inside(end, *words):
    return ["ip", "netns", "exec", NAMES[end], *words]


def build():
    clear()
    for name in NAMES.values():
        ip("netns", "add", name)
    for number, end in enumerate(["client", "server"], 1):
        ip("link", "add", "gqm0", "netns", NAMES[end], "type", "veth", "peer", "name", f"gqm-{end[0]}", "netns", NAMES["line"])
        ip("-n", NAMES["line"], "link", "set", f"gqm-{end[0]}", "up")
        for address in [f"10.77.0.{number}/24", f"fd77::{number}/64"]:
            ip("-n", NAMES[end], "address", "add", address, "dev", "gqm0", *(["nodad"] if ":" in address else []))
        ip("-n", NAMES[end], "link", "set", "gqm0", "up")


def clear():
    for name in NAMES.values():
        subprocess.run(["ip", "netns", "del", name], check=False, stderr=subprocess.DEVNULL)


def filter_datagrams(sniffer):
    """Keeps all but UDP over IPv4 and IPv6 from the socket (classic BPF)."""
    program = [(0x28, 0, 0, 12), (0x15, 0, 2, 0x86DD), (0x30, 0, 0, 20), (0x15, 2, 3, 17), (0x30, 0, 0, 23), (0x15, 0, 1, 17), (6, 0, 0, 256), (6, 0, 0, 0)]
    code = b"".join(struct.pack("HBBI", *step) for step in program)
    held = ctypes.create_string_buffer(code)
    sniffer.setsockopt(socket.SOL_SOCKET, 26, struct.pack("HL", len(program), ctypes.addressof(held)))


def sniff(path):
    """Writes number, kind and time of each probe that passes the interface of this namespace, until it is ended."""
    seen = []
    signal.signal(signal.SIGTERM, lambda *_: (Path(path).write_text(json.dumps(seen)), os._exit(0)))
    sniffer = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    filter_datagrams(sniffer)
    sniffer.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
    sniffer.bind(("gqm0", 0))
    while True:
        frame, control, _, _ = sniffer.recvmsg(256, 64)
        start = 14 + (40 if frame[12:14] == b"\x86\xdd" else 20) + 8
        probe = frame[start : start + 64]
        if probe[:4] == b"gqm1" and control:
            seconds, nanos = struct.unpack("qq", control[0][2][:16])
            number, received = struct.unpack(">Q", probe[16:24])[0], struct.unpack(">Q", probe[24:32])[0]
            seen.append((number, "answer" if received else "probe", seconds + nanos / 1e9))


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, math.ceil(share * len(ordered)) - 1))]


def truth(client, server):
    """One-way delays by number, and when each probe was sent, since the first."""
    at = {(side, kind, number): when for side, seen in (("client", client), ("server", server)) for number, kind, when in seen}
    begin = min(when for (side, kind, _), when in at.items() if (side, kind) == ("client", "probe"))
    known = {}
    for side, kind, number in list(at):
        keys = [("client", "probe", number), ("server", "probe", number), ("server", "answer", number), ("client", "answer", number)]
        if all(key in at for key in keys):
            sent, there, answered, back = (at[key] for key in keys)
            known[number] = (sent - begin, there - sent, back - answered)
    return known.values()


def once(gq, line, queue, number, seconds):
    down, up, rtt, buffer = line
    folder = KEPT / f"{down}-{up}-{queue}-{number}"
    if (folder / "result.json").exists():
        return json.loads((folder / "result.json").read_text())
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    build()
    server = "fd77::2" if number % 3 == 0 else "10.77.0.2"
    key = secrets.token_hex(32)
    (folder / "key").write_text(key)
    log = (folder / "log").open("w")
    own = lambda end, *words: subprocess.Popen(inside(end, *words), stdout=log, stderr=log)  # noqa: E731
    bridge = ["bridge", "--in", "gqm-s", "--out", "gqm-c", "--rate", f"{down}mbit", "--rate-up", f"{up}mbit", "--delay", f"{rtt / 2}ms"]
    started = [own("line", gq, *bridge, "--aqm", queue, "--buffer", f"{buffer}ms", "--overhead", "0B")]
    for end in ["client", "server"]:
        started.append(own(end, sys.executable, "-B", __file__, "--sniff", str(folder / end)))
    listen = f"[{server}]:{PORT}" if ":" in server else f"{server}:{PORT}"
    started.append(own("server", gq, "measure", "serve", "--listen", listen, "--key", f"@{folder}/key"))
    time.sleep(2)
    load = os.getloadavg()[0]
    measure = ["measure", "--server", listen, "--key", f"@{folder}/key", "--seconds", str(seconds), "--json", str(folder / "measurement.json")]
    ended = subprocess.run(inside("client", gq, *measure), stdout=log, stderr=log, check=False)
    for process in started[::-1]:
        process.terminate()
        process.wait()
    clear()
    if ended.returncode:
        raise SystemExit(f"measure.py: gq measure ended with {ended.returncode}: {(folder / 'log').read_text()[-2000:]}")
    result = compare(line, folder, load)
    (folder / "result.json").write_text(json.dumps(result))
    return result


def compare(line, folder, load):
    """Errors of a measurement, and the figures they are of."""
    got = json.loads((folder / "measurement.json").read_text())
    known = list(truth(*(json.loads((folder / end).read_text()) for end in ["client", "server"])))
    windows = {"idle": (0, 5, got["idle"])} | {way: (got[way]["from_s"], got[way]["from_s"] + got[way]["seconds"], got[way]["loaded"]) for way in ["down", "up"]}
    result = {"load": load, "family": got["family"], "rates": {}, "delays": {}}
    for way, rate in zip(["down", "up"], line, strict=False):
        result["rates"][way] = (got[way]["line_rate_bit_s"]["mean"] / 1e6, rate)
    for name, (begin, end, delays) in windows.items():
        within = [(up, down) for sent, up, down in known if begin <= sent < end]
        result["delays"][name] = (delays["rtt_s"]["p95"], quantile([up + down for up, down in within], 0.95))
        if name != "idle":
            one_way = quantile([pair[name == "down"] for pair in within], 0.95)
            result["delays"][f"{name}, one way"] = (delays[f"{name}_s"]["p95"], one_way)
    return result


def holds(got, known, is_rate):
    bound = RATE * known if is_rate else max(DELAY_S, DELAY * known)
    return abs(got - known) <= bound


def rows(results):
    missed = []
    for (line, queue, number), result in results.items():
        cells = [f"{line[0]}/{line[1]}, {line[2]}, {line[3]}", queue, f"{number} ({result['family'].replace('ip', 'IP')})"]
        for is_rate, figures, scale in [(True, result["rates"], 1), (False, result["delays"], 1e3)]:
            for got, known in figures.values():
                mark = "" if holds(got, known, is_rate) else " **✗**"
                missed += [is_rate] * bool(mark)
                digits = 2 if is_rate else 1
                cells.append(f"{got * scale:.{digits}f} / {known * scale:.{digits}f}{mark}")
        yield [*cells, f"{result['load']:.1f}"], missed


def page(results, seconds, version):
    heads = ["line: Mbit/s down/up, RTT and buffer in ms", "queue", "run", "down, Mbit/s", "up, Mbit/s", "idle p95, ms"]
    heads += ["downloading p95, ms", "one way down p95, ms", "uploading p95, ms", "one way up p95, ms", "load"]
    all_rows = list(rows(results))
    missed = all_rows[-1][1]
    rates, delays = 2 * len(results), 5 * len(results)
    month = datetime.now(UTC)
    return f"""# What gq measure finds on known lines, {month:%B %Y}

This page is a record, as of {month.day} {month:%B %Y}, and is not edited again; a later measurement gets a page of its own.
It compares [`gq measure`](../measure.md) with what is known of a line.
`tools/bench/measure.py` makes such a page.

Client and server are in network namespaces of one machine, with `gq bridge` between them; each direction takes at most {seconds} s.
Rates are bit/s of IP, and known because the bridge was given them.
Delays of each probe are known from the kernel's time stamps at both ends; the table has 95th percentiles of the round trip, and of the loaded direction.
In each cell the first figure is that of `gq measure`, the second is known.
The load average of the machine, which others used at the same time, is that before the run.
{version}; {machine()}.

{table(heads, [cells for cells, _ in all_rows])}

{rates - sum(missed)} of {rates} rates are within 2 %, and {delays - missed.count(False)} of {delays} delays within 1 ms or 5 %; the others are marked.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("gq", nargs="?", default=str(ROOT / "target/release/gq"))
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--replications", type=int, default=3)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--sniff", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.sniff:
        return sniff(options.sniff)
    if options.again:
        shutil.rmtree(KEPT, ignore_errors=True)
    gq = str(Path(options.gq).resolve())
    cases = [(line, queue, number) for number in range(1, options.replications + 1) for line in LINES for queue in QUEUES]
    results = {case: once(gq, *case, options.seconds) for case in cases}
    results = dict(sorted(results.items(), key=lambda item: (item[0][0], QUEUES.index(item[0][1]), item[0][2])))
    version = subprocess.run([gq, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    path = ROOT / f"docs/evidence/{datetime.now(UTC):%Y-%m}-measure.md"
    path.write_text(page(results, options.seconds, version))
    print(path)
    return None


if __name__ == "__main__":
    main()
