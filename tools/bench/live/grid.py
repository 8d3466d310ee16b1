#!/usr/bin/env python3
"""Runs the cells of tools/bench/live/grid.toml, and those of the study's points in tools/bench/fidelity, with `gq validate`, several side by side, and
makes docs/fidelity-live.md of what came out.

    tools/bench/live/grid.py run OUT [--gq PATH] [--slow N] [--fast N] [--seconds N] [--attempts N]
    tools/bench/live/grid.py virtual OUT [--gq PATH] [--seconds N]          the same cells with kernels in virtual time (needs `make linux`)
    tools/bench/live/grid.py page OUT > docs/fidelity-live.md

Each cell leaves OUT/CELL/validate.json, and OUT/virtual/CELL/validate.json. Cells with a result are not run again, so either can be stopped (Ctrl-C) and
resumed at any time. A void run is repeated once, and then counts as void; `--attempts 3` asks for more.
"""
import argparse
import itertools
import json
import os
import pathlib
import platform
import subprocess
import sys
import threading
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "fidelity")]

from printed import PRINTED  # noqa: E402
from tables import show  # noqa: E402

# What is swept, and settings that make it shorter than where it is run in virtual time.
SCENARIOS = {
    "grid": (HERE / "grid.toml", []),
    "cp-1": (HERE.parent / "fidelity/cp-1-kernel.toml", ["warmup=10 s", "duration=20 s"]),
    "cp-8": (HERE.parent / "fidelity/cp-8-kernel.toml", ["warmup=10 s", "duration=20 s"]),
}


def inline(value):
    """A value as TOML in one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {inline(part)}" for key, part in value.items()) + " }"
    return f'"{value}"' if isinstance(value, str) else str(value)


def short(value):
    return (value["kind"] if isinstance(value, dict) else str(value)).replace(" ", "")


class Cell:
    """One point of a sweep."""

    def __init__(self, sweep, scenario, settings):
        self.sweep = sweep
        self.scenario = scenario
        self.settings = settings
        self.parts = {key.split(".")[-1]: short(value) for key, value in settings.items()}
        self.name = "-".join([sweep, *self.parts.values()]).replace("/", "")
        self.fast = self.parts.get("rate") == "100Mbit/s"


def cells():
    """All cells, ordered so that any part of them is a sample of all."""
    found = []
    for name, (path, _) in SCENARIOS.items():
        sweep = tomllib.loads(path.read_text())["sweep"]
        found += [Cell(name, path, dict(zip(sweep, values))) for values in itertools.product(*sweep.values())]
    return found


def validated(folder, cell, host):
    """Path of the result of a cell, with the kernel in real time (`live`) or in virtual time (`linux`)."""
    return folder / ("virtual" if host == "linux" else "") / cell.name / "validate.json"


def rank(cell):
    """Order of runs: few flows first, then the points of the study, the middle capacity before the others."""
    if cell.sweep == "grid":
        return 0 if cell.parts["flows"] != "16" else 3
    return 1 if cell.sweep == "cp-1" else 2 if cell.parts["c_max"] == "1.2" else 4


class Runner:
    def __init__(self, options):
        self.options = options
        self.host = "linux" if options.what == "virtual" else "live"
        self.folder = pathlib.Path(options.folder)
        self.until = time.monotonic() + options.seconds
        self.lock = threading.Lock()
        self.stopped = False
        self.waiting = [cell for cell in sorted(cells(), key=rank) if options.only in cell.name and not self.path(cell).exists()]
        self.done = 0

    def path(self, cell):
        return validated(self.folder, cell, self.host)

    def work(self, cell):
        if self.stopped or time.monotonic() > self.until:
            return
        place = self.path(cell).parent
        part = place.with_name(f".{place.name}")
        part.mkdir(parents=True, exist_ok=True)
        settings = [*SCENARIOS[cell.sweep][1], *(f"{key}={inline(value)}" for key, value in cell.settings.items())]
        command = [self.options.gq, "validate", str(cell.scenario), "--against", self.host, "--no-report", "--force", "--out", str(part)]
        if self.host == "live":
            command += ["--keep-void", "--attempts", str(self.options.attempts)]
        command += [word for setting in settings for word in ("--set", setting)]
        with (part / "said.txt").open("w") as said:
            code = subprocess.run(command, stdout=said, stderr=said, check=False).returncode
        with self.lock:
            # A difference is a result, too; only complete files count.
            whole = (part / "validate.json").exists() and not self.stopped
            if whole:
                os.replace(part, place)
            self.done += whole
            print(f"{time.strftime('%H:%M:%S')} {self.done}/{len(self.waiting)} {cell.name} {'done' if whole else 'not finished'} ({code})", flush=True)

    def run(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        # In virtual time a run of gq uses exactly one processor.
        slow, fast = (1, 1) if self.host == "linux" else (self.options.slow, self.options.fast)
        lanes = {False: ThreadPoolExecutor(slow), True: ThreadPoolExecutor(fast)}
        runs = [lanes[cell.fast].submit(self.work, cell) for cell in self.waiting]
        try:
            for run in runs:
                run.result()
        except KeyboardInterrupt:
            # The programs received the signal, too.
            self.stopped = True
            sys.exit("stopped; what is finished stays")


# ---- the page ----

HEAD = """# The simulator compared with a real kernel in real time

This page compares the simulator with kernel senders in real time, behind the same queue code on the same line.

Made by `tools/bench/live/grid.py` from `gq validate`: each cell five times in the simulator and five times with the senders and receivers of {kernel} on this
machine, across the same queue code and the same line ([running-live.md](running-live.md)). {measured} Tail drop holds one bandwidth-delay
product, the others 1000 packets. Each figure is simulator / kernel, or simulator / kernel of guests in virtual time ([linux.md](linux.md)), without delays of the machine /
kernel in real time; means over the runs; ± is half of the 95 % interval of the difference between the first and the last. Bounds:
utilization within 2 points, median sojourn time within 0.5 ms or 10 %, dropped packets within a factor of 1.5. A cell is *unclear* if a
difference exceeds its bound, but by less than its own interval. No parameter was tuned to fit a cell.

More of the kernel's senders in virtual time: [fidelity-grid.md](fidelity-grid.md).
"""
METRICS = {"utilization": "utilization", "sojourn_s.p50": "median", "drop_ratio": "drops"}
NAMES = {"utilization": "utilization %", "sojourn_s.p50": "median in the queue, ms", "queue_packets": "mean queue, packets", "drop_ratio": "dropped %"}
SCALE = {"utilization": 100, "sojourn_s.p50": 1e3, "drop_ratio": 100, "queue_packets": 1}


class Result:
    """Result of a cell on one host: `live`, the kernel in real time, or `linux`, in virtual time. `virtual` is the latter, next to the former."""

    def __init__(self, cell, folder, host="live"):
        self.cell = cell
        self.host = host
        self.virtual = Result(cell, folder, "linux") if host == "live" else None
        path = validated(folder, cell, host)
        self.there = path.exists()
        if not self.there:
            return
        found = json.loads(path.read_text())
        self.runs = found["runs"]
        self.counted = [run for run in self.runs if run["counted"]]
        self.void = [run for run in self.counted if run["void"]]
        figures = found["points"][0]["figures"] if found["points"] else []
        self.figures = {row["metric"]: row for row in figures if row["subject"] == "bottleneck"}
        verdicts = {METRICS[name]: row["verdict"] for name, row in self.figures.items() if name in METRICS}
        self.differs = [name for name, said in verdicts.items() if said == "differs"]
        self.unclear = [name for name, said in verdicts.items() if said == "unclear"]
        self.empty = not self.figures

    def verdict(self):
        if self.empty:
            return "no run"
        return ", ".join([*self.differs, *(f"{name} unclear" for name in self.unclear)]) or "within"

    def kind(self):
        """0 within, 1 unclear, 2 beyond, 3 nothing to judge."""
        return 3 if self.empty else 2 if self.differs else 1 if self.unclear else 0

    def figure(self, metric):
        sim, live = self.mean(metric, "sim"), self.mean(metric, self.host)
        if sim is None or live is None:
            return "-"
        virtual = self.virtual.mean(metric, "linux")
        half = self.figures[metric]["difference"]["ci95"]
        scale = SCALE[metric]
        middle = "" if virtual is None else f"{virtual * scale:.2f} / "
        return f"{sim * scale:.2f} / {middle}{live * scale:.2f}" + (f" ± {half * scale:.2f}" if half is not None else "")

    def mean(self, metric, host):
        """Mean of a figure on a host, if it was run."""
        return self.figures[metric][host]["mean"] if self.there and metric in self.figures else None

    def trust(self):
        """Runs that count, and how many of them are void."""
        return f"{len(self.counted)}" + (f", {len(self.void)} void" if self.void else "")


def tally(results):
    kinds = [result.kind() for result in results]
    return [len(kinds), *(kinds.count(kind) for kind in range(4))]


def told(results):
    _, within, unclear, beyond, _ = tally(results)
    return f"{within} within all bounds, {unclear} unclear, {beyond} beyond a bound"


def split(results, title, keys):
    """A table of verdicts by one coordinate of the cells."""
    rows = [[name, *tally([result for result in results if choose(result.cell)])] for name, choose in keys]
    show([title, "cells", "within", "unclear", "beyond", "no run"], rows)


def by(part, values):
    return [(value, lambda cell, value=value: cell.parts[part] == value) for value in values]


def summary(results, total):
    there = [result for result in results if result.there]
    attempts = [run for result in there for run in result.runs]
    counted = [run for run in attempts if run["counted"]]
    late = sorted(run["down"]["late_p99_s"] * 1e6 for run in counted if "down" in run)
    print("## Summary\n")
    void = sum(run["void"] is not None for run in attempts)
    void_counted = sum(run["void"] is not None for run in counted)
    print(f"{len(there)} of {total} cells were run: {told(there)}.", end=" ")
    print(f"Of {len(attempts)} runs {void} were void; {void_counted} of the {len(counted)} that count are.", end=" ")
    if late:
        median, worst = late[len(late) // 2], late[-1]
        print(f"The 99th percentile of the lateness, where it was kept ({len(late)} runs), was {median:.0f} us in the median run and {worst:.0f} us in the worst.", end="")
    print("\n")
    split(there, "", [("all", lambda _: True), ("10 Mbit/s", lambda cell: not cell.fast), ("100 Mbit/s", lambda cell: cell.fast)])
    split(there, "queue", by("queue", ["tail-drop", "codel", "pie", "cp-aqm", "fq-codel"]))
    split(there, "control", by("cc", ["reno", "cubic", "bbr"]))
    split(there, "flows", by("flows", ["1", "4", "16"]))
    split(there, "one way", by("delay", ["10ms", "50ms"]))
    trusted = [result for result in there if result.counted and not result.void]
    virtual = [result.virtual for result in there if result.virtual.there]
    if virtual:
        print(f"The same cells with the kernel in virtual time, {len(virtual)} of them run: {told(virtual)}.\n")
    print(f"Cells without a void run among those that count: {len(trusted)}, of them {told(trusted)}.\n")
    words, rows = ("agrees", "unclear", "differs"), []
    for metric, name in METRICS.items():
        said = [result.figures[metric]["verdict"] for result in there if metric in result.figures]
        rows.append([name, *(said.count(word) for word in words)])
    show(["figure", *words], rows)
    missing = [result.cell.name.removeprefix("grid-") for result in results if not result.there]
    if missing:
        print(f"Not run: {', '.join(missing)}.\n")


def table(results, columns, metrics, extra=None):
    heads = [*columns, *(["printed"] if extra else []), *(NAMES[metric] for metric in metrics), "runs", "verdict"]
    rows = []
    for result in results:
        parts = [result.cell.parts[part] for part in columns.values()]
        printed = [extra(result.cell)] if extra else []
        rows.append([*parts, *printed, *(result.figure(metric) for metric in metrics), result.trust(), result.verdict()])
    show(heads, rows)


def printed(cell):
    """The printed value of this point."""
    queue = f"cp-aqm {cell.parts['c_max']}" if cell.sweep == "cp-8" else "tail-drop"
    one_way_ms = int(cell.parts["delay"].removesuffix("ms"))
    return PRINTED.get((queue, cell.parts["cc"], int(cell.parts["flows"]), 2 * one_way_ms), "")


def page(folder):
    results = [Result(cell, folder) for cell in cells()]
    grid = [result for result in results if result.cell.sweep == "grid"]
    sweep = tomllib.loads((HERE / "grid.toml").read_text())
    measured = f"Measured are {sweep['duration']} after {sweep['warmup']}; flows start within the first second."
    print(HEAD.format(kernel=f"Linux {platform.release().split('-')[0]}", measured=measured))
    summary(grid, len(grid))
    notes = HERE / "grid-notes.md"
    if notes.exists():
        print(notes.read_text())
    print("## All cells\n")
    shown = {"rate": "rate", "one way": "delay", "flows": "flows", "queue": "queue", "control": "cc"}
    there = sorted((result for result in grid if result.there), key=lambda result: result.cell.fast)
    table(there, shown, ["utilization", "sojourn_s.p50", "drop_ratio"])
    for sweep, title, more in [("cp-1", "The tail-drop points of CP-1", {}), ("cp-8", "CP-AQM with a threshold of five packets, as in CP-8", {"c_max": "c_max"})]:
        print(f"## {title}\n")
        print("10 Mbit/s with 7 bytes of framing, 45 kB, 20 s after 10 s, three runs (the study: 100 s).\n")
        all_of_it = [result for result in results if result.cell.sweep == sweep]
        there = [result for result in all_of_it if result.there]
        print(f"{len(there)} of {len(all_of_it)} cells were run: {told(there)}.\n")
        table(there, more | {"control": "cc", "flows": "flows", "one way": "delay"}, ["utilization", "queue_packets", "drop_ratio"], printed)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["run", "virtual", "page"])
    parser.add_argument("folder")
    parser.add_argument("--gq", default="gq")
    parser.add_argument("--slow", type=int, default=3, help="cells of 10 Mbit/s side by side")
    parser.add_argument("--fast", type=int, default=2, help="cells of 100 Mbit/s side by side")
    parser.add_argument("--seconds", type=float, default=1e9, help="no cell begins after this time")
    parser.add_argument("--attempts", type=int, default=2, help="of a run that is void")
    parser.add_argument("--only", default="", help="cells whose name has this")
    options = parser.parse_args()
    if options.what == "page":
        page(pathlib.Path(options.folder))
    else:
        Runner(options).run()


if __name__ == "__main__":
    main()
