"""HULL's phantom queue: a counter that drains at a little less than the link's rate and marks above a threshold."""

from collections import deque

from vector import CE, ECT0, ECT1, NOT_ECT, Model, Rng, link, play, script, write

MS = 1_000_000


class PhantomQueue(Model):
    def __init__(self, ecn, facts, *, gamma=0.95, threshold=None, at="departure"):
        super().__init__(ecn, facts["limit_packets"], facts["limit_bytes"])
        self.gamma, self.at, self.framing = gamma, at, facts["overhead"]
        self.wire_mtu = facts["mtu"] + self.framing
        # A number of bytes, or a function of the rate that is asked again when the rate changes.
        self.rule = threshold or (lambda rate: max(2 * self.wire_mtu, rate / 1e9 * 1000))
        self.set_rate(0, facts["rate"])
        self.phantom, self.time = 0.0, 0
        self.queue, self.backlog = deque(), 0

    def drain(self, now):
        self.phantom = max(0.0, self.phantom - self.gamma * self.C / 8 * (now - self.time) / 1e9)
        self.time = now

    def count(self, now, packet):
        self.drain(now)
        self.phantom += packet.len + self.framing
        if self.phantom > self.K:
            self.mark(packet, "threshold")
            self.phantom = min(self.phantom, 10 * self.K)

    def enqueue(self, now, packet):
        if not self.fits(len(self.queue), self.backlog, packet):
            self.drop(packet, "overflow")
            return
        if self.at == "arrival":
            self.count(now, packet)
        self.queue.append(packet)
        self.backlog += packet.len

    def dequeue(self, now):
        if self.queue:
            packet = self.queue.popleft()
            self.backlog -= packet.len
            if self.at == "departure":
                self.count(now, packet)
            self.depart(packet)

    def set_rate(self, now, rate):
        if rate is None:
            return
        if hasattr(self, "C"):
            self.drain(now)
        self.C = rate
        if rate:
            self.K = self.rule(rate) if callable(self.rule) else self.rule


def main():
    slow = link(10_000_000, 10 * MS, 30, 10**9, overhead=38)
    slower = link(5_000_000, 10 * MS, 30, 10**9, overhead=38)
    fast = link(10_000_000_000, MS, 10**9, 60_000)
    load = {"phases": (0.7, 1.2, 0.95, 1.6), "codepoints": (NOT_ECT, ECT0, ECT1, CE)}
    cases = {
        "slow-link": (slow, True, {}, {}, load),
        "fast-link": (fast, True, {}, {}, {**load, "service": 1_200}),
        "without-ecn": (slow, False, {}, {}, load),
        "arrivals": (slower, True, {"at": "arrival", "gamma": 0.9, "mark_threshold": {"bytes": 9000}},
                     {"at": "arrival", "gamma": 0.9, "threshold": 9000}, {**load, "sizes": (64, 1500)}),
        "time": (slow, True, {"mark_threshold": {"time": 4 * MS}}, {"threshold": lambda rate: rate * 4 * MS // 8_000_000_000},
                 {**load, "rates": (10_000_000, 3_000_000, 0, None, 25_000_000), "stall": 0.01}),
        "changing-rate": (fast, True, {"gamma": 0.98}, {"gamma": 0.98},
                          {**load, "service": 1_200, "rates": (10_000_000_000, 1_000_000_000, 0, 5_000_000_000)}),
        "full": (slow, True, {"at": "arrival", "mark_threshold": {"bytes": 2000}}, {"at": "arrival", "threshold": 2000},
                 {"phases": (1.8, 0.4), "codepoints": (ECT0,), "sizes": (64, 1500)}),
    }
    for seed, (name, (facts, ecn, params, settings, load)) in enumerate(cases.items()):
        rng = Rng(900 + seed)
        model = PhantomQueue(ecn, facts, **settings)
        operations = play(model, script(seed, **{"service": 1_200_000, "stall": 0.002, "steps": 600, **load}))
        write(name, "Alizadeh et al. 2012 in reference/phantom_queue.py", "phantom-queue", params, ecn, facts, rng, operations)


if __name__ == "__main__":
    main()
