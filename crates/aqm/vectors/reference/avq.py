"""AVQ from its authors' equations in bytes and seconds; a packet that is dropped does not count as an arrival, as in ns-2."""

from collections import deque

from vector import CE, ECT0, ECT1, NOT_ECT, Model, Rng, link, play, script, write

MS = 1_000_000


class Avq(Model):
    def __init__(self, ecn, facts, *, gamma=0.98, alpha=0.15, buflim=1.0, ecnlim=0.8):
        super().__init__(ecn, facts["limit_packets"], facts["limit_bytes"])
        self.gamma, self.alpha, self.ecnlim = gamma, alpha, ecnlim
        self.framing = facts["overhead"]
        held = min(facts["limit_bytes"], facts["limit_packets"] * facts["mtu"])
        self.buffer = buflim * held * (facts["mtu"] + self.framing) / facts["mtu"]
        self.C = facts["rate"] / 8
        self.Cv = None
        self.vq, self.vq_time, self.cv_time = 0.0, None, None
        self.queue, self.backlog = deque(), 0

    def catch_up(self, now):
        self.vq = max(0.0, self.vq - self.Cv * (now - self.vq_time) / 1e9)
        self.vq_time = now

    def enqueue(self, now, packet):
        if self.Cv is None:
            self.Cv, self.vq_time, self.cv_time = self.ecnlim * self.C, now, now
        b = packet.len + self.framing
        self.catch_up(now)
        signal = self.vq + b > self.buffer
        if not signal:
            self.vq += b
        if (not signal or self.is_ect(packet)) and self.C > 0:
            grown = self.Cv + self.alpha * self.gamma * self.C * (now - self.cv_time) / 1e9
            self.Cv = max(0.0, min(self.C, grown) - self.alpha * b)
        if not signal or self.is_ect(packet):
            self.cv_time = now
        if not self.fits(len(self.queue), self.backlog, packet):
            self.drop(packet, "overflow")
        elif signal and not self.mark(packet, "early"):
            self.drop(packet, "early")
        else:
            self.queue.append(packet)
            self.backlog += packet.len

    def dequeue(self, now):
        if self.queue:
            packet = self.queue.popleft()
            self.backlog -= packet.len
            self.depart(packet)

    def set_rate(self, now, rate):
        if rate is None:
            return
        if self.Cv is not None:
            self.catch_up(now)
            if self.C > 0:
                self.Cv = min(self.C, self.Cv + self.alpha * self.gamma * self.C * (now - self.cv_time) / 1e9)
                self.share = self.Cv / self.C
            self.cv_time = now
            self.Cv = self.share * rate / 8
        self.C = rate / 8


def main():
    in_bytes = link(10_000_000, 10 * MS, 10**9, 45_000, overhead=38)
    slower = link(4_500_000, 10 * MS, 10**9, 45_000, overhead=38)
    packets = link(10_000_000, 10 * MS, 30, 10**9)
    quick = {"alpha": 5.0}
    load = {"phases": (0.7, 1.2, 0.95, 1.6)}
    codepoints = (NOT_ECT, ECT0, ECT1, CE)
    cases = {
        "drops": (packets, False, {}, load),
        "marks": (packets, True, {}, {**load, "codepoints": (ECT0, ECT1)}),
        "both": (slower, True, quick, {**load, "codepoints": codepoints, "sizes": (64, 576, 1500)}),
        "quick-drops": (slower, False, quick | {"gamma": 0.9, "ecnlim": 1.0}, {**load, "sizes": (300, 1500)}),
        "short-virtual-buffer": (packets, False, {"buflim": 0.5, "alpha": 1.0}, {**load, "sizes": (300, 1500, 1500)}),
        "overflow": (packets, True, {"buflim": 2.0, "gamma": 1.0}, {"phases": (2.0, 1.1), "codepoints": (ECT0, NOT_ECT)}),
        "changing-rate": (in_bytes, True, quick, {**load, "codepoints": (ECT0, NOT_ECT), "stall": 0.01,
                                                  "rates": (10_000_000, 3_000_000, 0, None, 25_000_000)}),
    }
    for seed, (name, (facts, ecn, params, load)) in enumerate(cases.items()):
        rng = Rng(800 + seed)
        operations = play(Avq(ecn, facts, **params), script(seed, **{"service": 1_200_000, "stall": 0.002, "steps": 800, **load}))
        write(name, "Kunniyur and Srikant 2001 in reference/avq.py", "avq", params, ecn, facts, rng, operations)


if __name__ == "__main__":
    main()
