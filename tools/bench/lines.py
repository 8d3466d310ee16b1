#!/usr/bin/env python3
"""Writes docs/evidence/YEAR-MONTH-lines.md: an evening on five lines with nothing set up, with FQ-CoDel and with CAKE.

lines.py [GQ] [--quick] [--replications N] [--again]

The network is that of gq recommend: the provider's line with its own buffer, and a router that shapes. Results are kept in
out/lines, so that an interrupted run resumes; --again starts over.
"""

import argparse
import json
import os
import re
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from process import finish, machine
from recommendations import NONE, ROOT, figure
from tables import table

KEPT = ROOT / "out/lines"


@dataclass(frozen=True)
class Line:
    """A line; rates in kbit/s, times in ms."""

    title: str
    down: int
    up: int
    rtt: int
    buffer: int

    def __str__(self):
        return f"{self.title}: {self.down / 1000:g} down, {self.up / 1000:g} Mbit/s up, RTT {self.rtt} ms, buffer {self.buffer} ms"


@dataclass(frozen=True)
class Setup:
    """A router's queue, and its rate in per cent of the line's; none where nothing is set up."""

    title: str
    queue: str
    percent: int = 0

    def toml(self, rate):
        if not self.percent:
            return self.queue
        return f'{{ kind = "shaper", rate = "{rate * self.percent // 100} kbit/s", of = {self.queue} }}'


LINES = {
    "dsl": Line("DSL", 16_000, 1_000, 30, 300),
    "vdsl": Line("VDSL", 50_000, 10_000, 25, 200),
    "cable": Line("cable", 500_000, 50_000, 20, 250),
    "lte": Line("LTE", 30_000, 10_000, 50, 500),
    "geo": Line("GEO satellite", 25_000, 3_000, 600, 1_000),
}
SETUPS = [
    Setup("nothing set up", '{ kind = "tail-drop" }'),
    Setup("fq-codel at 85 %", '{ kind = "fq-codel" }', 85),
    Setup("cake at 90 %", '{ kind = "cake" }', 90),
]
# On long paths also with the interval that CoDel's RFC 8289 asks for, the longest usual round trip.
LONG = 300
LONG_SETUPS = [
    Setup("fq-codel at 85 %, interval = RTT", '{{ kind = "fq-codel", interval = "{} ms", target = "{} ms" }}', 85),
    Setup("cake at 90 %, rtt = RTT", '{{ kind = "cake", interval = "{} ms", target = "{} ms" }}', 90),
]
EVENING, LOAD = "evening", "call-and-ping"
UNITS = {"grade": r"(A\+|[A-F])", "qoo": r"(\d+)"}
FIGURES = [
    ("page loaded in, p95", "time", ["pages", "page_load_s", "p95"]),
    ("page loaded in, median", "time", ["pages", "page_load_s", "p50"]),
    ("video bit rate", "rate", ["videos", "bitrate_bit_s"]),
    ("video stalled", "ratio", ["videos", "stalled_ratio"]),
    ("ping RTT, p95", "time", ["ping", "rtt_s", "p95"]),
    ("call MOS", "", ["call", "mos"]),
    ("call bad", "ratio", ["call", "bad_ratio"]),
    ("call one-way delay, p99", "time", ["call", "one_way_delay_s", "p99"]),
    ("photo sent in, median", "time", ["photos", "completion_s", "p50"]),
    ("update loaded in, median", "time", ["updates", "completion_s", "p50"]),
]


def setups(line):
    if line.rtt < LONG:
        return SETUPS
    return SETUPS + [Setup(one.title, one.queue.format(line.rtt, line.rtt // 20), one.percent) for one in LONG_SETUPS]


def groups(gq, line, mix):
    """The tables of a mix for a line, as gq compare writes them."""
    folder = KEPT / "groups"
    command = [
        gq,
        "compare",
        "--rate",
        f"{line.down}kbit",
        "--rate-up",
        f"{line.up}kbit",
        "--traffic",
        mix,
        "--aqm",
        "tail-drop",
    ]
    command += [
        "--warmup",
        "30s",
        "--duration",
        "1s",
        "--replications",
        "1",
        "--no-report",
        "--force",
        "--out",
        str(folder),
    ]
    finish(command, ROOT)
    tables = (folder / "scenario.toml").read_text().split("[[traffic]]\n")[1:]
    tables[-1] = tables[-1].split("\n[[sweep]]")[0]
    return "".join(f'[[traffic]]\npath = ["isp", "home"]\n{one.rstrip()}\n\n' for one in tables)


def scenario(gq, line, mix, lengths, replications):
    """The provider's line, the router behind it, and a point for each setup."""
    inside = max(20 * line.down, 1_000_000)
    points = "\n".join(
        f'[[sweep]]\n"link.router.queue" = {one.toml(line.down)}\n"link.router.queue_up" = {one.toml(line.up)}\n'
        for one in setups(line)
    )
    warmup, duration = lengths
    return f"""goodqueue = 1
name = "{line}, {mix}"
warmup = "{warmup} s"
duration = "{duration} s"
replications = {replications}

[access]
rate = "{inside} kbit/s"
delay = "0 s"

[link.line]
from = "isp"
to = "router"
rate = "{line.down} kbit/s"
rate_up = "{line.up} kbit/s"
delay = "{line.rtt / 2:g} ms"
buffer = "{line.buffer} ms"
buffer_up = "{line.buffer} ms"

[link.router]
from = "router"
to = "home"
rate = "{inside} kbit/s"
delay = "0 s"
buffer = "10240 packets"
buffer_up = "10240 packets"

{groups(gq, line, mix)}{points}"""


def results(gq, name, mix, unit, lengths, replications):
    """The summary of a line's points; kept until the scenario is another."""
    text = scenario(gq, LINES[name], mix, lengths, replications)
    kept = KEPT / f"{name}-{mix}-{unit}.json"
    if kept.exists():
        known = json.loads(kept.read_text())
        if known["text"] == text:
            return known
    print(f"{name}: {mix}, {unit}", file=sys.stderr, flush=True)
    file = KEPT / "scenario.toml"
    file.write_text(text)
    command = [gq, "run", str(file), "--unit", unit, "--record", "nothing", "--no-report", "--force", "--json", "-"]
    known = {"text": text} | json.loads(finish([*command, "--out", str(KEPT / "result")], ROOT).out)
    kept.write_text(json.dumps(known))
    return known


def in_unit(known, unit):
    """The pings of each setup in a unit, as gq says it below its headline."""
    sentence = known["headline"]["text"].rsplit("\n", 1)[-1].partition(": ")[2]
    labels = [one["label"] for one in known["headline"]["grades"]]
    return [re.search(rf"(?:^|, ){re.escape(label)} {UNITS[unit]}", sentence)[1] for label in labels]


def reached(point, quantity, path):
    """A figure of a point, as people read it."""
    found = point["experience"]
    for key in path:
        found = found.get(key, {})
    return figure({"quantity": quantity}, found) if found else NONE


def evening(known, line):
    """The table of an evening on a line."""
    rows = [
        [words, *(reached(point, quantity, path) for point in known["points"])] for words, quantity, path in FIGURES
    ]
    return f"## {line}\n\n{table(['figure', *(one.title for one in setups(line))], rows)}\n"


def units(found, mix):
    """The table of what speed tests would say of all lines under a mix."""
    rows = []
    for name, line in LINES.items():
        known = found[name, mix]
        said = [in_unit(known[unit], unit) for unit in UNITS]
        for place, (one, point, grade, quality) in enumerate(
            zip(setups(line), known["grade"]["points"], *said, strict=True)
        ):
            rtt = [reached(point, "time", ["ping", "rtt_s", of]) for of in ("p50", "p95")]
            rpm = reached(point, "", ["ping", "rpm"])
            rows.append(
                [
                    "" if place else line.title,
                    "" if place else f"{60_000 / line.rtt:.0f}",
                    one.title,
                    *rtt,
                    rpm,
                    grade,
                    quality,
                ]
            )
    return table(["line", "RPM, idle:", "setup", "RTT, median", "RTT, p95", "RPM", "grade", "QoO:"], rows)


def page(found, lengths, replications, version):
    today = datetime.now(UTC)
    evenings = "\n".join(evening(found[name, EVENING]["grade"], line) for name, line in LINES.items())
    warmup, duration = lengths
    return f"""# An evening on five lines, {today:%B %Y}

This page is a record, as of {today.day} {today:%B %Y}, and is not edited again; a later measurement gets a page of its own.
It shows the mix [`evening`](../mixes.md) on five lines with nothing set up, with FQ-CoDel and with CAKE, and how the units of speed tests grade them.
`tools/bench/lines.py` makes such a page.

The network is that of [`gq recommend`](../recommend.md): the provider's line with its own buffer, and behind it a router that shapes both directions.
Senders use CUBIC.
Each setup ran {replications} times, with the same random numbers as the others, for {duration} s after {warmup} s of warm-up.
Figures are means of the runs with 95 % intervals; percentiles and medians are those of a run.
{version}; {machine()}.

{evenings}
## In the units of speed tests

Speed tests load a line to its limit, so the first table has the mix `{LOAD}`: four downloads and an upload without end.
The second one has the evening, in which large transfers come and go; a grade there says little, since it looks at the median, and a line that is idle half of the time has none of its delay in it.
*RPM* is round trips per minute of the ping, idle and under load; *grade* is that of the median's increase over the idle line, *QoO* the quality of outcome for conferences, of 100 ([units](../answers.md)).

Under `{LOAD}`:

{units(found, LOAD)}

In the evening:

{units(found, EVENING)}
"""


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/gq"
    arguments.add_argument("gq", nargs="?", default=str(built))
    arguments.add_argument("--quick", action="store_true", help="120 s instead of 180 s")
    arguments.add_argument("--replications", type=int, default=5, metavar="N", help="runs of each setup")
    arguments.add_argument("--again", action="store_true", help="makes all results again")
    chosen = arguments.parse_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    if chosen.again:
        for kept in KEPT.glob("*.json"):
            kept.unlink()
    lengths = {EVENING: (30, 120 if chosen.quick else 180), LOAD: (5, 30)}
    found = {
        (name, mix): {unit: results(chosen.gq, name, mix, unit, lengths[mix], chosen.replications) for unit in UNITS}
        for name in LINES
        for mix in (EVENING, LOAD)
    }
    version = finish([chosen.gq, "--version"], ROOT).out.strip()
    record = ROOT / f"docs/evidence/{datetime.now(UTC):%Y-%m}-lines.md"
    record.write_text(page(found, lengths[EVENING], chosen.replications, version))
    print(f"wrote {record}")


if __name__ == "__main__":
    main()
