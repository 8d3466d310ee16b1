"""cake without its shaper, as Linux's sch_cake: cake_enqueue and cake_dequeue in unlimited mode, with exact sharing of a turn in place of
16-bit reciprocals and the choices listed in this crate's cake under Deviations. Hosts and flows are told apart by name, so
loads must be small enough for sets of eight queues never to fill."""

import math
from collections import deque

from cobalt import MS, CobaltState
from vector import CE, ECT0, ECT1, NOT_ECT, Model, Rng, link, play, script, write

# DSCP tables at the class selectors; diffserv3 sends class 5 where EF goes.
DIFFSERV8 = {0: 2, 1: 1, 2: 5, 3: 3, 4: 6, 5: 6, 6: 7, 7: 7}
DIFFSERV4 = {0: 0, 1: 1, 2: 2, 3: 2, 4: 3, 5: 3, 6: 3, 7: 3}
DIFFSERV3 = {0: 0, 1: 1, 2: 0, 3: 0, 4: 0, 5: 2, 6: 2, 7: 2}


def falling():
    quantum, quanta = 256, []
    for _ in range(8):
        quanta.append(quantum)
        quantum = quantum * 7 >> 3
    return quanta


TINS = {
    "besteffort": ([65535], lambda c: 0),
    "precedence": (falling(), lambda c: c),
    "diffserv3": ([1024, 1024 >> 4, 1024 >> 2], DIFFSERV3.get),
    "diffserv4": ([1024, 1024 >> 4, 1024 >> 1, 1024 >> 2], DIFFSERV4.get),
    "diffserv8": (falling(), DIFFSERV8.get),
}
MODES = {"flowblind": "", "srchost": "s", "dsthost": "d", "hosts": "sd", "flows": "f", "dual-srchost": "sf", "dual-dsthost": "df",
         "triple-isolate": "sdf"}


def ends(flow):
    return flow // 8 % 8, flow // 64


class Flow:
    def __init__(self, tin, cobalt):
        self.tin, self.cobalt = tin, cobalt
        self.queue, self.bytes, self.deficit, self.set, self.hosts = deque(), 0, 0, "none", (None, None)


class Tin:
    def __init__(self, quantum):
        self.quantum, self.deficit = quantum, 0
        self.flows, self.new, self.old, self.decaying = {}, [], [], []

    def count(self, *sets):
        return sum(flow.set in sets for flow in self.flows.values())

    def active(self):
        return self.count("sparse", "sparse-wait", "bulk") > 0


class Cake(Model):
    def __init__(self, ecn, facts, rng, *, isolation="triple-isolate", tins="diffserv3", quantum=None, ingress=False, **cobalt):
        super().__init__(ecn, facts["limit_packets"], facts["limit_bytes"])
        self.rng, self.facts, self.settings, self.ingress = rng, facts, cobalt, ingress
        rng.next_u64()  # the salts
        quanta, self.tin_of = TINS[tins]
        self.tins = [Tin(quantum) for quantum in quanta]
        self.mode, self.current, self.given_quantum = MODES[isolation], 0, quantum
        self.all, self.rate = [], facts["rate"]
        self.set_rate(0, self.rate)

    def set_rate(self, now, rate):
        if rate != 0:
            self.quantum = self.given_quantum or (1514 if rate is None else max(300, min(rate // 8 // 4096, 1514)))
        self.rate = rate if rate != 0 else self.rate
        for flow in self.all:
            flow.cobalt.set_rate(rate)

    def total(self):
        return sum(len(flow.queue) for flow in self.all), sum(flow.bytes for flow in self.all)

    def find(self, packet):
        """The packet's queue."""
        number = self.tin_of(packet.flow % 8)
        tin, (source, destination) = self.tins[number], ends(packet.flow)
        if "f" in self.mode:
            key = packet.flow
        else:
            key = (source if "s" in self.mode else None, destination if "d" in self.mode else None)
        if key not in tin.flows:
            cobalt = CobaltState(self.rng, mtu=self.facts["mtu"], overhead=self.facts["overhead"], **self.settings)
            cobalt.set_rate(self.rate)
            tin.flows[key] = Flow(tin, cobalt)
        return tin.flows[key]

    def host_load(self, flow):
        load = 1
        for side, letter in enumerate("sd"):
            if letter in self.mode and "f" in self.mode:
                bulk = [other for other in flow.tin.flows.values() if other.set == "bulk" and other.hosts[side] == flow.hosts[side]]
                load = max(load, len(bulk))
        return load

    def flow_quantum(self, flow):
        load = self.host_load(flow)
        return self.quantum if load == 1 else math.floor(self.quantum / load + self.rng.uniform())

    def enqueue(self, now, packet):
        flow = self.find(packet)
        flow.cobalt.arrival(now)
        if packet.len > self.limit_bytes:
            flow.cobalt.queue_full(now)
            self.drop(packet, "overflow")
            return
        if flow not in self.all:
            self.all.append(flow)
        flow.queue.append(packet)
        flow.bytes += packet.len
        self.thin_out(flow)
        tin = flow.tin
        if flow.set in ("none", "decaying"):
            if flow.set == "none":
                flow.hosts = ends(packet.flow)
            else:
                tin.decaying.remove(flow)
            tin.new.append(flow)
            flow.set = "sparse"
            flow.deficit = self.flow_quantum(flow)
        elif flow.set == "sparse-wait":
            flow.set = "bulk"
        while self.total()[0] > self.limit_packets or self.total()[1] > self.limit_bytes:
            longest = max(self.all, key=lambda flow: flow.bytes)
            assert [other.bytes for other in self.all].count(longest.bytes) == 1, "a tie"
            victim = longest.queue.popleft()
            longest.bytes -= victim.len
            self.drop(victim, "over-limit")
            longest.cobalt.queue_full(now)
            if not longest.queue and longest.cobalt.empty_since is None:
                longest.cobalt.empty_since = now

    def thin_out(self, flow):
        """The newest packet of `flow` may make an older one redundant; without the filter it does not."""

    def choose_tin(self):
        while True:
            tin = self.tins[self.current]
            if not (tin.deficit < 0 or not tin.active()):
                return tin
            if tin.deficit <= 0:
                tin.deficit += tin.quantum
            self.current = (self.current + 1) % len(self.tins)

    def dequeue(self, now):
        first_flow = True
        while self.total()[0] > 0:
            tin = self.choose_tin()
            while True:
                if first_flow and tin.decaying:
                    line = tin.decaying
                else:
                    line = tin.new or tin.old or tin.decaying
                if not line:
                    break
                flow = line[0]
                first_flow = False
                if flow.deficit <= 0:
                    if flow.set == "sparse":
                        flow.set = "bulk" if flow.queue else "sparse-wait"
                    flow.deficit += self.flow_quantum(flow)
                    line.pop(0)
                    tin.old.append(flow)
                    continue
                if self.serve(flow, now):
                    return
                if flow.queue:
                    # A drop that its queue has paid for.
                    continue
                state = flow.cobalt
                state.queue_empty(now)
                line.pop(0)
                if state.p_drop or state.count or now < state.drop_next:
                    tin.decaying.append(flow)
                    flow.set = "decaying"
                else:
                    flow.set = "none"
                break

    def serve(self, flow, now):
        while flow.queue:
            packet = flow.queue.popleft()
            flow.bytes -= packet.len
            flow.cobalt.bulk_flows = flow.tin.count("bulk") if self.ingress else 1
            reason = flow.cobalt.should_drop(self, packet, flow.bytes, now)
            length = packet.len + self.facts["overhead"]
            if reason is None or not flow.queue:
                flow.deficit -= length
                flow.tin.deficit -= length
                self.depart(packet)
                if not flow.queue:
                    flow.cobalt.empty_since = now
                return True
            self.drop(packet, reason)
            if self.ingress:
                flow.deficit -= length
                flow.tin.deficit -= length
                return False
        return False


def main():
    fast = link(100_000_000, 10 * MS, 400, 10**9, overhead=14)
    slow = link(10_000_000, 10 * MS, 400, 10**9)
    tight = link(10_000_000, 10 * MS, 10**9, 60_000, overhead=7)
    brief = {"target": 2 * MS, "interval": 20 * MS}
    # Flow f is of class f mod 8, from host f div 8 mod 8, to host f div 64.
    hosts = (0, 8, 16, 64, 128, 72)
    cases = {
        "diffserv3": (fast, False, brief, {}, range(8)),
        "triple-isolate": (slow, True, {**brief, "tins": "besteffort"}, {"codepoints": (NOT_ECT, ECT0, ECT1, CE)}, (0, 64, 128, 192, 8, 72)),
        "dual-dsthost": (slow, False, {**brief, "tins": "besteffort", "isolation": "dual-dsthost"}, {"rates": (None,), "stall": 0.004}, hosts),
        "dual-srchost": (slow, False, {**brief, "tins": "diffserv4", "isolation": "dual-srchost", "quantum": 300}, {}, (0, 64, 128, 8, 1, 10, 5)),
        "hosts": (slow, False, {**brief, "tins": "diffserv4", "isolation": "hosts"}, {}, hosts),
        "srchost": (fast, True, {**brief, "tins": "diffserv8", "isolation": "srchost"}, {"codepoints": (NOT_ECT, ECT0)}, range(0, 24)),
        "overflow": (tight, True, {**brief, "p_inc": 0.05, "p_dec": 0.01, "tins": "precedence", "isolation": "flows"},
                     {"phases": (2.5, 0.3, 1.8, 0.05), "sizes": (64, 401, 577, 1000, 1499), "codepoints": (NOT_ECT, ECT0), "stall": 0.003}, (0, 1, 2, 7)),
        "ingress": (slow, False, {**brief, "ingress": True, "isolation": "flows", "tins": "besteffort"}, {}, range(5)),
        "flowblind": (slow, True, {**brief, "isolation": "flowblind", "tins": "besteffort"}, {"rates": (10_000_000, None, 0, 10**8, 10**6),
                      "codepoints": (NOT_ECT, ECT0), "phase": 60}, range(8)),
    }
    for seed, (name, (facts, ecn, params, load, flows)) in enumerate(cases.items()):
        rng = Rng(1500 + seed)
        model = Cake(ecn, facts, rng, **params)
        load = {"service": MS, "phase": 150, "sizes": (64, 576, 1500), "phases": (1.6, 0.9, 1.4, 0.2), **load}
        flows = list(flows)
        steps = script(1500 + seed, 700, flows=len(flows), **load)
        steps = (step[:3] + [flows[step[3]]] + step[4:] if step[0] == "enqueue" else step for step in steps)
        write(name, "Linux sch_cake without its shaper in reference/cake.py", "cake", params, ecn, facts, rng, play(model, steps))


if __name__ == "__main__":
    main()
