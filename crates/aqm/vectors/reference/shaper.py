"""A token bucket in exact fractions: bytes of tokens, refilled as time passes, asked for a full packet's worth before each departure."""

import math
from fractions import Fraction

from codel import Codel
from priority import TailDrop
from vector import CE, ECT0, ECT1, NOT_ECT, Model, Rng, link, play, script, write

MS = 1_000_000
SECOND = 1_000_000_000


class Bucket:
    def __init__(self, rate, depth):
        self.rate, self.depth, self.tokens, self.at = Fraction(rate, 8 * SECOND), depth, Fraction(depth), 0

    def refill(self, now):
        self.tokens = min(Fraction(self.depth), self.tokens + (now - self.at) * self.rate)
        self.at = now

    def first_with(self, wanted):
        """The first whole nanosecond with that many tokens."""
        return self.at + max(0, math.ceil((wanted - self.tokens) / self.rate))


class Shaper(Model):
    def __init__(self, facts, inner, rate=None, burst=None, peak=None, mtu=None):
        super().__init__(True, 0, 0)
        self.inner, self.overhead = inner, facts["overhead"]
        inner.events = self.events
        self.full = facts["mtu"] + facts["overhead"]
        self.buckets = [Bucket(rate or facts["rate"], burst or self.full)]
        if peak:
            self.buckets.append(Bucket(peak, mtu or self.full))
        self.heard = True
        self.sizes = {}

    def take_events(self):
        events = super().take_events()
        self.inner.events = self.events
        return events

    def release(self):
        return max(bucket.first_with(self.full) for bucket in self.buckets)

    def next_timer(self):
        return self.release() if self.inner.queue and not self.heard else None

    def timer(self, now):
        self.heard = self.heard or now >= self.release()

    def enqueue(self, now, packet):
        self.timer(now)
        self.sizes[packet.number] = packet.len
        self.inner.enqueue(now, packet)

    def dequeue(self, now):
        if now < self.release():
            return
        self.inner.dequeue(now)
        for event in self.events:
            if event[0] == "depart":
                for bucket in self.buckets:
                    bucket.refill(now)
                    bucket.tokens -= self.sizes[event[1]] + self.overhead
                self.heard = now >= self.release()


def main():
    plain = link(100_000_000, 10 * MS, 30, 10**9)
    framed = link(100_000_000, 10 * MS, 10**9, 60_000, overhead=38)
    codel = {"target": 2 * MS, "interval": 20 * MS}
    cases = {
        "rate": (plain, False, {"rate": 9_876_543}, None, {}),
        "burst": (framed, False, {"rate": 7_000_001, "burst": 20_000}, None, {"phases": (2.0, 0.1, 0.8), "stall": 0.01}),
        "peak": (framed, False, {"rate": 8_000_000, "burst": 30_000, "peak": 20_000_000, "mtu": 3_000}, None,
                 {"phases": (2.0, 0.1, 0.8), "stall": 0.01}),
        "link-rate": (link(9_000_000, 10 * MS, 30, 10**9), False, {}, None, {"rates": (9_000_000, 0, None, 5_000_000)}),
        "oversized": (plain, False, {"rate": 10_000_000, "burst": 4_000}, None, {"sizes": (100, 9000)}),
        "codel-marks": (plain, True, {"rate": 9_000_000, "burst": 5_000}, codel, {"codepoints": (NOT_ECT, ECT0, ECT1, CE)}),
    }
    for seed, (name, (facts, ecn, params, inner, load)) in enumerate(cases.items()):
        rng = Rng(1300 + seed)
        limits = (ecn, facts["limit_packets"], facts["limit_bytes"])
        queue = TailDrop(*limits) if inner is None else Codel(*limits, **inner)
        model = Shaper(facts, queue, **params)
        chosen = {"sizes": (64, 576, 1500), "phases": (1.5, 0.9, 0.3), **load}
        operations = play(model, script(seed, 600, service=800_000, phase=100, **chosen))
        of = None if inner is None else {"kind": "codel", "params": inner}
        write(name, "token bucket in reference/shaper.py", "shaper", params, ecn, facts, rng, operations, of)


if __name__ == "__main__":
    main()
