"""CP-AQM from §3 of its paper, with this project's rules for marking and for links of changing rate."""

from collections import deque

from vector import ECT0, NOT_ECT, Model, Rng, link, play, script, write

MS = 1_000_000


class CpAqm(Model):
    def __init__(self, ecn, facts, threshold, c_max=1.2, rate_factor=1.0, capacity=None, tokens="time"):
        super().__init__(ecn, facts["limit_packets"], facts["limit_bytes"])
        self.facts, self.sizes = facts, {"threshold": threshold, "capacity": capacity}
        self.c_max, self.rate_factor, self.tokens = c_max, rate_factor, tokens
        self.overhead, self.wire = facts["overhead"], facts["mtu"] + facts["overhead"]
        self.dearest = self.wire * c_max
        self.rate = facts["rate"]
        self.threshold, self.capacity = None, None
        self.measure_out()
        self.fill, self.filled = self.bucket, 0
        self.solvent = 0
        self.idle = True
        self.queue, self.bytes = deque(), 0

    def size(self, name):
        """In bytes; a time on a link that is down, or of unknown rate, says nothing new."""
        given = self.sizes[name]
        if given is None:
            return None
        (unit, amount), = given.items()
        if unit == "time":
            return amount * self.rate // 8 // 1_000_000_000 if self.rate else None
        return amount * (self.facts["mtu"] if unit == "packets" else 1)

    def measure_out(self):
        most = min(self.facts["limit_bytes"], self.facts["limit_packets"] * self.facts["mtu"])
        capacity = self.size("capacity")
        if capacity is not None:
            self.capacity = min(capacity, most)
        elif self.capacity is None:
            self.capacity = most
        threshold = self.size("threshold")
        if threshold is not None:
            self.threshold = threshold
        self.bucket = max(1.5, (1 + self.c_max) / 2) * self.capacity * self.wire / self.facts["mtu"] + (self.wire if self.threshold == 0 else 0)

    def c(self, x):
        if x < self.threshold or self.threshold >= self.capacity:
            return 0.0
        return 1 + (x - self.threshold) / (self.capacity - self.threshold) * (self.c_max - 1)

    def refill(self, now):
        if self.tokens == "time" or self.idle:
            self.earn((self.rate or 0) * self.rate_factor / 8 * (now - self.filled) / 1e9)
        self.filled = now

    def earn(self, tokens):
        self.fill = min(self.bucket, self.fill + tokens)

    def enqueue(self, now, packet):
        if not self.fits(len(self.queue), self.bytes, packet):
            self.drop(packet, "overflow")
            return
        self.refill(now)
        self.idle = False
        if self.bytes + packet.len > self.capacity:
            self.drop(packet, "overflow")
            return
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
            if self.tokens == "departures":
                self.earn((packet.len + self.overhead) * self.rate_factor)
            self.depart(packet)
        else:
            self.refill(now)
            self.idle = True

    def set_rate(self, now, rate):
        self.refill(now)
        self.rate = rate
        fraction, before = self.fill / self.bucket, self.bucket
        self.measure_out()
        if self.bucket != before:
            self.fill = fraction * self.bucket


def main():
    recommended = link(8_500_000, 10 * MS, 10**9, 45_000, overhead=7)
    packets = link(10_000_000, 10 * MS, 30, 10**9, overhead=38)
    cases = {
        "recommended": (recommended, False, {"threshold": {"packets": 5}, "c_max": 1.2}, {}),
        "marks": (recommended, True, {"threshold": {"bytes": 9000}, "c_max": 1.5}, {"codepoints": (NOT_ECT, ECT0, ECT0)}),
        "no-threshold": (packets, False, {"threshold": {"packets": 0}, "c_max": 2}, {}),
        "changing-rate": (recommended, True, {"threshold": {"packets": 3}, "rate_factor": 0.9},
                          {"codepoints": (ECT0,), "rates": (10_000_000, 2_000_000, 0)}),
        "sizes-in-time": (recommended, False, {"threshold": {"time": 6 * MS}, "capacity": {"time": 30 * MS}},
                          {"rates": (10_000_000, 4_000_000, 0, 20_000_000), "stall": 0.01}),
        "departures": (recommended, True, {"threshold": {"packets": 5}, "tokens": "departures"},
                       {"codepoints": (NOT_ECT, ECT0), "rates": (10_000_000, 2_000_000, None), "stall": 0.01}),
        "departures-unknown-rate": (packets, False,
                                    {"threshold": {"packets": 2}, "capacity": {"packets": 20}, "c_max": 1.5, "tokens": "departures"},
                                    {"rates": (None,)}),
    }
    for seed, (name, (facts, ecn, params, load)) in enumerate(cases.items()):
        rng = Rng(200 + seed)
        model = CpAqm(ecn, facts, **params)
        service = 1_206_000
        operations = play(model, script(seed, 800, service=service, sizes=(300, 1500, 1500, 1500, 1500, 1500), phase=100,
                                        phases=(1.8, 1.1, 2.5, 0.7), **load))
        write(name, "Menth and Veith 2018 §3 in reference/cp_aqm.py", "cp-aqm", params, ecn, facts, rng, operations)


if __name__ == "__main__":
    main()
