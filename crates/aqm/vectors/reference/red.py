"""RED and Adaptive RED from their papers, with ns-2's options and automatic settings."""

import math
from collections import deque

from vector import ECT0, NOT_ECT, Model, Rng, link, play, script, write

MS = 1_000_000


class Red(Model):
    def __init__(self, ecn, facts, rng, *, min_th=None, max_th=None, max_p=0.1, w_q=None, gentle=True, bytes=False,
                 queue_in_bytes=False, mean_pktsize=500, wait=True, use_mark_p=True, mark_p=0.1, adaptive="off",
                 harddrop=False, weight_rule="rtt", static=False):
        super().__init__(ecn, facts["limit_packets"], facts["limit_bytes"])
        self.rng = rng
        self.gentle, self.byte_mode, self.queue_in_bytes, self.wait = gentle, bytes, queue_in_bytes, wait
        self.use_mark_p, self.mark_p, self.adaptive = use_mark_p, mark_p, adaptive
        self.mean, self.max_p = mean_pktsize, max_p
        self.harddrop, self.weight_rule, self.static = harddrop, weight_rule, static
        self.zone = "between"
        self.fixed = (min_th, max_th, w_q)
        self.delay = facts["delay"] / 1e9
        self.settle(facts["rate"])
        self.avg, self.count, self.count_bytes, self.in_band = 0.0, 0, 0, False
        self.idle, self.last_adapt = None, 0
        self.queue, self.backlog = deque(), 0

    def settle(self, rate):
        """ns-2's automatic settings."""
        min_th, max_th, w_q = self.fixed
        self.ptc = rate / (8 * self.mean)
        unit = self.mean if self.queue_in_bytes else 1
        if rate > 0:
            rtt = max(0.1, 3 * (self.delay + 1 / self.ptc))
            automatic = {"rtt": -1 / (10 * rtt * self.ptc), "second": -1 / self.ptc, "tenth": -10 / self.ptc}[self.weight_rule]
            self.w_q = 1 - math.exp(automatic) if w_q is None else w_q
            self.min_th = max(5, 0.005 * self.ptc / 2) * unit if min_th is None else min_th
            self.bottom = min(0.01, 80000 / rate)
        self.max_th = 3 * self.min_th if max_th is None else max_th

    def ramp(self):
        if self.avg < self.max_th:
            return self.max_p * (self.avg - self.min_th) / (self.max_th - self.min_th)
        if self.gentle and self.avg < 2 * self.max_th:
            return self.max_p + (1 - self.max_p) * (self.avg - self.max_th) / self.max_th
        return 1.0

    def spread(self, p_b, packet):
        if p_b >= 1:
            return 1
        c = self.count_bytes / self.mean if self.byte_mode else self.count
        if self.wait:
            p_a = 0 if c * p_b < 1 else p_b / (2 - c * p_b) if c * p_b < 2 else 1
        else:
            p_a = p_b / (1 - c * p_b) if c * p_b < 1 else 1
        return min(1, p_a * packet.len / self.mean) if self.byte_mode and p_a < 1 else p_a

    def adapt(self, now):
        if now < self.last_adapt + 500 * MS:
            return
        part = 0.4 * (self.max_th - self.min_th)
        if self.avg < self.min_th + part and self.max_p > self.bottom:
            self.max_p *= 0.9
            self.last_adapt = now
        elif self.avg > self.max_th - part and self.max_p < 0.5:
            self.max_p += min(0.01, self.max_p / 4)
            self.last_adapt = now

    def adapt_on_crossing(self):
        """Feng et al. 1999."""
        zone = "below" if self.avg < self.min_th else "above" if self.avg > self.max_th else "between"
        if zone != self.zone:
            self.max_p = {"below": self.max_p / 3, "above": min(1, 2 * self.max_p), "between": self.max_p}[zone]
        self.zone = zone

    def enqueue(self, now, packet):
        q = self.backlog if self.queue_in_bytes else len(self.queue)
        if self.idle is not None:
            self.avg *= (1 - self.w_q) ** math.floor((now - self.idle) / 1e9 * self.ptc)
            self.idle = None
        self.avg = (1 - self.w_q) * self.avg + self.w_q * q
        if self.adaptive == "floyd":
            self.adapt(now)
        elif self.adaptive == "feng":
            self.adapt_on_crossing()
        self.count += 1
        self.count_bytes += packet.len
        early, p_b = False, 0
        if self.avg >= self.min_th and q > 1:
            if not self.in_band:
                self.in_band, self.count, self.count_bytes = True, 1, packet.len
            else:
                p_b = self.ramp()
                if self.rng.uniform() < self.spread(p_b, packet):
                    early, self.count, self.count_bytes = True, 0, 0
        else:
            self.in_band = False
        if not self.fits(len(self.queue), self.backlog, packet):
            self.drop(packet, "overflow")
            return
        if early:
            may_mark = (not self.use_mark_p or p_b < self.mark_p) and not (self.harddrop and self.avg >= self.max_th)
            if not (may_mark and self.mark(packet, "early")):
                self.drop(packet, "early")
                return
        self.queue.append(packet)
        self.backlog += packet.len

    def dequeue(self, now):
        if self.queue:
            packet = self.queue.popleft()
            self.backlog -= packet.len
            self.depart(packet)
            if not self.queue:
                self.idle = now

    def set_rate(self, now, rate):
        if not self.static:
            self.settle(rate)


def main():
    small = link(10_000_000, 10 * MS, 60, 10**9)
    koo = link(10_000_000, 10 * MS, 10**9, 100_000)
    quick = {"w_q": 0.05}
    cases = {
        "automatic": ("red", small, False, quick, quick, {}),
        "marks": ("red", small, True, quick | {"mark_p": 0.3}, quick | {"mark_p": 0.3}, {"codepoints": (NOT_ECT, ECT0, ECT0), "phases": (1.2, 1.0)}),
        "classic": ("red", small, False, {"min_th": {"packets": 5}, "max_th": {"packets": 15}, "max_p": 0.02, "w_q": 0.05,
                                          "gentle": False, "wait": False},
                    {"min_th": 5, "max_th": 15, "max_p": 0.02, "w_q": 0.05, "gentle": False, "wait": False}, {}),
        "bytes": ("red", koo, True, {"min_th": {"bytes": 20000}, "max_th": {"bytes": 80000}, "max_p": 1.0, "w_q": 0.02,
                                     "bytes": True, "queue_in_bytes": True, "use_mark_p": False},
                  {"min_th": 20000, "max_th": 80000, "max_p": 1.0, "w_q": 0.02, "bytes": True, "queue_in_bytes": True,
                   "use_mark_p": False}, {"codepoints": (NOT_ECT, ECT0), "phases": (1.5, 1.1, 0.3)}),
        "changing-rate": ("red", small, False, {}, {}, {"phases": (2.5, 1.1), "rates": (10_000_000, 4_000_000, 0, 100_000_000)}),
        "adaptive": ("ared", small, False, quick, quick | {"adaptive": "floyd"}, {"phases": (2, 1, 1.3)}),
        "harddrop": ("red", small, True, quick | {"harddrop": True, "use_mark_p": False},
                     quick | {"harddrop": True, "use_mark_p": False}, {"codepoints": (ECT0, ECT0, NOT_ECT), "phases": (2.5, 1.1, 1.3)}),
        "feng": ("red", small, False, quick | {"adaptive": "feng"}, quick | {"adaptive": "feng"}, {"phases": (2.5, 0.5, 1.3)}),
        "tenth": ("red", small, False, {"auto_w_q": "tenth"}, {"weight_rule": "tenth"}, {"phases": (2.5, 1.1), "rates": (10_000_000, 30_000_000)}),
        "legacy-static": ("red", small, False, {"auto_w_q": "second", "legacy_static": True}, {"weight_rule": "second", "static": True},
                          {"phases": (2.5, 1.1), "rates": (10_000_000, 4_000_000, 0, 100_000_000)}),
        "adaptive-marks": ("ared", small, True, quick, quick | {"adaptive": "floyd"},
                           {"codepoints": (NOT_ECT, ECT0, ECT0), "phases": (1.3, 1.0, 2.0)}),
        "adaptive-bytes": ("ared", koo, False, quick | {"bytes": True, "queue_in_bytes": True},
                           quick | {"bytes": True, "queue_in_bytes": True, "adaptive": "floyd"}, {"phases": (2.5, 1.2, 0.3)}),
        "adaptive-changing-rate": ("ared", small, False, {}, {"adaptive": "floyd"},
                                   {"phases": (2.5, 1.1), "rates": (10_000_000, 4_000_000, 0, 100_000_000)}),
        "adaptive-ungentle": ("ared", small, False, quick | {"gentle": False, "max_p": 0.4}, quick | {"gentle": False, "max_p": 0.4, "adaptive": "floyd"},
                              {"phases": (3.0, 0.7, 1.05)}),
    }
    for seed, (name, (kind, facts, ecn, params, settings, load)) in enumerate(cases.items()):
        rng = Rng(300 + seed)
        model = Red(ecn, facts, rng, **settings)
        load = {"phases": (1.5, 1.05, 0.6), **load}
        operations = play(model, script(seed, 600, service=1_200_000, sizes=(300, 1500), stall=0.002, **load))
        write(name, "Floyd and Jacobson 1993, Floyd et al. 2001 and ns-2's options in reference/red.py", kind, params, ecn, facts,
              rng, operations)


if __name__ == "__main__":
    main()
