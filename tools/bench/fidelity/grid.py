#!/usr/bin/env python3
"""Writes docs/fidelity-grid.md from runs of the same cells with the senders of a kernel and of the simulator.

    tools/bench/fidelity/runs.py --on linux                          # resumable; results are added to kernel-senders.csv
    tools/bench/fidelity/runs.py --on sim --runs OUT/simulator.csv
    tools/bench/fidelity/grid.py OUT/simulator.csv > docs/fidelity-grid.md
    tools/bench/fidelity/runs.py --on sim --series 7.3 --runs OUT/simulator-7.3.csv
    tools/bench/fidelity/grid.py --kernels OUT/simulator-7.3.csv > docs/fidelity-7.3.md    # Linux 7.3 next to 6.12 and to the simulator

The explanation of the differences is written by hand in grid-notes.md and inserted after the summary.
"""
import argparse
import math
import pathlib
import statistics
import sys

from cells import CONTROLS, HERE, KERNEL, NEW_KERNEL, QUEUES, TIMES, cp_1, cp_8, middle, stored, wide
from printed import PRINTED

sys.path.insert(0, str(HERE.parent))

from tables import show  # noqa: E402

HEAD = """# The simulator's senders compared with a real kernel's

This page compares the TCP senders of the simulator with those of Linux, behind the same queues in virtual time.

Made by `tools/bench/fidelity/grid.py` from runs that `tools/bench/fidelity/runs.py` makes: the same scenario, the same queue code and the same links, once with this
simulator's senders and once with those of Linux 6.12 in virtual time ([linux.md](linux.md)). The kernel's runs are stored in
`tools/bench/fidelity/kernel-senders.csv`, with more figures than shown here; the simulator's are rerun for each version of this page.

Each figure is simulator / Linux, means over six runs of the simulator and as many of the kernel as the table says; ± is half of the 95 % interval of
their difference (with a single run of the kernel, its spread is assumed to be that of the simulator). Bounds: utilization within 1 point, mean queue within 10 % or one packet, drops within a factor of 1.25 (or both below 0.05 %). A cell is *unclear* if
the interval of a difference beyond a bound includes the bound. No parameter was tuned to fit a cell.
"""

WIDE = """The base is `tools/bench/fidelity/grid.toml`: bulk flows that start within two seconds, no access links. The number behind tail drop is its buffer in bandwidth-delay
products, at least two packets; the other queues have four, at least 50 packets, and their defaults, except PIE, which rests while its queue is short
(`active_inactive`), and FQ-CoDel, which counts 1514 bytes per turn without headers: they were so when the kernel's runs were made. With DCTCP senders the queue marks (`ecn = true`), except
tail drop, which cannot: there DCTCP responds to losses as Reno does. The measured part is 50 s after 10 s at 1 Mbit/s, 25 s after 5 s at 10 Mbit/s, and 15 s after 5 s at
100 Mbit/s."""

KERNELS = """# Senders of Linux 7.3 next to those of 6.12

This page compares the TCP of two kernels, behind the same queues in virtual time, in the cells of [the grid](fidelity-grid.md).

Made by `tools/bench/fidelity/grid.py --kernels OUT/simulator-7.3.csv` from runs that `runs.py --on linux` and `runs.py --on linux-7.3` have made; bounds are those of the grid, and each figure is 7.3 / 6.12.
"""

SIMULATED = """The simulator's receivers are those of 7.3 here (`sack = "compressed-7.3"`), and its runs have three seeds.
"""

# Two-sided 95 % quantiles of Student's distribution, by degrees of freedom.
STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306}


class Compared:
    """One cell on both sides."""

    def __init__(self, cell, sim, linux):
        self.cell = cell
        # Seed 0 stands for the mean of three.
        self.runs = "mean of 3" if 0 in linux else len(linux)
        self.sim, self.linux = list(sim.values()), list(linux.values())
        use, queue, drops = (self.figure(name) for name in ("utilization_pct", "queue_packets", "dropped_pct"))
        small = max(drops[0], drops[1]) < 0.05
        self.verdicts = {
            "utilization": judge(use, 1.0),
            "queue": judge(queue, max(1.0, 0.1 * queue[1])),
            "drops": "" if small else judge(drops, 0.25 * min(drops[0], drops[1])),
        }

    def means(self, name):
        return tuple(sum(run[name] for run in side) / len(side) for side in (self.sim, self.linux))

    def figure(self, name):
        """Means of both sides and half the interval of their difference. A single run gets the spread of the other side."""
        variances = [
            sum((run[name] - mean) ** 2 for run in side) / (len(side) - 1) if len(side) > 1 else None
            for side, mean in zip((self.sim, self.linux), self.means(name), strict=True)
        ]
        known = [variance for variance in variances if variance is not None]
        if not known:
            return *self.means(name), None
        sides = list(zip((self.sim, self.linux), variances, strict=True))
        errors = sum((known[0] if variance is None else variance) / len(side) for side, variance in sides)
        freedom = sum(len(side) - 1 for side, _ in sides)
        return *self.means(name), STUDENT[min(freedom, 8)] * math.sqrt(errors)

    def within(self, name=None):
        return not (self.verdicts[name] if name else any(self.verdicts.values()))

    def beyond(self):
        return ", ".join(f"{name} {said}".strip() for name, said in self.verdicts.items() if said).replace(" beyond", "")

    def unclear(self):
        said = [word for word in self.verdicts.values() if word]
        return bool(said) and all(word == "unclear" for word in said)


def judge(figure, allowed):
    """None within the bound, otherwise whether the excess is certain."""
    sim, linux, half = figure
    distance = abs(sim - linux)
    if distance <= allowed:
        return ""
    return "unclear" if half is not None and distance - half <= allowed else "beyond"


def pair(figure, digits=2):
    sim, linux, *half = figure
    spread = f" ± {half[0]:.{digits}f}" if half and half[0] is not None else ""
    return f"{sim:.{digits}f} / {linux:.{digits}f}{spread}"


def share(cells, name=None):
    held = sum(one.within(name) for one in cells)
    return f"{held} of {len(cells)} ({100 * held / len(cells):.0f} %)"


def parts_of(cells):
    """All cells, and those with one of their coordinates in common."""
    yield "all", cells
    for mbit in TIMES:
        yield f"{mbit} Mbit/s", [one for one in cells if one.cell.mbit == mbit]
    for rtt in (10, 100):
        yield f"{rtt} ms", [one for one in cells if one.cell.rtt_ms == rtt]
    for flows in (1, 4, 16, 64):
        yield f"{flows} flow{'s' if flows > 1 else ''}", [one for one in cells if one.cell.flows == flows]
    for cc in CONTROLS:
        yield cc, [one for one in cells if one.cell.cc == cc]
    for queue in QUEUES:
        yield queue, [one for one in cells if one.cell.queue == queue]


def summary(cells):
    """How many cells are within the bounds, by each of their coordinates."""
    heads = ["cells", "within all bounds", "utilization", "queue", "drops", "beyond, but unclear"]
    show(heads, [
        [name, share(part), share(part, "utilization"), share(part, "queue"), share(part, "drops"), sum(one.unclear() for one in part)]
        for name, part in parts_of(cells)
        if part
    ])


def leanings(cells):
    """Bias of the simulator: signed differences, over all cells and by each coordinate."""
    # Offsets for ratios of numbers that may be zero: half a packet and a twentieth of a point.
    ways = [
        lambda one: one.means("utilization_pct")[0] - one.means("utilization_pct")[1],
        lambda one: 100 * math.log((one.means("queue_packets")[0] + 0.5) / (one.means("queue_packets")[1] + 0.5)),
        lambda one: 100 * math.log((one.means("dropped_pct")[0] + 0.05) / (one.means("dropped_pct")[1] + 0.05)),
    ]

    def mean(part, way):
        values = [way(one) for one in part]
        return f"{statistics.mean(values):+.2f} ± {1.96 * statistics.stdev(values) / math.sqrt(len(values)):.2f}"

    print(
        "Differences with their signs, simulator less kernel, as means over cells and their 95 % intervals: what is left when chance is averaged out. Mean queues and drops as ratios "
        "(a queue of half a packet and drops of 0.05 % more on both sides, so that nothing is divided by nothing).\n"
    )
    heads = ["cells", "utilization, points", "mean queue, %", "drops, %"]
    show(heads, [[name, *(mean(part, way) for way in ways)] for name, part in parts_of(cells) if len(part) > 1])


def yardstick(sim, linux):
    """Agreement between runs and means of runs: kernel to kernel, and simulator to both."""

    def alike(one, ours, other, theirs):
        """Share of cells in which the means over one set of seeds are within all bounds of those over the other."""
        seeds = {*ours, *theirs}
        cells = [cell for cell in wide() if seeds <= linux.get(cell, {}).keys() and seeds <= sim.get(cell, {}).keys()]
        picked = [
            Compared(cell, {seed: one[cell][seed] for seed in ours}, {seed: other[cell][seed] for seed in theirs}) for cell in cells
        ]
        return share(picked) if picked else "none"

    print("What the bounds ask for, against what chance does: cells in which two runs, or the means of three, are within all bounds of each other.\n")
    show(["", "one run", "means of three runs"], [
        [name, alike(a, [1], b, [2]), alike(a, [1, 2, 3], b, [4, 5, 6])]
        for name, a, b in (("kernel and kernel", linux, linux), ("simulator and kernel", sim, linux), ("simulator and simulator", sim, sim))
    ])


def row(one):
    cell = one.cell
    windows = " ".join(f"{linux:.0f}" for linux in (one.means(f"cwnd_p{part}")[1] for part in (10, 50, 90)))
    ours = " ".join(f"{sim:.0f}" for sim in (one.means(f"cwnd_p{part}")[0] for part in (10, 50, 90)))
    return [
        cell.rtt_ms, cell.flows, cell.cc, cell.queue, one.runs,
        pair(one.figure("utilization_pct"), 1), pair(one.figure("queue_packets"), 1), pair(one.means("sojourn_p95_ms"), 1),
        pair(one.figure("dropped_pct")), pair(one.means("marked_pct")) if cell.cc == "dctcp" else "", pair(one.means("resent_pct")),
        f"{ours} / {windows}", one.beyond() or "none",
    ]


HEADS = [
    "RTT ms", "flows", "control", "queue", "runs", "utilization %", "mean queue, packets", "sojourn p95, ms", "dropped %", "marked %", "retransmitted %",
    "window p10 p50 p90", "beyond the bounds",
]


def study(title, text, cells):
    print(f"## {title}\n\n{text}\n")
    if not cells:
        print("Not run with this version.\n")
        return
    heads = ["queue", "control", "flows", "RTT ms", "printed", "runs", "utilization %", "mean queue, packets", "dropped %", "beyond the bounds"]
    show(heads, [
        [
            *(place := (one.cell.queue, one.cell.cc, one.cell.flows, one.cell.rtt_ms)), PRINTED.get(place, ""), one.runs,
            pair(one.figure("utilization_pct")), pair(one.figure("queue_packets")), pair(one.figure("dropped_pct")), one.beyond() or "none",
        ]
        for one in cells
    ])
    print(f"{share(cells)} of the cells are within all bounds; of {sum(one.unclear() for one in cells)} more the runs cannot tell.\n")


def kernels(sim):
    """The page that compares two series of kernels, and the newer one with the simulator."""
    new, old = stored(NEW_KERNEL), stored(KERNEL)
    # The first seed alone is compared with another one of the same kernel, as a measure of chance.
    cells = [cell for cell in wide() if 1 in new.get(cell, {}) and {1, 2} <= old.get(cell, {}).keys()]
    one_run = [Compared(cell, {1: new[cell][1]}, {2: old[cell][2]}) for cell in cells]
    chance = [Compared(cell, {1: old[cell][1]}, {2: old[cell][2]}) for cell in cells]
    every = [Compared(cell, new[cell], old[cell]) for cell in wide() if cell in new and cell in old]
    beyond = [one for one in every if not one.within() and not one.unclear()]
    simulated = [Compared(cell, sim[cell], new[cell]) for cell in wide() if cell in sim and cell in new]
    print(KERNELS)
    show(["one run of each, cells within all bounds", ""], [["7.3 and 6.12", share(one_run)], ["6.12 and 6.12 (chance)", share(chance)]])
    print("All runs that are stored:\n")
    summary(every)
    print(f"## Cells that differ\n\nBeyond the bounds with certainty, {len(beyond)} cells:\n")
    show(["Mbit/s", *HEADS], [[one.cell.mbit, *row(one)] for one in beyond])
    print(f"## The simulator next to 7.3\n\n{SIMULATED}")
    summary(simulated)
    yardstick(sim, new)
    leanings(simulated)


def main():
    parser = argparse.ArgumentParser(description="Writes docs/fidelity-grid.md from runs of the simulator.")
    parser.add_argument("runs", type=pathlib.Path, help="the file that runs.py --on sim has written")
    parser.add_argument("--kernels", action="store_true", help="write docs/fidelity-7.3.md, from runs with --series 7.3")
    options = parser.parse_args()
    if options.kernels:
        kernels(stored(options.runs))
        return
    sim, linux = stored(options.runs), stored(KERNEL)

    def both(cells):
        return [Compared(cell, sim[cell], linux[cell]) for cell in cells if cell in sim and cell in linux]

    cells = both(wide())
    print(HEAD)
    print(f"## The wide grid\n\n{WIDE}\n")
    for mbit in TIMES:
        here = [one for one in cells if one.cell.mbit == mbit]
        runs = sorted({one.runs for one in here})
        print(f"- {mbit} Mbit/s: {len(here)} of {len(wide([mbit]))} cells have been run" + (f", with {' to '.join(map(str, sorted({runs[0], runs[-1]})))} of the kernel's runs each." if here else "."))
    print()
    summary(cells)
    yardstick(sim, linux)
    leanings(cells)
    print((HERE / "grid-notes.md").read_text())
    text = "A buffer of one bandwidth-delay product, 30 s after 10 s, flows start within 3 s."
    study("10 Mbit/s, round trip 50 ms", text, both(middle()))
    study("The tail-drop points of CP-1", "10 Mbit/s with 7 bytes of framing, 45 kB, 50 s after 10 s (the study: 100 runs of 100 s).", both(cp_1()))
    text = "The same line with CP-AQM in place of tail drop, 50 s after 10 s (the study: 20 runs of 100 s); the number behind the queue is `c_max`."
    study("CP-AQM with a threshold of five packets, as in CP-8", text, both(cp_8()))
    for mbit in TIMES:
        here = [one for one in cells if one.cell.mbit == mbit]
        if here:
            print(f"## All cells of {mbit} Mbit/s\n")
            show(HEADS, [row(one) for one in here])


if __name__ == "__main__":
    main()
