"""The cells of docs/fidelity-grid.md, and single runs of a cell on either host."""
import csv
import dataclasses
import itertools
import json
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent
KERNEL = HERE / "kernel-senders.csv"
# Those of Linux 7.3, and the setting that makes the simulator's receivers those of 7.3.
NEW_KERNEL = HERE / "kernel-senders-7.3.csv"
NEW_RECEIVERS = {"traffic.0.sack": '"compressed-7.3"'}

CONTROLS = ("reno", "cubic", "htcp", "bbr", "dctcp")
QUEUES = ("tail-drop 0.25", "tail-drop 1", "tail-drop 4", "codel", "pie", "fq-codel", "red", "cp-aqm")
# Settings behind which the kernel's runs were recorded, where they are no longer the defaults.
AS_RECORDED = {"pie": ", active_inactive = true", "fq-codel": ', quantum = "1514 B", header = "0 B"'}
# Warm-up and measured time in seconds, by Mbit/s.
TIMES = {1: (10, 50), 10: (5, 25), 100: (5, 15)}

FIGURES = (
    "utilization_pct",
    "queue_packets",
    "sojourn_p95_ms",
    "dropped_pct",
    "marked_pct",
    "resent_pct",
    "timeouts",
    "cwnd_p10",
    "cwnd_p50",
    "cwnd_p90",
)


@dataclasses.dataclass(frozen=True)
class Cell:
    """One cell: its set and its coordinates."""

    set: str
    mbit: int
    rtt_ms: int
    flows: int
    cc: str
    queue: str

    def settings(self):
        """The scenario file and the overrides for this cell."""
        half = f"{self.rtt_ms / 2:g} ms"
        common = {"traffic.0.flows": self.flows, "traffic.0.cc": f'"{self.cc}"', "link.bottleneck.delay": f'"{half}"'}
        if self.set == "middle":
            times = {"warmup": '"10 s"', "duration": '"30 s"', "traffic.0.start": '"uniform 0 s .. 3 s"'}
            rest = AS_RECORDED.get(self.queue, "")
            return "grid.toml", common | times | {"link.bottleneck.queue": f'{{ kind = "{self.queue}"{rest} }}'}
        if self.set == "cp-1":
            return "cp-1-kernel.toml", common
        if self.set == "cp-8":
            return "cp-8-kernel.toml", common | {"link.bottleneck.queue.c_max": self.queue.split()[1]}
        kind, *part = self.queue.split()
        bdp = self.mbit * self.rtt_ms * 1000 / 8 / 1500
        # A buffer of less than two packets limits a flow to one segment per timeout; queues with an
        # algorithm get enough room.
        packets = max(2, round(float(part[0]) * bdp)) if part else max(50, round(4 * bdp))
        rest = AS_RECORDED.get(kind, "")
        if self.cc == "dctcp" and kind != "tail-drop":
            rest += ", ecn = true"
        warmup, lasts = TIMES[self.mbit]
        return "grid.toml", common | {
            "warmup": f'"{warmup} s"',
            "duration": f'"{lasts} s"',
            "link.bottleneck.rate": f'"{self.mbit} Mbit/s"',
            "link.bottleneck.buffer": f'"{packets} packets"',
            "link.bottleneck.queue": f'{{ kind = "{kind}"{rest} }}',
        }


def wide(rates=TIMES):
    """The wide grid."""
    return [Cell("wide", *place) for place in itertools.product(rates, (10, 100), (1, 4, 16, 64), CONTROLS, QUEUES)]


def middle():
    """10 Mbit/s, 50 ms, a buffer of one bandwidth-delay product."""
    queues = ("tail-drop", "codel", "pie", "cp-aqm")
    return [Cell("middle", 10, 50, *place) for place in itertools.product((1, 4, 16), ("reno", "cubic", "bbr"), queues)]


def cp_1():
    """Tail drop over the delay, as experiment CP-1 of the gallery."""
    return [Cell("cp-1", 10, rtt, flows, cc, "tail-drop") for cc in ("reno", "cubic") for flows in (1, 16) for rtt in (10, 40, 100)]


def cp_8():
    """CP-AQM with a threshold of five packets, as experiment CP-8 of the gallery."""
    return [
        Cell("cp-8", 10, rtt, flows, cc, f"cp-aqm {c_max}")
        for c_max in ("1.05", "1.2", "1.5")
        for cc in ("reno", "cubic")
        for flows in (1, 16)
        for rtt in (10, 100)
    ]


def run(gq, host, cell, seed, more=None):
    """The figures of one run, with `more` settings than the cell's; with seed 0, means of three replications under seed 1."""
    import polars as pl

    file, settings = cell.settings()
    with tempfile.TemporaryDirectory() as folder:
        command = [gq, "run", HERE / file, "--on", host, "--jobs", "1", "--no-report"]
        command += ["--replications", "1" if seed else "3", "--seed", str(seed or 1)]
        command += ["--sample", "100ms", "--out", folder, "--json", "-"]
        command += [word for key, value in {**settings, **(more or {})}.items() for word in ("--set", f"{key}={value}")]
        out = subprocess.run(command, capture_output=True, text=True, check=False)
        if out.returncode != 0:
            raise RuntimeError(f"{cell}, seed {seed}: {out.stderr.strip()}")
        series = pl.read_parquet(pathlib.Path(folder) / "series.parquet")
        summary = json.loads(out.stdout)
    from_s = float(settings.get("warmup", '"10 s"').strip('"').split()[0])
    windows = series.filter(pl.col("name") == "cwnd_bytes", pl.col("time_s") >= from_s)["value"].drop_nulls() / 1448
    link = summary["points"][0]["links"]["bottleneck"]
    (group,) = summary["points"][0]["groups"].values()
    values = (
        link["utilization"]["mean"] * 100,
        link["queue_packets"]["mean"],
        (link["sojourn_s"]["p95"]["mean"] or 0) * 1e3,
        (link["drop_ratio"]["mean"] or 0) * 100,
        (link["mark_ratio"]["mean"] or 0) * 100,
        (group["retransmitted_ratio"]["mean"] or 0) * 100,
        group["timeouts"]["mean"],
        *(windows.quantile(part) or 0 for part in (0.1, 0.5, 0.9)),
    )
    return dict(zip(FIGURES, values, strict=True))


def stored(path):
    """The stored runs: figures by cell and seed."""
    runs = {}
    if path.exists():
        with path.open() as file:
            for row in csv.DictReader(file):
                cell = Cell(row["set"], int(row["mbit"]), int(row["rtt_ms"]), int(row["flows"]), row["cc"], row["queue"])
                runs.setdefault(cell, {})[int(row["seed"])] = {name: float(row[name] or "nan") for name in FIGURES}
    return runs
