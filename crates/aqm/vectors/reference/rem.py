"""REM from its authors' equations: a price from rate and backlog mismatch, a probability exponential in it.

`mode` is "each" for this project's rule (ECN-capable packets are marked on departure, others dropped on arrival) or "marks only".
"""

from collections import deque

from vector import CE, ECT0, ECT1, NOT_ECT, Model, Rng, link, play, script, write

MS = 1_000_000
HIGHEST_ODDS = 1e6


class Rem(Model):
    def __init__(self, ecn, facts, rng, *, gamma=0.001, phi=1.001, alpha=0.1, b_star=20, T=2 * MS, inw=1.0, mean_pktsize=1000,
                 bytes=False, mode="each"):
        super().__init__(ecn, facts["limit_packets"], facts["limit_bytes"])
        self.rng, self.mode, self.byte_mode = rng, mode, bytes
        self.gamma, self.phi, self.alpha, self.b_star, self.T, self.inw = gamma, phi, alpha, b_star, T, inw
        self.mean, self.framing = mean_pktsize, facts["overhead"]
        self.C = facts["rate"]
        self.price, self.prob, self.in_count, self.in_avg = 0.0, 0.0, 0.0, 0.0
        self.tick, self.asleep = None, False
        self.queue, self.backlog = deque(), 0

    def next_timer(self):
        return None if self.asleep else self.tick

    def wake(self, now):
        if self.tick is None:
            self.tick = now + int(self.T * self.rng.uniform() + 0.5)
        elif self.asleep and self.tick <= now:
            self.tick += ((now - self.tick) // self.T + 1) * self.T
        self.asleep = False

    def chosen(self, packet):
        share = packet.len / self.mean if self.byte_mode else 1
        return self.rng.uniform() < self.prob * share

    def enqueue(self, now, packet):
        self.wake(now)
        self.in_count += (packet.len + self.framing) / (self.mean + self.framing) if self.byte_mode else 1
        if not self.fits(len(self.queue), self.backlog, packet):
            self.drop(packet, "overflow")
            return
        if self.mode == "each" and not self.is_ect(packet) and self.chosen(packet):
            self.drop(packet, "early")
            return
        self.queue.append(packet)
        self.backlog += packet.len

    def dequeue(self, now):
        if self.queue:
            packet = self.queue.popleft()
            self.backlog -= packet.len
            if self.is_ect(packet) and self.chosen(packet):
                self.mark(packet, "head")
            self.depart(packet)

    def timer(self, now):
        c = self.T / 1e9 * self.C / (8 * (self.mean + self.framing))
        q = self.backlog / self.mean if self.byte_mode else len(self.queue)
        self.in_avg = (1 - self.inw) * self.in_avg + self.inw * self.in_count
        self.price = max(0.0, self.price + self.gamma * (self.in_avg + self.alpha * (q - self.b_star) - c))
        self.prob = 1 - self.phi ** -self.price
        if self.prob > 1 - 1 / HIGHEST_ODDS:
            raise ValueError("the highest price needs a vector of its own")
        self.in_count = 0.0
        self.tick += self.T
        self.asleep = self.price == 0 and self.in_avg == 0 and not self.queue

    def set_rate(self, now, rate):
        if rate is not None:
            self.C = rate


def main():
    # The gains are a hundredfold of the defaults, so that a price grows within a second.
    lively = {"gamma": 0.1}
    plain = link(8_000_000, 10 * MS, 80, 10**9)
    # The default gains are those of a deep queue: in a shallow one hardly any price builds up.
    deep = link(8_000_000, 10 * MS, 600, 10**9)
    framed = link(8_000_000, 10 * MS, 10**9, 90_000, overhead=38)
    uneven = (300, 1500)
    steady = {"phases": (1.3, 1.1, 0.5, 1.6), "sizes": (1000,)}
    cases = {
        "drops": (plain, False, lively, lively, steady),
        "defaults": (deep, False, {}, {}, {"phases": (2.5, 1.5), "steps": 600, "sizes": (1000,)}),
        "marks": (plain, True, lively, lively, {**steady, "codepoints": (NOT_ECT, ECT0, ECT1, CE)}),
        "marks-only": (plain, True, lively | {"legacy": True}, lively | {"mode": "marks only"}, {**steady, "codepoints": (NOT_ECT, ECT0)}),
        "bytes": (framed, False, lively | {"bytes": True, "b_star": {"bytes": 15000}, "mean_pktsize": 900},
                  lively | {"bytes": True, "b_star": 15000 / 900, "mean_pktsize": 900}, {**steady, "sizes": uneven}),
        "smoothed": (plain, False, lively | {"inw": 0.2, "alpha": 0.3, "phi": 1.01, "t_update": 5 * MS},
                     lively | {"inw": 0.2, "alpha": 0.3, "phi": 1.01, "T": 5 * MS}, steady),
        "changing-rate": (plain, True, lively | {"b_star": {"packets": 5}}, lively | {"b_star": 5},
                          {"phases": (1.3, 1.1, 1.4, 0.2), "sizes": uneven, "codepoints": (NOT_ECT, ECT0),
                           "rates": (8_000_000, 2_000_000, 0, None, 60_000_000)}),
    }
    for seed, (name, (facts, ecn, params, settings, load)) in enumerate(cases.items()):
        rng = Rng(600 + seed)
        model = Rem(ecn, facts, rng, **settings)
        load = {"stall": 0.002, "steps": 800, **load}
        operations = play(model, script(seed, service=1_000_000, **load))
        write(name, "Athuraliya et al. 2001 with ns-2's options in reference/rem.py", "rem", params, ecn, facts, rng, operations)


if __name__ == "__main__":
    main()
