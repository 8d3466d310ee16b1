#!/usr/bin/env python3
"""Makes the synthetic cellular traces `cellular.down` and `cellular.up`, always the same bytes.

The model has the features that make a phone's link hard for a queue in front of it, in the order they are applied:

1. *Regime*: the cell is good, fair or poor for some seconds at a time (a three-state Markov chain).
2. *Drift*: around the regime's level the logarithm of the rate wanders as a Gauss-Markov process.
3. *Fades*: dips of about a second, in which the rate falls to a fraction.
4. *Outages*: two intervals of a second or more, as during a handover, in which nothing is delivered.
5. *Scheduling*: the base station serves the phone in some milliseconds only, with all that has been saved up for it.

Both directions share regimes, fades and outages, because they share the radio; drift and scheduling are their own.
The result is a text file in the mahimahi format: each line is a millisecond at which up to 1500 bytes may leave.

    python3 generate.py            writes both files beside this script
    python3 generate.py --check    compares them with what is there; exit code 1 if they differ
"""

import math
import random
import sys
from pathlib import Path

SEED = 20_260_801
SECONDS = 120
STEP_MS = 20  # the rate is constant for this long
STEPS = SECONDS * 1000 // STEP_MS
BITS_PER_OPPORTUNITY = 1500 * 8

REGIMES = {"good": (2.4, 9.0), "fair": (1.0, 12.0), "poor": (0.28, 6.0)}  # level relative to fair, mean stay in seconds
NEXT_REGIME = {"good": ("fair",), "fair": ("good", "poor"), "poor": ("fair",)}
DRIFT_TIME_S = 1.5  # correlation time of the drift
DRIFT_SIGMA = 0.38  # its standard deviation, in natural logarithms
FADES_PER_SECOND = 0.07
OUTAGES_S = ((37.0, 1.2), (88.5, 2.3))  # (start, length)
SERVED_SHARE = 0.4  # of all milliseconds

# name: (mean, lowest, highest) in Mbit/s; lowest and highest hold outside of outages
DIRECTIONS = {"cellular.down": (5.0, 0.5, 20.0), "cellular.up": (2.0, 0.25, 8.0)}


def gauss(rng):
    """A standard normal draw by Box and Muller, written out because `random.gauss` may differ between Python versions."""
    return math.sqrt(-2.0 * math.log(1.0 - rng.random())) * math.cos(2.0 * math.pi * rng.random())


def exponential(rng, mean):
    return -mean * math.log(1.0 - rng.random())


def radio(rng):
    """What both directions share: a relative level for each step, zero in an outage."""
    levels = []
    regime, stay = "fair", exponential(rng, REGIMES["fair"][1])
    fade_left, fade_depth = 0.0, 1.0
    step_s = STEP_MS / 1000
    for step in range(STEPS):
        stay -= step_s
        if stay <= 0:
            choices = NEXT_REGIME[regime]
            regime = choices[int(rng.random() * len(choices))]
            stay = exponential(rng, REGIMES[regime][1])
        if fade_left > 0:
            fade_left -= step_s
        elif rng.random() < FADES_PER_SECOND * step_s:
            fade_left, fade_depth = 0.3 + exponential(rng, 0.6), 0.15 + 0.35 * rng.random()
        now = step * step_s
        out = any(start <= now < start + length for start, length in OUTAGES_S)
        levels.append(0.0 if out else REGIMES[regime][0] * (fade_depth if fade_left > 0 else 1.0))
    return levels


def drift(rng):
    """A factor for each step: the exponential of a Gauss-Markov process."""
    keep = math.exp(-STEP_MS / 1000 / DRIFT_TIME_S)
    fresh = DRIFT_SIGMA * math.sqrt(1.0 - keep * keep)
    value, factors = DRIFT_SIGMA * gauss(rng), []
    for _ in range(STEPS):
        value = keep * value + fresh * gauss(rng)
        factors.append(math.exp(value))
    return factors


def scaled(shape, mean, lowest, highest):
    """`shape` times the one factor that gives it the wanted mean once it is held within the bounds; zero stays zero."""

    def bounded(factor):
        return [min(max(factor * s, lowest), highest) if s > 0 else 0.0 for s in shape]

    low, high = 0.0, 1000.0
    for _ in range(60):
        middle = (low + high) / 2
        if sum(bounded(middle)) / len(shape) < mean:
            low = middle
        else:
            high = middle
    return bounded(low)


def opportunities(rates_mbit, rng):
    """The milliseconds at which packets may leave, one entry a packet; the last one is the end, which sets the period."""
    saved, times = 0.0, []
    for ms in range(1, SECONDS * 1000 + 1):
        rate = rates_mbit[(ms - 1) // STEP_MS]
        saved = saved + rate * 1000 if rate > 0 else 0.0
        if rng.random() < SERVED_SHARE:
            count = int(saved / BITS_PER_OPPORTUNITY)
            saved -= count * BITS_PER_OPPORTUNITY
            times += [ms] * count
    end = SECONDS * 1000
    return times if times[-1] == end else [*times, end]


def main():
    here = Path(__file__).parent
    levels = radio(random.Random(SEED))
    differ = False
    for number, (name, (mean, lowest, highest)) in enumerate(DIRECTIONS.items(), start=1):
        rng = random.Random(SEED + number)
        shape = [level * factor for level, factor in zip(levels, drift(rng), strict=True)]
        times = opportunities(scaled(shape, mean, lowest, highest), rng)
        text = "".join(f"{ms}\n" for ms in times)
        path = here / name
        if "--check" in sys.argv[1:]:
            same = path.is_file() and path.read_text() == text
            differ |= not same
            print(f"{name}: {'as generated' if same else 'DIFFERS from what this script makes'}")
        else:
            path.write_text(text)
            rate = len(times) * BITS_PER_OPPORTUNITY / SECONDS / 1e6
            print(f"{name}: {len(times)} opportunities in {SECONDS} s, mean {rate:.2f} Mbit/s")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
