"""JoBS: the feedback rule for service and drops of ns-2.35's implementation as its description has it (largest-slack rule as meant), with
delay and loss shares in place of factors, and this project's projection of windows."""

from collections import deque

from vector import CE, ECT0, ECT1, NOT_ECT, Model, Rng, link, play, script, write

MS = 1_000_000
SLOT = 1000 * MS // 16


class Class:
    def __init__(self, delay_share=None, loss_share=None, delay_bound=None, loss_bound=None, rate=0):
        self.delay_share, self.loss_share, self.loss_bound = delay_share, loss_share, loss_bound
        self.bound = None if delay_bound is None else delay_bound / 1e9
        self.least = rate / 8
        self.queue, self.rate = deque(), 0.0
        self.begin()

    def begin(self):
        self.arrived = self.lost = self.sent = 0
        self.due = 0.0

    def loss(self):
        return self.lost / self.arrived if self.arrived else 0.0

    def may_lose(self, length):
        return self.loss_bound is None or self.lost + length <= self.loss_bound * self.arrived


class Flow:
    def __init__(self, number, now):
        self.number, self.first, self.last, self.since = number, now, now, now
        self.trip, self.window, self.bytes = None, None, 0
        self.segment = 0  # the largest of those that could be marked
        self.halves = None  # the time at which a mark will have done so


class Projection:
    """Flows one by one, in a table of fixed size; nothing is summed up in advance."""

    def __init__(self, shortest, flows=4096, alpha=0.9, b_lim=1.0, rtt=100 * MS, horizon=None):
        self.shortest, self.most, self.alpha, self.b_lim, self.rtt, self.horizon = shortest, flows, alpha, b_lim, rtt, horizon
        self.table, self.evicted = [], 0
        self.recent = []  # numbers, the one silent longest first

    def find(self, number, now):
        known = next((flow for flow in self.table if flow.number == number), None)
        if known:
            self.recent.remove(number)
        else:
            known = Flow(number, now)
            if len(self.table) < self.most:
                self.table.append(known)
            else:
                silent = self.recent.pop(0)
                place = next(place for place, flow in enumerate(self.table) if flow.number == silent)
                self.table[place] = known
                self.evicted += 1
        self.recent.append(number)
        return known

    def trip(self, flow):
        return self.rtt if flow.trip is None else flow.trip

    def renew(self, flow, now):
        if flow.halves is not None and flow.halves <= now:
            flow.halves = None  # counts will show what came of it
        trip = self.trip(flow)
        ended = (now - flow.since) // trip
        if ended:
            flow.window = flow.bytes if flow.window is None else self.alpha * flow.window + (1.0 - self.alpha) * flow.bytes
            for _ in range(min(ended, 100) - 1):
                flow.window *= self.alpha
            flow.bytes = 0
            flow.since += trip * ended

    def measure(self, flow, now):
        if flow.trip is not None:
            return
        elapsed, pause = now - flow.first, now - flow.last
        if elapsed > 1000 * MS:
            flow.first = now
        elif elapsed >= self.shortest and 4 * pause >= 3 * elapsed:
            flow.trip, flow.window, flow.bytes, flow.since = elapsed, None, 0, now

    def arrive(self, now, packet, capable):
        flow = self.find(packet.flow, now)
        self.renew(flow, now)
        self.measure(flow, now)
        flow.last = now
        flow.bytes += packet.len
        if capable:
            flow.segment = max(flow.segment, packet.len)
        return flow

    def backlog(self, now, span, start, link):
        """Bytes that wait `span` ns from now; of each flow whole bytes per second and per second squared."""
        h, rate, growth, spared = span / 1e9, 0, 0, 0
        for flow in self.table:
            silent = now // SLOT - flow.last // SLOT
            if flow.window is None or silent >= 16:
                continue
            trip = self.trip(flow) / 1e9
            own = int(flow.window / trip + 0.5)
            rate += own
            if flow.halves is None:
                growth += int(flow.segment / (trip * trip) + 0.5)
            else:
                spared += own // 2 * (now + span - flow.halves)
        return start + (rate * h + growth * h * h / 2.0 - max(spared, 0) / 1e9) - link * h

    def marks(self, flow, now, start, limit, link):
        trip = self.trip(flow)
        span = trip if self.horizon is None else self.horizon
        if flow.halves is not None or max(start, self.backlog(now, span, start, link)) <= limit * self.b_lim:
            return False
        flow.halves = now + trip
        return True


class Jobs(Model):
    def __init__(self, ecn, facts, promises, *, separate=False, head=False, sampling=1, shared_pain=False, projection=None):
        super().__init__(ecn, facts["limit_packets"], facts["limit_bytes"])
        self.classes = [Class(**promise) for promise in promises]  # the most urgent first
        self.separate, self.head, self.sampling, self.shared_pain = separate, head, sampling, shared_pain
        self.projection = projection
        self.overhead = facts["overhead"]
        self.known = self.link = facts["rate"] / 8
        self.settled, self.idle, self.count = 0, True, 0
        self.window, self.util, self.mean = None, 1.0, facts["mtu"]
        self.bytes = self.packets = 0

    # What waits.
    def wire(self, packet):
        return packet.len + self.overhead

    def waiting(self, c):
        return sum(self.wire(p) for p in c.queue)

    def age(self, c, now):
        return (now - c.queue[0].stamp) / 1e9 if c.queue else 0.0

    def settle(self, now):
        if self.link:
            for c in self.classes:
                c.due += c.rate * ((now - self.settled) / 1e9)
        self.settled = now

    # Promises.
    def slack(self, c, now):
        return None if c.bound is None else c.bound - self.age(c, now)

    def late(self, c, now):
        return bool(c.queue) and c.bound is not None and self.slack(c, now) <= 0

    def needed(self, c, now):
        if not c.queue:
            return 0.0
        rate = 0.0
        if c.bound is not None:
            slack = self.slack(c, now)
            rate = self.link if slack <= 0 else self.waiting(c) / slack
        return max(rate, c.least)

    def surplus(self, c, now):
        if not c.queue or c.bound is None:
            return 0.0
        return self.waiting(c) - c.rate * max(self.slack(c, now), 0.0)

    # Losses.
    def end(self, c, head):
        return c.queue[0] if head else c.queue[-1]

    def lose(self, c, head, reason):
        packet = c.queue.popleft() if head else c.queue.pop()
        c.lost += self.wire(packet)
        self.drop(packet, reason)

    def victim(self, own):
        size = lambda c: self.wire(self.end(c, self.head)) if c.queue else 0
        if own.loss_share is None and own.may_lose(size(own)):
            return own
        busy = [c for c in self.classes if c.queue]
        sharing = [c for c in busy if c.loss_share is not None]
        chosen = min(reversed(sharing), key=lambda c: c.loss() / c.loss_share) if sharing else own
        if chosen.may_lose(size(chosen)):
            return chosen
        room = lambda c: (1.0 if c.loss_bound is None else c.loss_bound) - c.loss()
        best = max(room(c) for c in busy)
        return chosen if room(chosen) == best else next(c for c in busy if room(c) == best)

    def over(self, own):
        if self.separate:
            parts = len(self.classes)
            return len(own.queue) > self.limit_packets // parts or sum(p.len for p in own.queue) > self.limit_bytes // parts
        return (sum(len(c.queue) for c in self.classes) > self.limit_packets
                or sum(p.len for c in self.classes for p in c.queue) > self.limit_bytes)

    # Rates.
    def redistribute(self, now):
        spare = [c.rate - self.needed(c, now) for c in self.classes]
        for short in range(len(spare)):
            for donor in reversed(range(len(spare))):
                if spare[short] < 0 < spare[donor]:
                    moved = min(spare[donor], -spare[short])
                    spare[donor] -= moved
                    spare[short] += moved
                    self.classes[donor].rate -= moved
                    self.classes[short].rate += moved

    def drop_late(self, c, now):
        pain = self.surplus(c, now)
        while pain > 1.0:
            late = self.late(c, now)
            loser = self.victim(c) if self.shared_pain and not late else c
            head = late or self.head
            if not loser.queue:
                return
            length = self.wire(self.end(loser, head))
            if not loser.may_lose(length):
                return
            self.lose(loser, head, "early")
            pain = self.surplus(c, now) if loser is c else pain - length

    def balance(self, now):
        self.count = 0
        busy = [c for c in self.classes if c.queue]
        members = [c for c in busy if c.delay_share is not None]
        accepted = [c.arrived - c.lost for c in members]
        if not members or not sum(accepted):
            return
        others = sum(c.rate for c in busy if c.delay_share is None)
        rate = max(self.link - others, 0.0)
        mean = sum(self.age(c, now) / c.delay_share for c in members) / len(members)
        heaviest = max(1.0 / c.delay_share for c in members)
        gain = (2.0 / (heaviest * self.mean * self.sampling) * (rate * rate) * (min(accepted) / sum(accepted)) * self.util
                * max(self.util, 1.0))
        floors = []
        for c in members:
            floors.append(min(self.needed(c, now), c.rate))
            c.rate = max(c.rate + gain * (self.age(c, now) / c.delay_share - mean), floors[-1])
        excess = sum(c.rate for c in members) - rate
        if excess < 0:
            for c in members:
                c.rate += -excess / len(members)
            return
        for c, floor in reversed(list(zip(members, floors))):
            taken = min(excess, c.rate - floor)
            c.rate -= taken
            excess -= taken

    def measure(self, now, length):
        if self.window is None:
            self.window = now
        self.bytes += length
        self.packets += 1
        if now - self.window >= 500 * MS:
            if self.link:
                self.util = self.bytes / ((now - self.window) / 1e9 * self.link)
            self.mean = self.bytes / self.packets
            self.window, self.bytes, self.packets = now, 0, 0

    def enqueue(self, now, packet):
        self.settle(now)
        if self.idle:
            for c in self.classes:
                c.begin()
            self.idle = False
        length = self.wire(packet)
        own = self.classes[max(0, len(self.classes) - 1 - packet.flow % 8)]
        self.measure(now, length)
        own.arrived += length
        parts = len(self.classes) if self.separate else 1
        if packet.len > self.limit_bytes // parts or self.limit_packets < parts:
            own.lost += length
            self.drop(packet, "overflow")
            return
        if self.projection:
            start = sum(p.len for c in self.classes for p in c.queue)
            fits = self.fits(sum(len(c.queue) for c in self.classes), start, packet)
            limit = min(self.limit_bytes, self.limit_packets * int(self.mean))
            flow = self.projection.arrive(now, packet, self.is_ect(packet))
            if fits and self.is_ect(packet) and self.projection.marks(flow, now, start, limit, self.link):
                self.mark(packet, "early")
        joins = not own.queue
        own.queue.append(packet)
        while self.over(own):
            loser = own
            if not self.separate:
                asking = own if own.queue else self.furthest_behind()
                loser = self.victim(asking)
            self.lose(loser, self.head, "overflow")
        if any(not c.queue and c.rate > 0 for c in self.classes) or (joins and own.queue and own.rate <= 0):
            busy = sum(1 for c in self.classes if c.queue)
            for c in self.classes:
                c.rate = self.link / max(busy, 1) if c.queue else 0.0
        self.count += 1
        if not self.link:
            return
        absolute = any(c.bound is not None or c.least for c in self.classes)
        if absolute and any(self.late(c, now) or self.needed(c, now) > c.rate for c in self.classes):
            self.redistribute(now)
            for c in self.classes:
                self.drop_late(c, now)
            self.balance(now)
        elif self.count >= self.sampling:
            self.balance(now)

    def furthest_behind(self):
        busy = [c for c in self.classes if c.queue]
        return max(busy, key=lambda c: c.due - c.sent) if busy else None

    def dequeue(self, now):
        self.settle(now)
        chosen = self.furthest_behind()
        if chosen is None:
            self.idle = True
            return
        packet = chosen.queue.popleft()
        chosen.sent += self.wire(packet)
        self.depart(packet)

    def set_rate(self, now, rate):
        self.settle(now)
        if rate is None:
            return
        rate = rate / 8
        if rate:
            for c in self.classes:
                c.rate *= rate / self.known
            self.known = rate
        self.link = rate


def main():
    wide = link(10_000_000, 10 * MS, 10**9, 60_000, overhead=38)
    packets = link(10_000_000, 10 * MS, 40, 10**9)
    common = {"flows": 16, "sizes": (300, 1500, 1500, 800)}
    cases = {
        "delay-shares": (wide, False, [{"delay_share": s} for s in (1, 2, 4, 8)], {}, common),
        "bounds": (wide, False, [{"delay_bound": 10 * MS, "loss_bound": 0.05}, {"rate": 4_000_000}, {"delay_share": 1}, {"delay_share": 3}],
                   {}, {**common, "stall": 0.01}),
        "loss-shares": (packets, False, [{"loss_share": 1, "loss_bound": 0.2}, {"loss_share": 2, "delay_share": 1}, {"loss_bound": 0.1},
                                         {"loss_share": 4, "delay_share": 2}], {}, {**common, "phases": (2.5, 1.2, 0.7, 3.0)}),
        "separate-buffers": (packets, False, [{"delay_share": 1}, {"delay_share": 2}, {}, {"loss_bound": 0.01}],
                             {"buffers": "separate", "drop": "head", "sampling": 5}, common),
        "shared-pain": (wide, False, [{"delay_bound": 5 * MS, "loss_share": 1}, {"loss_share": 3}, {"delay_bound": 40 * MS, "loss_share": 9}, {}],
                        {"delay_drops": "shared"}, {**common, "phases": (2.0, 1.0, 0.6)}),
        "changing-rate": (wide, False, [{"delay_bound": 20 * MS}, {"delay_share": 1}, {"delay_share": 2}, {"rate": 1_000_000}], {},
                          {**common, "rates": (10_000_000, 2_000_000, 0, 20_000_000, None), "stall": 0.02}),
        "projection": (wide, True, [{"delay_share": 1}, {"delay_share": 2}], {"projection": True, "flows": 3, "rtt": 30 * MS, "b_lim": 0.5},
                       {**common, "codepoints": (NOT_ECT, ECT0, ECT0, ECT1, CE)}),
        "one-class": (packets, True, [{"delay_bound": 15 * MS}], {"projection": True, "rtt": 40 * MS, "horizon": 20 * MS, "alpha": 0.5},
                      {**common, "codepoints": (ECT0,)}),
        "round-trips": (wide, True, [{}], {"projection": True, "flows": 50},
                        {**common, "flows": 60, "codepoints": (NOT_ECT, ECT0, ECT0, ECT0), "phases": (0.8, 1.0, 1.2), "stall": 0.01}),
    }
    for seed, (name, (facts, ecn, promises, params, load)) in enumerate(cases.items()):
        rng = Rng(900 + seed)
        names = {"separate": params.get("buffers") == "separate", "head": params.get("drop") == "head",
                 "sampling": params.get("sampling", 1), "shared_pain": params.get("delay_drops") == "shared"}
        ahead = {key: params[key] for key in ("flows", "alpha", "b_lim", "rtt", "horizon") if key in params}
        projection = Projection(max(facts["delay"], MS), **ahead) if params.get("projection") else None
        model = Jobs(ecn, facts, promises, projection=projection, **names)
        given = {"classes": len(promises), **params}
        for number, promise in enumerate(reversed(promises)):
            given.update({f"{key}_{number}": value for key, value in promise.items()})
        operations = play(model, script(seed, 900, service=1_100_000, phase=150, **load))
        write(name, "ns-2.35's rule as described, in reference/jobs.py", "jobs", given, ecn, facts, rng, operations)


if __name__ == "__main__":
    main()
