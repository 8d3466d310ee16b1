#!/usr/bin/env python3
"""Lays evaluations of the same subjects by RFC 9743 on several hosts beside one another.

    gq evaluate --cc reno,bbr --against , --out OUT/sim
    gq evaluate --cc reno,bbr --against , --on linux --out OUT/linux
    gq evaluate --cc reno,bbr --against , --on linux-7.3 --out OUT/linux-7.3
    scorecard.py OUT/sim OUT/linux OUT/linux-7.3 > docs/scorecard-hosts.md

The first is what the others are compared with. A figure differs if the 95 % intervals of the two means leave a gap, and the means differ
by more than 2 % of the first one's.
"""

import json
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from tables import table  # noqa: E402

MIN_PART = 0.02


def read(folder):
    found = json.loads((pathlib.Path(folder) / "evaluation.json").read_text())
    if not found["complete"]:
        sys.exit(f"{folder}: the evaluation is incomplete; the same command of gq evaluate goes on")
    return found


def printed(paths):
    """Factor and unit in which figures of these paths are printed."""
    name = (paths or [""])[0]
    for end, form in (("bit_s", (1e-6, "Mbit/s")), ("ratio", (100, "%")), ("utilization", (100, "%"))):
        if name.endswith(end):
            return form
    return (1e3, "ms") if "_s" in name else (1, "")


def figures(found):
    """All figures by family, point, subject and measure."""
    place = {}
    for family in found["families"]:
        for point in family["points"]:
            for line in point["lines"]:
                for measure, value in zip(family["measures"], line["values"], strict=True):
                    key = (family["family"]["title"], point["placement"], point["point"], line["subject"], measure["head"])
                    place[key] = (value["mean"], value["ci95"], printed(measure["paths"]), measure["aspect"])
    return place


def differs(one, other):
    """Whether two means with their intervals differ; none where one of them is not defined."""
    (mean, ci), (far, far_ci) = one[:2], other[:2]
    if None in (mean, far, ci, far_ci):
        return None
    return abs(mean - far) > math.hypot(ci, far_ci) and abs(mean - far) > MIN_PART * abs(mean)


def shown(value):
    mean, ci, (factor, _), _ = value
    return "–" if mean is None else f"{mean * factor:.3g}" + ("" if ci is None else f" ± {ci * factor:.2g}")


def main():
    hosts = [read(folder) for folder in sys.argv[1:]]
    if len(hosts) < 2:
        sys.exit(__doc__)
    names = [found["host"] for found in hosts]
    all_figures = [figures(found) for found in hosts]
    counts, beyond = {}, []
    for key, first in all_figures[0].items():
        if first[3] is None:
            continue
        others = [other.get(key) for other in all_figures[1:]]
        verdicts = [None if other is None else differs(first, other) for other in others]
        for name, verdict in zip(names[1:], verdicts):
            if verdict is not None:
                alike, total = counts.get((key[3], name), (0, 0))
                counts[key[3], name] = (alike + (not verdict), total + 1)
        if any(verdicts):
            case = ", ".join(part for part in key[1:3] if part)
            unit = first[2][1]
            head = f"{key[4]}, {unit}" if unit else key[4]
            beyond.append([key[0], case, key[3], head, shown(first), *(shown(other) for other in others)])
    subjects = list(dict.fromkeys(subject for subject, _ in counts))
    cells = [[subject, *("{} of {}".format(*counts[subject, name]) for name in names[1:])] for subject in subjects]
    kernels = [f"`{name}` is {found['host_notes']['kernel'].split(' (')[0]}" for name, found in zip(names, hosts) if "host_notes" in found]
    print(f"""# RFC 9743's tests with senders of the kernel

This page compares the simulator's senders with those of Linux in the tests of [the scorecard of RFC 9743](scorecard-cc.md).

Made by `tools/bench/fidelity/scorecard.py` from `gq evaluate` of goodqueue {hosts[0]["version"]} ({hosts[0]["commit"]}), {hosts[0]["mode"]} mode,
the same commands for each host; {"; ".join(kernels)}. Do not edit.
The first table counts figures whose 95 % intervals meet those of `{names[0]}`, or whose means differ by at most {MIN_PART * 100:g} %; the second has the others.

{table(["subject", *names[1:]], cells)}

## Figures that differ

How many of the transfers of "Many answers at once" wait for a timeout depends on the microseconds between their starts ([fidelity.md](fidelity.md#mechanisms-that-explained-earlier-differences)), and the 95th percentile on whether more than 5 % do.

{table(["family", "case", "subject", "figure", *names], beyond)}""")


if __name__ == "__main__":
    main()
