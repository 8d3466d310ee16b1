"""FQ-CoDel from RFC 8290 §4, with Linux's batch drop and total backlog in CoDel's guard."""

from collections import deque

from codel import MS, CodelState
from vector import ECT0, MASK, NOT_ECT, Model, Rng, link, mix, play, script, write


class Flow:
    def __init__(self, settings):
        self.queue, self.bytes, self.deficit = deque(), 0, 0
        self.codel = CodelState(**settings)


class FqCodel(Model):
    def __init__(self, ecn, limit_packets, limit_bytes, rng, flows=1024, quantum=1514, drop_batch=64, guard="total",
                 hash="direct", **settings):
        super().__init__(ecn, limit_packets, limit_bytes)
        self.flows = [Flow(settings) for _ in range(flows)]
        self.quantum, self.drop_batch, self.guard = quantum, drop_batch, guard
        self.new, self.old = deque(), deque()
        self.salt = rng.next_u64()
        self.sets, self.tags, self.strangers = hash == "set-associative", {}, set()

    def home(self, flow):
        hash = mix(((flow ^ self.salt) * 0x9E3779B97F4A7C15) & MASK) >> 32
        return hash * len(self.flows) >> 32

    def busy(self, bucket):
        return self.flows[bucket] in self.new or self.flows[bucket] in self.old

    def bucket(self, flow):
        """With sets: the queue tagged with the flow, else a free one of its set of eight, else its home with the strangers there."""
        home = self.home(flow)
        if not self.sets:
            return home
        first = home // 8 * 8
        ways = [first + (home + step) % 8 for step in range(8)]
        for way in ways:
            if self.tags.get(way) == flow:
                if not self.busy(way):
                    self.strangers.discard(way)
                return way
        free = [way for way in ways if not self.busy(way)]
        if not free or (home in self.strangers and self.busy(home)):
            self.strangers.add(home)
            return home
        self.tags[free[0]] = flow
        self.strangers.discard(free[0])
        return free[0]

    def packets(self):
        return sum(len(flow.queue) for flow in self.flows)

    def bytes(self):
        return sum(flow.bytes for flow in self.flows)

    def enqueue(self, now, packet):
        if packet.len > self.limit_bytes:
            self.drop(packet, "overflow")
            return
        flow = self.flows[self.bucket(packet.flow)]
        flow.queue.append(packet)
        flow.bytes += packet.len
        if flow not in self.new and flow not in self.old:
            self.new.append(flow)
            flow.deficit = self.quantum
        while self.packets() > self.limit_packets or self.bytes() > self.limit_bytes:
            fattest = max(self.flows, key=lambda flow: flow.bytes)
            initial, dropped = fattest.bytes, 0
            while True:
                victim = fattest.queue.popleft()
                fattest.bytes -= victim.len
                self.drop(victim, "over-limit")
                dropped += 1
                if dropped == self.drop_batch or initial - fattest.bytes >= initial - initial // 2:
                    break
            fattest.codel.count += dropped

    def dequeue(self, now):
        while self.new or self.old:
            rounds = self.new if self.new else self.old
            flow = rounds[0]
            if flow.deficit <= 0:
                flow.deficit += self.quantum
                self.old.append(rounds.popleft())
                continue

            def pop():
                if not flow.queue:
                    return None
                packet = flow.queue.popleft()
                flow.bytes -= packet.len
                return packet

            backlog = self.bytes if self.guard == "total" else lambda: flow.bytes
            packet = flow.codel.dequeue(self, pop, backlog, now)
            if packet is None:
                rounds.popleft()
                if rounds is self.new and self.old:
                    self.old.append(flow)
                continue
            flow.deficit -= packet.len
            self.depart(packet)
            return


def main():
    cases = {
        "many-flows": (False, {"flows": 8}, dict(flows=12, sizes=(64, 1500), phases=(1.5, 0.9, 1.3, 0.2)), 200),
        "marks": (True, {"flows": 64, "quantum": 300, "guard": "flow"},
                  dict(flows=5, sizes=(200, 1500), codepoints=(NOT_ECT, ECT0), phases=(1.5, 0.9, 0.2)), 400),
        "over-limit": (False, {"flows": 16, "drop_batch": 8}, dict(flows=6, sizes=(64, 576, 1500), phases=(2.5, 0.5)), 40),
        "set-associative": (True, {"flows": 16, "hash": "set-associative", "quantum": 600},
                            dict(flows=30, sizes=(64, 576, 1500), codepoints=(NOT_ECT, ECT0), phases=(1.6, 0.8, 1.2, 0.1)), 300),
        "memory-limit": (False, {"flows": 32, "memory_limit": 20_000}, dict(flows=9, sizes=(64, 1500), phases=(2.0, 0.6, 0.1)), 10**6),
    }
    for seed, (name, (ecn, params, load, limit)) in enumerate(cases.items()):
        rng = Rng(100 + seed)
        facts = link(10_000_000, 10 * MS, limit, 10**9)
        settings = {**params}
        memory = settings.pop("memory_limit", 32 << 20)
        model = FqCodel(ecn, limit, memory, rng, target=2 * MS, interval=20 * MS, **settings)
        operations = play(model, script(seed, 600, service=MS, stall=0.001, **load))
        given = {"target": 2 * MS, "interval": 20 * MS, "quantum": 1514, "header": 0, **params}
        write(name, "RFC 8290 §4 in reference/fq_codel.py", "fq-codel", given, ecn, facts, rng, operations)


if __name__ == "__main__":
    main()
