"""GSP as Lautenschlaeger and Francini describe it (basic, adaptive and delay-based), time above and below counted at every event."""

import math
from collections import deque

from vector import CE, ECT0, ECT1, NOT_ECT, Model, Rng, link, play, script, write

MS = 1_000_000


class Gsp(Model):
    def __init__(self, ecn, facts, *, threshold=None, measure="delay", preset_interval=100 * MS, rtt=None,
                 adaptive=True, tau=None, alpha=2, max_time=None):
        super().__init__(ecn, facts["limit_packets"], facts["limit_bytes"])
        self.rate, self.mtu, self.measure, self.threshold = facts["rate"], facts["mtu"], measure, threshold
        preset_interval = preset_interval if rtt is None else 2 * rtt
        self.preset, self.adaptive, self.alpha = preset_interval, adaptive, alpha
        self.tau = 5 * preset_interval if tau is None else tau
        self.max_time = 19 * self.tau if max_time is None else max_time
        self.timeout_expiry = self.last_eval = self.last_sojourn = self.last_move = 0
        self.cum_time, self.state = 0.0, "clear"
        self.queue, self.bytes = deque(), 0

    def set_rate(self, now, rate):
        self.rate = rate

    def above(self, now):
        """Is the queue, as it stood until now, above the threshold?"""
        if self.measure == "backlog":
            return self.bytes > self.threshold["packets"] * self.mtu
        threshold = self.preset // 40 if self.threshold is None else self.threshold
        if not self.queue:
            return False
        stalled = not self.rate and now - self.last_move > threshold
        return self.last_sojourn > threshold or stalled

    def adapt(self, now, above):
        delta = now - self.last_eval
        self.last_eval = now
        if above:
            self.cum_time += self.alpha * delta
            if self.state == "drain":
                self.state = "clear"
        elif self.state == "clear":
            self.cum_time -= delta
        self.cum_time = max(0, min(self.cum_time, self.max_time))

    def interval(self):
        if not self.adaptive:
            return self.preset
        return math.floor(self.preset / (1 + self.cum_time / self.tau) + 0.5)

    def enqueue(self, now, packet):
        above = self.above(now)
        self.adapt(now, above)
        if not self.queue:
            self.last_sojourn, self.last_move = 0, now
        if not self.fits(len(self.queue), self.bytes, packet):
            self.drop(packet, "overflow")
            self.state = "overflow"
            return
        if above and now > self.timeout_expiry:
            self.timeout_expiry = now + self.interval()
            if not self.mark(packet, "early"):
                self.drop(packet, "early")
                return
        self.queue.append(packet)
        self.bytes += packet.len

    def dequeue(self, now):
        if not self.queue:
            return
        # A stalled link that moves again: what counts is the delay seen so far, not the stall.
        packet = self.queue[0]
        if self.measure == "backlog":
            above = self.above(now)
        else:
            above = self.last_sojourn > (self.preset // 40 if self.threshold is None else self.threshold)
        self.adapt(now, above)
        self.queue.popleft()
        self.bytes -= packet.len
        self.last_sojourn, self.last_move = now - packet.stamp, now
        self.depart(packet)
        if not self.queue:
            self.last_sojourn = 0
            if self.state == "overflow":
                self.state = "drain"


def main():
    facts = link(10_000_000, 10 * MS, 60, 10**9)
    roomy = link(10_000_000, 10 * MS, 10**9, 150_000)
    cases = {
        "basic": (facts, False, {"adaptive": False, "preset_interval": 20 * MS}, {}),
        "adaptive": (facts, False, {}, {"stall": 0.001}),
        "marks": (facts, True, {"preset_interval": 50 * MS, "alpha": 1.5}, {"codepoints": (NOT_ECT, ECT0, ECT1, CE)}),
        "overflow-and-idle": (link(10_000_000, 10 * MS, 12, 10**9), False,
                              {"preset_interval": 30 * MS, "tau": 40 * MS, "max_time": 200 * MS},
                              {"phases": (2.0, 0.3, 1.2, 0.1), "stall": 0.004}),
        "backlog": (roomy, False, {"measure": "backlog", "threshold": {"packets": 10}, "preset_interval": 40 * MS}, {}),
        "changing-rate": (roomy, True, {"threshold": 4 * MS, "preset_interval": 25 * MS},
                          {"rates": (10_000_000, None, 0, 5_000_000), "codepoints": (ECT0, NOT_ECT), "stall": 0.002}),
        "round-trip-time": (facts, False, {"rtt": 15 * MS}, {"stall": 0.001}),
    }
    for seed, (name, (link_facts, ecn, params, load)) in enumerate(cases.items()):
        rng = Rng(700 + seed)
        model = Gsp(ecn, link_facts, **params)
        load = {"sizes": (300, 1500), "phases": (1.4, 0.9, 1.2, 0.2), **load}
        operations = play(model, script(700 + seed, 700, service=1_200_000, phase=150, **load))
        given = {key: {"time": value} if key == "threshold" and isinstance(value, int) else value for key, value in params.items()}
        write(name, "Lautenschlaeger and Francini 2015 in reference/gsp.py", "gsp", given, ecn, link_facts, rng, operations)


if __name__ == "__main__":
    main()
