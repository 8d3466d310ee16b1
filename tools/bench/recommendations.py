#!/usr/bin/env python3
"""Writes docs/recommendations.md: what gq recommend answers for ten lines, and what kernel senders say of it.

recommendations.py [GQ] [--only NAME,...] [--again] [--minutes N]

Answers are kept in out/recommendations, so that an interrupted run goes on; --again makes them anew. The checks need the
guest kernel (make linux). With --only, the page is written if all other lines have kept answers. A command that fails is
tried once more; one that fails twice or takes longer than --minutes leaves its row without figures.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tables import table

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/recommendations.md"
KEPT = ROOT / "out/recommendations"

@dataclass(frozen=True)
class Line:
    """A line; where its check is of another, that one's options and the reason."""

    name: str
    title: str
    options: str
    reason: str = ""
    instead: str = ""


LINES = [
    Line("dsl", "DSL 16/1", "--down 16mbit --up 1mbit --rtt 30ms --buffer 300ms --flows 1..4"),
    Line("vdsl", "VDSL 50/10", "--down 50mbit --up 10mbit --rtt 20ms..60ms --buffer 200ms --flows 4"),
    Line("cable", "cable 500/50", "--down 500mbit --up 50mbit --rtt 20ms --buffer 150ms --flows 2..8 --cc cubic"),
    Line("lte", "LTE 40/10, ±40 %", "--down 40mbit --up 10mbit --varies 40% --rtt 50ms --buffer 500ms --flows 2"),
    Line("leo", "LEO satellites 150/15, ±30 %", "--down 150mbit --up 15mbit --varies 30% --rtt 40ms --buffer 200ms --flows 4"),
    Line("geo", "GEO satellite 50/3", "--down 50mbit --up 3mbit --rtt 600ms --buffer 500ms --flows 1..4 --cc cubic"),
    Line("slow", "64 kbit/s uplink", "--down 1mbit --up 64kbit --rtt 100ms --buffer 1s --flows 1..2"),
    Line(
        "fibre",
        "fiber 1 Gbit/s",
        "--down 1gbit --up 1gbit --rtt 10ms..40ms --buffer 50ms --flows 8 --cc cubic",
        "at a tenth of the rate: at 1 Gbit/s guest kernels would take about a minute per run",
        "--down 100mbit --up 100mbit --rtt 10ms..40ms --buffer 50ms --flows 8 --cc cubic",
    ),
    Line("wifi", "Wi-Fi bridge 200 Mbit/s, ±50 %", "--down 200mbit --up 200mbit --varies 50% --rtt 20ms --buffer 200ms --flows 4 --cc cubic"),
    Line(
        "isp",
        "ISP access 10 Gbit/s",
        "--down 10gbit --up 10gbit --rtt 30ms --buffer 50ms --flows 32 --cc cubic --mix isp-access --hardware libreqos",
        "at a hundredth of the rate: at 10 Gbit/s guest kernels would take about ten minutes per run",
        "--down 100mbit --up 100mbit --rtt 30ms --buffer 50ms --flows 32 --cc cubic",
    ),
]

NONE = "\N{EN DASH}"

HEAD = """# Ten lines, their recommendations, and kernel senders

This page lists what [`gq recommend`](recommend.md) answers for ten lines, with checks by kernel senders. It is made by `tools/bench/recommendations.py`. A recommendation is an answer for the
line as its options describe it, not for each line of that name. Groups of the mix that would take more than 5 % of a line are left
out, so the slow uplinks have no call. Rows that fail stay as they are.
"""


def run(gq, name, options, minutes):
    """The answer for a line, and the seconds it took; kept in a file. None when there is none."""
    kept = KEPT / f"{name}.json"
    if kept.exists():
        answer = json.loads(kept.read_text())
        if answer["asked"] == options:
            return answer
    print(f"{name}: gq recommend {options}", file=sys.stderr, flush=True)
    for _ in range(2):
        began = time.monotonic()
        try:
            command = [gq, "recommend", *options.split(), "--json", "-"]
            made = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, timeout=minutes * 60)
        except subprocess.TimeoutExpired:
            print(f"{name}: did not end within {minutes:g} minutes", file=sys.stderr, flush=True)
            return None
        if made.returncode == 0:
            answer = json.loads(made.stdout)
            answer |= {"asked": options, "took_s": time.monotonic() - began}
            KEPT.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(answer))
            return answer
        print(f"{name}: gq recommend ended with {made.returncode}", file=sys.stderr, flush=True)
    return None


def number(value):
    """Three significant digits, without an exponent."""
    if value == 0:
        return "0"
    digits = max(0, 3 - len(str(int(abs(value)))))
    return f"{value:.{digits}f}"


def figure(about, of):
    """A figure with its interval and unit, as people read it; `about` is an entry of `deciding`."""
    mean, half = of["mean"], of["ci95"]
    if mean is None:
        return NONE
    match about["quantity"]:
        case "time":
            scale, unit = (1e3, " ms") if abs(mean) < 1 else (1.0, " s")
        case "rate":
            scale, unit = 1e-6, " Mbit/s"
        case "ratio":
            scale, unit = 100.0, " %"
        case _:
            scale, unit = 1.0, ""
    interval = f" ± {number(half * scale)}" if half is not None else ""
    return f"{number(mean * scale)}{interval}{unit}"


def said(about):
    return f"{about['activity']} {about['words']}"


def answered(answers):
    """The table of answers."""
    heads = ["line", "options", "choice", "as good", "undetermined", "runs", "time"]
    rows = []
    for line in LINES:
        answer, asked = answers.get(line.name), f"`{line.options}`"
        if answer is None:
            rows.append([line.title, asked, "not run", NONE, NONE, NONE, NONE])
            continue
        others = [", ".join(one["label"] for one in answer[key]) or NONE for key in ("alternatives", "undetermined")]
        rows.append([line.title, asked, answer["choice"]["label"], *others, answer["runs"], f"{number(answer['took_s'])} s"])
    return table(heads, rows)


def experienced(answers):
    """The table of what people get under the choice, and with nothing set up."""
    rows = []
    for line in LINES:
        answer = answers.get(line.name)
        if answer is None:
            continue
        setups = (answer["choice"], answer["without"])
        for place, about in enumerate(one for one in answer["deciding"] if one["activity"] != "bulk"):
            both = [setup["experience"].get(about["activity"], {}).get(about["metric"]) for setup in setups]
            rows.append(["" if place else line.title, said(about), *(figure(about, of) if of else NONE for of in both)])
        for place, direction in enumerate(("down", "up")):
            cells = [figure({"quantity": "ratio"}, setup["utilization"][place]) for setup in setups]
            rows.append(["", f"utilization {direction}", *cells])
    return table(["line", "figure", "under the choice", "with nothing set up"], rows)


def better(check, abouts):
    """What is better than the choice with kernel senders, in words."""
    beaten = []
    for one in check["better"]:
        about = abouts[one["activity"], one["metric"]]
        gain = f"{said(about)} {figure(about, one['other'])} instead of {figure(about, one['choice'])}"
        if but := one["but"]:
            doubt = abouts[but["activity"], but["metric"]]
            beaten.append(f"{one['label']}: {gain}, but {said(doubt)} seems worse by {figure(doubt, but['behind'])}")
        else:
            beaten.append(f"**{one['label']}**: {gain}")
    text = "; ".join(beaten) or f"none of {len(check['candidates']) - 1}"
    return text if check["satisfies_policy"] else f"{text}; **the choice does not satisfy the policy**"


def checked(checks):
    """The table of checks."""
    rows = []
    for line in LINES:
        answer = checks.get(line.name)
        if answer is None:
            rows.append([line.title, NONE, NONE, NONE, NONE, "not checked", NONE])
            continue
        check = answer["check"]
        remarks = [line.reason] if line.reason else []
        if check["left_out"]:
            remarks.append(f"without {' and '.join(check['left_out'])}")
        title = f"{line.title} ({'; '.join(remarks)})" if remarks else line.title
        abouts = {(one["activity"], one["metric"]): one for one in answer["deciding"]}
        for place, held in enumerate(check["figures"]):
            about = abouts[held["activity"], held["metric"]]
            agreement = f"**{held['agreement']}**" if held["agreement"] == "differs" else held["agreement"]
            cells = [said(about), *(figure(about, held[of]) for of in ("simulated", "checked")), agreement]
            rows.append(["", "", *cells, ""] if place else [title, answer["choice"]["label"], *cells, better(check, abouts)])
    return table(["line", "choice", "figure", "simulated", "kernel senders", "agreement", "better with kernel senders"], rows)


def page(answers, checks):
    return f"""{HEAD}
## The answers

`gq recommend` with these options; the mix is `home` where none is named.
Time is wall time on two cores. The machine had other work at times, so it is an upper bound.

{answered(answers)}

What people get under the choice, and with nothing set up. Means over the corners with 95 % intervals.

{experienced(answers)}

## Checked with kernel senders

`gq recommend OPTIONS --hardware openwrt --check linux`, with the same mix. Kernel senders carry the call, the ping and the
transfers at the times and sizes that the simulator draws; groups that they do not carry (pages, video) are named beside the
line and left out on both sides. The choice, its queues at the other shaped rates,
the best of every other kind of queue, and the bare line run with TCP of guest kernels at the same corners with the same seeds.
*interval*: the figure lies in the interval of the answer. *margin*: outside, but the difference is too small to count for
anybody (recommend.md has the margins). **differs**: by more than that. A line whose check was not made, or did not end, is
called not checked. Intervals are over corners and seeds together, so they are wide where corners differ much. In the last
column, a candidate in bold is significantly better in a figure that decides and seems worse in no earlier one; one that is not
bold has more of a later figure, but seems worse in an earlier one by more than the margin, which the runs do not settle.

{checked(checks)}
"""


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/gq"
    arguments.add_argument("gq", nargs="?", default=str(built))
    arguments.add_argument("--only", metavar="NAME,...", help="these lines alone; the page has what is kept of the others")
    arguments.add_argument("--again", action="store_true", help="makes all answers again")
    arguments.add_argument("--minutes", type=float, default=120, metavar="N", help="most time for one command")
    chosen = arguments.parse_args()
    names = [line.name for line in LINES]
    wanted = chosen.only.split(",") if chosen.only else names
    if unknown := [name for name in wanted if name not in names]:
        arguments.error(f"--only: `{unknown[0]}` is not known: allowed {', '.join(names)}")
    if chosen.again:
        for kept in KEPT.glob("*.json"):
            if kept.stem.removesuffix(".check") in wanted:
                kept.unlink()
    answers, checks, absent = {}, {}, []
    for line in LINES:
        check = f"{line.instead or line.options} --hardware openwrt --check linux"
        asked = {line.name: (answers, line.options), f"{line.name}.check": (checks, check)}
        for file, (found, words) in asked.items():
            kept = KEPT / f"{file}.json"
            if line.name in wanted:
                answer = run(chosen.gq, file, words, chosen.minutes)
            else:
                answer = json.loads(kept.read_text()) if kept.exists() else None
                absent += [file] if answer is None else []
            if answer is not None:
                found[line.name] = answer
    if absent:
        print(f"{PAGE} is left as it is: no answers are kept of {', '.join(absent)}", file=sys.stderr)
        return
    PAGE.write_text(page(answers, checks))
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
