#!/usr/bin/env python3
"""Scenarios of studies in the simulator, with TCP of kernels, and with queues of a kernel, too: run.py GQ OUT [NAME...]. Writes results.md beside
this file unless names are given. Results that are in OUT already are taken from there. Needs `make linux` and `make kernel-guest`."""

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
HOSTS = ("sim", "linux", "kernel")
HEAD = """# Queues in a kernel: studies again

`tools/bench/kernel/run.py` wrote this page: scenarios of this folder on three hosts. *sim* is the simulator, *linux* has the TCP of guest kernels before the
simulator's queues, *kernel* has the same TCP before the queue discipline `goodqueue` in a guest kernel. Everything else is the same, and the figures
are those of `gq run`. *Equal* says that `linux` and `kernel` agree in every figure of the point to the last digit. Two things make others unequal: kinds that draw random
numbers (here RED) draw others in the kernel, and the guest's clock has steps of 256 ns. A decision that falls into such a step is made one packet earlier or later, and
many flows then take another course, as with another seed.
"""
FIGURES = (
    ("utilization, %", lambda link: link["utilization"]["mean"] * 100, 2),
    ("mean sojourn, ms", lambda link: link["sojourn_s"]["mean"]["mean"] * 1000, 2),
    ("dropped, %", lambda link: link["drop_ratio"]["mean"] * 100, 3),
)


def results(gq, out, name, host):
    folder = out / f"{name}-{host}"
    if (folder / "summary.json").exists():
        return json.loads((folder / "summary.json").read_text())
    subprocess.run([gq, "run", "--on", host, HERE / f"{name}.toml", "--out", folder, "--force", "--no-report", "--jobs", "1"], check=True, stdout=subprocess.DEVNULL)
    return json.loads((folder / "summary.json").read_text())


def table(title, summaries):
    yield f"\n## {title}\n"
    yield "| point | " + " | ".join(f"{figure}: {host}" for figure, _, _ in FIGURES for host in HOSTS) + " | equal |"
    yield "|---" * (2 + len(FIGURES) * len(HOSTS)) + "|"
    for points in zip(*(summaries[host]["points"] for host in HOSTS)):
        names = ", ".join(f"{key.split('.')[-1]} {short(value)}" for key, value in points[0]["set"].items())
        cells = [
            f"{get(point['links']['bottleneck']):.{digits}f}" for _, get, digits in FIGURES for point in points
        ]
        same = "yes" if points[1] == points[2] else "no"
        yield f"| {names or '-'} | " + " | ".join(cells) + f" | {same} |"


def short(value):
    return value["kind"] if isinstance(value, dict) else value


def main():
    gq, out, names = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    lines = [HEAD]
    for name in names or ("cp-1", "cp-8", "as-1", "nf-1"):
        summaries = {host: results(gq, out, name, host) for host in HOSTS}
        lines += table(summaries["sim"]["scenario"], summaries)
    text = "\n".join(lines) + "\n"
    if names:
        print(text)
    else:
        (HERE / "results.md").write_text(text)


main()
