"""CHOKe (Pan, Prabhakar and Psounis 2000) as Linux applies it: RED's average in packets, a random encounter, then RED."""

import math

from vector import CE, ECT0, ECT1, NOT_ECT, Model, Rng, link, play, script, write

MS = 1_000_000


class Choke(Model):
    def __init__(self, ecn, facts, rng, *, min_th=None, max_th=None, max_p=0.02, w_q=None, mean_pktsize=500, harddrop=False,
                 targetdelay=5 * MS):
        super().__init__(ecn, facts["limit_packets"], facts["limit_bytes"])
        self.rng, self.max_p, self.harddrop, self.mean = rng, max_p, harddrop, mean_pktsize
        self.given = (min_th and min_th["packets"], max_th and max_th["packets"], w_q)
        self.delay, self.targetdelay = facts["delay"] / 1e9, targetdelay / 1e9
        self.set_rate(0, facts["rate"])
        self.avg, self.count, self.in_band, self.idle = 0.0, 0, False, None
        self.queue, self.bytes, self.pairs = [], 0, 0

    def set_rate(self, now, rate):
        """RED's automatic settings; a link that is down or unknown keeps the last ones."""
        min_th, max_th, w_q = self.given
        self.ptc = (rate or 0) / (8 * self.mean)
        if rate:
            rtt = max(0.1, 3 * (self.delay + 1 / self.ptc))
            self.w_q = 1 - math.exp(-1 / (10 * rtt * self.ptc)) if w_q is None else w_q
            self.min_th = max(5, self.targetdelay * self.ptc / 2) if min_th is None else min_th
            self.max_th = 3 * self.min_th if max_th is None else max_th

    def average(self, now):
        if self.idle is not None:
            for _ in range(math.floor((now - self.idle) / 1e9 * self.ptc)):
                self.avg *= 1 - self.w_q
            self.idle = None
        self.avg = (1 - self.w_q) * self.avg + self.w_q * len(self.queue)

    def enqueue(self, now, packet):
        self.average(now)
        if not self.fits(len(self.queue), self.bytes, packet):
            self.drop(packet, "overflow")
            return
        if self.avg <= self.min_th:
            self.in_band = False
        elif self.meets_its_own(now, packet) or self.red_drops(packet):
            return
        self.queue.append(packet)
        self.bytes += packet.len

    def meets_its_own(self, now, packet):
        if not self.queue:
            return False
        place = math.floor(self.rng.uniform() * len(self.queue))
        if self.queue[place].flow != packet.flow:
            return False
        other = self.queue.pop(place)
        self.bytes -= other.len
        self.drop(other, "match")
        if not self.queue:
            self.idle = now
        self.drop(packet, "match")
        self.pairs += 1
        return True

    def red_drops(self, packet):
        """RED between and above its thresholds; true when the packet is gone."""
        if self.avg > self.max_th:
            self.in_band = False
            if self.harddrop or not self.mark(packet, "early"):
                self.drop(packet, "early")
                return True
            return False
        self.count += 1
        if not self.in_band:
            self.in_band, self.count = True, 1
            return False
        p_b = self.max_p * (self.avg - self.min_th) / (self.max_th - self.min_th)
        p_a = p_b / (1 - self.count * p_b) if self.count * p_b < 1 else 1
        if self.rng.uniform() >= p_a:
            return False
        self.count = 0
        if self.mark(packet, "early"):
            return False
        self.drop(packet, "early")
        return True

    def dequeue(self, now):
        if self.queue:
            packet = self.queue.pop(0)
            self.bytes -= packet.len
            self.depart(packet)
            if not self.queue:
                self.idle = now


def main():
    line = link(10_000_000, 10 * MS, 60, 10**9)
    roomy = link(10_000_000, 10 * MS, 10**9, 150_000)
    band = {"min_th": {"packets": 5}, "max_th": {"packets": 20}, "w_q": 0.05, "max_p": 0.1}
    cases = {
        "matches": (line, False, band, {"flows": 4}),
        "marks": (line, True, {**band, "max_p": 0.3}, {"flows": 30, "codepoints": (NOT_ECT, ECT0, ECT1, CE)}),
        "hard-drop": (line, True, {**band, "max_th": {"packets": 10}, "harddrop": True}, {"flows": 40, "codepoints": (ECT0, NOT_ECT)}),
        "overflow": (link(10_000_000, 10 * MS, 15, 10**9), False, {**band, "w_q": 0.01}, {"flows": 20, "phases": (2.0, 0.3, 1.5)}),
        "idle-and-automatic": (roomy, False, {"w_q": 0.02, "targetdelay": 4 * MS}, {"flows": 8, "stall": 0.006, "phases": (1.4, 0.3, 1.1)}),
        "changing-rate": (roomy, True, {"max_p": 0.05, "w_q": 0.05},
                          {"flows": 12, "rates": (10_000_000, 40_000_000, 0, 5_000_000, None), "codepoints": (ECT0, NOT_ECT)}),
    }
    for seed, (name, (facts, ecn, params, load)) in enumerate(cases.items()):
        rng = Rng(900 + seed)
        model = Choke(ecn, facts, rng, **params)
        load = {"sizes": (300, 1500), "phases": (1.3, 0.9, 1.1, 0.5), **load}
        operations = play(model, script(900 + seed, 700, service=1_200_000, phase=150, **load))
        origin = "Pan, Prabhakar and Psounis 2000 and Linux sch_choke in reference/choke.py"
        write(name, origin, "choke", params, ecn, facts, rng, operations)


if __name__ == "__main__":
    main()
