"""Makes packed vectors of recordings of Linux queue disciplines: convert.py FOLDER SERIES, for all of RECORDINGS below; series 6.12 or 7.3.

A recording is text, a line for each thing that happened in the discipline, in order: `+ TIME LENGTH FLOW CODEPOINT HASH HASH DRAWS` an arrival, for an
acknowledgement with its number, echoed time stamp, congestion echo and three SACK ranges behind it, packets being numbered from 0; `- NUMBER` and `! NUMBER`
a packet dropped or marked during the arrival or request before; `? TIME QUEUE` a request, of a transmit queue; `> NUMBER` the packet it gave; `~ TIME` a timer set; `* TIME` the
discipline was made. Times in ns of the kernel's clock. README.md says how recordings are made, docs/conformance.md what the packed form means.
"""

import json
import pathlib
import string
import sys

import classes
import flows

HERE = pathlib.Path(__file__).resolve().parent
FOLDERS = {"6.12": HERE, "7.3": HERE.parent / "linux-7.3"}
UNIT = 256  # the recording kernel's clock moves in steps of so many ns
LINE = 160
DIGITS = string.digits + string.ascii_lowercase
MS = 1_000_000


def link(limit_packets, limit_bytes=10**9):
    return {"rate": 10_000_000, "delay": 0, "mtu": 1514, "overhead": 0, "limit_packets": limit_packets, "limit_bytes": limit_bytes}


ARRIVAL = {"drop_on_arrival": "early", "mark_on_arrival": "early"}
HEAD = {"drop_on_arrival": "overflow", "on_departure": "head"}

# tbf takes a packet out of codel, fq_codel, pie, fq_pie and cake when the one before ends and holds
# it ready, still counted by the discipline, so that one place less is left.
CODEL = {"kind": "codel", "params": {"arithmetic": "linux"}, "link": link(999), "reasons": HEAD}
FQ_CODEL = {"kind": "fq-codel", "ecn": True, "link": link(10_239), "reasons": HEAD}
# Asked for 15 ms, this kernel's timer fires every 16: it is set again, in whole jiffies of 1 ms,
# after it has fired.
PIE = {"kind": "pie", "params": {"arithmetic": "linux", "t_update": 16 * MS}, "timer": 16 * MS, "link": link(999), "seed": 1, "reasons": ARRIVAL}
FQ_PIE = {**PIE, "kind": "fq-pie", "params": {**PIE["params"], "header": 0}, "link": link(10_239)}
RED = {"kind": "red", "link": link(10**9, 400_000), "seed": 1, "reasons": ARRIVAL,
       "params": {"arithmetic": "linux", "min_th": 15000, "max_th": 45000, "max_p": 0.1, "w_q": 0.125}}
CHOKE = {"kind": "choke", "link": link(4000), "seed": 1,
         "params": {"arithmetic": "linux", "min_th": {"packets": 30}, "max_th": {"packets": 90}, "max_p": 0.02, "w_q": 0.0625}}
SFB = {"kind": "sfb", "link": link(1000), "seed": 1, "ecn": True, "salted": True,
       "params": {"arithmetic": "linux"}}
CAKE = {"kind": "cake", "link": {**link(10**6), "rate": None}, "seed": 1, "ecn": True}
CAKE_FLOWS = {"arithmetic": "linux", "isolation": "flows", "tins": "besteffort"}
CAKE_SHAPED = {**CAKE, "shaped": True, "operations": 9_000}
CAKE_MQ = {**CAKE, "kind": "cake-mq", "operations": 9_000, "params": {"arithmetic": "linux", "isolation": "flows", "queues": 4}}
DUALPI2 = {"kind": "dualpi2", "params": {"arithmetic": "linux"}, "timer": 16 * MS, "link": link(9_999), "seed": 1, "ecn": True}
# Classes stand with the recording. Their times begin where the kernel's clock stood.
HTB = {"kind": "htb", "params": {"header": 0}, "ecn": False, "link": {**link(1000), "rate": None}, "operations": 9_000, "reasons": {"drop_on_arrival": "overflow"}}
# What is packed says nothing of acknowledgements: these are written out.
CAKE_ACKS = {**CAKE, "acks": True, "operations": 700}

RECORDINGS = {
    "codel-drops": {**CODEL, "ecn": False},
    "codel-marks": {**CODEL, "ecn": True},
    "fq-codel-1-flow": {**FQ_CODEL, "params": {"arithmetic": "linux", "header": 0, "flows": 1}},
    "fq-codel-8-flows": {**FQ_CODEL, "params": {"arithmetic": "linux", "header": 0}},
    "pie-drops": {**PIE, "ecn": False},
    "pie-marks": {**PIE, "ecn": True},
    "fq-pie-1-flow": {**FQ_PIE, "ecn": False},
    "fq-pie-8-flows": {**FQ_PIE, "ecn": False},
    "fq-pie-marks": {**FQ_PIE, "ecn": True},
    "red-drops": {**RED, "ecn": False},
    # What finds no room finds none however it was judged.
    "red-marks": {**RED, "ecn": True, "reasons": {**ARRIVAL, "drop_on_arrival": "overflow"}},
    "choke-drops": {**CHOKE, "ecn": False},
    "choke-marks": {**CHOKE, "ecn": True},
    "sfb-drops": SFB,
    "sfb-marks": SFB,
    "sfb-rehash": {**SFB, "params": {**SFB["params"], "rehash": 5000 * MS, "warmup": 2000 * MS}},
    "cake-flows": {**CAKE, "params": CAKE_FLOWS},
    "cake-hosts": {**CAKE, "params": {"arithmetic": "linux", "isolation": "triple-isolate", "tins": "besteffort"}},
    "cake-tins": {**CAKE, "params": {"arithmetic": "linux", "isolation": "triple-isolate", "tins": "diffserv3"}},
    "cake-marks": {**CAKE, "params": {"arithmetic": "linux", "isolation": "dual-srchost", "tins": "diffserv4"}},
    # tbf asks at half the rate of its shaper, which so hardly ever holds a packet back; but quantum
    # and COBALT's target follow that rate.
    "cake-rate": {**CAKE, "shaped": True, "operations": 9_000,
                  "params": {"arithmetic": "linux", "rate": 20_000_000, "isolation": "triple-isolate", "tins": "besteffort"}},
    # Slower than tbf, so that the shaper has the last word.
    "cake-shaped": {**CAKE_SHAPED, "params": {"arithmetic": "linux", "rate": 8_000_000, "tins": "diffserv4"}},
    # Told of framing, cake counts from the IP packet on: 30 bytes, of which 14 are in the recorded
    # length.
    "cake-framing": {**CAKE_SHAPED, "params": {"arithmetic": "linux", "rate": 8_000_000, "tins": "besteffort", "overhead": 16, "cells": "ptm"}},
    "cake-ingress": {**CAKE_SHAPED, "params": {"arithmetic": "linux", "rate": 8_000_000, "tins": "besteffort", "ingress": True}},
    # Its limit counts the kernel's buffers, which for these frames have 2304 bytes each.
    "cake-limit": {**CAKE, "operations": 13_000, "link": {**link(345_600 // 2304), "rate": None}, "reasons": {"drop_on_arrival": "over-limit"},
                   "params": {"arithmetic": "linux", "isolation": "flowblind", "tins": "besteffort"}},
    "cake-mq-flows": {**CAKE_MQ, "params": {**CAKE_MQ["params"], "rate": 8_000_000, "tins": "besteffort"}},
    "cake-mq-tins": {**CAKE_MQ, "params": {**CAKE_MQ["params"], "rate": 6_000_000, "tins": "diffserv4"}},
    "cake-mq-bursts": {**CAKE_MQ, "params": {**CAKE_MQ["params"], "rate": 4_000_000, "tins": "besteffort"}},
    "cake-acks": {**CAKE_ACKS, "params": {**CAKE_FLOWS, "ack_filter": "on"}},
    "cake-acks-aggressive": {**CAKE_ACKS, "params": {**CAKE_FLOWS, "ack_filter": "aggressive"}},
    # Signals of a packet may have two reasons.
    "dualpi2-classic": DUALPI2,
    "dualpi2-l4s": DUALPI2,
    "dualpi2-both": DUALPI2,
    "htb-borrowing": HTB,
    "htb-priorities": HTB,
    "htb-tree": HTB,
    "htb-quantum": {**HTB, "params": {**HTB["params"], "r2q": 100}},
    "htb-bursts": {**HTB, "params": {**HTB["params"], "direct": 5}},
    "htb-limits": {**HTB, "ecn": True},
    "tail-drop": {"kind": "tail-drop", "params": {}, "ecn": False, "link": link(100)},
}


class Operation:
    """An operation of the host, with the discipline's answer: time, `+`, `?` or `~`, packet's number or nothing, events as sign and number."""

    def __init__(self, time, what, packet=None, queue=0):
        self.time, self.what, self.packet, self.queue, self.events = time, what, packet, queue, []


def read(path):
    """Packets as (length, flow, codepoint, hashes), and operations."""
    packets, operations, timers, made = [], [], [], 0
    for line in path.read_text().splitlines():
        sign, *words = line.split()
        numbers = [int(word) for word in words]
        if sign == "*":
            made = numbers[0]
        elif sign == "+":
            operations.append(Operation(numbers[0], "+", len(packets)))
            packets.append((numbers[1], numbers[2], numbers[3], numbers[4:]))
        elif sign == "?":
            operations.append(Operation(numbers[0], "?", queue=numbers[1]))
        elif sign == "~":
            timers.append((numbers[0], len(operations)))
        else:
            events = operations[-1].events
            if sign == "-" and ("!", numbers[0]) in events:
                # It was to be marked, but found no room.
                events.remove(("!", numbers[0]))
            events.append((sign, numbers[0]))
    return packets, operations, timers, made


def with_timers(operations, timers, period):
    """Times moved so that the timer's are multiples of `period`, and the timer among the operations."""
    grid = [(time, place) for time, place in timers if place > 0]
    shift = -grid[0][0] % period
    for time, _ in grid:
        late = (time + shift) % period
        assert late < UNIT * 8, f"a timer is {late} ns late"
    moved, waiting = [], grid
    for index, operation in enumerate(operations):
        operation.time += shift
        while waiting and waiting[0][1] <= index:
            due = (waiting.pop(0)[0] + shift) // period * period
            assert (not moved or moved[-1].time <= due) and due <= operation.time, "a timer changes its place"
            moved.append(Operation(due, "~"))
        moved.append(operation)
    return moved


def let_go(operations):
    """The operations without requests that a shaper answers with nothing although packets wait: they reach no queue."""
    waiting = 0
    for operation in operations:
        if operation.what == "?" and not operation.events and waiting:
            continue
        waiting += (operation.what == "+") - sum(sign != "!" for sign, _ in operation.events)
        yield operation


def base36(number):
    digits = ""
    while True:
        number, digit = divmod(number, 36)
        digits = DIGITS[digit] + digits
        if number == 0:
            return digits


def pack(operations, packets, by_queue):
    """The packed form: classes of packets, the start, and lines of operations."""
    known = sorted({flow for _, flow, *_ in packets})
    lengths = sorted({length for length, *_ in packets})

    def flow(number):
        return string.ascii_uppercase[known.index(packets[number][1])] if len(known) > 1 else ""

    def name(number):
        return string.ascii_uppercase[lengths.index(packets[number][0])] + flow(number)

    classes = {name(number): list(packet[:3]) for number, packet in enumerate(packets)}
    assert len({(flow, codepoint) for _, flow, codepoint, _ in packets}) == len(known)
    assert len({operation.time % UNIT for operation in operations if operation.what != "~"}) == 1
    start = operations[0].time // UNIT * UNIT
    now, tokens, waiting = start, [], {}
    for operation in operations:
        steps = (operation.time - now) // UNIT
        now += steps * UNIT
        token = base36(steps) if steps else ""
        if operation.what == "+":
            own = operation.packet
            token += name(own)
            waiting.setdefault(flow(own), []).append(own)
            for sign, number in operation.events:
                token += f"{{{base36(own - number)}}}" if number != own else {"-": "/", "!": "^"}[sign]
                assert number == own or sign == "-"
                if sign == "-":
                    waiting[flow(number)].remove(number)
        elif operation.what == "~":
            token += "~"
        else:
            token += f"@{base36(operation.queue)}" if by_queue else ""
            for sign, number in operation.events:
                line = waiting[flow(number)]
                assert line[0] == number, f"packet {number} leaves before {line[0]}"
                token += sign + flow(number)
                if sign != "!":
                    line.pop(0)
            token += "" if any(sign == ">" for sign, _ in operation.events) else "="
        tokens.append(token)
    lines = [""]
    for token in tokens:
        if len(lines[-1]) + len(token) > LINE:
            lines.append("")
        lines[-1] += token
    return {"start": start, "unit": UNIT, "classes": dict(sorted(classes.items())), "lines": lines}


def acknowledgement(words):
    number, echoed, echo, *edges = words
    ranges = [[start, end] for start, end in zip(edges[::2], edges[1::2]) if end]
    return {"number": number, "echoed": echoed * MS, "echo": echo, "sack": ranges}


NAMES = {">": "depart", "!": "mark", "-": "drop"}


def in_full(operations, packets):
    """Lines of operations, each written out with its events: what is packed says nothing of acknowledgements."""
    for operation in operations:
        if operation.what == "+":
            length, flow, codepoint, words = packets[operation.packet]
            line = ["enqueue", operation.time, length, flow, codepoint]
            line += [acknowledgement(words[3:])] if len(words) > 3 else []
        else:
            line = ["dequeue", operation.time]
        reason = "redundant" if operation.what == "+" else "head"
        events = [[NAMES[sign], number, *([] if sign == ">" else [reason])] for sign, number in operation.events]
        yield json.dumps([*line, events], separators=(",", ":"))


def listed(values):
    """A list with a line for each."""
    return "[\n" + ",\n".join(f"  {json.dumps(value)}" for value in values) + "\n ]"


def write(name, recording, description, series):
    packets, operations, timers, made = read(recording)
    if (series, name) == ("7.3", "cake-limit"):
        # From here on BLUE draws less often than in 6.12: not for what the schedule drops already.
        description = {**description, "operations": 6_400}
    last = max(index for index, operation in enumerate(operations) if operation.what == "+")
    operations = operations[: min(last + 1, description.get("operations", last + 1))]
    packets = packets[: sum(operation.what == "+" for operation in operations)]
    if "timer" in description:
        operations = with_timers(operations, timers, description["timer"])
    if description.get("shaped"):
        operations = list(let_go(operations))
    if description.get("salted"):
        for operation in operations:
            operation.time -= made // MS * MS
        packets = flows.renumbered(packets, description["seed"])
    if description["kind"] == "cake-mq":
        packets = flows.requeued(packets, operations, description["params"]["queues"])
    if description["kind"] == "fq-pie":
        packets = flows.regrouped(packets, operations, description["seed"])
    head = {"vector": 1, "origin": f"Linux {series}, recorded", **{key: description[key] for key in ("kind", "params", "ecn", "link")}}
    if description["kind"] == "htb":
        head["tree"] = classes.read(recording.with_suffix(".tc"))
    if "seed" in description:
        head["generator"] = "splitmix64"
    head.update(seed=description.get("seed", 0), random=[])
    body = ",\n".join(f" {json.dumps(key)}: {listed(value) if key == 'tree' else json.dumps(value)}" for key, value in head.items())
    if description.get("acks"):
        start = operations[0].time - MS
        for operation in operations:
            operation.time -= start
        rest = ' "operations": [\n' + ",\n".join(f"  {line}" for line in in_full(operations, packets)) + "\n ]"
    else:
        packed = pack(operations, packets, "cake-mq" in description["kind"])
        packed["reasons"] = description.get("reasons", {})
        text = ",\n".join("   " + json.dumps(line) for line in packed.pop("lines"))
        fields = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in packed.items())
        rest = ' "packed": {\n' + fields + ',\n  "operations": [\n' + text + "\n  ]\n }"
    out = FOLDERS[series] / f"{name}.json"
    out.write_text("{\n" + body + ",\n" + rest + "\n}\n")
    seen = [sign for operation in operations for sign, _ in operation.events]
    print(f"{name}: {len(packets)} packets, {len(operations)} operations, {seen.count('-')} drops, {seen.count('!')} marks")


def main():
    folder, series = pathlib.Path(sys.argv[1]), sys.argv[2]
    for name, description in RECORDINGS.items():
        if not (folder / f"{name}.rec").exists():
            print(f"{name}: no recording, stays as it is")
            continue
        write(name, folder / f"{name}.rec", description, series)


if __name__ == "__main__":
    main()
