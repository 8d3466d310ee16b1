"""Makes packed vectors of recordings of Linux queue disciplines: convert.py FOLDER, for all of RECORDINGS below.

A recording is text: `# T0` (ns of the clock the kernel reads), then a line a packet: number, time scheduled, enqueued and departed
(-1: dropped; ns after T0), IP length, flow, codepoint sent, TOS byte received. The packets went through a token bucket (tbf) with the
discipline under it. README.md says how recordings are made, docs/conformance.md what the packed form means.
"""

import json
import pathlib
import string
import sys
from collections import deque

UNIT = 256  # the recording kernel's clock moves in steps of so many ns
FRAME = 14  # bytes of Ethernet header that a queue under tbf counts
LINE = 160
DIGITS = string.digits + string.ascii_lowercase


def link(limit_packets, limit_bytes=10**9):
    return {"rate": 10_000_000, "delay": 0, "mtu": 1514, "overhead": 0, "limit_packets": limit_packets, "limit_bytes": limit_bytes}


# How tbf asks a discipline for packets. SERVICE: it takes the next one when the one before ends, and holds it ready, in the
# discipline's books still, so that one place less is left (codel, fq_codel, pie). DEPARTURE: it looks at the next one and
# takes it when it is sent (pfifo, red).
SERVICE, DEPARTURE = "service", "departure"
# Times of the kernel's clock, for those who round them; times since the recording began.
CLOCK, BEGINNING = "clock", "beginning"

CODEL = {"host": SERVICE, "times": CLOCK, "early": False, "mark": "head", "drop": "overflow"}
PIE = {"host": SERVICE, "times": BEGINNING, "early": True, "mark": "early", "drop": "early", "kind": "pie", "seed": 1, "limit": 1000,
       # Asked for 15 ms, this kernel's timer fires every 16: it is set anew, in whole jiffies of 1 ms, after it has fired.
       "params": {"arithmetic": "linux", "t_update": 16_000_000}, "timer": (16_000_000, 16_000_000), "link": link(999),
       # Where in the timer's period the recording begins, which follows from when the discipline was made: of whole milliseconds the
       # only one that gives the kernel's verdicts.
       "shift": 8_000_000}
RED = {"host": DEPARTURE, "times": BEGINNING, "early": True, "mark": "early", "kind": "red", "seed": 1, "limit": 10**9,
       "params": {"arithmetic": "linux", "min_th": 15000, "max_th": 45000, "max_p": 0.1, "w_q": 0.125}, "link": link(10**9, 400_000)}

RECORDINGS = {
    "codel-drops": ("codel-1", {**CODEL, "kind": "codel", "params": {"arithmetic": "linux"}, "ecn": False, "limit": 1000,
                                "link": link(999)}),
    "codel-marks": ("codel-ecn-1", {**CODEL, "kind": "codel", "params": {"arithmetic": "linux"}, "ecn": True, "limit": 1000,
                                    "link": link(999)}),
    "fq-codel-1-flow": ("fq_codel-1flow-1", {**CODEL, "kind": "fq-codel", "params": {"arithmetic": "linux", "flows": 1}, "ecn": True,
                                             "limit": 10240, "link": link(10239)}),
    "fq-codel-8-flows": ("fq_codel-8flows-1", {**CODEL, "kind": "fq-codel", "params": {"arithmetic": "linux"}, "ecn": True,
                                               "limit": 10240, "link": link(10239)}),
    "pie-drops": ("pie-1", {**PIE, "ecn": False}),
    "pie-marks": ("pie-ecn-1", {**PIE, "ecn": True}),
    "red-drops": ("red-1", {**RED, "ecn": False, "drop": "early"}),
    "red-marks": ("red-ecn-1", {**RED, "ecn": True, "drop": "overflow"}),
    "tail-drop": ("pfifo-1", {"host": DEPARTURE, "times": BEGINNING, "early": False, "mark": "head", "drop": "overflow",
                              "kind": "tail-drop", "params": {}, "ecn": False, "limit": 100, "link": link(100)}),
}


class Packet:
    def __init__(self, number, start, fields):
        _, _, enqueued, departed, length, flow, ecn, tos = fields
        self.number, self.flow, self.ecn, self.length = number, flow, ecn, length + FRAME
        self.enqueued = start + enqueued
        self.departed = start + departed if departed >= 0 else None
        self.is_marked = departed >= 0 and tos & 3 == 3 and ecn != 3


def read(path, times, shift):
    with open(path) as lines:
        start = int(next(lines)[1:])
        start = start if times == CLOCK else shift
        return [Packet(number, start, [int(word) for word in line.split()]) for number, line in enumerate(lines)]


class Host:
    """What happened, in order: operations as (time, what, packet or None, events)."""

    def __init__(self, packets, description):
        self.held_ready, self.limit = description["host"] == SERVICE, description["limit"]
        self.early, self.timer = description["early"], description.get("timer")
        self.arrivals, self.line, self.held = deque(packets), deque(), None
        self.leaving = deque(sorted((p for p in packets if p.departed is not None), key=lambda p: p.departed))
        self.operations = []

    def run(self):
        end = self.arrivals[-1].enqueued
        due, period = self.timer or (end + 1, 1)
        while self.arrivals:
            arrival = self.arrivals[0].enqueued
            departure = self.next_departure()
            if due <= min(arrival, departure):
                self.operations.append((due, "timer", None, []))
                due += period
            elif departure < arrival:
                self.depart(departure)
            else:
                self.arrive(self.arrivals.popleft())
        return self.operations

    def next_departure(self):
        if self.held_ready:
            return self.held.departed if self.held else float("inf")
        return self.leaving[0].departed if self.leaving and self.leaving[0] in self.line else float("inf")

    def arrive(self, packet):
        events = []
        full = len(self.line) + (self.held is not None) >= self.limit
        assert not (full and packet.departed is not None), f"packet {packet.number} passed a full queue"
        if packet.departed is None and (full or self.early):
            events.append(["drop", packet])
        else:
            if self.early and packet.is_marked:
                events.append(["mark", packet])
            self.line.append(packet)
        self.operations.append((packet.enqueued, "enqueue", packet, events))
        if self.held_ready and self.held is None:
            self.take(packet.enqueued)

    def depart(self, now):
        self.held = None
        self.take(now)

    def take(self, now):
        """The discipline is asked for a packet: which one leaves, and what was dropped before it."""
        events = []
        if self.leaving and self.leaving[0] in self.line:
            packet = self.leaving.popleft()
            while True:
                first = next(p for p in self.line if p.flow == packet.flow)
                self.line.remove(first)
                if first is packet:
                    break
                assert first.departed is None, f"packet {packet.number} overtook {first.number}"
                events.append(["drop", first])
            if packet.is_marked and not self.early:
                events.append(["mark", packet])
            events.append(["depart", packet])
            self.held = packet if self.held_ready else None
        self.operations.append((now, "dequeue", None, events))


def base36(number):
    digits = ""
    while True:
        number, digit = divmod(number, 36)
        digits = DIGITS[digit] + digits
        if number == 0:
            return digits


def pack(operations, packets):
    """The packed form: classes of packets, the start, and lines of operations."""
    flows = sorted({p.flow for p in packets})
    lengths = sorted({p.length for p in packets})
    ecn = packets[0].ecn

    def flow(packet):
        return string.ascii_uppercase[flows.index(packet.flow)] if len(flows) > 1 else ""

    def name(packet):
        return string.ascii_uppercase[lengths.index(packet.length)] + flow(packet)

    classes = {name(p): [p.length, p.flow, p.ecn] for p in packets}
    assert all(p.ecn == ecn for p in packets)
    on_arrival, signs = {"drop": "/", "mark": "^"}, {"drop": "-", "mark": "!", "depart": ">"}
    start = operations[0][0] // UNIT * UNIT
    now, tokens = start, []
    for time, what, packet, events in operations:
        steps, rest = divmod(time - now, UNIT)
        assert rest == 0, (time, now)
        now = time
        token = base36(steps) if steps else ""
        if what == "enqueue":
            token += name(packet)
            assert len(events) <= 1
            token += "".join(on_arrival[event] for event, _ in events)
        elif what == "timer":
            token += "~"
        else:
            token += "".join(signs[event] + flow(p) for event, p in events) + ("" if any(e == "depart" for e, _ in events) else "=")
        tokens.append(token)
    lines = [""]
    for token in tokens:
        if len(lines[-1]) + len(token) > LINE:
            lines.append("")
        lines[-1] += token
    return {"start": start, "unit": UNIT, "classes": dict(sorted(classes.items())), "lines": lines}


def write(name, recording, description):
    packets = read(recording, description["times"], description.get("shift", 0))
    operations = Host(packets, description).run()
    packed = pack(operations, packets)
    packed["reasons"] = {"drop_on_arrival": description["drop"], "mark_on_arrival": description["mark"], "on_departure": "head"}
    lines = packed.pop("lines")
    head = {"vector": 1, "origin": "Linux 6.12, recorded", **{key: description[key] for key in ("kind", "params", "ecn", "link")}}
    if "seed" in description:
        head["generator"] = "splitmix64"
    head.update(seed=description.get("seed", 0), random=[])
    fields = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in packed.items())
    body = ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items())
    text = ",\n".join("   " + json.dumps(line) for line in lines)
    out = pathlib.Path(__file__).resolve().parent / f"{name}.json"
    out.write_text("{\n" + body + ',\n "packed": {\n' + fields + ',\n  "operations": [\n' + text + "\n  ]\n }\n}\n")
    seen = [event for *_, events in operations for event, _ in events]
    print(f"{name}: {len(packets)} packets, {len(operations)} operations, {seen.count('drop')} drops, {seen.count('mark')} marks")


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, (recording, description) in RECORDINGS.items():
        if not (folder / f"{recording}.vec").exists():
            print(f"{name}: no recording, stays as it is")
            continue
        write(name, folder / f"{recording}.vec", description)


if __name__ == "__main__":
    main()
