"""Strict priority between bands, each a queue of its own: the most urgent that has a packet is served."""

from collections import deque

from codel import Codel
from vector import CE, ECT0, ECT1, NOT_ECT, Model, Rng, link, play, script, write

MS = 1_000_000


class TailDrop(Model):
    def __init__(self, ecn, limit_packets, limit_bytes):
        super().__init__(ecn, limit_packets, limit_bytes)
        self.queue, self.bytes = deque(), 0

    def enqueue(self, now, packet):
        if not self.fits(len(self.queue), self.bytes, packet):
            self.drop(packet, "overflow")
            return
        self.queue.append(packet)
        self.bytes += packet.len

    def dequeue(self, now):
        if self.queue:
            packet = self.queue.popleft()
            self.bytes -= packet.len
            self.depart(packet)


class Priority(Model):
    def __init__(self, bands):
        super().__init__(True, 0, 0)
        self.bands = bands
        for band in bands:
            band.events = self.events

    def take_events(self):
        events = super().take_events()
        for band in self.bands:
            band.events = self.events
        return events

    def enqueue(self, now, packet):
        # Of eight classes the higher are the more urgent; the lowest shares no band with others if
        # there are enough.
        klass = packet.flow % 8
        wanted = len(self.bands) - 1 - klass
        self.bands[max(0, wanted)].enqueue(now, packet)

    def dequeue(self, now):
        for band in self.bands:
            band.dequeue(now)
            if any(event[0] == "depart" for event in self.events):
                return


def main():
    small = link(10_000_000, 10 * MS, 10, 10**9)
    in_bytes = link(10_000_000, 10 * MS, 10**9, 6_000)
    codel = {"target": 2 * MS, "interval": 20 * MS}
    all_marks = (NOT_ECT, ECT0, ECT1, CE)
    cases = {
        "three-bands": (small, False, {}, None, {"flows": 8}),
        "eight-bands": (small, False, {"bands": 8}, None, {"flows": 100, "phases": (0.9, 1.3)}),
        "one-band": (in_bytes, False, {"bands": 1}, None, {"flows": 8, "stall": 0.01}),
        "bytes-and-rates": (in_bytes, False, {"bands": 2}, None, {"flows": 2, "rates": (10**7, 0, None, 10**6), "sizes": (40, 1500, 9000)}),
        "codel-drops": (small, False, {"bands": 4}, codel, {"flows": 4, "phases": (1.4, 0.9, 0.2)}),
        "codel-marks": (link(10_000_000, 10 * MS, 200, 10**9), True, {"bands": 2}, codel,
                        {"flows": 2, "phases": (1.4, 0.9, 0.2), "codepoints": all_marks}),
    }
    for seed, (name, (facts, ecn, params, inner, load)) in enumerate(cases.items()):
        def queue():
            limits = (ecn, facts["limit_packets"], facts["limit_bytes"])
            return TailDrop(*limits) if inner is None else Codel(*limits, **inner)

        rng = Rng(1200 + seed)
        model = Priority([queue() for _ in range(params.get("bands", 3))])
        operations = play(model, script(seed, 500, service=1_200_000, phase=100, **{"sizes": (64, 576, 1500), "stall": 0.001, **load}))
        of = None if inner is None else {"kind": "codel", "params": inner}
        write(name, "strict priority in reference/priority.py", "priority", params, ecn, facts, rng, operations, of)


if __name__ == "__main__":
    main()
