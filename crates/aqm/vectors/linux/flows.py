"""Numbers of flows that share queues and bins with us as they did in Linux.

Linux hashes packets' headers with a secret, our queues hash flow numbers. What a queue does depends on nothing of that but on which flows meet, so flows
get the first numbers for which these are the same.
"""

import itertools

LEVELS, BITS = 8, 4
MASK = (1 << 64) - 1


def mix(z):
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


def draw(seed, number):
    """Number `number`, from 1, of splitmix64."""
    return mix((seed + number * 0x9E3779B97F4A7C15) & MASK)


def spread(flow, salt):
    """The hash of sfb."""
    return max(mix(((flow ^ salt) * 0x9E3779B97F4A7C15) & MASK) >> 32, 1)


def bins(hashed):
    return [hashed >> BITS * level & (1 << BITS) - 1 for level in range(LEVELS)]


def epochs(packets):
    """For each salt in use, in order: its first draw, its table, and the hash of each flow in it."""
    found, used = [{"draw": 1, "table": 0, "hashes": {}}, {"draw": 3, "table": 1, "hashes": {}}], 0
    for number, (_, flow, _, beside) in enumerate(packets):
        *hashes, drawn = beside
        following = packets[number + 1][3][-1] if number + 1 < len(packets) else drawn
        if following - drawn > 1:
            # Tables changed places: the one that goes drew twice.
            found.append({"draw": drawn + 1, "table": found[used]["table"], "hashes": {}})
            used += 1
        for epoch in found[used : used + 2]:
            hashed = hashes[epoch["table"]]
            if hashed:
                assert epoch["hashes"].setdefault(flow, hashed) == hashed
    return found


def renumbered(packets, seed):
    """The packets with such numbers."""
    known = [epoch for epoch in epochs(packets) if epoch["hashes"]]
    for epoch in known:
        low, high = draw(seed, epoch["draw"]), draw(seed, epoch["draw"] + 1)
        epoch["salt"] = low ^ (high << 32 | high >> 32) & MASK
    names, taken = {}, {0: [], 1: []}
    for flow in sorted({flow for _, flow, *_ in packets}):
        names[flow] = next(number for number in range(1 << 32) if number not in names.values() and fits(number, flow, known, taken))
        for epoch in known:
            if flow in epoch["hashes"]:
                taken[epoch["table"]].append((bins(epoch["hashes"][flow]), bins(spread(names[flow], epoch["salt"]))))
    return [(length, names[flow], codepoint, beside) for length, flow, codepoint, beside in packets]


def fits(number, flow, known, taken):
    """Does this number meet the others' where the flow met them?"""
    own = {0: [], 1: []}
    for epoch in known:
        if flow not in epoch["hashes"]:
            continue
        theirs, ours = bins(epoch["hashes"][flow]), bins(spread(number, epoch["salt"]))
        for their_other, our_other in taken[epoch["table"]] + own[epoch["table"]]:
            for level in range(LEVELS):
                if (theirs[level] == their_other[level]) != (ours[level] == our_other[level]):
                    return False
        own[epoch["table"]].append((theirs, ours))
    return True


QUEUES = 1024


def home(flow, salt):
    """The queue of a flow in a fair queue."""
    z = (flow ^ salt) * 0x9E3779B97F4A7C15 & MASK
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return (z >> 32) * QUEUES >> 32


def in_one_queue(packets, operations):
    """Pairs of flows that never overtook each other, though others did."""
    latest, apart = {}, set()
    for number in (number for operation in operations for sign, number in operation.events if sign == ">"):
        flow = packets[number][1]
        apart.update(frozenset((flow, other)) for other, last in latest.items() if last > number)
        latest[flow] = number
    return [pair for pair in itertools.combinations(sorted(latest), 2) if apart and frozenset(pair) not in apart]


def regrouped(packets, operations, seed):
    """The packets with numbers that put such pairs into one queue of ours."""
    salt, names = draw(seed, 1), {}
    for first, second in in_one_queue(packets, operations):
        names[second] = next(number for number in itertools.count(QUEUES) if home(number, salt) == home(names.get(first, first), salt))
    return [(length, names.get(flow, flow), codepoint, beside) for length, flow, codepoint, beside in packets]


def requeued(packets, operations, queues):
    """Packets whose flows have numbers that our cake-mq puts into the transmit queues that they left from, of the same classes."""
    seen = {}
    for operation in operations:
        for sign, number in operation.events:
            if operation.what == "?" and sign == ">":
                flow = packets[number][1]
                assert seen.setdefault(flow, operation.queue) == operation.queue, f"flow {flow} changes its queue"
    taken, numbers = set(), {}
    for flow, queue in sorted(seen.items()):
        fits = (number for number in range(flow % 8, 1 << 16, 8) if number * 0x9E37_79B1 % 2**32 * queues >> 32 == queue)
        numbers[flow] = next(number for number in fits if number not in taken)
        taken.add(numbers[flow])
    return [(length, numbers.get(flow, flow), *rest) for length, flow, *rest in packets]
