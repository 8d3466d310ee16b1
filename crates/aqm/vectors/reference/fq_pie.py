"""FQ-PIE as Linux's sch_fq_pie describes itself: FQ-CoDel's rounds, PIE of RFC 8033 (always active) on each flow, and the arriving packet
dropped when there is no room."""

import math
from collections import deque

from vector import CE, ECT0, ECT1, MASK, NOT_ECT, Model, Rng, link, mix, play, script, write

MS = 1_000_000
SCALE = ((1e-6, 2048), (1e-5, 512), (1e-4, 128), (1e-3, 32), (1e-2, 8), (0.1, 2))


class Flow:
    def __init__(self, max_burst):
        self.queue, self.bytes, self.deficit, self.busy = deque(), 0, 0, False
        self.max_burst = max_burst
        self.tick, self.asleep = None, False
        self.last_sojourn, self.qdelay = None, 0
        self.reset()

    def reset(self):
        self.p, self.accu, self.burst = 0, 0, self.max_burst


class FqPie(Model):
    def __init__(self, ecn, facts, rng, *, flows=1024, quantum=1514, memory_limit=32 << 20, fat_flow_drop=False, target=15 * MS,
                 t_update=15 * MS, max_burst=150 * MS, mark_ecnth=0.1, alpha=0.125, beta=1.25):
        super().__init__(ecn, facts["limit_packets"], min(facts["limit_bytes"], memory_limit))
        self.rng, self.mtu, self.quantum, self.fat_flow_drop = rng, facts["mtu"], quantum, fat_flow_drop
        self.target, self.t_update, self.mark_ecnth, self.alpha, self.beta = target, t_update, mark_ecnth, alpha, beta
        self.flows = [Flow(max_burst) for _ in range(flows)]
        self.new, self.old = deque(), deque()
        self.salt = rng.next_u64()

    def flow_of(self, packet):
        hash = mix(((packet.flow ^ self.salt) * 0x9E3779B97F4A7C15) & MASK) >> 32
        return self.flows[hash * len(self.flows) >> 32]

    def totals(self):
        return sum(len(flow.queue) for flow in self.flows), sum(flow.bytes for flow in self.flows)

    def drop_early(self, flow):
        if flow.burst > 0:
            return False
        if flow.qdelay < self.target // 2 and flow.p < 0.2 or flow.bytes <= 2 * self.mtu:
            return False
        if flow.p == 0:
            flow.accu = 0
        flow.accu += flow.p
        if flow.accu < 0.85:
            return False
        return flow.accu >= 8.5 or self.rng.uniform() < flow.p

    def enqueue(self, now, packet):
        flow = self.flow_of(packet)
        if packet.len > self.limit_bytes or not self.fat_flow_drop and not self.fits(*self.totals(), packet):
            self.drop(packet, "overflow")
            flow.accu = 0
            return
        if flow.tick is None:
            flow.tick = now + math.floor(self.t_update * self.rng.uniform() + 0.5)
        flow.asleep = False
        while flow.tick <= now:
            flow.tick += self.t_update
        if self.drop_early(flow):
            flow.accu = 0
            if not (flow.p < self.mark_ecnth and self.mark(packet, "early")):
                self.drop(packet, "early")
                return
        flow.queue.append(packet)
        flow.bytes += packet.len
        if not flow.busy:
            flow.busy, flow.deficit = True, self.quantum
            self.new.append(flow)
        while self.totals()[0] > self.limit_packets or self.totals()[1] > self.limit_bytes:
            fattest = max(self.flows, key=lambda flow: flow.bytes)
            initial = fattest.bytes
            for _ in range(64):
                victim = fattest.queue.popleft()
                fattest.bytes -= victim.len
                self.drop(victim, "over-limit")
                if fattest.bytes <= initial // 2:
                    break

    def dequeue(self, now):
        while self.new or self.old:
            rounds = self.new if self.new else self.old
            flow = rounds[0]
            if flow.deficit <= 0:
                flow.deficit += self.quantum
                self.old.append(rounds.popleft())
            elif not flow.queue:
                rounds.popleft()
                if rounds is self.new and self.old:
                    self.old.append(flow)
                else:
                    flow.busy = False
            else:
                packet = flow.queue.popleft()
                flow.bytes -= packet.len
                flow.deficit -= packet.len
                flow.last_sojourn = now - packet.stamp
                self.depart(packet)
                return

    def next_timer(self):
        return min((flow.tick for flow in self.flows if flow.tick is not None and not flow.asleep), default=None)

    def timer(self, now):
        for flow in self.flows:
            if flow.tick is not None and not flow.asleep and flow.tick <= now:
                self.update(flow, now)

    def update(self, flow, now):
        old, qdelay = flow.qdelay, 0
        if flow.queue:
            qdelay = now - flow.queue[0].stamp if flow.last_sojourn is None else flow.last_sojourn
        d = self.alpha * (qdelay - self.target) / 1e9 + self.beta * (qdelay - old) / 1e9
        for bound, divisor in SCALE:
            if flow.p < bound:
                d /= divisor
                break
        if flow.p >= 0.1 and d > 0.02:
            d = 0.02
        flow.p += d
        if qdelay == 0 and old == 0:
            flow.p *= 0.98
        flow.p = min(1, max(0, flow.p))
        flow.qdelay, flow.last_sojourn = qdelay, None
        flow.burst = max(0, flow.burst - self.t_update)
        flow.tick += self.t_update
        if flow.p == 0 and max(qdelay, old) < self.target // 2:
            flow.burst = flow.max_burst
            # Nothing can change until a packet arrives.
            flow.asleep = not flow.queue and qdelay == 0


def main():
    roomy = link(10_000_000, 10 * MS, 300, 10**9)
    quick = {"target": 5 * MS, "t_update": 5 * MS, "max_burst": 20 * MS}
    cases = {
        "many-flows": (roomy, False, {"flows": 8, **quick}, {"flows": 12}),
        "few-flows": (roomy, False, {"flows": 32}, {"flows": 2, "phases": (1.5, 1.2, 0.5)}),
        "marks": (roomy, True, {"flows": 16, "mark_ecnth": 0.3, **quick}, {"flows": 3, "codepoints": (NOT_ECT, ECT0, ECT1, CE)}),
        "overflow": (link(10_000_000, 10 * MS, 25, 10**9), False, {"flows": 16, **quick}, {"flows": 5, "phases": (2.5, 0.5)}),
        "memory-limit": (link(10_000_000, 10 * MS, 10**6, 10**9), False, {"flows": 16, "memory_limit": 20_000, **quick},
                         {"flows": 5, "phases": (2.5, 0.5)}),
        "fat-flow": (link(10_000_000, 10 * MS, 25, 10**9), False, {"flows": 16, "fat_flow_drop": True, **quick},
                     {"flows": 5, "phases": (2.5, 0.5)}),
        "idle-and-stalls": (roomy, False, {"flows": 4, "quantum": 300, **quick},
                            {"flows": 4, "phases": (2.0, 0.02, 0.5, 0.01), "stall": 0.01, "phase": 100}),
    }
    for seed, (name, (facts, ecn, params, load)) in enumerate(cases.items()):
        rng = Rng(1000 + seed)
        model = FqPie(ecn, facts, rng, **params)
        load = {"sizes": (300, 1500), "phases": (1.5, 1.15, 1.3, 0.4), "phase": 200, **load}
        operations = play(model, script(1000 + seed, 800, service=1_200_000, **load))
        write(name, "Linux sch_fq_pie and RFC 8033 in reference/fq_pie.py", "fq-pie", {"quantum": 1514, "header": 0, **params}, ecn, facts, rng, operations)


if __name__ == "__main__":
    main()
