"""DualPI2 as the pseudo-code of RFC 9332 appendix A.1 and A.2, with Linux's credit scheduler and its sparing of short queues."""

from collections import deque

from vector import CE, ECT0, ECT1, NOT_ECT, Model, Rng, link, play, script, write

MS = 1_000_000
US = 1_000


class Queue:
    def __init__(self):
        self.packets, self.bytes, self.count = deque(), 0, 0.0

    def add(self, packet):
        self.packets.append(packet)
        self.bytes += packet.len

    def pop(self):
        packet = self.packets.popleft()
        self.bytes -= packet.len
        return packet

    def age(self, now):
        return now - self.packets[0].stamp if self.packets else 0


def recur(queue, likelihood):
    queue.count += likelihood
    if queue.count > 1:
        queue.count -= 1
        return True
    return False


class DualPi2(Model):
    def __init__(self, ecn, facts, rng, *, target=15 * MS, rtt_max=100 * MS, t_update=None, alpha=None, beta=None, k=2, min_th=800 * US,
                 range=400 * US, th_len=1, scheduler="wrr", classic_weight=0.1, tshift=50 * MS):
        super().__init__(ecn, facts["limit_packets"], facts["limit_bytes"])
        self.lq, self.cq, self.rng, self.mtu = Queue(), Queue(), rng, facts["mtu"]
        self.t_update = min(target, rtt_max // 3) if t_update is None else t_update
        seconds = rtt_max * 1e-9
        self.alpha = 0.1 * (self.t_update * 1e-9) / (seconds * seconds) if alpha is None else alpha
        self.beta = 0.3 / seconds if beta is None else beta
        self.target, self.k, self.min_th, self.ramp_range, self.th_len = target * 1e-9, k, min_th, range, th_len
        self.p_cmax = min(1 / k**2, 1)
        self.p, self.p_c, self.p_cl, self.prevq = 0.0, 0.0, 0.0, 0.0
        self.scheduler, self.tshift = scheduler, tshift
        self.wc = round(classic_weight * 1000)
        self.wl = 1000 - self.wc
        self.credit = self.mtu * (self.wc - self.wl)
        self.grid, self.asleep = None, True

    def waiting(self):
        return len(self.lq.packets) + len(self.cq.packets), self.lq.bytes + self.cq.bytes

    def enqueue(self, now, packet):
        if not self.fits(*self.waiting(), packet):
            self.drop(packet, "overflow")
            return
        is_l4s = self.ecn and packet.ecn % 2 == 1
        (self.lq if is_l4s else self.cq).add(packet)
        if self.asleep:
            self.asleep = False
            if self.grid is None:
                self.grid = now + int(self.t_update * self.rng.uniform() + 0.5)
                self.tick = self.grid
            else:
                self.tick = self.next_on_grid(now)

    def next_on_grid(self, now):
        """The first time of the grid after now."""
        tick = self.grid
        if now >= tick:
            tick += ((now - tick) // self.t_update + 1) * self.t_update
        return tick

    def next_timer(self):
        return None if self.asleep else self.tick

    def timer(self, now):
        curq = max(self.cq.age(now), self.lq.age(now)) * 1e-9
        self.p += self.alpha * (curq - self.target) + self.beta * (curq - self.prevq)
        self.p = min(max(self.p, 0.0), 1.0)
        self.prevq = curq
        self.p_c, self.p_cl = self.p * self.p, self.k * self.p
        self.tick = self.next_on_grid(now)
        if self.p == 0 and curq == 0 and self.waiting()[0] == 0:
            self.asleep = True

    def serve(self, now):
        lq, cq = self.lq, self.cq
        if not lq.packets and not cq.packets:
            self.credit = self.mtu * (self.wc - self.wl)
            return None
        if not lq.packets or not cq.packets:
            return lq if lq.packets else cq
        if self.scheduler == "wrr":
            return lq if self.credit <= 0 else cq
        return lq if lq.age(now) + self.tshift >= cq.age(now) else cq

    def laqm(self, age):
        if len(self.lq.packets) <= self.th_len or age <= self.min_th:
            return 0.0
        if age >= self.min_th + self.ramp_range:
            return 1.0
        return (age - self.min_th) / self.ramp_range

    def dequeue(self, now):
        while True:
            queue = self.serve(now)
            if queue is None:
                return
            other = self.cq if queue is self.lq else self.lq
            contested = bool(other.packets)
            packet = queue.pop()
            spared = self.waiting()[1] < 2 * self.mtu
            p_c, p_cl = (0.0, 0.0) if spared else (self.p_c, self.p_cl)
            if queue is self.lq:
                if p_cl < 1:
                    native = self.laqm(now - packet.stamp)
                    if recur(queue, max(native, p_cl)):
                        self.mark(packet, "threshold" if native > p_cl else "head")
                elif recur(queue, p_c):
                    self.drop(packet, "head")
                    continue
                elif recur(queue, min(p_cl, 1.0)):
                    self.mark(packet, "head")
            elif not spared and recur(queue, p_c):
                if not self.is_ect(packet) or p_c >= self.p_cmax:
                    self.drop(packet, "head")
                    continue
                self.mark(packet, "head")
            if contested:
                self.credit += self.wc * packet.len if queue is self.lq else -self.wl * packet.len
            self.depart(packet)
            return


def main():
    facts = link(10_000_000, 10 * MS, 200, 10**9)
    small = link(10_000_000, 10 * MS, 10**9, 60_000)
    both = (NOT_ECT, ECT0, ECT1, ECT1)
    rfc = {"rtt_max": 100 * MS, "min_th": 800 * US, "range": 400 * US, "th_len": 1}
    quick = {"target": 4 * MS, "rtt_max": 20 * MS}
    cases = {
        "defaults": (facts, True, {}, {"phases": (1.3, 0.9, 0.3)}),
        "overload": (facts, True, quick, {"phases": (2.5, 1.5, 0.1)}),
        "time-shifted": (facts, True, {**quick, "scheduler": "time-shifted", "tshift": 8 * MS}, {}),
        "linux-step": (small, True, {"min_th": MS, "range": 0, "t_update": 16 * MS, "alpha": 0.16, "beta": 3.2}, {"stall": 0.005}),
        "without-ecn": (small, False, quick, {}),
        "rates-and-sizes": (small, True, {**quick, "k": 1.5, "classic_weight": 0.25, "th_len": 3},
                            {"rates": (10**7, 0, None, 2 * 10**6), "sizes": (40, 500, 1500, 9000), "codepoints": (NOT_ECT, ECT0, ECT1, CE)}),
        "only-l4s": (facts, True, {}, {"codepoints": (ECT1,), "phases": (1.05, 0.95)}),
    }
    for seed, (name, (link_facts, ecn, params, load)) in enumerate(cases.items()):
        rng = Rng(1400 + seed)
        model = DualPi2(ecn, link_facts, rng, **params)
        chosen = {"sizes": (300, 1500), "codepoints": both, "phases": (1.5, 1.1, 0.4), **load}
        operations = play(model, script(seed, 900, service=1_200_000, phase=150, **chosen))
        write(name, "RFC 9332 appendix A in reference/dualpi2.py", "dualpi2", {**rfc, **params}, ecn, link_facts, rng, operations)


if __name__ == "__main__":
    main()
