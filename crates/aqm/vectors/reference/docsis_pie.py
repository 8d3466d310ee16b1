"""DOCSIS-PIE from RFC 8034 §4 and its appendix, with the choices listed in this crate's DOCSIS-PIE under Deviations."""

import math
from collections import deque

from vector import CE, ECT0, NOT_ECT, Model, Rng, link, play, script, write

MS = 1_000_000
PROB_LOW, PROB_HIGH, MEAN_PKTSIZE, MIN_PKTSIZE = 0.85, 8.5, 1024, 64
TUNE = ((1e-6, 1 / 2048), (1e-5, 1 / 512), (1e-4, 1 / 128), (1e-3, 1 / 32), (1e-2, 1 / 8), (0.1, 1 / 2), (1, 2), (10, 8))


class DocsisPie(Model):
    def __init__(self, ecn, facts, rng, *, target=10 * MS, interval=16 * MS, max_burst=142 * MS, alpha=0.25, beta=2.5,
                 sustained_rate=None, peak_rate=None, burst=0):
        super().__init__(ecn, facts["limit_packets"], facts["limit_bytes"])
        self.rng, self.overhead, self.link_rate = rng, facts["overhead"], facts["rate"]
        self.target, self.interval, self.max_burst, self.a, self.b = target, interval, max_burst, alpha, beta
        self.msr, self.peak, self.bucket = sustained_rate, peak_rate, burst
        self.tokens, self.filled = float(burst), 0
        self.burst_state, self.burst_allowance, self.burst_reset = "inactive", 0, 0
        self.drop_prob, self.accu_prob, self.qdelay_old = 0.0, 0.0, 0
        self.tick, self.asleep = None, False
        self.queue, self.bytes = deque(), 0

    def set_rate(self, now, rate):
        self.link_rate = rate

    def fill(self, now):
        rate = self.link_rate if self.msr is None else self.msr
        if self.bucket and rate is not None:
            self.tokens = min(float(self.bucket), self.tokens + rate / 8.0 * ((now - self.filled) / 1e9))
        self.filled = now

    def drop_early(self, packet):
        if self.burst_allowance > 0:
            return False
        if self.drop_prob == 0:
            self.accu_prob = 0
        if self.burst_state == "inactive":
            if 3 * self.bytes < self.limit_bytes and 3 * len(self.queue) < self.limit_packets:
                return False
            self.burst_state = "quiescent"
        p1 = min(self.drop_prob * packet.len / MEAN_PKTSIZE, PROB_LOW)
        self.accu_prob += p1
        if self.qdelay_old < self.target // 2 and self.drop_prob < 0.2 or self.bytes <= 2 * MEAN_PKTSIZE:
            return False
        if self.accu_prob < PROB_LOW:
            return False
        if self.accu_prob < PROB_HIGH and not self.rng.uniform() < p1:
            return False
        self.accu_prob = 0
        if self.burst_state == "quiescent":
            self.burst_state, self.burst_allowance = "active", self.max_burst
        return True

    def enqueue(self, now, packet):
        if not self.fits(len(self.queue), self.bytes, packet):
            self.accu_prob = 0
            self.drop(packet, "overflow")
            return
        if self.tick is None:
            self.tick = now + math.floor(self.interval * self.rng.uniform() + 0.5)
        self.asleep = False
        while self.tick <= now:
            self.tick += self.interval
        if self.drop_early(packet):
            self.drop(packet, "early")
            return
        self.queue.append(packet)
        self.bytes += packet.len

    def dequeue(self, now):
        if not self.queue:
            return
        packet = self.queue.popleft()
        self.bytes -= packet.len
        if self.bucket:
            self.fill(now)
            self.tokens = max(0.0, self.tokens - (packet.len + self.overhead))
        self.depart(packet)

    def next_timer(self):
        return None if self.asleep else self.tick

    def estimate(self, now):
        self.fill(now)
        msr = self.link_rate if self.msr is None else self.msr
        peak = self.link_rate if self.peak is None else self.peak
        if not msr:
            return None
        msr, peak = msr / 8.0, (peak or msr) / 8.0
        backlog = float(self.bytes + len(self.queue) * self.overhead)
        covered = min(backlog, self.tokens)
        return math.floor((covered / peak + (backlog - covered) / msr) * 1e9 + 0.5)

    def timer(self, now):
        self.tick += self.interval
        qdelay = self.estimate(now)
        if qdelay is None:
            return
        old = self.qdelay_old
        if self.burst_allowance > 0:
            self.drop_prob = 0.0
        else:
            p = self.a * (qdelay / 1e9 - self.target / 1e9) + self.b * (qdelay / 1e9 - old / 1e9)
            p *= next((scale for bound, scale in TUNE if self.drop_prob < bound), 32)
            if self.drop_prob >= 0.1 and p > 0.02:
                p = 0.02
            self.drop_prob += p
            if qdelay < 5 * MS and old < 5 * MS:
                self.drop_prob *= 0.98
            elif qdelay > 200 * MS:
                self.drop_prob += 0.02
            self.drop_prob = min(max(self.drop_prob, 0.0), PROB_LOW * MEAN_PKTSIZE / MIN_PKTSIZE)
        self.burst_allowance = max(0, self.burst_allowance - self.interval)
        half = self.target // 2
        quiet = qdelay < half and old < half and self.drop_prob == 0 and self.burst_allowance == 0
        if self.burst_state == "active" and quiet:
            self.burst_state, self.burst_reset = "quiescent", 0
        elif self.burst_state == "quiescent":
            self.burst_reset = self.burst_reset + self.interval if quiet else 0
            if self.burst_reset > 1000 * MS:
                self.burst_state, self.burst_reset = "inactive", 0
        self.qdelay_old = qdelay
        at_rest = self.burst_state == "inactive" and self.drop_prob == 0 and self.burst_allowance == 0
        self.asleep = at_rest and qdelay == 0 and not self.queue


def main():
    packets = link(10_000_000, 10 * MS, 60, 10**9)
    sized = link(10_000_000, 10 * MS, 10**9, 90_000, overhead=14)
    tight = link(10_000_000, 10 * MS, 10**9, 20_000)
    quick = {"interval": 4 * MS, "max_burst": 20 * MS, "alpha": 5, "beta": 20}
    cases = {
        "upstream": (sized, False, {}, {}),
        "in-packets": (packets, False, {**quick, "target": 20 * MS}, {}),
        "ect-is-dropped": (sized, True, quick, {"codepoints": (NOT_ECT, ECT0, CE)}),
        "overflow": (tight, False, {**quick, "target": 5 * MS}, {"phases": (2.0, 0.7, 1.5)}),
        "shaper": (sized, False, {**quick, "sustained_rate": 10_000_000, "peak_rate": 40_000_000, "burst": 20_000}, {"stall": 0.003}),
        "idle": (sized, False, quick, {"phases": (1.8, 0.02, 1.6, 0.005), "stall": 0.004}),
        "changing-rate": (sized, False, quick, {"rates": (10_000_000, None, 5_000_000, 0, 20_000_000), "phase": 80}),
        "unresponsive": (sized, False, {**quick, "target": 5 * MS}, {"phases": (2.0, 3.0)}),
    }
    for seed, (name, (facts, ecn, params, load)) in enumerate(cases.items()):
        rng = Rng(1100 + seed)
        model = DocsisPie(ecn, facts, rng, **params)
        load = {"sizes": (64, 300, 1500), "phases": (1.6, 1.2, 1.3, 0.4), "phase": 250, **load}
        operations = play(model, script(1100 + seed, 1000, service=1_000_000, **load))
        write(name, "RFC 8034 in reference/docsis_pie.py", "docsis-pie", params, ecn, facts, rng, operations)


if __name__ == "__main__":
    main()
