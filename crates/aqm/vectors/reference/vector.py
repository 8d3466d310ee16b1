"""Shared by the reference models: the random generator, random loads, and the vector file format.

A vector is a JSON object: the queue (`kind`, `params`, `ecn`, `link`), the `seed` with the random numbers the model drew from it,
and `operations`, each with the events that must follow. Times are in ns, sizes in bytes, rates in bit/s; a size
may also be {"packets": n}, {"bytes": n} or {"time": n}.

    ["enqueue", time, len, flow, codepoint, events]      packets are numbered from 0 in the order they are offered
    ["enqueue", time, len, flow, codepoint, ack, events] one that only acknowledges: {"number", "echoed", "echo", "sack"}
    ["dequeue", time, events]
    ["timer", time, events]                              the time is the one the queue must ask for
    ["rate", time, rate or null, events]

Packets of flow f are of class f mod 8, from host f div 8 mod 8, to host f div 64. An event is ["drop", packet, reason], ["mark", packet, reason] or ["depart", packet].
"""

import json
import pathlib
import random

NOT_ECT, ECT1, ECT0, CE = 0, 1, 2, 3
MASK = (1 << 64) - 1


def mix(z):
    """Finaliser of splitmix64."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


class Rng:
    """xoshiro256++ (Blackman, Vigna 2019), its state four outputs of splitmix64."""

    def __init__(self, seed):
        self.seed = seed
        self.s = [mix((seed + (i + 1) * 0x9E3779B97F4A7C15) & MASK) for i in range(4)]
        self.drawn = []

    def next_u64(self):
        def rotl(x, k):
            return ((x << k) | (x >> (64 - k))) & MASK

        s = self.s
        result = (rotl((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
        t = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotl(s[3], 45)
        self.drawn.append(result)
        return result

    def uniform(self):
        return (self.next_u64() >> 11) * 2.0**-53


class Packet:
    def __init__(self, number, len, flow, ecn, stamp, ack=None):
        self.number, self.len, self.flow, self.ecn, self.stamp, self.ack = number, len, flow, ecn, stamp, ack


class Model:
    """What the models share: events, and marking that says whether the packet may live."""

    def __init__(self, ecn, limit_packets, limit_bytes):
        self.ecn, self.limit_packets, self.limit_bytes = ecn, limit_packets, limit_bytes
        self.events = []

    def drop(self, packet, reason):
        self.events.append(["drop", packet.number, reason])

    def is_ect(self, packet):
        return self.ecn and packet.ecn != NOT_ECT

    def mark(self, packet, reason):
        if not self.is_ect(packet):
            return False
        if packet.ecn != CE:
            packet.ecn = CE
            self.events.append(["mark", packet.number, reason])
        return True

    def depart(self, packet):
        self.events.append(["depart", packet.number])

    def take_events(self):
        events, self.events = self.events, []
        return events

    def fits(self, packets, bytes, packet):
        return packets + 1 <= self.limit_packets and bytes + packet.len <= self.limit_bytes

    def next_timer(self):
        return None

    def set_rate(self, now, rate):
        pass


def script(seed, steps, *, service, sizes=(1500,), codepoints=(NOT_ECT,), flows=1, phases=(0.6, 1.0, 1.4), phase=200, stall=0.0,
           rates=()):
    """Operations of a link that asks for a packet every `service` ns or so while random packets arrive at changing load."""
    chance = random.Random(seed)
    now, load = 1, phases[0]
    for step in range(steps):
        if step % phase == 0:
            load = phases[step // phase % len(phases)]
        if rates and step % (2 * phase) == 0:
            yield ["rate", now, rates[step // (2 * phase) % len(rates)]]
        arrivals = 0
        while chance.random() < load / (1 + load):
            arrivals += 1
            now += chance.randrange(service // 8 + 1)
            yield ["enqueue", now, chance.choice(sizes), chance.randrange(flows), chance.choice(codepoints)]
        now += chance.randrange(service * 2)
        if chance.random() < stall:
            now += chance.randrange(service * 200)
        yield ["dequeue", now]


def play(model, operations):
    """Runs the model and gives the operations with their events, timers put in where the model asks for them."""
    played, number = [], 0
    for operation in operations:
        now = operation[1]
        while model.next_timer() is not None and model.next_timer() <= now:
            due = model.next_timer()
            model.timer(due)
            played.append(["timer", due, model.take_events()])
        if operation[0] == "enqueue":
            _, _, size, flow, ecn, *ack = operation
            model.enqueue(now, Packet(number, size, flow, ecn, now, *ack))
            number += 1
        elif operation[0] == "rate":
            model.set_rate(now, operation[2])
        else:
            model.dequeue(now)
        played.append(operation + [model.take_events()])
    return played


def link(rate, delay, limit_packets, limit_bytes, overhead=0, mtu=1500):
    return {"rate": rate, "delay": delay, "mtu": mtu, "overhead": overhead, "limit_packets": limit_packets,
            "limit_bytes": limit_bytes}


def write(name, origin, kind, params, ecn, link, rng, operations, of=None, weights=None):
    """Writes `<kind>/<name>.json` beside this folder, one operation a line, and says what happened. `of` is what the kind is over,
    `weights` are those of flows 0, 1 and so on."""
    folder = pathlib.Path(__file__).resolve().parent.parent / kind
    folder.mkdir(exist_ok=True)
    head = {"vector": 1, "origin": origin, "kind": kind, "params": params, **({} if of is None else {"of": of}), "ecn": ecn, "link": link,
            "seed": rng.seed, "random": [f"{number:#018x}" for number in rng.drawn]}
    if weights:
        head["weights"] = weights
    lines = ",\n".join("  " + json.dumps(operation, separators=(",", ":")) for operation in operations)
    body = ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items())
    (folder / f"{name}.json").write_text("{\n" + body + ',\n "operations": [\n' + lines + "\n ]\n}\n")
    seen = {}
    for operation in operations:
        for event in operation[-1]:
            key = " ".join([event[0], *event[2:]])
            seen[key] = seen.get(key, 0) + 1
    print(f"{kind}/{name}: {len(operations)} operations, {seen}")
