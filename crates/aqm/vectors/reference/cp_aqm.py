"""CP-AQM from §3 of its paper, with this project's rule for marking."""

from collections import deque

from vector import ECT0, NOT_ECT, Model, Rng, link, play, script, write

MS = 1_000_000


class CpAqm(Model):
    def __init__(self, ecn, facts, threshold, c_max, rate_factor=1.0):
        self.capacity = min(facts["limit_bytes"], facts["limit_packets"] * facts["mtu"])
        super().__init__(ecn, facts["limit_packets"], facts["limit_bytes"])
        self.threshold, self.c_max, self.rate_factor = threshold, c_max, rate_factor
        self.overhead, wire = facts["overhead"], facts["mtu"] + facts["overhead"]
        self.bucket = 1.5 * self.capacity * (wire / facts["mtu"]) + (wire if threshold == 0 else 0)
        self.dearest = wire * c_max
        self.fill, self.filled = self.bucket, 0
        self.rate = facts["rate"]
        self.solvent = 0
        self.queue, self.bytes = deque(), 0

    def c(self, x):
        if x < self.threshold:
            return 0.0
        return 1 + (x - self.threshold) / (self.capacity - self.threshold) * (self.c_max - 1)

    def refill(self, now):
        self.fill = min(self.bucket, self.fill + self.rate * self.rate_factor / 8 * (now - self.filled) / 1e9)
        self.filled = now

    def enqueue(self, now, packet):
        if not self.fits(len(self.queue), self.bytes, packet):
            self.drop(packet, "overflow")
            return
        self.refill(now)
        cost = (packet.len + self.overhead) * self.c(self.bytes)
        if self.fill >= cost:
            self.fill -= cost
            if self.fill >= self.dearest:
                self.solvent = now
        elif now - self.solvent > 100 * MS or not self.mark(packet, "policer"):
            self.drop(packet, "policer")
            return
        self.queue.append(packet)
        self.bytes += packet.len

    def dequeue(self, now):
        if self.queue:
            packet = self.queue.popleft()
            self.bytes -= packet.len
            self.depart(packet)

    def set_rate(self, now, rate):
        self.refill(now)
        self.rate = rate


def main():
    recommended = link(8_500_000, 10 * MS, 10**9, 45_000, overhead=7)
    packets = link(10_000_000, 10 * MS, 30, 10**9, overhead=38)
    cases = {
        "recommended": (recommended, False, {"threshold": {"packets": 5}, "c_max": 1.2}, 7500, {}),
        "marks": (recommended, True, {"threshold": {"bytes": 9000}, "c_max": 1.5}, 9000, {"codepoints": (NOT_ECT, ECT0, ECT0)}),
        "no-threshold": (packets, False, {"threshold": {"packets": 0}, "c_max": 2}, 0, {}),
        "changing-rate": (recommended, True, {"threshold": {"packets": 3}, "rate_factor": 0.9}, 4500,
                          {"codepoints": (ECT0,), "rates": (10_000_000, 2_000_000, 0)}),
    }
    for seed, (name, (facts, ecn, params, threshold, load)) in enumerate(cases.items()):
        rng = Rng(200 + seed)
        model = CpAqm(ecn, facts, threshold, params.get("c_max", 1.2), params.get("rate_factor", 1.0))
        service = 1_206_000
        operations = play(model, script(seed, 800, service=service, sizes=(300, 1500, 1500, 1500, 1500, 1500), phase=100,
                                        phases=(1.8, 1.1, 2.5, 0.7), **load))
        write(name, "§3 of the CP-AQM paper in reference/cp_aqm.py", "cp-aqm", params, ecn, facts, rng, operations)


if __name__ == "__main__":
    main()
