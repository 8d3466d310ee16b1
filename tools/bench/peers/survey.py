#!/usr/bin/env python3
"""Runs a survey's set-up with four edge nodes in goodqueue, ns-2 and ns-3, for each queue that a program has.

The scenario file survey.toml beside this script is the one description; the peers get their parameters from it. For each seed the delays of
the edge links are drawn here and given to every program, so that all see the same network. Each figure is the mean over seeds with the
standard deviation.

    survey.py              all queues with the programs that are installed; writes survey.md next to this script
    survey.py --install    the same after installing ns-2 and ns-3, as dumbbells.py does
    survey.py --quick      one seed and short runs: a check that everything works, not a measurement
"""

import random
import statistics
import sys
import tomllib

from programs import HERE, NS3, UNITS, GoodQueue, Ns2, prepare, publish, quantity, read_common_options, versions

import tables  # noqa: E402 (programs put it in reach)

FILE = HERE / "survey.toml"
EDGES = [1, 2, 3, 4]
EDGE_DELAY_S = (0.005, 0.020)


class Ns2Sack(Ns2):
    """ns-2 with its sender that has selective acknowledgements, as the other two programs' have."""

    name = f"{Ns2.name} with SACK"

    def command(self, arguments):
        return super().command(arguments | {"sack": 1})


NS2_QUEUES = ("tail-drop", "red", "pi", "rem", "jobs")
# Queues available in each peer.
QUEUES = {Ns2.name: NS2_QUEUES, Ns2Sack.name: NS2_QUEUES} | {ns3.name: ("tail-drop", "red") for ns3 in NS3}
# Figures, their factor and number of digits in the table.
FIGURES = {
    "utilization": ("utilization %", 100, 2),
    "delay_s": ("mean delay, ms", 1000, 2),
    "queue_bytes": ("mean queue, kB", 1e-3, 2),
    "loss": ("packets lost %", 100, 3),
    "loss_bytes": ("bytes lost %", 100, 3),
    "marked": ("packets marked %", 100, 3),
}
# Settings of queues that the peers' programs have built in, as the scenario must have them.
BUILT_IN = {
    "red": {"gentle": False, "bytes": True, "queue_in_bytes": True, "mean_pktsize": "1000 B", "use_mark_p": False, "ecn": True},
    "pi": {"queue_in_bytes": True, "mean_pktsize": "1000 B", "ecn": True},
    "rem": {"alpha": 0.1, "bytes": True, "mean_pktsize": "1000 B", "ecn": True},
    "jobs": {"limit": "100 packets", "classes": 4} | {f"{kind}_share_{number}": 1 for kind in ("delay", "loss") for number in range(4)},
}


def queue_arguments(queue):
    """What the peers' programs must be told of a queue; settings that they could not follow are refused."""
    if isinstance(queue, str):
        return {"queue": queue}
    rest = dict(queue)
    kind = rest.pop("kind")
    arguments = {"queue": kind}
    if kind == "red":
        named = {"red_min": "min_th", "red_max": "max_th", "red_weight": "w_q", "red_top": "max_p"}
    elif kind == "pi":
        named = {"pi_a": "a", "pi_b": "b", "pi_samples": "w", "pi_reference": "q_ref"}
    elif kind == "rem":
        named = {"rem_phi": "phi", "rem_gamma": "gamma", "rem_packets": "b_star"}
    else:
        named = {}
    for argument, key in named.items():
        value = rest.pop(key)
        arguments[argument] = quantity(value, UNITS["size"] | {"packets": 1.0}) if isinstance(value, str) else value
    if rest != BUILT_IN.get(kind, {}):
        raise SystemExit(f"survey.py: {FILE.name}: the peers do not know these settings of {kind}: {rest}")
    return arguments


def read_plan():
    """The scenario, and what of it the peers' programs are told whatever the queue."""
    plan = tomllib.loads(FILE.read_text())
    links, traffic = plan["link"], plan["traffic"]
    core, edges = links["core"], [link for name, link in links.items() if name != "core"]
    senders = {group["flows"] for group in traffic if group["kind"] == "bulk"}
    bursts = {(group["peak"], group["mean_on"], group["mean_off"], group["packet_size"]) for group in traffic if group["kind"] == "on-off"}
    shapes = {(edge["rate"], edge["buffer"]) for edge in edges}
    if len(senders) != 1 or len(bursts) != 1 or len(shapes) != 1 or len(edges) != 2 * len(EDGES):
        raise SystemExit(f"survey.py: {FILE.name}: the peers only know edges that are all alike")
    (peak, mean_on, mean_off, small), (edge_rate, edge_buffer) = bursts.pop(), shapes.pop()
    seconds, rate, size = UNITS["time"], UNITS["rate"], UNITS["size"]
    return plan, {
        "rate": quantity(core["rate"], rate),
        "delay": quantity(core["delay"], seconds),
        "limit": round(quantity(core["buffer"], size)),
        "packet": round(quantity(core["mtu"], size)),
        "edge_rate": quantity(edge_rate, rate),
        "edge_packets": round(quantity(edge_buffer, {"packets": 1.0})),
        "senders": senders.pop(),
        "initial_window": traffic[0]["initial_window"],
        "peak": quantity(peak, rate),
        "mean_on": quantity(mean_on, seconds),
        "mean_off": quantity(mean_off, seconds),
        "small": round(quantity(small, size)),
    }


def draw_delays(source, nodes):
    """Delays of so many links into the core and out of it, whole microseconds in seconds."""
    low, high = (round(1e6 * end) for end in EDGE_DELAY_S)
    return [[source.randint(low, high) for _ in range(nodes)] for _ in ("in", "out")]


def edge_delays(seed):
    """Those of the scenario's edges."""
    return draw_delays(random.Random(f"edges {seed}"), len(EDGES))


def delay_arguments(delays):
    """What the peers' programs must be told of delays that were drawn."""
    return {f"{way}_delays": ",".join(f"{delay / 1e6:.6f}" for delay in ends) for way, ends in zip(("in", "out"), delays, strict=True)}


def run_goodqueue(program, seed, duration):
    """Figures of each queue of the sweep."""
    ways = dict(zip(("in", "out"), edge_delays(seed), strict=True))
    settings = {f"link.{way}{edge}.delay": f"{delay} us" for way, delays in ways.items() for edge, delay in zip(EDGES, delays, strict=True)}
    points, _ = program.points(FILE, seed, settings | {"duration": f"{duration} s"})
    links = [point["links"]["core"] for point in points]
    return [
        {
            "utilization": link["utilization"]["mean"],
            "delay_s": link["sojourn_s"]["mean"]["mean"],
            "queue_bytes": link["queue_bytes"]["mean"],
            "loss": link["drop_ratio"]["mean"],
            "loss_bytes": link["drop_ratio_bytes"]["mean"],
            "marked": link["marked_packets"]["mean"] / link["arrived_packets"]["mean"],
        }
        for link in links
    ]


def measure(programs, options):
    """For each queue, each program's figures by seed."""
    plan, common = read_plan()
    queues = [queue_arguments(queue) for queue in plan["sweep"]["link.core.queue"]]
    duration = 4.0 if options.quick else quantity(plan["duration"], UNITS["time"])
    results = {queue["queue"]: {} for queue in queues}
    for program in programs:
        for seed in range(1, options.seeds + 1):
            print(f"survey: {program.name}, seed {seed}", file=sys.stderr, flush=True)
            if isinstance(program, GoodQueue):
                for queue, figures in zip(queues, run_goodqueue(program, seed, duration), strict=True):
                    results[queue["queue"]].setdefault(program.name, []).append(figures)
                continue
            delays = delay_arguments(edge_delays(seed))
            for queue in queues:
                if queue["queue"] in QUEUES[program.name]:
                    known = {key: value for key, value in queue.items() if isinstance(program, Ns2) or not key.startswith(("pi_", "rem_"))}
                    arguments = common | known | delays | {"duration": duration, "seed": seed}
                    figures, _ = program.figures(arguments)
                    results[queue["queue"]].setdefault(program.name, []).append(figures)
    return results


def cell(runs, figure):
    _, factor, digits = FIGURES[figure]
    values = [factor * run[figure] for run in runs]
    middle = f"{statistics.mean(values):.{digits}f}"
    return f"{middle} ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else middle


def table(results):
    rows = [
        [queue, name, *(cell(runs, figure) for figure in FIGURES)] for queue, by_program in results.items() for name, runs in by_program.items()
    ]
    return tables.table(["queue", "program", *(f"{title}:" for title, _, _ in FIGURES.values())], rows)


def document(results, programs, options):
    return f"""# A survey's set-up with four edge nodes in goodqueue, ns-2 and ns-3

Made by `tools/bench/peers/survey.py`; the scenario is `tools/bench/peers/survey.toml`. Mean and standard deviation over {options.seeds} seeds; 20 s from the start, without
warm-up. Figures are the core link's: *delay* is waiting time of packets that left the queue. What differences come from is in `docs/peers.md`.

{table(results)}

Programs:

{versions(programs)}
"""


def main():
    options = read_common_options(__doc__, seeds=10, out="survey.md")
    programs = prepare([GoodQueue(options.gq), Ns2("survey"), Ns2Sack("survey"), *(ns3("survey") for ns3 in NS3)], options)
    results = measure(programs, options)
    publish(table(results), options, lambda: document(results, programs, options))


if __name__ == "__main__":
    main()
