#!/usr/bin/env python3
"""Writes docs/recommendations.md: what gq recommend answers for ten lines, and what kernel senders say of it.

recommendations.py [GQ] [--only NAME,...] [--again] [--minutes N]

Answers are kept in out/recommendations, so that an interrupted run resumes; --again starts over. The checks need the
guest kernel (make linux). With --only, the page is written if all other lines have kept answers. A command that fails is
tried once more; one that fails twice or takes longer than --minutes leaves its row without figures.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tables import table

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/recommendations.md"
KEPT = ROOT / "out/recommendations"
MAX_NAMES = 6


@dataclass(frozen=True)
class Line:
    """A line; where its check is of another, that one's options and the reason."""

    name: str
    title: str
    options: str
    reason: str = ""
    instead: str = ""

    def commands(self):
        """The options of each command, by the name of the file that keeps its answer; the last one checks."""
        if self.instead:
            return {self.name: self.options, f"{self.name}.check": f"{self.instead} --check linux"}
        return {self.name: f"{self.options} --check linux"}


LINES = [
    Line("dsl", "DSL 16/1", "--line adsl --down 16mbit --up 1mbit --hardware openwrt"),
    Line("vdsl", "VDSL 50/10", "--line vdsl --down 50mbit --up 10mbit --hardware openwrt"),
    Line("cable", "cable 500/50", "--line docsis --down 500mbit --up 50mbit --hardware openwrt"),
    Line("lte", "LTE 40/10, ±40 %", "--line lte --down 40mbit --up 10mbit --hardware openwrt"),
    Line("leo", "LEO satellites 150/15, ±40 %", "--line leo --down 150mbit --up 15mbit --hardware openwrt"),
    Line("geo", "GEO satellite 50/3", "--line geo --down 50mbit --up 3mbit --hardware openwrt"),
    Line("slow", "64 kbit/s uplink", "--down 1mbit --up 64kbit --rtt 100ms --buffer 1s --hardware openwrt"),
    Line(
        "fibre",
        "fiber 1 Gbit/s",
        "--line fiber --down 1gbit --up 1gbit --hardware openwrt",
        "at a tenth of the rate: at 1 Gbit/s guest kernels would take about a minute per run",
        "--line fiber --down 100mbit --up 100mbit --hardware openwrt",
    ),
    Line(
        "wifi",
        "Wi-Fi bridge 200 Mbit/s, ±50 %",
        "--down 200mbit --up 200mbit --varies 50% --rtt 20ms --buffer 200ms --hardware openwrt",
    ),
    Line(
        "isp",
        "ISP access 10 Gbit/s",
        "--down 10gbit --up 10gbit --rtt 30ms --buffer 50ms --flows 32 --cc cubic --mix isp-access --hardware libreqos",
        "at a hundredth of the rate: at 10 Gbit/s guest kernels would take about ten minutes per run",
        "--down 100mbit --up 100mbit --rtt 30ms --buffer 50ms --flows 32 --cc cubic --mix isp-access --hardware libreqos",
    ),
]

NONE = "\N{EN DASH}"

HEAD = """# Ten lines, their recommendations, and kernel senders

This page lists what [`gq recommend`](recommend.md) answers for ten lines, with checks by kernel senders.
It is made by `tools/bench/recommendations.py`.
A recommendation is an answer for the line as its options describe it, not for each line of that name.
Rows that fail stay as they are.
"""


def run(gq, name, options, minutes):
    """The answer to one command, kept in a file. None when there is none."""
    kept = KEPT / f"{name}.json"
    if kept.exists():
        answer = json.loads(kept.read_text())
        if answer["asked"] == options:
            return answer
    for _ in range(2):
        began = time.monotonic()
        try:
            command = [gq, "recommend", *options.split(), "--json", "-"]
            made = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, timeout=minutes * 60)
        except subprocess.TimeoutExpired:
            print(f"{name}: did not end within {minutes:g} minutes", file=sys.stderr, flush=True)
            return None
        if made.returncode == 0:
            print(f"{name}: answered in {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
            answer = json.loads(made.stdout) | {"asked": options}
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
    return f"{round(value, digits) + 0.0:.{digits}f}"


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


def mean(about, of):
    """A figure without its interval."""
    return figure(about, of | {"ci95": None})


def said(about):
    return f"{about['activity']} {about['words']}"


def listed(names):
    """Names in a row, and how many there are beyond the first ones."""
    shown = ", ".join(names[:MAX_NAMES]) or NONE
    return f"{shown} and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else shown


def answered(answers):
    """The table of answers."""
    heads = ["line", "options", "choice", "as good", "perhaps as good", "cases:", "runs:"]
    rows = []
    for line in LINES:
        answer, asked = answers.get(line.name), f"`{line.options}`"
        if answer is None:
            rows.append([line.title, asked, "not run", *[NONE] * 4])
            continue
        others = [listed([one["label"] for one in answer[key]]) for key in ("alternatives", "undetermined")]
        rows.append([line.title, asked, answer["choice"]["label"], *others, len(answer["corners"]), answer["runs"]])
    return table(heads, rows)


def told(answer, beginning):
    """The sentence of an answer with this beginning, without it; ranges are called so."""
    found = [text for text in answer["text"].splitlines() if text.startswith(beginning)]
    if not found:
        return NONE
    return re.sub(r"\(([^()]+ to [^()]+)\)", r"(from \1)", found[0].removeprefix(beginning).rstrip("."))


def experienced(answers):
    """The table of what people get under the choice, and with nothing set up."""
    rows = []
    for line in LINES:
        if answer := answers.get(line.name):
            both = [told(answer, f"With {setup}: ") for setup in ("it", "nothing set up")]
            rows.append([line.title, len(answer["corners"]), *both, "; ".join(answer["left_out"]) or NONE])
    return table(["line", "cases:", "under the choice", "with nothing set up", "left out of the mix"], rows)


def better(check, abouts):
    """What is better than the choice with kernel senders, in words."""
    beaten = []
    for one in check["better"]:
        about = abouts[one["activity"], one["metric"]]
        gain = f"{said(about)} {mean(about, one['other'])} instead of {mean(about, one['choice'])}"
        if but := one["but"]:
            doubt = abouts[but["activity"], but["metric"]]
            beaten.append(f"{one['label']}: {gain}, but {said(doubt)} seems worse by {figure(doubt, but['behind'])}")
        else:
            beaten.append(f"**{one['label']}**: {gain}")
    text = "; ".join(beaten) or f"none of {len(check['candidates']) - 1}"
    return text if check["satisfies_policy"] else f"{text}; **the choice does not satisfy the policy**"


def checked(checks):
    """The table of checks."""
    heads = [
        "line",
        "without",
        "choice",
        "figure",
        "simulated",
        "kernel senders",
        "difference",
        "agreement",
        "better with kernel senders",
    ]
    rows = []
    for line in LINES:
        answer = checks.get(line.name)
        if answer is None:
            rows.append([line.title, *[NONE] * 6, "not checked", NONE])
            continue
        check = answer["check"]
        title = f"{line.title} ({line.reason})" if line.reason else line.title
        without = ", ".join(f"`{name}`" for name in check["left_out"]) or NONE
        abouts = {(one["activity"], one["metric"]): one for one in answer["deciding"]}
        for place, held in enumerate(check["figures"]):
            about = abouts[held["activity"], held["metric"]]
            agreement = f"**{held['agreement']}**" if held["agreement"] == "differs" else held["agreement"]
            means = [mean(about, held[of]) for of in ("simulated", "checked")]
            cells = [said(about), *means, figure(about, held["difference"]), agreement]
            first = [title, without, answer["choice"]["label"]]
            rows.append([*[""] * 3, *cells, ""] if place else [*first, *cells, better(check, abouts)])
    return table(heads, rows)


def page(answers, checks):
    return f"""{HEAD}
## The answers

The answers of `gq recommend` with these options, in the mixes `evening` and `backup` where none is named.
A case is one mix with everything that is not known about the line at its least or its greatest.

{answered(answers)}

What people get under the choice, and with nothing set up: averages over the cases of a line.
In parentheses stands the range over its cases, from the best to the worst.
It shows what is not known about the line, and is no error of measurement.
Where all cases agree, the 95 % interval over seeds follows instead.
Groups that a line cannot carry are left out of its mixes.

{experienced(answers)}

## Checked with kernel senders

These are the answers to the same options with `--check linux`.
The choice, its queues at the other shaped rates, the best of every other kind of queue, and the line with nothing set up run with TCP of guest kernels, in the same cases with the same seeds.
Kernel senders carry the call, the ping and the transfers at the times and sizes that the simulator draws.
Groups of the mixes that wait for answers, such as pages and video, are left out on both sides: *without* names them, and the figures of *simulated* are those of the simulator without them.

Each figure is the average over the cases of a line.
The difference is taken seed by seed, and has a 95 % interval over seeds.

- *interval*: the figure lies in the 95 % interval over seeds of the simulator's.
- *margin*: it lies outside, but the difference is too small to count for anybody.
- **differs**: by more than that.

A line whose check was not made, or did not end, is called not checked.
In the last column, a candidate in bold is significantly better in a figure that decides and seems worse in no earlier one.
One that is not bold is better in a later figure, but seems worse in an earlier one by more than the margin, which the runs do not settle.

{checked(checks)}
"""


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/gq"
    arguments.add_argument("gq", nargs="?", default=str(built))
    arguments.add_argument(
        "--only", metavar="NAME,...", help="these lines alone; the page has what is kept of the others"
    )
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
    for place, line in enumerate(LINES, 1):
        found = []
        for name, options in line.commands().items():
            kept = KEPT / f"{name}.json"
            if line.name in wanted:
                print(f"{place} of {len(LINES)}, {name}: gq recommend {options}", file=sys.stderr, flush=True)
                found.append(run(chosen.gq, name, options, chosen.minutes))
            elif kept.exists():
                found.append(json.loads(kept.read_text()))
            else:
                absent.append(name)
        for answer, of in zip((found[0], found[-1]) if found else (), (answers, checks), strict=False):
            if answer is not None:
                of[line.name] = answer
    if absent:
        print(f"{PAGE} is left as it is: no answers are kept of {', '.join(absent)}", file=sys.stderr)
        return
    PAGE.write_text(page(answers, checks))
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
