#!/usr/bin/env python3
"""Runs each cell of linux-6.12.csv and linux-7.3.csv in the simulator and prints it next to the figures of the kernels.

The reference: Linux senders through Linux queues of the same kernel in virtual time (user-mode Linux), path sender - router - delay -
receiver. The router's link is a token bucket of 10 Mbit/s (frames: IP length + 14) over the queue of the column; the delay is
added in each direction. Bulk flows start at random over 5 s, the window is 15 s to 59 s, four realizations (reference.py makes
them). `mean_queue_packets` and the tail-drop limit of 30 count the packet in service.

Usage: run.py [--gq PATH] [--seeds N] [--only TEXT] [--markdown FILE]
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from tables import row, table  # noqa: E402

SERIES = ("6.12", "7.3")
PLACE = ("cc", "one_way_delay", "flows", "queue")

# The kernel's settings in our terms. Its RED has no gentle part, counts frames' bytes (7500 and
# 22500 are 7431 and 22292 of ours) and the packet in service with them (the shaper of Linux only
# peeks at it; ours takes it out, so 1500 bytes less), and derives its weight from the burst (7
# packets: 1/4); its FQ-CoDel counts frames, as ours does by default; its tail-drop limit counts the
# packet in service, ours does not.
QUEUES = {
    "tail-drop": 'buffer = "29 packets"\nqueue = { kind = "tail-drop" }',
    "codel": 'buffer = "1000 packets"\nqueue = { kind = "codel", ecn = false, arithmetic = "linux" }',
    "fq_codel": 'buffer = "10240 packets"\nqueue = { kind = "fq-codel", ecn = false, arithmetic = "linux" }',
    # With Linux's arithmetic there is no inactive state.
    "pie": 'buffer = "1000 packets"\nqueue = { kind = "pie", ecn = false, arithmetic = "linux" }',
    "red": (
        'buffer = "400 kB"\nqueue = { kind = "red", ecn = false, min_th = "5931 B", max_th = "20792 B", max_p = 0.1, w_q = 0.25,'
        ' gentle = false, wait = false, bytes = false, queue_in_bytes = true, mean_pktsize = "1500 B" }'
    ),
}

TEMPLATE = """goodqueue = 1
name = "{name}"
warmup = "15 s"
duration = "44 s"
replications = {seeds}
seed = 1

[access]
rate = "100 Gbit/s"
delay = "0 s"

[link.bottleneck]
rate = "10 Mbit/s"
delay = "{delay}"
overhead = "14 B"
# The kernel's link is a token bucket filter.
burst = "1600 B"
{queue}

[[traffic]]
kind = "bulk"
cc = "{cc}"
flows = {flows}
start = "uniform 0 s .. 5 s"
# The kernel sent without it.
gso = false
"""


def simulate(gq, cell, seeds, folder):
    text = TEMPLATE.format(
        name=f"{cell['cc']} {cell['flows']} {cell['queue']}",
        seeds=seeds,
        delay=cell["one_way_delay"].replace("ms", " ms"),
        queue=QUEUES[cell["queue"]],
        cc=cell["cc"],
        flows=cell["flows"],
    )
    path = pathlib.Path(folder) / "cell.toml"
    path.write_text(text)
    out = subprocess.run(
        [gq, "run", str(path), "--json", "-", "--no-report", "--force", "--out", str(pathlib.Path(folder) / "out")],
        capture_output=True, text=True, check=False,
    )
    if out.returncode != 0:
        sys.exit(f"{' '.join(cell.values())}\n{out.stderr}")
    link = json.loads(out.stdout)["points"][0]["links"]["bottleneck"]
    utilization = link["utilization"]["mean"]
    return {
        "utilization_pct": utilization * 100,
        # The kernel counts the packet in service as waiting.
        "mean_queue_packets": link["queue_packets"]["mean"] + utilization,
        "loss_pct": link["drop_ratio"]["mean"] * 100,
    }


def judge(ours, theirs):
    near = {
        "utilization": abs(ours["utilization_pct"] - theirs["utilization_pct"]) <= 1,
        "queue": abs(ours["mean_queue_packets"] - theirs["mean_queue_packets"])
        <= max(1, 0.1 * theirs["mean_queue_packets"]),
        "loss": ours["loss_pct"] == theirs["loss_pct"]
        or 1 / 1.25 <= max(ours["loss_pct"], 1e-9) / max(theirs["loss_pct"], 1e-9) <= 1.25,
    }
    return [name for name, within in near.items() if not within]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gq", default="target/release/gq")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--only", default="")
    parser.add_argument("--markdown")
    options = parser.parse_args()
    rows, held = [], dict.fromkeys(SERIES, 0)
    kernels = {series: list(csv.DictReader((HERE / f"linux-{series}.csv").open())) for series in SERIES}
    cells = [cells for cells in zip(*kernels.values(), strict=True) if options.only in ",".join(cells[0].values())]
    with tempfile.TemporaryDirectory() as folder:
        for cell in cells:
            place = [cell[0][name] for name in PLACE]
            assert all([one[name] for name in PLACE] == place for one in cell), "the kernels' files have the same cells in the same order"
            ours = simulate(options.gq, cell[0], options.seeds, folder)
            figures, beyond = {key: f"{value:.2f}" for key, value in ours.items()}, []
            for series, one in zip(SERIES, cell):
                for key in ours:
                    figures[key] += f" / {float(one[key]):.2f} ± {float(one[key.rsplit('_', 1)[0] + '_range']) / 2:.2f}"
                outside = judge(ours, {key: float(one[key]) for key in ours})
                held[series] += not outside
                beyond += [f"{series}: {', '.join(outside)}"] if outside else []
            rows.append([*place, *figures.values(), "; ".join(beyond) or "within"])
            print(row(rows[-1]), flush=True)
    counts = " and ".join(f"{held[series]} of {len(cells)} cells of Linux {series}" for series in SERIES)
    note = f"""{counts} are within utilization ± 1 point, mean queue ± 10 % or one packet, loss within a factor 1.25
(each figure: simulator / Linux {" / Linux ".join(SERIES)}, ± half the range of a kernel's realizations)."""
    print(note)
    if options.markdown:
        heads = ["control", "one way", "flows", "queue", "utilization %", "mean queue", "loss %", "outside the goal"]
        pathlib.Path(options.markdown).write_text(f"{table(heads, rows)}\n\n{note}\n")


if __name__ == "__main__":
    main()
