"""The rounds of RFC 8290 §4 over any algorithm: a queue and an algorithm a flow. An algorithm sees its own flow's packets, and the limits of
the whole queue; when all flows together exceed them the one with the most bytes loses from its head, without a word to its algorithm."""

from collections import deque

from codel import Codel
from pie import Pie
from priority import MS, TailDrop
from red import Red
from vector import CE, ECT0, ECT1, MASK, NOT_ECT, Model, Rng, link, mix, play, script, write


class Fair(Model):
    def __init__(self, facts, rng, inner, *, flows=1024, quantum=1514, memory_limit=32 << 20, drop_batch=64):
        super().__init__(False, facts["limit_packets"], min(facts["limit_bytes"], memory_limit))
        self.salt = rng.next_u64()
        self.flows = [inner() for _ in range(flows)]
        self.quantum, self.drop_batch = quantum, drop_batch
        self.new, self.old = deque(), deque()

    def flow_of(self, packet):
        hash = mix(((packet.flow ^ self.salt) * 0x9E3779B97F4A7C15) & MASK) >> 32
        return self.flows[hash * len(self.flows) >> 32]

    def is_over(self):
        packets = sum(len(flow.queue) for flow in self.flows)
        return packets > self.limit_packets or sum(flow.held() for flow in self.flows) > self.limit_bytes

    def enqueue(self, now, packet):
        flow = self.flow_of(packet)
        if packet.len > self.limit_bytes:
            self.drop(packet, "overflow")
            return
        flow.enqueue(now, packet)
        self.events += flow.take_events()
        if flow.queue and flow not in self.new and flow not in self.old:
            flow.deficit = self.quantum
            self.new.append(flow)
        while self.is_over():
            self.shed(max(self.flows, key=lambda flow: flow.held()), now)

    def shed(self, fattest, now):
        initial = fattest.held()
        for dropped in range(1, self.drop_batch + 1):
            self.drop(fattest.lose(), "over-limit")
            if fattest.held() <= initial // 2:
                break
        fattest.lost(dropped, now)

    def dequeue(self, now):
        while self.new or self.old:
            rounds = self.new if self.new else self.old
            flow = rounds[0]
            if flow.deficit <= 0:
                flow.deficit += self.quantum
                self.old.append(rounds.popleft())
                continue
            lengths = {packet.number: packet.len for packet in flow.queue}
            flow.dequeue(now)
            events = flow.take_events()
            self.events += events
            if events and events[-1][0] == "depart":
                flow.deficit -= lengths[events[-1][1]]
                return
            rounds.popleft()
            if rounds is self.new and self.old:
                self.old.append(flow)

    def next_timer(self):
        return min((due for flow in self.flows if (due := flow.next_timer()) is not None), default=None)

    def timer(self, now):
        for flow in self.flows:
            if flow.next_timer() is not None and flow.next_timer() <= now:
                flow.timer(now)


class Flow:
    """What the rounds need of a flow's queue. Room is their business."""

    deficit = 0

    def fits(self, *_):
        return True

    def held(self):
        return self.bytes

    def lose(self):
        packet = self.queue.popleft()
        self.bytes -= packet.len
        return packet

    def lost(self, packets, now):
        pass


class TailDropFlow(Flow, TailDrop):
    pass


class PieFlow(Flow, Pie):
    pass


class CodelFlow(Flow, Codel):
    def lost(self, packets, now):
        self.state.count += packets


class RedFlow(Flow, Red):
    def held(self):
        return self.backlog

    def lose(self):
        packet = self.queue.popleft()
        self.backlog -= packet.len
        return packet

    def lost(self, packets, now):
        if not self.queue:
            self.idle = now


def main():
    roomy, tight = link(10_000_000, 10 * MS, 90, 10**9), link(10_000_000, 10 * MS, 30, 10**9)
    codel = {"target": 2 * MS, "interval": 20 * MS}
    pie = {"target": 5 * MS, "t_update": 5 * MS, "max_burst": 20 * MS, "active_inactive": False}
    red = {"w_q": 0.05, "mark_p": 0.3}
    kinds = {
        "tail-drop": lambda ecn, facts, rng, given: TailDropFlow(ecn, facts["limit_packets"], facts["limit_bytes"]),
        "codel": lambda ecn, facts, rng, given: CodelFlow(ecn, facts["limit_packets"], facts["limit_bytes"], **given),
        "pie": lambda ecn, facts, rng, given: PieFlow(ecn, facts, rng, **given),
        "red": lambda ecn, facts, rng, given: RedFlow(ecn, facts, rng, **given),
    }
    marks = {"codepoints": (NOT_ECT, ECT0, ECT1, CE)}
    cases = {
        "tail-drop": (tight, False, {"flows": 16, "drop_batch": 8}, "tail-drop", {}, {"flows": 6, "phases": (2.5, 0.5)}),
        "pie": (roomy, False, {"flows": 8}, "pie", pie, {"flows": 3}),
        "pie-asleep": (roomy, True, {"flows": 4}, "pie", {"target": 5 * MS}, {"flows": 2, "phases": (2.0, 1.1, 0.1), **marks}),
        "red-marks": (roomy, True, {"flows": 8, "quantum": 300}, "red", red, {"flows": 4, **marks}),
        "red-memory-limit": (roomy, False, {"flows": 8, "memory_limit": 20_000}, "red", {"w_q": 0.05}, {"flows": 9, "phases": (2.5, 0.1)}),
        "codel": (tight, True, {"flows": 32}, "codel", codel, {"flows": 7, "phases": (1.6, 0.9, 2.5, 0.2), **marks}),
    }
    for seed, (name, (facts, ecn, params, kind, given, load)) in enumerate(cases.items()):
        rng = Rng(2900 + seed)
        model = Fair(facts, rng, lambda: kinds[kind](ecn, facts, rng, given), **params)
        load = {"sizes": (300, 1500), "phases": (1.5, 1.15, 1.3, 0.4), **load}
        operations = play(model, script(2900 + seed, 700, service=1_200_000, stall=0.002, **load))
        write(name, "RFC 8290 §4 over other models in reference/fair.py", "fair", {"quantum": 1514, "header": 0, **params}, ecn, facts, rng, operations,
              {"kind": kind, "params": {"active_inactive": True, **given} if kind == "pie" else given})


if __name__ == "__main__":
    main()
