"""CoDel as the loop of RFC 8289 §5, with Linux's marking and threshold, and the re-entries of the 2012 article and of its authors'
later code for ns-2."""

import math
from collections import deque

from vector import ECT0, ECT1, CE, NOT_ECT, Model, Rng, link, play, script, write

MS = 1_000_000


class CodelState:
    """The control loop over any `pop()` and `backlog()`; one per queue."""

    def __init__(self, target=5 * MS, interval=100 * MS, mtu=1500, ce_threshold=math.inf, reentry="rfc8289"):
        self.target, self.interval, self.mtu = target, interval, mtu
        self.ce_threshold, self.reentry = ce_threshold, reentry
        self.first_above_time = 0
        self.drop_next = 0
        self.count = 0
        self.lastcount = 0
        self.dropping = False

    def law(self, t):
        return t + max(1, math.floor(self.interval / math.sqrt(self.count) + 0.5))

    def should_drop(self, packet, backlog, now):
        if packet is None:
            self.first_above_time = 0
            return False
        if now - packet.stamp < self.target or backlog <= self.mtu:
            self.first_above_time = 0
            return False
        if self.first_above_time == 0:
            self.first_above_time = now + self.interval
            return False
        return now >= self.first_above_time

    def dequeue(self, model, pop, backlog, now):
        packet = pop()
        ok = self.should_drop(packet, backlog(), now)
        if self.dropping:
            if not ok:
                self.dropping = False
            while self.dropping and now >= self.drop_next:
                # The code for ns-2 counts a drop only once the next packet turns out to be late,
                # too.
                self.count += self.reentry != "ns2" or model.is_ect(packet)
                if model.mark(packet, "head"):
                    self.drop_next = self.law(self.drop_next)
                    break
                model.drop(packet, "head")
                packet = pop()
                ok = self.should_drop(packet, backlog(), now)
                if not ok:
                    self.dropping = False
                else:
                    self.count += self.reentry == "ns2"
                    self.drop_next = self.law(self.drop_next)
        elif ok and self.enters(now):
            if not model.mark(packet, "head"):
                model.drop(packet, "head")
                packet = pop()
                self.should_drop(packet, backlog(), now)
            self.dropping = True
            if self.reentry != "rfc8289":
                recent = now - self.drop_next < self.interval * (8 if self.reentry == "ns2" else 1)
                self.count = self.count - 2 if recent and self.count > 2 else 1
            else:
                delta = self.count - self.lastcount
                self.count = 1
                if delta > 1 and now - self.drop_next < 16 * self.interval:
                    self.count = delta
            self.drop_next = self.law(now)
            self.lastcount = self.count
        if packet is not None and now - packet.stamp > self.ce_threshold:
            model.mark(packet, "threshold")
        return packet

    def enters(self, now):
        if self.reentry != "acm2012":
            return True
        return now - self.drop_next < self.interval or now - self.first_above_time >= self.interval


class Codel(Model):
    def __init__(self, ecn, limit_packets, limit_bytes, **settings):
        super().__init__(ecn, limit_packets, limit_bytes)
        self.queue, self.bytes = deque(), 0
        self.state = CodelState(**settings)

    def enqueue(self, now, packet):
        if not self.fits(len(self.queue), self.bytes, packet):
            self.drop(packet, "overflow")
            return
        self.queue.append(packet)
        self.bytes += packet.len

    def pop(self):
        if not self.queue:
            return None
        packet = self.queue.popleft()
        self.bytes -= packet.len
        return packet

    def dequeue(self, now):
        packet = self.state.dequeue(self, self.pop, lambda: self.bytes, now)
        if packet is not None:
            self.depart(packet)


def main():
    facts = link(10_000_000, 10 * MS, 400, 10**9)
    cases = {
        "drops": (False, {}, {}),
        "marks": (True, {}, {"codepoints": (NOT_ECT, ECT0, ECT1, CE)}),
        "threshold": (True, {"ce_threshold": 2 * MS}, {"codepoints": (ECT0, NOT_ECT)}),
        "acm2012": (False, {"reentry": "acm2012"}, {}),
        "ns2": (True, {"reentry": "ns2"}, {"codepoints": (NOT_ECT, NOT_ECT, ECT0)}),
    }
    for seed, (name, (ecn, params, load)) in enumerate(cases.items()):
        rng = Rng(seed)
        model = Codel(ecn, facts["limit_packets"], facts["limit_bytes"], target=2 * MS, interval=20 * MS, **params)
        operations = play(model, script(seed, 500, service=MS, sizes=(64, 576, 1500), phases=(1.5, 0.9, 1.3, 0.2), stall=0.001,
                                        **load))
        given = {"target": 2 * MS, "interval": 20 * MS, **params}
        write(name, "loop of RFC 8289 §5 in reference/codel.py", "codel", given, ecn, facts, rng, operations)


if __name__ == "__main__":
    main()
