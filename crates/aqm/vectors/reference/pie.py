"""PIE from RFC 8033 §4, §5 and its appendices, with the choices listed in this crate's PIE under Deviations."""

import math
from collections import deque

from vector import ECT0, NOT_ECT, Model, Rng, link, play, script, write

MS = 1_000_000
DQ_THRESHOLD = 1 << 14


class Pie(Model):
    dozes = True

    def __init__(self, ecn, facts, rng, *, estimator="timestamp", target=15 * MS, t_update=15 * MS, derandomize=True,
                 cap_drop=True, active_inactive=True, max_burst=150 * MS, mark_ecnth=0.1):
        super().__init__(ecn, facts["limit_packets"], facts["limit_bytes"])
        self.rng, self.estimator, self.target, self.t_update = rng, estimator, target, t_update
        self.derandomize, self.cap_drop, self.active_inactive = derandomize, cap_drop, active_inactive
        self.max_burst, self.mark_ecnth, self.mean = max_burst, mark_ecnth, facts["mtu"]
        self.p = self.accu = self.qdelay_old = 0
        self.burst = max_burst
        self.active, self.dozing = not active_inactive, False
        self.in_meas, self.meas_start, self.dq_count, self.avg_dq_time = False, 0, 0, 0.0
        self.tick, self.last_sojourn = None, None
        self.queue, self.bytes = deque(), 0

    def wakeful(self, packets, bytes):
        return 3 * bytes >= self.limit_bytes or 3 * packets >= self.limit_packets

    def drop_early(self):
        if self.qdelay_old < self.target // 2 and self.p < 0.2 or self.bytes <= 2 * self.mean:
            return False
        if self.derandomize:
            if self.p == 0:
                self.accu = 0
            self.accu += self.p
            if self.accu < 0.85:
                return False
            if self.accu >= 8.5:
                return True
        return self.rng.uniform() < self.p

    def enqueue(self, now, packet):
        if not self.fits(len(self.queue), self.bytes, packet):
            self.drop(packet, "overflow")
            self.accu = 0
            return
        if self.tick is None:
            self.tick = now + math.floor(self.t_update * self.rng.uniform() + 0.5)
        if self.dozing:
            self.dozing = False
            while self.tick <= now:
                self.tick += self.t_update
        if self.active and self.burst == 0 and self.drop_early():
            self.accu = 0
            if not (self.p < self.mark_ecnth and self.mark(packet, "early")):
                self.drop(packet, "early")
                return
        self.queue.append(packet)
        self.bytes += packet.len
        if not self.active and self.wakeful(len(self.queue), self.bytes):
            self.active = True
            self.p = self.accu = self.qdelay_old = 0
            self.burst = self.max_burst
            self.in_meas, self.dq_count, self.avg_dq_time, self.last_sojourn = False, 0, 0.0, None
            while self.tick <= now:
                self.tick += self.t_update

    def dequeue(self, now):
        if not self.queue:
            return
        packet = self.queue.popleft()
        self.bytes -= packet.len
        self.last_sojourn = now - packet.stamp
        if self.active and self.estimator == "departure-rate":
            self.measure(now, packet)
        self.depart(packet)

    def measure(self, now, packet):
        if self.in_meas:
            self.dq_count += packet.len
            if self.dq_count >= DQ_THRESHOLD:
                t, w = (now - self.meas_start) / 1e9, DQ_THRESHOLD / 65536
                self.avg_dq_time = t if self.avg_dq_time == 0 else t * w + self.avg_dq_time * (1 - w)
                self.in_meas = False
        if self.bytes >= DQ_THRESHOLD and not self.in_meas:
            self.in_meas, self.meas_start, self.dq_count = True, now, 0

    def next_timer(self):
        return self.tick if self.active and not self.dozing else None

    def delay(self, now):
        if not self.queue:
            return 0
        if self.estimator == "departure-rate":
            return math.floor(self.bytes * self.avg_dq_time / DQ_THRESHOLD * 1e9 + 0.5)
        return now - self.queue[0].stamp if self.last_sojourn is None else self.last_sojourn

    def timer(self, now):
        qdelay, old, half = self.delay(now), self.qdelay_old, self.target // 2
        d = 0.125 * (qdelay - self.target) / 1e9 + 1.25 * (qdelay - old) / 1e9
        for bound, divisor in ((1e-6, 2048), (1e-5, 512), (1e-4, 128), (1e-3, 32), (1e-2, 8), (0.1, 2)):
            if self.p < bound:
                d /= divisor
                break
        if self.cap_drop and self.p >= 0.1 and d > 0.02:
            d = 0.02
        self.p += d
        calm = qdelay < half and old < half
        if calm if self.active_inactive else qdelay == 0 and old == 0:
            self.p *= 0.98
        self.p = min(1, max(0, self.p))
        self.qdelay_old, self.last_sojourn = qdelay, None
        self.burst = max(0, self.burst - self.t_update)
        self.tick += self.t_update
        if self.p == 0 and calm:
            self.burst = self.max_burst
            if self.active_inactive and not self.wakeful(len(self.queue), self.bytes):
                self.active, self.in_meas = False, False
            # Nothing can change until a packet arrives.
            self.dozing = self.dozes and self.active and not self.queue and qdelay == 0


def main():
    facts = link(10_000_000, 10 * MS, 90, 10**9)
    in_bytes = link(10_000_000, 10 * MS, 10**9, 150_000)
    cases = {
        "timestamp": (facts, False, {}, {}),
        "marks": (in_bytes, True, {"target": 5 * MS, "t_update": 5 * MS, "max_burst": 20 * MS, "mark_ecnth": 0.6}, {"codepoints": (NOT_ECT, ECT0, ECT0), "phases": (1.2, 1.0, 1.05)}),
        "departure-rate": (facts, False, {"estimator": "departure-rate"}, {}),
        "always-active": (facts, False, {"active_inactive": False, "derandomize": False, "cap_drop": False}, {}),
    }
    for seed, (name, (link_facts, ecn, params, load)) in enumerate(cases.items()):
        rng = Rng(400 + seed)
        model = Pie(ecn, link_facts, rng, **params)
        operations = play(model, script(seed, 1000, service=1_200_000, sizes=(300, 1500), phase=250,
                                        **{"phases": (1.5, 1.15, 1.3, 0.5), **load}))
        write(name, "RFC 8033 in reference/pie.py", "pie", {"active_inactive": True, **params}, ecn, link_facts, rng, operations)


if __name__ == "__main__":
    main()
