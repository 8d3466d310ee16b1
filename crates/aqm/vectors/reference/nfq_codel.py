"""nfqCoDel from Kushwaha and Gupta 2018 §V: stamps as exact fractions, kept between decisions and reduced by the smallest; CoDel of
RFC 8289 on each flow, with the target and interval of its weight."""

import math
from collections import deque
from fractions import Fraction

from codel import MS, CodelState
from vector import ECT0, NOT_ECT, Model, Rng, link, play, script, write


class Flow:
    def __init__(self, weight, target, interval):
        self.queue, self.bytes, self.weight, self.stamp = deque(), 0, Fraction(weight), None
        self.codel = CodelState(target=target, interval=interval)

    def stamp_head(self):
        self.stamp = self.queue[0].len / self.weight if self.queue else None


class NfqCodel(Model):
    def __init__(self, ecn, facts, weights, *, target=5 * MS, interval=100 * MS, adaptive=True, unit="seconds", flow_limit=math.inf):
        super().__init__(ecn, facts["limit_packets"], facts["limit_bytes"])
        self.target, self.interval, self.adaptive = target, interval, adaptive
        self.unit, self.flow_limit = 1000 * MS if unit == "seconds" else MS, flow_limit
        self.flows, self.places, self.last = [], {}, -1
        for flow, weight in enumerate(weights):
            self.add(flow, weight)

    def add(self, flow, weight):
        target, interval = self.target, self.interval
        if self.adaptive:
            interval += math.floor(self.unit / weight + 0.5)
            target = min(target + math.floor(self.unit * 0.0075 * weight + 0.5), interval // 2)
        self.places[flow] = len(self.flows)
        self.flows.append(Flow(weight, target, interval))

    def enqueue(self, now, packet):
        if packet.flow not in self.places:
            self.add(packet.flow, 1)
        flow = self.flows[self.places[packet.flow]]
        packets = sum(len(other.queue) for other in self.flows)
        size = sum(other.bytes for other in self.flows)
        if not self.fits(packets, size, packet) or flow.bytes + packet.len > self.flow_limit:
            self.drop(packet, "overflow")
            return
        flow.queue.append(packet)
        flow.bytes += packet.len
        if flow.stamp is None:
            flow.stamp_head()

    def dequeue(self, now):
        while True:
            waiting = [number for number, flow in enumerate(self.flows) if flow.stamp is not None]
            if not waiting:
                return
            smallest = min(self.flows[number].stamp for number in waiting)
            for number in waiting:
                self.flows[number].stamp -= smallest
            eligible = [number for number in waiting if self.flows[number].stamp == 0]
            number = next((number for number in eligible if number > self.last), eligible[0])
            self.last, flow = number, self.flows[number]

            def pop():
                if not flow.queue:
                    return None
                packet = flow.queue.popleft()
                flow.bytes -= packet.len
                return packet

            packet = flow.codel.dequeue(self, pop, lambda: flow.bytes, now)
            flow.stamp_head()
            if packet is not None:
                self.depart(packet)
                return


def main():
    roomy = link(10_000_000, 10 * MS, 400, 10**9)
    short = {"target": 2 * MS, "interval": 20 * MS}
    cases = {
        "one-two-four": (roomy, False, [1, 2, 4], {**short, "adaptive": False}, {"flows": 3}),
        "adaptive": (roomy, False, [1, 2, 4, 0.5], {**short, "unit": "milliseconds"}, {"flows": 4}),
        "seconds": (roomy, False, [16, 40, 8], short, {"flows": 3, "phases": (2.0, 1.3)}),
        "marks": (roomy, True, [3, 1], {**short, "adaptive": False}, {"flows": 5, "codepoints": (NOT_ECT, ECT0)}),
        "unknown-flows": (roomy, False, None, {**short, "adaptive": False}, {"flows": 9, "phases": (1.5, 0.3, 1.2)}),
        "overflow": (link(10_000_000, 10 * MS, 20, 10**9), False, [1, 5], {"adaptive": False}, {"flows": 4, "phases": (2.5, 0.5)}),
        "flow-limit": (roomy, False, [1, 2], {"flow_limit": 9000}, {"flows": 3, "phases": (2.5, 0.5)}),
        "idle": (roomy, False, [2, 0.7, 3], {**short, "adaptive": False}, {"flows": 6, "phases": (0.2, 2.0, 0.05), "stall": 0.01}),
    }
    for seed, (name, (facts, ecn, weights, params, load)) in enumerate(cases.items()):
        rng = Rng(1200 + seed)
        model = NfqCodel(ecn, facts, weights or [], **params)
        load = {"sizes": (64, 500, 1000, 1500), "phases": (1.5, 0.9, 1.3, 0.2), "stall": 0.001, "phase": 150, **load}
        operations = play(model, script(1200 + seed, 600, service=MS, **load))
        write(name, "Kushwaha and Gupta 2018 in reference/nfq_codel.py", "nfq-codel", params, ecn, facts, rng, operations,
              weights=weights)


if __name__ == "__main__":
    main()
