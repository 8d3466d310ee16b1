"""BLUE as its authors describe it: one probability, moved by overflow and idleness, with this project's timer for a queue that stays
empty."""

from collections import deque

from vector import CE, ECT0, ECT1, NOT_ECT, Model, Rng, link, play, script, write

MS = 1_000_000


class Blue(Model):
    def __init__(self, ecn, facts, rng, *, freeze_time=100 * MS, d1=0.02, d2=0.002, threshold=None, decay_while_idle=True):
        super().__init__(ecn, facts["limit_packets"], facts["limit_bytes"])
        self.rng, self.freeze, self.d1, self.d2 = rng, freeze_time, d1, d2
        self.decay_while_idle = decay_while_idle
        # A number of bytes, or a function of the rate that is asked again when the rate changes.
        self.given_threshold = threshold
        self.L = threshold(facts["rate"]) if callable(threshold) else threshold
        self.p, self.last, self.link_idle = 0.0, None, False
        self.queue, self.backlog = deque(), 0

    def may_change(self, now):
        return self.last is None or now - self.last > self.freeze

    def on_congestion(self, now):
        if self.may_change(now):
            self.p, self.last = min(1.0, self.p + self.d1), now

    def on_idle(self, now):
        self.link_idle = True
        if self.may_change(now):
            self.p, self.last = max(0.0, self.p - self.d2), now

    def enqueue(self, now, packet):
        if not self.fits(len(self.queue), self.backlog, packet):
            self.on_congestion(now)
            self.drop(packet, "overflow")
            return
        if self.L is not None and self.backlog > self.L:
            self.on_congestion(now)
        if self.rng.uniform() < self.p and not self.mark(packet, "early"):
            self.drop(packet, "early")
            return
        self.link_idle = False
        self.queue.append(packet)
        self.backlog += packet.len

    def dequeue(self, now):
        if not self.queue:
            self.on_idle(now)
            return
        packet = self.queue.popleft()
        self.backlog -= packet.len
        self.depart(packet)
        if not self.queue:
            self.on_idle(now)

    def next_timer(self):
        if self.decay_while_idle and self.link_idle and self.p > 0:
            return self.last + self.freeze + 1
        return None

    def timer(self, now):
        self.on_idle(now)

    def set_rate(self, now, rate):
        if callable(self.given_threshold) and rate:
            self.L = self.given_threshold(rate)


def edges():
    """By hand: the first overflow counts at once, one exactly a freeze later does not, one a nanosecond after that does; then an idle
    time that takes the probability down, and a packet into it."""
    yield from (["enqueue", 1, 1500, 0, NOT_ECT] for _ in range(3))
    yield ["enqueue", 10 * MS + 1, 1500, 0, NOT_ECT]
    yield ["enqueue", 10 * MS + 2, 1500, 0, ECT0]
    yield ["enqueue", 10 * MS + 3, 1500, 0, ECT0]
    for n in range(40):
        yield ["dequeue", (20 + n) * MS]
        yield from (["enqueue", (20 + n) * MS + 500_000, 1500, 0, codepoint] for codepoint in (NOT_ECT, ECT0, ECT1, CE))
    yield ["rate", 70 * MS, 0]
    yield from (["enqueue", (70 + 7 * n) * MS, 64, 0, NOT_ECT] for n in range(1, 20))
    yield ["rate", 220 * MS, 1_000_000]
    yield from (["dequeue", 221 * MS + n] for n in range(12))
    yield ["enqueue", 400 * MS, 1500, 0, NOT_ECT]
    yield ["dequeue", 401 * MS]
    yield ["enqueue", 9000 * MS, 1500, 0, NOT_ECT]
    yield ["dequeue", 9001 * MS]


def main():
    small = link(10_000_000, 10 * MS, 30, 10**9)
    in_bytes = link(10_000_000, 10 * MS, 10**9, 60_000)
    tiny = link(10_000_000, 10 * MS, 3, 10**9)
    quick = {"freeze_time": 10 * MS, "d1": 0.05, "d2": 0.01}
    overload = {"phases": (1.5, 1.2, 0.6, 1.05)}
    in_time = {"threshold": {"time": 12 * MS}}
    cases = {
        "defaults": (small, False, {}, {}, {"phases": (1.4, 1.1, 1.2), "steps": 1400}),
        "quick": (small, False, quick, quick, overload),
        "marks": (in_bytes, True, quick, quick, {**overload, "codepoints": (NOT_ECT, ECT0, ECT1, CE)}),
        "threshold": (in_bytes, False, quick | {"threshold": {"bytes": 15000}}, quick | {"threshold": 15000}, overload),
        "once-idle": (small, False, quick | {"decay_while_idle": False}, quick | {"decay_while_idle": False},
                      {"phases": (1.6, 0.3, 0.5), "stall": 0.01}),
        "changing-rate": (in_bytes, True, quick | in_time, quick | {"threshold": lambda rate: (rate * 12 * MS) // 8_000_000_000},
                          {"codepoints": (NOT_ECT, ECT0), "rates": (10_000_000, 2_000_000, 0, 40_000_000), **overload}),
    }
    for seed, (name, (facts, ecn, params, settings, load)) in enumerate(cases.items()):
        rng = Rng(500 + seed)
        model = Blue(ecn, facts, rng, **settings)
        load = {"stall": 0.002, "steps": 800, **load}
        operations = play(model, script(seed, service=1_200_000, sizes=(300, 1500), **load))
        write(name, "Feng et al. 2002 in reference/blue.py", "blue", params, ecn, facts, rng, operations)
    rng = Rng(520)
    steps = {"freeze_time": 10 * MS, "d1": 0.5, "d2": 0.1}
    operations = play(Blue(True, tiny, rng, **steps), edges())
    write("edges", "freezes by hand, Feng et al. 2002 in reference/blue.py", "blue", steps, True, tiny, rng, operations)


if __name__ == "__main__":
    main()
