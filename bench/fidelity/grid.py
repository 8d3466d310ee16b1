#!/usr/bin/env python3
"""Makes docs/fidelity-grid.md from what `gq validate --against linux` wrote for grid.toml, cp-1-kernel.toml and cp-8-kernel.toml.

    gq validate bench/fidelity/grid.toml --against linux --out OUT/grid
    gq validate bench/fidelity/cp-1-kernel.toml --against linux --out OUT/cp1
    gq validate bench/fidelity/cp-8-kernel.toml --against linux --out OUT/cp8
    bench/fidelity/grid.py OUT > docs/fidelity-grid.md
"""
import json
import pathlib
import sys

HEAD = """# The simulator's senders beside a real kernel's

Made by `bench/fidelity/grid.py` from `gq validate --against linux`: the same scenario, the same queue code and the same links, once with this
simulator's senders and once with those of Linux 6.12 in virtual time ([linux.md](linux.md)). Each figure is simulator / Linux, means over
three replications; ± is half of the 95 % interval of their difference. Bounds: utilisation within 1 point, mean queue within 10 % or one
packet, drops within a factor of 1.25 (or both below 0.05 %). Where a difference beyond a bound is smaller than its own interval allows to tell,
the cell says *unclear*. Nothing was tuned towards a cell.

The rows of Reno and CUBIC are of the version before receivers merged reports of a gap ([fidelity.md](fidelity.md)); at 10 Mbit/s a report is then up to 1.1 ms
later, and none is merged.
"""

# What the study prints (gallery/cp-aqm/expected.toml): for tail drop, and for CP-AQM with a threshold of five packets.
PRINTED = {
    ("reno", "1", "5 ms"): "queue 20",
    ("reno", "1", "50 ms"): "utilisation 92.7 %",
    ("cubic", "1", "20 ms"): "utilisation ≥ 99 %",
    ("reno", "1", "20 ms"): "utilisation ≥ 99 %",
    ("reno", "16", "50 ms"): "utilisation ≥ 99 %",
    ("cubic", "16", "5 ms"): "queue 30, loss about 12 %",
    ("cubic", "16", "50 ms"): "utilisation ≥ 99 %, queue 26 at least, loss about 4 %",
}
PRINTED_CP_8 = {
    ("1.05", "reno", "16", "50 ms"): "utilisation ≥ 98 %",
    ("1.2", "reno", "16", "50 ms"): "utilisation 95 %, queue ≤ 12",
    ("1.5", "reno", "1", "50 ms"): "utilisation 82 %",
} | {
    ("1.2", cc, flows, delay): "queue ≤ 12"
    for cc in ("reno", "cubic")
    for flows in ("1", "16")
    for delay in ("5 ms", "50 ms")
    if (cc, flows, delay) != ("reno", "16", "50 ms")
}


def figure(point, metric):
    for row in point["figures"]:
        if row["metric"] == metric and row["subject"] == "bottleneck":
            half = row["difference"]["ci95"]
            return row["sim"]["mean"], row["linux"]["mean"], half if half is not None else 0.0
    sys.exit(f"{point['set']} has no {metric}")


def judge(name, triple, allowed):
    sim, linux, half = triple
    distance = abs(sim - linux)
    if distance <= allowed:
        return None
    return f"{name} unclear" if distance - half <= allowed else name


def row(point):
    use, queue, drops = (figure(point, m) for m in ("utilization", "queue_packets", "drop_ratio"))
    small = max(drops[0], drops[1]) < 0.0005
    beyond = [
        judge("utilisation", use, 0.01),
        judge("queue", queue, max(1.0, 0.1 * queue[1])),
        None if small else judge("drops", drops, 0.25 * min(drops[0], drops[1])),
    ]
    text = [
        f"{use[0] * 100:.2f} / {use[1] * 100:.2f} ± {use[2] * 100:.2f}",
        f"{queue[0]:.2f} / {queue[1]:.2f} ± {queue[2]:.2f}",
        f"{drops[0] * 100:.2f} / {drops[1] * 100:.2f} ± {drops[2] * 100:.2f}",
    ]
    return text, [name for name in beyond if name]


def keys(point):
    return {part.split(" = ")[0].split(".")[-1]: part.split(" = ")[1] for part in point["set"].split(", ")}


def table(path, columns, extra=None):
    points = json.loads(path.read_text())["points"]
    names = [name for name, _ in columns] + (["printed"] if extra else [])
    print("| " + " | ".join([*names, "utilisation %", "mean queue, packets", "dropped %", "beyond the bounds"]) + " |")
    print("|" + "---|" * (len(names) + 4))
    held = unclear = 0
    for point in points:
        key = keys(point)
        cells = [key[k] for _, k in columns]
        if extra:
            cells.append(extra.get(tuple(cells), ""))
        text, beyond = row(point)
        held += not beyond
        unclear += bool(beyond) and all(name.endswith("unclear") for name in beyond)
        print("| " + " | ".join([*cells, *text, ", ".join(beyond) or "none"]) + " |")
    print(f"\n{held} of {len(points)} cells within all bounds, {unclear} more where three replications cannot tell.\n")


def main():
    folder = pathlib.Path(sys.argv[1])
    print(HEAD)
    print("## 10 Mbit/s, round trip 50 ms, buffer of one bandwidth-delay product, 30 s after 10 s\n")
    table(folder / "grid/validate.json", [("flows", "flows"), ("queue", "queue"), ("control", "cc")])
    print("""BBR's segments leave in the bursts that Linux hands on in one piece, two at this rate; one by one (`bursts = 0`) the queue of a single flow is 2 packets shorter than the kernel's.
""")
    print("## The tail-drop points of CP-1\n")
    print("10 Mbit/s with 7 bytes of framing, 45 kB, one-way delay as given, 50 s after 10 s (the study: 100 runs of 100 s).\n")
    table(folder / "cp1/validate.json", [("control", "cc"), ("flows", "flows"), ("one way", "delay")], PRINTED)
    print("""The one cell outside: a single Reno flow in a saw-tooth that is locked in phase and the same in all replications; the simulator's loses twice as
many packets a cycle as the kernel's. Behind Linux's own token bucket the kernel lost 0.31 % in this setting ([fidelity.md](fidelity.md)).
""")
    print("## CP-AQM with a threshold of five packets, as in CP-8\n")
    print("The same line with CP-AQM in place of tail drop, 50 s after 10 s (the study: 20 runs of 100 s).\n")
    columns = [("c_max", "c_max"), ("control", "cc"), ("flows", "flows"), ("one way", "delay")]
    table(folder / "cp8/validate.json", columns, PRINTED_CP_8)
    print("""The printed values come out with a real kernel's senders too. The cells outside are single CUBIC flows at 5 ms, whose few losses fall at the same places of
the saw-tooth in all replications.""")


if __name__ == "__main__":
    main()
