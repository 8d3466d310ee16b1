"""cake's ack-filter, after tc-cake(8) and Hoeiland-Joergensen, Taht and Morton 2018 §III-D, over the cake of cake.py.

The newest packet of a queue, if it only acknowledges, is held against every older one of its flow. An older one is redundant if it too only acknowledges,
and the newest says all that it says: no smaller number, no earlier echo of time, all its selective ranges within the newer one's, none of them a
report of data received twice, and something more than it in number or ranges. A change of congestion echoes among the
older ones protects what came before the change. Of two redundant ones the older goes. A single one goes only by the aggressive
filter, and only if it lies right before the newest and has the same congestion echo.
"""

import random

from cake import Cake
from cobalt import MS
from vector import Rng, link, play, write

MTU_LINK = link(10_000_000, 10 * MS, 400, 10**9)


def reported(ack):
    return sum(end - start for start, end in ack["sack"])


def is_redundant(old, new):
    if old["number"] > new["number"] or old["echoed"] > new["echoed"]:
        return False
    for start, end in old["sack"]:
        if start < old["number"]:
            return False  # data received twice
        if not any(low <= start and end <= high for low, high in new["sack"]):
            return False
    return new["number"] > old["number"] or reported(new) > reported(old)


class FilteredCake(Cake):
    def __init__(self, *args, ack_filter, **rest):
        super().__init__(*args, tins="besteffort", **rest)
        self.aggressive = ack_filter == "aggressive"

    def thin_out(self, flow):
        *older, newest = flow.queue
        if newest.ack is None:
            return
        candidates = []
        for packet in older:
            if packet.flow != newest.flow or packet.ack is None:
                continue
            if candidates and packet.ack["echo"] != candidates[0].ack["echo"]:
                candidates = []
            if is_redundant(packet.ack, newest.ack):
                candidates.append(packet)
            if len(candidates) == 2:
                break
        alone = len(candidates) == 1 and self.aggressive and older[-1] is candidates[0] and candidates[0].ack["echo"] == newest.ack["echo"]
        if len(candidates) == 2 or alone:
            flow.queue.remove(candidates[0])
            flow.bytes -= candidates[0].len
            self.drop(candidates[0], "redundant")


def ack(number, *sack, echoed=0, echo=0):
    return {"number": number, "echoed": echoed, "echo": echo, "sack": [list(each) for each in sack]}


DATA = None
# Lines of packets that meet in one queue, each with what makes it worth a case.
CASES = [
    [ack(n) for n in (1000, 2000, 3000, 4000)],  # growing numbers: two stay at most beside the one that leaves
    [ack(1000), ack(1000), ack(1000), ack(1000)],  # duplicates stay
    [ack(1000), ack(2000), ack(1500), ack(3000)],  # one that was overtaken
    [ack(1000), DATA, ack(2000), ack(3000)],  # data between
    [DATA, ack(1000), ack(2000)],
    [ack(1000), ack(2000, echo=1), ack(3000, echo=1), ack(4000, echo=1), ack(5000)],  # an echo begins and ends
    [ack(1000, echo=1), ack(2000), ack(3000, echo=1), ack(4000)],  # it alternates
    [ack(1000), ack(1000, (3000, 4000)), ack(1000, (3000, 5000)), ack(1000, (3000, 6000))],  # ranges grow
    [ack(1000, (3000, 4000)), ack(1000, (3000, 4000)), ack(1000, (3000, 4000))],  # the same range again
    [ack(1000, (3000, 4000)), ack(4000), ack(5000), ack(6000)],  # the hole is closed: no range covers the old report
    [ack(1000, (6000, 7000), (3000, 4000)), ack(1000, (3000, 5000), (6000, 7000)), ack(1000, (3000, 7000))],  # in another order, then joined
    [ack(1000, (500, 900)), ack(2000), ack(3000), ack(4000)],  # data received twice
    [ack(2000, (1000, 2000), (3000, 4000)), ack(2000, (3000, 5000)), ack(2000, (3000, 6000))],
    [ack(1000, echoed=5), ack(2000, echoed=4), ack(3000, echoed=5), ack(4000, echoed=6)],  # time stamps go back
    [ack(1000, (3000, 4000), (5000, 6000), (7000, 8000)), ack(1000, (3000, 4000), (5000, 6000), (7000, 9000)), ack(3000, (3000, 9000))],
    [ack(1000, (2000, 3000)), ack(2000, (2000, 2500)), ack(2000, (2000, 3500)), ack(3500)],
]


def by_hand():
    """Each case in a queue of its own flow, then two flows of one queue's hosts, then everything leaves."""
    now = MS
    for number, line in enumerate(CASES):
        for what in line:
            now += MS // 100
            yield ["enqueue", now, 1500 if what is DATA else 66, 64 * number, 0] + ([] if what is DATA else [what])
        for _ in line:
            now += MS // 10
            yield ["dequeue", now]


def at_random(seed, flows):
    """Acknowledgements of several flows, some of them sharing a queue, with data, losses and echoes, faster than they leave."""
    chance = random.Random(seed)
    now, states = MS, {flow: [1000, 0, 0] for flow in flows}
    for step in range(1200):
        now += chance.randrange(MS // 2)
        if chance.random() < (0.62 if step // 100 % 2 else 0.4):
            flow = chance.choice(flows)
            number, echo, holes = states[flow]
            if chance.random() < 0.1:
                yield ["enqueue", now, 1000, flow, 0]
                continue
            echo = 1 - echo if chance.random() < 0.1 else echo
            holes = chance.choice([holes, holes, holes + 1, 0]) if holes else int(chance.random() < 0.1)
            number += chance.choice([0, 1460, 2920]) if not holes else 0
            sack = [(number + 1460, number + 1460 * (1 + holes))] if holes else []
            if chance.random() < 0.05:
                sack.insert(0, (number - 900, number - 100))
            states[flow] = [number, echo, holes]
            yield ["enqueue", now, 66, flow, 0, ack(number, *sack, echoed=now - chance.choice([0, 0, MS]), echo=echo)]
        else:
            yield ["dequeue", now]


def main():
    cases = {
        "ack-cases": ("on", "flows", by_hand()),
        "ack-cases-aggressive": ("aggressive", "flows", by_hand()),
        "ack-random": ("on", "flows", at_random(1, [0, 64, 128])),
        "ack-random-aggressive": ("aggressive", "flows", at_random(2, [0, 64, 128])),
        "ack-shared-queue": ("on", "hosts", at_random(3, [0, 1, 2, 64])),
        "ack-shared-aggressive": ("aggressive", "hosts", at_random(4, [0, 1, 64])),
    }
    for seed, (name, (ack_filter, isolation, steps)) in enumerate(cases.items()):
        rng = Rng(1600 + seed)
        params = {"ack_filter": ack_filter, "isolation": isolation}
        model = FilteredCake(False, MTU_LINK, rng, **params)
        given = {**params, "tins": "besteffort"}
        origin = "tc-cake(8) and Hoeiland-Joergensen, Taht and Morton 2018 in reference/cake_acks.py"
        write(name, origin, "cake", given, False, MTU_LINK, rng, play(model, steps))


if __name__ == "__main__":
    main()
