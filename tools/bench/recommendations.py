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
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/recommendations.md"
KEPT = ROOT / "out/recommendations"

# Name, what it is, options of the line, why the check is of another line, and the options of that
# line.
LINES = [
    ("dsl", "DSL 16/1", "--down 16mbit --up 1mbit --rtt 30ms --buffer 300ms --flows 1..4", None, None),
    ("vdsl", "VDSL 50/10", "--down 50mbit --up 10mbit --rtt 20ms..60ms --buffer 200ms --flows 4", None, None),
    (
        "cable",
        "cable 500/50",
        "--down 500mbit --up 50mbit --rtt 20ms --buffer 150ms --flows 2..8 --cc cubic",
        None,
        None,
    ),
    (
        "lte",
        "LTE 40/10, ±40 %",
        "--down 40mbit --up 10mbit --varies 40% --rtt 50ms --buffer 500ms --flows 2",
        None,
        None,
    ),
    (
        "leo",
        "LEO satellites 150/15, ±30 %",
        "--down 150mbit --up 15mbit --varies 30% --rtt 40ms --buffer 200ms --flows 4",
        None,
        None,
    ),
    (
        "geo",
        "GEO satellite 50/3",
        "--down 50mbit --up 3mbit --rtt 600ms --buffer 500ms --flows 1..4 --cc cubic",
        None,
        None,
    ),
    ("slow", "64 kbit/s uplink", "--down 1mbit --up 64kbit --rtt 100ms --buffer 1s --flows 1..2", None, None),
    (
        "fibre",
        "fiber 1 Gbit/s",
        "--down 1gbit --up 1gbit --rtt 10ms..40ms --buffer 50ms --flows 8 --cc cubic",
        "at a tenth of the rate: at 1 Gbit/s guest kernels would take about a minute per run",
        "--down 100mbit --up 100mbit --rtt 10ms..40ms --buffer 50ms --flows 8 --cc cubic",
    ),
    (
        "wifi",
        "Wi-Fi bridge 200 Mbit/s, ±50 %",
        "--down 200mbit --up 200mbit --varies 50% --rtt 20ms --buffer 200ms --flows 4 --cc cubic",
        None,
        None,
    ),
    (
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


def row(*cells):
    return "| " + " | ".join(cells) + " |"


def page(answers, checks):
    out = [HEAD, "## The answers", "", "`gq recommend` with these options; the mix is `home` where none is named."]
    out += ["Time is wall time on two cores. The machine had other work at times, so it is an upper bound.", ""]
    out += [row("line", "options", "choice", "as good", "undetermined", "runs", "time"), "|---" * 7 + "|"]
    for name, title, options, *_ in LINES:
        answer = answers.get(name)
        if answer is None:
            out.append(row(title, f"`{options}`", "not run", NONE, NONE, NONE, NONE))
            continue
        others = [", ".join(one["label"] for one in answer[key]) or NONE for key in ("alternatives", "undetermined")]
        out.append(
            row(
                title,
                f"`{options}`",
                answer["choice"]["label"],
                *others,
                str(answer["runs"]),
                f"{number(answer['took_s'])} s",
            )
        )
    out += [
        "",
        "What people get under the choice, and with nothing set up. Means over the corners with 95 % intervals.",
        "",
    ]
    out += [row("line", "figure", "under the choice", "with nothing set up"), "|---" * 4 + "|"]
    for name, title, *_ in LINES:
        answer = answers.get(name)
        if answer is None:
            continue
        setups = (answer["choice"], answer["without"])
        for place, about in enumerate(one for one in answer["deciding"] if one["activity"] != "bulk"):
            both = [setup["experience"].get(about["activity"], {}).get(about["metric"]) for setup in setups]
            cells = [figure(about, of) if of else NONE for of in both]
            out.append(row("" if place else title, said(about), *cells))
        for place, direction in enumerate(("down", "up")):
            cells = [figure({"quantity": "ratio"}, setup["utilization"][place]) for setup in setups]
            out.append(row("", f"utilization {direction}", *cells))
    out += ["", "## Checked with kernel senders", ""]
    out += [
        "Kernel senders have no sessions (pages, video), so these are recommendations for the mix `call-and-ping` on the same lines:",
        "`gq recommend OPTIONS --mix call-and-ping --hardware openwrt --check linux`. The choice, its queues at the other shaped rates,",
        "the best of every other kind of queue, and the bare line run with TCP of guest kernels at the same corners with the same seeds.",
        "*interval*: the figure lies in the interval of the answer. *margin*: outside, but the difference is too small to count for",
        "anybody (recommend.md has the margins). **differs**: by more than that. A line whose check was not made, or did not end, is",
        "called not checked. Intervals are over corners and seeds together, so they are wide where corners differ much. In the last",
        "column, a candidate in bold is significantly better in a figure that decides and seems worse in no earlier one; one that is not",
        "bold has more of a later figure, but seems worse in an earlier one by more than the margin, which the runs do not settle.",
        "",
        row("line", "choice", "figure", "simulated", "kernel senders", "agreement", "better with kernel senders"),
        "|---" * 7 + "|",
    ]
    for name, title, _, reason, _ in LINES:
        answer = checks.get(name)
        if answer is None:
            out.append(row(title, NONE, NONE, NONE, NONE, "not checked", NONE))
            continue
        title = f"{title} ({reason})" if reason else title
        check = answer["check"]
        abouts = {(one["activity"], one["metric"]): one for one in answer["deciding"]}
        beaten = []
        for one in check["better"]:
            about = abouts[one["activity"], one["metric"]]
            other, own = figure(about, one["other"]), figure(about, one["choice"])
            if but := one["but"]:
                doubt = abouts[but["activity"], but["metric"]]
                tail = f", but {said(doubt)} seems worse by {figure(doubt, but['behind'])}"
                beaten.append(f"{one['label']}: {said(about)} {other} instead of {own}{tail}")
            else:
                beaten.append(f"**{one['label']}**: {said(about)} {other} instead of {own}")
        better = "; ".join(beaten) or f"none of {len(check['candidates']) - 1}"
        if not check["satisfies_policy"]:
            better += "; **the choice does not satisfy the policy**"
        for place, held in enumerate(check["figures"]):
            about = abouts[held["activity"], held["metric"]]
            agreement = f"**{held['agreement']}**" if held["agreement"] == "differs" else held["agreement"]
            cells = [said(about), *(figure(about, held[of]) for of in ("simulated", "checked")), agreement]
            named = ["", "", *cells, ""] if place else [title, answer["choice"]["label"], *cells, better]
            out.append(row(*named))
    return "\n".join(out) + "\n"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument(
        "gq", nargs="?", default=str(Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/gq")
    )
    arguments.add_argument(
        "--only", metavar="NAME,...", help="these lines alone; the page has what is kept of the others"
    )
    arguments.add_argument("--again", action="store_true", help="makes all answers anew")
    arguments.add_argument("--minutes", type=float, default=120, metavar="N", help="most time for one command")
    chosen = arguments.parse_args()
    names = [name for name, *_ in LINES]
    wanted = chosen.only.split(",") if chosen.only else names
    if unknown := [name for name in wanted if name not in names]:
        arguments.error(f"--only: `{unknown[0]}` is not known: allowed {', '.join(names)}")
    if chosen.again:
        for kept in KEPT.glob("*.json"):
            if kept.stem.removesuffix(".check") in wanted:
                kept.unlink()
    answers, checks, absent = {}, {}, []
    for name, _, options, _, instead in LINES:
        check = f"{instead or options} --mix call-and-ping --hardware openwrt --check linux"
        asked = {name: (answers, options), f"{name}.check": (checks, check)}
        for file, (found, words) in asked.items():
            kept = KEPT / f"{file}.json"
            if name in wanted:
                answer = run(chosen.gq, file, words, chosen.minutes)
            else:
                answer = json.loads(kept.read_text()) if kept.exists() else None
                absent += [file] if answer is None else []
            if answer is not None:
                found[name] = answer
    if absent:
        print(f"{PAGE} is left as it is: no answers are kept of {', '.join(absent)}", file=sys.stderr)
        return
    PAGE.write_text(page(answers, checks))
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
