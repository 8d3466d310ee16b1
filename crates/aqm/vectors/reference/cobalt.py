"""COBALT as the three events of Linux's sch_cake (queue full, queue empty, packet at the head), with floating point in place of
fixed point and the choices listed in this crate's COBALT under Deviations."""

import math
from collections import deque

from vector import CE, ECT0, ECT1, NOT_ECT, Model, Rng, link, play, script, write

MS = 1_000_000


class CobaltState:
    """The control law; one per queue."""

    def __init__(self, rng, target=5 * MS, interval=100 * MS, p_inc=1 / 256, p_dec=1 / 4096, mtu=1500, overhead=0):
        self.rng, self.mtu, self.overhead = rng, mtu, overhead
        self.given_target, self.given_interval = target, interval
        self.target, self.interval, self.mtu_time = target, interval, 0
        self.p_inc, self.p_dec, self.p_drop = p_inc, p_dec, 0.0
        self.count, self.drop_next, self.dropping = 0, 0, False
        self.blue_timer, self.bulk_flows = None, 1
        self.empty_since = None

    def set_rate(self, rate):
        if rate == 0:
            return
        self.mtu_time = 0 if rate is None else -((-8 * 10**9 * (self.mtu + self.overhead)) // rate)
        self.target = max(3 * self.mtu_time // 2, self.given_target)
        self.interval = max(self.given_interval + self.target - self.given_target, 2 * self.target)

    def advance(self, t):
        return t + max(1, math.floor(self.interval / math.sqrt(max(self.count, 1)) + 0.5))

    def thawed(self, now):
        return self.blue_timer is None or now - self.blue_timer > self.target

    def queue_full(self, now):
        if self.thawed(now):
            self.p_drop = min(1.0, self.p_drop + self.p_inc)
            self.blue_timer = now
        self.dropping, self.drop_next = True, now
        self.count = max(self.count, 1)

    def queue_empty(self, now):
        if self.p_drop > 0 and self.thawed(now):
            self.p_drop = max(0.0, self.p_drop - self.p_dec)
            self.blue_timer = now
        if self.empty_since is None:
            self.empty_since = now
        self.dropping = False
        if self.count > 0 and now >= self.drop_next:
            self.count -= 1
            self.drop_next = self.advance(self.drop_next)

    def arrival(self, now):
        """The end of a silence, in which one step down a target is due."""
        if self.empty_since is not None and self.p_drop > 0:
            since = self.empty_since if self.blue_timer is None else max(self.empty_since, self.blue_timer)
            steps = (now - since) // self.target
            if steps > 0:
                self.p_drop = max(0.0, self.p_drop - steps * self.p_dec)
                self.blue_timer = now
        self.empty_since = None

    def should_drop(self, model, packet, backlog, now):
        """Marks the packet, or says whether and why it is to be dropped."""
        sojourn = now - packet.stamp
        over = sojourn > self.target and sojourn > self.mtu_time * 2 * self.bulk_flows and sojourn > self.mtu_time * 4
        if self.mtu_time == 0 and backlog <= self.mtu:
            over = False
        due = self.count > 0 and now >= self.drop_next
        if over:
            if not self.dropping:
                self.dropping, self.drop_next = True, self.advance(now)
            self.count = max(self.count, 1)
        else:
            self.dropping = False
        reason, wants_mark = None, False
        if due and self.dropping:
            wants_mark = model.is_ect(packet)
            reason = None if wants_mark else "head"
            self.count = min(self.count + 1, (1 << 32) - 1)
            self.drop_next = self.advance(self.drop_next)
        else:
            while due:
                self.count -= 1
                self.drop_next = self.advance(self.drop_next)
                due = self.count > 0 and now >= self.drop_next
        if self.p_drop > 0 and reason is None and self.rng.uniform() < self.p_drop:
            reason = "penalty"
        if self.count == 0:
            self.drop_next = now + self.interval
        elif now > self.drop_next and reason is None:
            self.drop_next = now
        if wants_mark and reason is None:
            model.mark(packet, "head")
        return reason


class Cobalt(Model):
    def __init__(self, ecn, facts, rng, **settings):
        super().__init__(ecn, facts["limit_packets"], facts["limit_bytes"])
        self.state = CobaltState(rng, mtu=facts["mtu"], overhead=facts["overhead"], **settings)
        self.state.set_rate(facts["rate"])
        self.queue, self.bytes = deque(), 0

    def set_rate(self, now, rate):
        self.state.set_rate(rate)

    def enqueue(self, now, packet):
        self.state.arrival(now)
        if not self.fits(len(self.queue), self.bytes, packet):
            self.state.queue_full(now)
            self.drop(packet, "overflow")
            return
        self.queue.append(packet)
        self.bytes += packet.len

    def dequeue(self, now):
        while self.queue:
            packet = self.queue.popleft()
            self.bytes -= packet.len
            reason = self.state.should_drop(self, packet, self.bytes, now)
            if reason is None:
                self.depart(packet)
                if not self.queue:
                    self.state.empty_since = now
                return
            self.drop(packet, reason)
        self.state.queue_empty(now)


def main():
    fast = link(100_000_000, 10 * MS, 400, 10**9, overhead=14)
    slow = link(10_000_000, 10 * MS, 400, 10**9)
    tight = link(10_000_000, 10 * MS, 10**9, 30_000, overhead=7)
    brief = {"target": 2 * MS, "interval": 20 * MS}
    cases = {
        "drops": (fast, False, brief, {}),
        "marks": (fast, True, brief, {"codepoints": (NOT_ECT, ECT0, ECT1, CE), "stall": 0.002}),
        "slow-link": (slow, False, {}, {"service": 1_200_000}),
        "overflow-and-idle": (tight, True, {**brief, "p_inc": 0.05, "p_dec": 0.01},
                              {"service": 1_200_000, "phases": (2.0, 0.3, 1.6, 0.05), "codepoints": (NOT_ECT, ECT0)}),
        "flood": (tight, False, {**brief, "p_inc": 0.3, "p_dec": 0.3}, {"service": 1_200_000, "phases": (4.0, 0.2)}),
        "changing-rate": (slow, True, brief, {"service": 1_200_000, "rates": (10_000_000, None, 0, 100_000_000, 1_000_000),
                                              "codepoints": (NOT_ECT, ECT0), "phases": (1.5, 1.1, 0.7), "phase": 60, "stall": 0.001}),
    }
    for seed, (name, (facts, ecn, params, load)) in enumerate(cases.items()):
        rng = Rng(800 + seed)
        model = Cobalt(ecn, facts, rng, **params)
        load = {"service": MS, "phase": 150, "sizes": (64, 576, 1500), "phases": (1.5, 0.9, 1.3, 0.2), **load}
        operations = play(model, script(800 + seed, 600, **load))
        write(name, "Linux sch_cake's COBALT in reference/cobalt.py", "cobalt", params, ecn, facts, rng, operations)


if __name__ == "__main__":
    main()
