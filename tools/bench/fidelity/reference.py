#!/usr/bin/env python3
"""Recreates linux-6.12.csv or linux-7.3.csv: kernel senders through kernel queues in virtual time, the same cells.

Each realization is one guest (kernel/init.sh) of the kernel that `make linux` or `make linux-7.3` builds: sender - router - delay - receiver in four
network namespaces. The router's link is a token bucket of 10 Mbit/s and 1600 bytes over the queue of the cell; no offloads, one
segment at a time (`gso_max_segs 1`). Flows start at random, uniformly over 5 s, as the simulator's do; figures are those of 15 s to
59 s, the queue sampled every 10 ms. Starts and the kernel's random numbers follow from cell and realization: a second run gives the
same file.

Usage: reference.py [--series 6.12|7.3] [--realizations N] [--only TEXT] > FILE
"""
import argparse
import concurrent.futures
import csv
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "goodqueue"
# Where a kernel lies, and how it is made.
KERNELS = {"6.12": ("linux", "make linux"), "7.3": ("linux-7.3", "make linux-7.3")}
LASTS, WINDOW, RATE = 60, (15, 59), 10e6
QUEUES = {
    "tail-drop": "pfifo limit 30",
    "codel": "codel limit 1000 target 5ms interval 100ms noecn",
    "fq_codel": "fq_codel noecn",
    "pie": "pie noecn",
    "red": "red limit 400000 min 7500 max 22500 avpkt 1500 burst 7 probability 0.1 bandwidth 10mbit",
}
COLUMNS = ("utilization_pct", "mean_queue_packets", "loss_pct", "backlog_over_rate_ms")


def realize(kernel, cell, number, tool):
    cc, delay, flows, queue = (cell[key] for key in ("cc", "one_way_delay", "flows", "queue"))
    rng = random.Random(f"{cc} {delay} {flows} {queue} {number}")
    starts = " ".join(str(int(rng.uniform(0, 5e6))) for _ in range(int(flows)))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        shutil.copy(HERE / "kernel/init.sh", folder)
        shutil.copy(tool, folder / "tool")
        (folder / "job").write_text(f"CC={cc}\nDELAY={delay}\nQDISC='{QUEUES[queue]}'\nLASTS={LASTS}\nSTARTS='{starts}'\n")
        out = subprocess.run(
            ["setarch", "-R", kernel, "mem=256M", "rootfstype=hostfs", "rootflags=/", "ro",
             "init=/proc/self/cwd/init.sh", "time-travel=inf-cpu", "time-travel-start=1700000000000000000",
             "con=null", "con0=fd:0,fd:1", "con1=null", "ssl=null", "quiet"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=folder, timeout=600, check=False,
            env={**os.environ, "GQ_SEED": str(number)},
        )
        if not (folder / "queue").exists():
            sys.exit(f"{' '.join(cell.values())}: no figures\n{out.stdout[-2000:]}{out.stderr[-2000:]}")
        return figures((folder / "queue").read_text())


def figures(text):
    rows = [line.split() for line in text.splitlines()]
    first = int(rows[0][0])
    rows = [row for row in rows if WINDOW[0] <= (int(row[0]) - first) / 1e9 < WINDOW[1]]

    def of(handle, row):
        """Packets, bytes, dropped, sent bytes and sent packets of one queue discipline."""
        place = next(i for i in range(1, len(row), 6) if int(row[i], 16) == handle)
        return [int(value) for value in row[place + 1 : place + 6]]

    link, queue = [of(1, row) for row in rows], [of(2, row) for row in rows]
    seconds = (int(rows[-1][0]) - int(rows[0][0])) / 1e9
    dropped, sent = link[-1][2] - link[0][2], link[-1][4] - link[0][4]
    return (
        (link[-1][3] - link[0][3]) * 8 / seconds / RATE * 100,
        sum(one[0] for one in queue) / len(queue),
        100 * dropped / (sent + dropped),
        sum(one[1] for one in queue) / len(queue) * 8 / RATE * 1e3,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--series", choices=tuple(KERNELS), default="6.12")
    parser.add_argument("--realizations", type=int, default=4)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    folder, make = KERNELS[options.series]
    kernel = CACHE / folder / "vmlinux"
    if not kernel.exists():
        sys.exit(f"reference.py: there is no guest kernel; build it with: {make}")
    with tempfile.TemporaryDirectory() as folder, (HERE / "linux-6.12.csv").open() as old:
        tool = pathlib.Path(folder) / "tool"
        subprocess.run(["gcc", "-O2", "-Wall", "-Werror", "-o", tool, HERE / "kernel/tool.c"], check=True)
        names = "cc,one_way_delay,flows,queue,seeds,utilization_pct,utilization_range,mean_queue_packets,mean_queue_range,backlog_over_rate_ms,loss_pct,loss_range"
        print(names)
        cells = [cell for cell in csv.DictReader(old) if options.only in ",".join(cell.values())]
        numbers = range(1, options.realizations + 1)
        # A guest is one independent process, so as many run concurrently as there are processors.
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            pending = [[pool.submit(realize, kernel, cell, number, tool) for number in numbers] for cell in cells]
            for cell, runs in zip(cells, pending):
                columns = zip(*(run.result() for run in runs))
                row = {key: cell[key] for key in ("cc", "one_way_delay", "flows", "queue")}
                row["seeds"] = options.realizations
                for name, values in zip(COLUMNS, columns):
                    digits = 3 if name == "loss_pct" else 2
                    row[name] = round(sum(values) / len(values), digits)
                    row[name.rsplit("_", 1)[0] + "_range"] = round(max(values) - min(values), digits)
                print(",".join(str(row[name]) for name in names.split(",")), flush=True)


if __name__ == "__main__":
    main()
