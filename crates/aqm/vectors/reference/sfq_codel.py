"""sfqCoDel as its authors' code for ns-2 does it: bins served in turn, new bins before the others, a packet a turn or `quantum` bytes,
the longest bin's newest packet dropped from a full buffer, CoDel on each bin guarded by the bytes in all of them."""

from collections import deque

from codel import MS, CodelState
from vector import ECT0, MASK, NOT_ECT, Model, Rng, link, mix, play, script, write


class Bin:
    def __init__(self, settings):
        self.queue, self.deficit, self.scheduled = deque(), 0, False
        self.codel = CodelState(reentry="ns2", **settings)


class SfqCodel(Model):
    def __init__(self, ecn, limit_packets, limit_bytes, rng, flows=1024, round="packets", quantum=1514, **settings):
        super().__init__(ecn, limit_packets, limit_bytes)
        self.bins = [Bin(settings) for _ in range(flows)]
        self.quantum = quantum if round == "bytes" else 0
        self.fresh, self.ring = deque(), deque()
        self.salt = rng.next_u64()

    def bin_of(self, flow):
        hash = mix(((flow ^ self.salt) * 0x9E3779B97F4A7C15) & MASK) >> 32
        return self.bins[hash * len(self.bins) >> 32]

    def length(self):
        return sum(len(bin.queue) for bin in self.bins)

    def bytes(self):
        return sum(packet.len for bin in self.bins for packet in bin.queue)

    def enqueue(self, now, packet):
        bin = self.bin_of(packet.flow)
        if packet.len > self.limit_bytes:
            self.drop(packet, "overflow")
            return
        while not self.fits(self.length(), self.bytes(), packet):
            longest = max(self.bins, key=lambda bin: len(bin.queue))
            self.drop(longest.queue.pop(), "over-limit")
            longest.codel.count += 1
        bin.queue.append(packet)
        if not bin.scheduled:
            bin.scheduled, bin.deficit = True, self.quantum
            self.fresh.append(bin)

    def guarded_backlog(self, bin):
        """What CoDel's guard of one packet sees: all bins, or nothing when this one is empty now."""
        return self.bytes() if bin.queue else 0

    def dequeue(self, now):
        while self.fresh or self.ring:
            turn = self.fresh if self.fresh else self.ring
            bin = turn[0]
            if self.quantum and bin.deficit <= 0:
                bin.deficit += self.quantum
                self.ring.append(turn.popleft())
                continue
            if not bin.queue and turn is self.ring:
                turn.popleft()
                bin.scheduled = False
                bin.codel.dropping, bin.codel.first_above_time = False, 0
                continue
            packet = bin.codel.dequeue(self, lambda: bin.queue.popleft() if bin.queue else None,
                                       lambda: self.guarded_backlog(bin), now)
            if packet is None:
                # Drops have emptied it: off the schedule, or once round behind the others so that
                # it cannot starve them.
                turn.popleft()
                if turn is self.fresh and self.ring:
                    self.ring.append(bin)
                else:
                    bin.scheduled = False
                continue
            if self.quantum:
                bin.deficit -= packet.len
            else:
                self.ring.append(turn.popleft())
            self.depart(packet)
            return


def main():
    mixed = dict(sizes=(64, 576, 1500), phases=(1.5, 0.9, 1.3, 0.2))
    cases = {
        "packets": (False, {"flows": 64}, dict(flows=4, **mixed), 400, 10**9),
        "bytes": (False, {"flows": 64, "round": "bytes", "quantum": 600}, dict(flows=4, **mixed), 400, 10**9),
        "marks": (True, {"flows": 16}, dict(flows=5, codepoints=(NOT_ECT, ECT0), **mixed), 400, 10**9),
        "overflow": (False, {"flows": 16}, dict(flows=6, sizes=(64, 1500), phases=(2.5, 0.5)), 30, 10**9),
        "overflow-in-bytes": (False, {"flows": 8, "round": "bytes"}, dict(flows=12, sizes=(300, 1500), phases=(2.0, 0.1)), 10**6, 24_000),
        "idle": (False, {"flows": 32}, dict(flows=8, sizes=(1500,), phases=(0.2, 2.0, 0.05), stall=0.01), 200, 10**9),
    }
    for seed, (name, (ecn, params, load, packets, size)) in enumerate(cases.items()):
        rng = Rng(900 + seed)
        facts = link(10_000_000, 10 * MS, packets, size)
        settings = {"target": 2 * MS, "interval": 20 * MS, **params}
        model = SfqCodel(ecn, packets, size, rng, **settings)
        operations = play(model, script(900 + seed, 600, service=MS, phase=150, **{"stall": 0.001, **load}))
        write(name, "Nichols's sfqCoDel for ns-2 in reference/sfq_codel.py", "sfq-codel", settings, ecn, facts, rng, operations)


if __name__ == "__main__":
    main()
