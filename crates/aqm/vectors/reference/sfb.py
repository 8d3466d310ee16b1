"""Stochastic fair BLUE (Feng, Kandlur, Saha and Shin 2001) with Linux's rules and defaults, and the choices listed in this crate's SFB."""

from collections import deque

from vector import CE, ECT0, ECT1, MASK, NOT_ECT, Model, Rng, link, mix, play, script, write

MS = 1_000_000
S = 1000 * MS
LEVELS, BINS = 8, 16


class Bins:
    """One table: probabilities and counts under a salt; which packets it has counted is noted in the packets."""

    def __init__(self, salt):
        self.salt = salt
        self.p = [[0.0] * BINS for _ in range(LEVELS)]
        self.qlen = [[0] * BINS for _ in range(LEVELS)]

    def places(self, flow):
        bits = mix(((flow ^ self.salt) * 0x9E3779B97F4A7C15) & MASK) >> 32
        return [(level, (bits >> (4 * level)) & 15) for level in range(LEVELS)]


class Sfb(Model):
    def __init__(self, ecn, facts, rng, *, bin_size=20, max=25, d1=0.001, d2=1 / 6000, penalty_rate=10, penalty_burst=20,
                 rehash=600 * S, warmup=60 * S):
        super().__init__(ecn, facts["limit_packets"], facts["limit_bytes"])
        self.rng, self.bin_size, self.max, self.d1, self.d2 = rng, bin_size, max, d1, d2
        self.penalty_rate, self.penalty_burst, self.rehash, self.warmup = penalty_rate, penalty_burst, rehash, warmup
        self.current = self.next = self.rehash_time = None
        self.tokens, self.token_time = penalty_burst, 0
        self.queue, self.bytes, self.swaps = deque(), 0, 0

    def update(self, table, flow):
        """Moves the probabilities of the flow's bins; gives the least probability and count."""
        p_min, q_min = 1.0, 1 << 30
        for level, place in table.places(flow):
            if table.qlen[level][place] == 0:
                table.p[level][place] = max(0.0, table.p[level][place] - self.d2)
            elif table.qlen[level][place] >= self.bin_size:
                table.p[level][place] = min(1.0, table.p[level][place] + self.d1)
            p_min, q_min = min(p_min, table.p[level][place]), min(q_min, table.qlen[level][place])
        return p_min, q_min

    def tables(self, now):
        if self.current is None:
            self.current, self.rehash_time = Bins(self.rng.next_u64()), now
        if self.rehash == 0:
            return
        if self.next is None and now > self.rehash_time + self.rehash - self.warmup:
            self.next = Bins(self.rng.next_u64())
        if now > self.rehash_time + self.rehash:
            self.current, self.next, self.rehash_time = self.next, None, now
            self.swaps += 1

    def penalised(self, now):
        self.tokens = min(self.penalty_burst, self.tokens + (now - self.token_time) / 1e9 * self.penalty_rate)
        self.token_time = now
        if self.tokens < 1:
            return True
        self.tokens -= 1
        return False

    def enqueue(self, now, packet):
        if not self.fits(len(self.queue), self.bytes, packet):
            self.drop(packet, "overflow")
            return
        self.tables(now)
        if self.refuses(now, packet):
            return
        packet.counted = [table for table in (self.current, self.next) if table is not None]
        for table in packet.counted:
            for level, place in table.places(packet.flow):
                table.qlen[level][place] += 1
        self.queue.append(packet)
        self.bytes += packet.len

    def refuses(self, now, packet):
        p_min, q_min = self.update(self.current, packet.flow)
        if q_min >= self.max:
            self.drop(packet, "early")
            return True
        if p_min >= 1:
            if self.next is not None:
                self.update(self.next, packet.flow)
            if self.penalised(now):
                self.drop(packet, "penalty")
                return True
            return False
        u = self.rng.uniform()
        if u >= p_min:
            return False
        if p_min > 0.5 and u < 2 * (p_min - 0.5) or not self.mark(packet, "early"):
            self.drop(packet, "early")
            return True
        return False

    def dequeue(self, now):
        if not self.queue:
            return
        packet = self.queue.popleft()
        self.bytes -= packet.len
        for table in packet.counted:
            for level, place in table.places(packet.flow):
                table.qlen[level][place] -= 1
        self.depart(packet)


def main():
    line = link(10_000_000, 10 * MS, 100, 10**9)
    small = {"bin_size": 3, "max": 5, "d1": 0.02, "d2": 0.005}
    ecn = {"codepoints": (NOT_ECT, ECT0, ECT1, CE)}
    cases = {
        "default": (line, {"rehash": 0}, {"phases": (1.6, 0.8, 1.3, 0.4)}),
        "small-bins": (line, small, {"flows": 9}),
        "marks": (line, small, {"flows": 12, **ecn}),
        "penalty": (line, {**small, "penalty_rate": 100, "penalty_burst": 5}, {"flows": 3, "phases": (3.0, 2.0, 0.2), **ecn}),
        "changing-salt": (line, {**small, "d1": 0.1, "rehash": 150 * MS, "warmup": 60 * MS}, {"flows": 4, "phases": (2.0, 0.4), **ecn}),
        "no-warm-up": (line, {**small, "rehash": 100 * MS, "warmup": 0}, {"flows": 60}),
        "overflow": (link(10_000_000, 10 * MS, 20, 10**9), {**small, "max": 12}, {"flows": 30, "phases": (2.0, 0.3, 1.5), "stall": 0.003}),
        "changing-rate": (link(10_000_000, 10 * MS, 10**9, 100_000), small, {"flows": 20, "rates": (10_000_000, 0, None), **ecn}),
    }
    for seed, (name, (facts, params, load)) in enumerate(cases.items()):
        rng = Rng(950 + seed)
        may_mark = "codepoints" in load
        model = Sfb(may_mark, facts, rng, **params)
        load = {"sizes": (300, 1500), "phases": (1.4, 0.9, 1.2, 0.3), **load}
        operations = play(model, script(950 + seed, 600, service=1_200_000, phase=150, **load))
        origin = "Feng, Kandlur, Saha and Shin 2001 and Linux sch_sfb in reference/sfb.py"
        write(name, origin, "sfb", {"d1": 0.001, "d2": 1 / 6000, **params}, may_mark, facts, rng, operations)
        assert model.swaps > 3 or "rehash" not in params or params["rehash"] == 0, name


if __name__ == "__main__":
    main()
