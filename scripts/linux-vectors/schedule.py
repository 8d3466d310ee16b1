#!/usr/bin/env python3
"""Times of packets for a recording: schedule.py CODEPOINT FLOWS. Lines of nanoseconds, IP length, flow, codepoint.

Poisson arrivals in nine phases over 12 s around the 10 Mbit/s of the line: below, at and far above it, so that queues fill, hold and run empty.
FLOWS are numbers with commas between; packets are of each as often, or of one so many times as often as `NUMBERxTIMES` says.
"""
import random
import sys

PHASES = [(1.2, 8e6), (2, 11e6), (0.8, 5e6), (2, 14e6), (0.8, 2e6), (1.2, 10.5e6), (2, 12e6), (0.4, 30e6), (1.6, 6e6)]
LENGTHS = [64, 200, 576, 1500, 1500, 1500, 1000]


def numbers(text):
    for part in text.split(","):
        flow, _, times = part.partition("x")
        yield from [int(flow)] * int(times or 1)


def main():
    codepoint, flows = int(sys.argv[1]), list(numbers(sys.argv[2]))
    draw = random.Random(1)
    mean = sum(LENGTHS) / len(LENGTHS)
    at = end = 0
    for seconds, rate in PHASES:
        end += round(seconds * 1e9)
        while True:
            length, flow = draw.choice(LENGTHS), flows[draw.randrange(len(flows))]
            at += max(1, int(draw.expovariate(rate / 8 / mean) * 1e9))
            if at >= end:
                at = end
                break
            print(at, length, flow, codepoint)


if __name__ == "__main__":
    main()
