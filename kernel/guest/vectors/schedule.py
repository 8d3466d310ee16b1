#!/usr/bin/env python3
"""Times of packets for a recording: schedule.py CODEPOINTS FLOWS. Lines of nanoseconds, IP length, flow, codepoint, and the words
of an acknowledgement for packets that are one: number, echoed time stamp, congestion echo, three SACK ranges with zeros for none.

Poisson arrivals in nine phases over 12 s around the 10 Mbit/s of the line: below, at and far above it, so that queues fill, hold and run empty.
FLOWS `bursts/NUMBERS`: packets of random flows and lengths in trains of up to 60 that follow one another closely, with pauses.

FLOWS `acks`: two flows of acknowledgements, sent in busy and in quiet times beside two of data, for a seventh of a second.

CODEPOINTS is that of all packets, or with commas between those of the flows 0, 1, 2 and so on, again from the first.

Other FLOWS are numbers with commas between; packets are of each as often, or of one so many times as often as `NUMBERxTIMES` says. Behind a slash there
may be the length of all packets.
"""

import random
import sys

PHASES = [(1.2, 8e6), (2, 11e6), (0.8, 5e6), (2, 14e6), (0.8, 2e6), (1.2, 10.5e6), (2, 12e6), (0.4, 30e6), (1.6, 6e6)]
LENGTHS = [64, 200, 576, 1500, 1500, 1500, 1000]


def numbers(text):
    for part in text.split(","):
        flow, _, times = part.partition("x")
        yield from [int(flow)] * int(times or 1)


ACKING, SENDING = (65, 73), (1, 9)


def acknowledgements():
    """Lines of a schedule: receivers that lose packets, see congestion come and go, and answer out of order now and then."""
    draw = random.Random(2)
    states = {flow: {"number": 10_000, "echo": 0, "holes": 0} for flow in ACKING}
    at = 0
    while (at := at + int(draw.expovariate(9_000 if at // 20_000_000 % 2 else 5_000) * 1e9)) < 140_000_000:
        if draw.random() < 0.15:
            yield at, 1500, draw.choice(SENDING)
            continue
        flow = draw.choice(ACKING)
        state = states[flow]
        if draw.random() < 0.05:
            state["echo"] ^= 1
        if state["holes"]:
            state["holes"] = draw.choice([state["holes"], *[state["holes"] + 1] * 5, 0])
        elif draw.random() < 0.05:
            state["holes"] = 1
        if not state["holes"]:
            state["number"] += draw.choice([0, 1448, 1448, 2896, 2896])
        number = state["number"]
        ranges = [(number + 1448, number + 1448 * (1 + state["holes"]))] if state["holes"] else []
        if state["holes"] > 3 and draw.random() < 0.5:
            # A second hole, further on.
            ranges.append((ranges[0][1] + 1448, ranges[0][1] + 2896))
        if draw.random() < 0.02:
            # Data received twice.
            ranges.insert(0, (number - 900, number - 100))
        late = draw.random() < 0.03
        ranges += [(0, 0)] * (3 - len(ranges))
        length = 52 + (4 + 8 * sum(end > 0 for _, end in ranges) if ranges[0][1] else 0)
        words = [
            number - 1448 * late,
            at // 1_000_000 + 1000 - late,
            state["echo"],
            *(edge for both in ranges for edge in both),
        ]
        yield at, length, flow, words


def bursts(flows):
    """Lines of a schedule: trains of packets, each of one flow, and between them pauses that let buckets fill."""
    draw = random.Random(3)
    at = 0
    while at < 12_000_000_000:
        flow, length = draw.choice(flows), draw.choice(LENGTHS)
        at += int(draw.expovariate(20) * 1e9)
        for _ in range(draw.randrange(1, 61)):
            at += draw.choice([1_000, 50_000, 400_000])
            yield at, draw.choice([length, length, draw.choice(LENGTHS)]), flow


def main():
    codepoints = [int(word) for word in sys.argv[1].split(",")]
    if sys.argv[2] == "acks":
        for at, length, flow, *words in acknowledgements():
            print(at, length, flow, codepoints[0], *(words[0] if words else []))
        return
    if sys.argv[2].startswith("bursts/"):
        for at, length, flow in bursts(list(numbers(sys.argv[2].removeprefix("bursts/")))):
            print(at, length, flow, codepoints[flow % len(codepoints)])
        return
    text, _, length = sys.argv[2].partition("/")
    flows, lengths = list(numbers(text)), [int(length)] if length else LENGTHS
    draw = random.Random(1)
    mean = sum(lengths) / len(lengths)
    at = end = 0
    for seconds, rate in PHASES:
        end += round(seconds * 1e9)
        while True:
            length, flow = draw.choice(lengths), flows[draw.randrange(len(flows))]
            at += max(1, int(draw.expovariate(rate / 8 / mean) * 1e9))
            if at >= end:
                at = end
                break
            print(at, length, flow, codepoints[flow % len(codepoints)])


if __name__ == "__main__":
    main()
