#!/usr/bin/env python3
"""Reruns in ns-2 the failing rows of the gallery whose study used ns-2, with our reading of the set-up.

Runs ns-2 alone, and lists its figures next to those of the study and of gallery/RESULTS.md. The set-ups are those of gallery/survey/ko-1.toml with 50 edge
nodes, gallery/codel/cd-5.toml and cd-6.toml (the file transfers without the web traffic), and gallery/nfq-codel/nf-1.toml and nf-3.toml; ns-2's package has
tail drop, RED, PI, REM and JoBS, but no CoDel.

    rows.py              all rows; writes rows.md next to this script
    rows.py --install    the same after installing ns-2
    rows.py --quick      one seed: a check that everything works, not a measurement
"""

import functools
import random
import re
import statistics
import sys
from dataclasses import dataclass

from programs import ROOT, Ns2, prepare, publish, read_common_options
from tables import table  # noqa: E402 (programs put it in reach)
from survey import delay_arguments, draw_delays, queue_arguments, read_plan

NODES = 50
# The start, which rows about steady losses leave out, and the whole run. Seconds.
START_S, RUN_S = 5.0, 20.0
STEPS = "50:10e6,100:1e6,150:50e6,200:1e6,250:100e6"
# The buffer is eight times 622 Mbit/s times 100 ms, in packets of 1000 bytes.
NF = {"rate": 622e6, "delay": 0.048, "access_delay": 0.001, "limit": 62_200, "packet": 1000, "initial_window": 2, "duration": 100, "queue": "red"}


@functools.cache
def survey(kind, seed, *, late=False):
    """The survey's set-up with 50 edge nodes."""
    plan, common = read_plan()
    (queue,) = (queue for queue in map(queue_arguments, plan["sweep"]["link.core.queue"]) if queue["queue"] == kind)
    delays = delay_arguments(draw_delays(random.Random(f"{NODES} edges {seed}"), NODES))
    part = {"warmup": START_S, "duration": RUN_S - START_S} if late else {"duration": RUN_S}
    return Ns2("survey").figures(common | queue | delays | part | {"seed": seed})[0]


@functools.cache
def line(seed, **arguments):
    """Linux's senders over one line."""
    return Ns2("line").figures(arguments | {"seed": seed})[0]


def kept(seed, cc, queue):
    """Goodput over a link that changes its rate, with ten packets of buffer over that with 830."""
    few, many = (line(seed, steps=STEPS, cc=cc, queue=queue, limit=limit)["goodput_bit_s"] for limit in (10, 830))
    return few / many


def beside_udp(seed):
    """What TCP and UDP get of the link, in bit/s."""
    figures = line(seed, flows=1, udp_rate=500e6, **NF)
    udp = figures["udp_bit_s"]
    return figures["throughput_bit_s"] - udp, udp


def jain(one, other):
    return (one + other) ** 2 / (2 * (one**2 + other**2))


@dataclass(frozen=True)
class Row:
    """A row of the gallery, and the figure of ns-2 for a seed."""

    id: str
    what: str
    figure: object
    digits: int


def rows():
    def lost(kind, seed):
        return 100 * survey(kind, seed, late=True)["loss_bytes"]

    def use(kind, seed):
        return 100 * survey(kind, seed)["utilization"]

    return [
        Row("T-KO-01", "tail drop, bytes lost, %", lambda seed: 100 * survey("tail-drop", seed)["loss_bytes"], 1),
        Row("T-KO-03", "RED, mean backlog, bytes", lambda seed: survey("red", seed)["queue_bytes"], 0),
        Row("T-KO-05", "JoBS, bytes lost from the fifth second on, %", lambda seed: lost("jobs", seed), 1),
        Row("T-KO-06", "JoBS, utilization less that of tail drop, points", lambda seed: use("jobs", seed) - use("tail-drop", seed), 1),
        Row("T-CD-26", "goodput kept with 10 packets, CUBIC, tail drop", lambda seed: kept(seed, "cubic", "tail-drop"), 2),
        Row("T-CD-26", "the same, RED", lambda seed: kept(seed, "cubic", "red"), 2),
        Row("T-CD-26", "the same, Reno, tail drop", lambda seed: kept(seed, "reno", "tail-drop"), 2),
        Row("T-NF-01", "RED, three CUBIC flows, utilization, %", lambda seed: line(seed, flows=3, **NF)["throughput_bit_s"] / 6.22e6, 1),
        Row("T-NF-09", "the same, packets dropped", lambda seed: line(seed, flows=3, **NF)["drops"], 0),
        Row("T-NF-32", "RED, TCP alongside UDP, Mbit/s", lambda seed: beside_udp(seed)[0] / 1e6, 1),
        Row("T-NF-35", "the same, Jain's index", lambda seed: jain(*beside_udp(seed)), 3),
    ]


def gallery():
    """Measured and expected values from the gallery's page of results, by row."""
    found = {}
    for text in (ROOT / "gallery/RESULTS.md").read_text().splitlines():
        cells = [cell.strip() for cell in text.strip().strip("|").split("|")]
        if len(cells) >= 7 and re.fullmatch(r"T-[A-Z]+-\d+", cells[0]):
            found[cells[0]] = (cells[-3], cells[-2])
    return found


def measure(options):
    known, lines = gallery(), []
    for row in rows():
        values = []
        for seed in range(1, options.seeds + 1):
            print(f"{row.id}: {row.what}, seed {seed}", file=sys.stderr, flush=True)
            values.append(row.figure(seed))
        spread = f" ± {statistics.stdev(values):.{row.digits}f}" if len(values) > 1 else ""
        measured, expected = known.get(row.id, ("", ""))
        lines.append([row.id, row.what, expected, measured, f"{statistics.mean(values):.{row.digits}f}{spread}"])
    return table(["row", "figure", "the study:", "goodqueue:", "ns-2.35:"], lines)


def document(shown, options):
    return f"""# Rows of the gallery that fail, in ns-2 itself

Made by `tools/bench/peers/rows.py`. Mean and standard deviation over {options.seeds} seeds. *the study* and *goodqueue* are from `gallery/RESULTS.md`; ns-2.35 (Debian's package)
ran the same set-ups with its own senders (New Reno in T-KO, Linux's CUBIC and Reno in the others), without the web traffic of T-CD-26. Its JoBS is the algorithm's authors',
with four classes of equal shares. T-KO-01, which holds, is there to show the load. The first slow start of its senders ends at a loss; in the gallery's T-NF it ends at
1000 packets or, with `cap` 0, at a loss. The consequences are explained at each row in the gallery's report.

{shown}
"""


def main():
    options = read_common_options(__doc__, seeds=3, out="rows.md")
    prepare([Ns2("line")], options)
    shown = measure(options)
    publish(shown, options, lambda: document(shown, options))


if __name__ == "__main__":
    main()
