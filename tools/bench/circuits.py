#!/usr/bin/env python3
"""The error of the fluid background: one site whole in packets against its circuits one by one.

    python3 tools/bench/circuits.py [--gq PATH] [--circuits N] [--seeds N] [--site MBIT ...]

In packets the site is HTB with a class for each circuit, and every household does its whole
evening. The other way is `gq compare --circuits`, which simulates a circuit in packets with the rate
that the fluid of all others leaves it. Prints a table of means for docs/circuits.md.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

DOWN, UP, QUEUE = 50, 10, "fq-codel"
FIGURES = {
    "call.bad_ratio": ("call bad, %", 100, "call", "voip.bad_ratio"),
    "call.mos": ("call, MOS", 1, "call", "voip.mos"),
    "page.page_load_s.p95": ("page p95, s", 1, "page", "page_load_s.p95"),
    "video.stalled_ratio": ("video stalled, %", 100, "video", "video.rebuffer_ratio"),
    "video.bitrate_bit_s": ("video, Mbit/s", 1e-6, "video", "video.bitrate_bit_s"),
}


def run(gq, *words):
    done = subprocess.run([gq, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"gq {' '.join(words)}: {done.stderr}")
    return done.stdout


def mix(gq, folder):
    """The [[traffic]] tables of an evening on the plan."""
    out = folder / "mix"
    line = ["--rate", f"{DOWN}/{UP}mbit", "--traffic", "evening", "--aqm", QUEUE]
    run(gq, "compare", *line, "--warmup", "1s", "--duration", "1s", "--replications", "1", "--no-report", "--out", str(out))
    tables = (out / "scenario.toml").read_text().split("[[traffic]]\n")[1:]
    return [table.split("\n[sweep]")[0].split("\n[[sweep]]")[0] for table in tables]


def packets(gq, folder, tables, site, circuits, seeds):
    """Means of the figures with everything in packets."""
    text = f"""goodqueue = 1
name = "site"
warmup = "30 s"
duration = "120 s"
replications = {seeds}

[access]
rate = "1 Gbit/s"
delay = "0 s"

[link.site]
rate = "1 Gbit/s"
rate_up = "1 Gbit/s"
delay = "10 ms"
delay_up = "10 ms"
buffer = "10000 packets"
buffer_up = "10000 packets"
"""
    for key, rate, plan in (("queue", site, DOWN), ("queue_up", site / 2, UP)):
        text += f'\n[link.site.{key}]\nkind = "htb"\n\n[link.site.{key}.class]\nall = {{ rate = "{rate} Mbit/s" }}\n'
        for one in range(circuits):
            default = ", default = true" if one == 0 else ""
            text += f'c{one} = {{ parent = "all", rate = "1 Mbit/s", ceil = "{plan} Mbit/s", of = "{QUEUE}"{default} }}\n'
    for one in range(circuits):
        for table in tables:
            name = table.split('name = "')[1].split('"')[0]
            start = 'start = "uniform 0 s .. 15 s"'
            lines = [line for line in table.splitlines() if line and not line.startswith(("name", "start"))]
            text += "\n[[traffic]]\n" + f'name = "{name} {one}"\nleaf = "c{one}"\n{start}\n' + "\n".join(lines) + "\n"
    file = folder / "site.toml"
    file.write_text(text)
    summary = json.loads(run(gq, "run", str(file), "--no-report", "--out", str(folder / f"site-{site}"), "--json", "-"))
    values = {name: [] for name in FIGURES}
    for name, group in summary["points"][0]["groups"].items():
        for figure, (_, _, activity, path) in FIGURES.items():
            here = {"call": "call", "page": "pages", "video": "video"}[activity]
            value = group
            for key in (*path.split("."), "mean"):
                value = value.get(key) if isinstance(value, dict) else None
            if name.startswith(here) and value is not None:
                values[figure].append(value)
    return {name: statistics.mean(found) for name, found in values.items() if found}


def fluid(gq, folder, site, circuits, samples):
    """Means of the figures of circuits one by one."""
    rows = ["Circuit ID,Parent Node,Download Min Mbps,Upload Min Mbps,Download Max Mbps,Upload Max Mbps"]
    rows += [f"{one},AP,1,1,{DOWN},{UP}" for one in range(circuits)]
    (folder / "devices.csv").write_text("\n".join(rows) + "\n")
    sites = {"AP": {"downloadBandwidthMbps": site, "uploadBandwidthMbps": site / 2}}
    (folder / "network.json").write_text(json.dumps(sites))
    files = ["--circuits", str(folder / "devices.csv"), "--network", str(folder / "network.json")]
    words = ["--busy-hour", "1gbit", "--simulated", str(samples), "--aqm", QUEUE, "--json", "-"]
    answer = json.loads(run(gq, "compare", *files, *words))
    return next((one for one in answer["sites"] if one["of"] == "AP"), answer["queues"][0])["means"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gq", default="target/release/gq")
    parser.add_argument("--circuits", type=int, default=12)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--simulated", type=int, default=90)
    parser.add_argument("--site", type=float, nargs="+", default=[100, 200, 300, 500])
    asked = parser.parse_args()
    print("| site, Mbit/s | figure | whole site in packets | with fluid background | difference |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tables = mix(asked.gq, folder)
        for site in asked.site:
            whole = packets(asked.gq, folder, tables, site, asked.circuits, asked.seeds)
            parts = fluid(asked.gq, folder, site, asked.circuits, asked.simulated)
            for figure, (words, scale, _, _) in FIGURES.items():
                if figure in whole and figure in parts:
                    here, there = whole[figure] * scale, parts[figure] * scale
                    change = f"{(there / here - 1) * 100:+.0f} %" if abs(here) > 1e-9 else "none"
                    print(f"| {site:g} | {words} | {here:.3g} | {there:.3g} | {change} |", flush=True)


if __name__ == "__main__":
    main()
