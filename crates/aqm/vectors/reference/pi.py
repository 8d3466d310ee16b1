"""PI from its authors' equations, and its gains from the linear model by way of the open loop's frequency response."""

from collections import deque

from vector import CE, ECT0, ECT1, NOT_ECT, Model, Rng, link, play, script, write

MS = 1_000_000
NS2_GAINS = (1.822e-5, 1.816e-5)


def designed(flows, rtt, capacity, w, crossover=None):
    """Gains for a loop whose gain is one at the crossover: found from the plant's response there, then discretised by Tustin's rule."""
    z, fast = 2 * flows / (rtt**2 * capacity), 1 / rtt
    omega = min(z, 0.5 / rtt) if crossover is None else crossover / rtt
    s = 1j * omega
    plant = capacity**2 / (2 * flows) / ((s + z) * (s + fast))
    k = 1 / abs((1 + s / z) / s * plant)
    # u(s)/e(s) = k (1 + s/z) / s with s -> 2 w (1 - 1/q) / (1 + 1/q)
    return k / z + k / (2 * w), k / z - k / (2 * w)


class Pi(Model):
    def __init__(self, ecn, facts, rng, *, q_ref=50, w=170, gains=NS2_GAINS, bytes=False, queue_in_bytes=False, mean_pktsize=500):
        super().__init__(ecn, facts["limit_packets"], facts["limit_bytes"])
        self.rng, self.q_ref, self.byte_mode, self.in_bytes, self.mean = rng, q_ref, bytes, queue_in_bytes, mean_pktsize
        # A pair, or a function of the rate that is asked again when the rate changes.
        self.rule = gains
        self.a, self.b = gains(facts["rate"]) if callable(gains) else gains
        self.period = int(1e9 / w + 0.5)
        self.p, self.q_old = 0.0, 0.0
        self.tick, self.asleep = None, False
        self.queue, self.backlog = deque(), 0

    def next_timer(self):
        return None if self.asleep else self.tick

    def enqueue(self, now, packet):
        if not self.fits(len(self.queue), self.backlog, packet):
            self.drop(packet, "overflow")
            return
        if self.tick is None:
            self.tick = now + int(self.period * self.rng.uniform() + 0.5)
        elif self.asleep and self.tick <= now:
            self.tick += ((now - self.tick) // self.period + 1) * self.period
        self.asleep = False
        p = self.p * packet.len / self.mean if self.byte_mode else self.p
        if self.rng.uniform() < p and not self.mark(packet, "early"):
            self.drop(packet, "early")
            return
        self.queue.append(packet)
        self.backlog += packet.len

    def dequeue(self, now):
        if self.queue:
            packet = self.queue.popleft()
            self.backlog -= packet.len
            self.depart(packet)

    def timer(self, now):
        q = self.backlog / self.mean if self.in_bytes else len(self.queue)
        p = self.p + self.a * (q - self.q_ref) - self.b * (self.q_old - self.q_ref)
        self.p, self.q_old = min(1.0, max(0.0, p)), q
        self.tick += self.period
        self.asleep = self.p == 0 and q == 0

    def set_rate(self, now, rate):
        if callable(self.rule) and rate:
            self.a, self.b = self.rule(rate)


def main():
    plain = link(10_000_000, 10 * MS, 90, 10**9)
    # The default gains are those of a deep queue: in a shallow one hardly any probability builds
    # up.
    deep = link(10_000_000, 10 * MS, 600, 10**9)
    framed = link(10_000_000, 10 * MS, 10**9, 120_000, overhead=40)
    brisk = {"a": 4e-3, "b": 3.9e-3, "w": 160, "q_ref": {"packets": 20}}
    brisk_settings = {"gains": (4e-3, 3.9e-3), "w": 160, "q_ref": 20}
    load = {"phases": (1.3, 1.1, 0.4, 1.5)}
    uneven = {**load, "sizes": (300, 1500)}
    by_flows = {"flows": 4, "rtt": 60 * MS, "q_ref": {"packets": 15}}
    fast = {"flows": 3, "rtt": 50 * MS, "crossover": 0.8, "w": 100, "q_ref": {"time": 20 * MS}}
    cases = {
        "defaults": (deep, False, {}, {}, {"phases": (2.5, 1.5), "steps": 600}),
        "drops": (plain, False, brisk, brisk_settings, load),
        "marks": (plain, True, brisk, brisk_settings, {**load, "codepoints": (NOT_ECT, ECT0, ECT1, CE)}),
        "bytes": (framed, True, brisk | {"bytes": True, "queue_in_bytes": True, "mean_pktsize": 900, "q_ref": {"bytes": 27000}},
                  brisk_settings | {"bytes": True, "queue_in_bytes": True, "mean_pktsize": 900, "q_ref": 30}, {**uneven, "codepoints": (NOT_ECT, ECT0)}),
        "from-flows": (framed, False, by_flows,
                       {"q_ref": 15, "gains": lambda rate: designed(4, 0.06, rate / 8 / 1540, 170)},
                       {**uneven, "rates": (10_000_000, 4_000_000, 0, 30_000_000)}),
        "crossover": (plain, False, {key: value for key, value in fast.items() if key != "q_ref"},
                      {"w": 100, "gains": lambda rate: designed(3, 0.05, rate / 8 / 1500, 100, 0.8)},
                      {**load, "rates": (10_000_000, 5_000_000)}),
        "fixed-gains": (plain, True, brisk, brisk_settings,
                        {**load, "codepoints": (ECT0, NOT_ECT), "rates": (10_000_000, 1_000_000, 0, None, 100_000_000), "stall": 0.01}),
    }
    for seed, (name, (facts, ecn, params, settings, load)) in enumerate(cases.items()):
        rng = Rng(700 + seed)
        model = Pi(ecn, facts, rng, **settings)
        load = {"stall": 0.002, "steps": 800, **load}
        operations = play(model, script(seed, service=1_200_000, **load))
        write(name, "Hollot et al. 2001 with ns-2's options in reference/pi.py", "pi", params, ecn, facts, rng, operations)


if __name__ == "__main__":
    main()
