"""How the cost of a packet and the memory grow with flows, rates, lines and circuits: tables and docs/images/speed.svg."""

import json
import tempfile
from pathlib import Path

import worlds
from process import finish
from tables import table

PICTURE = Path(__file__).resolve().parents[3] / "docs/images/speed.svg"
# Warm-up and measured seconds of the lines.
LINES_S = (1, 5)
QUICK = 2
FLOWS_ABOUT = "CUBIC flows on one line of a megabit per second for each, 25 ms one way, `fq-codel`, 5 s (200 s for one flow)"
RATES_ABOUT = "sixteen CUBIC flows on one line of 25 ms one way, `fq-codel`"
LINES_ABOUT = "lines of 100/20 Mbit/s with `fq-codel` and an evening each (`count`), 6 s"
SHARED_ABOUT = "lines of 100 Mbit/s with `fq-codel` behind one link of 100 Gbit/s, with a download, two videos and four readers of pages each, 6 s; what a line needs is seldom in the processor's caches when its turn comes"
CIRCUITS_ABOUT = "`gq compare --circuits` with that many circuits behind a site for each ninety, sold twelve times over; one thread"


def least(options, world):
    """Nanoseconds of a packet and MB of a world: the least of several runs."""
    found = []
    for _ in range(options.runs if "10,000" not in world.name else 1):
        point, done = worlds.run(options.gq, world)
        found.append((1e9 * done.cpu_s / worlds.departed(point), done.memory_mb))
    return tuple(min(column) for column in zip(*found, strict=True))


def evening(gq):
    """The scenario of an evening on one line, as `gq compare` makes it."""
    with tempfile.TemporaryDirectory() as name:
        out = Path(name) / "out"
        warmup, duration = LINES_S
        words = f"compare --rate 100/20mbit --aqm fq-codel --traffic evening --warmup {warmup}s --duration {duration}s --replications 1 --no-report"
        finish([str(gq), *words.split(), "--out", str(out)], name)
        return (out / "scenario.toml").read_text()


def of_circuits(options, count):
    """CPU seconds and MB of the question about a provider's circuits."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows, network = worlds.circuits(count)
        (folder / "ShapedDevices.csv").write_text(rows)
        (folder / "network.json").write_text(json.dumps(network))
        words = "compare --circuits ShapedDevices.csv --network network.json --jobs 1 --json -"
        done = finish([str(options.gq), *words.split()], folder)
        return done.cpu_s, done.memory_mb


def section(options):
    """The tables of the page; draws the picture unless the run is quick."""
    cut = QUICK if options.quick else None
    groups = {
        "flows": (FLOWS_ABOUT, list(worlds.growth_with_flows())[:cut]),
        "Mbit/s": (RATES_ABOUT, list(worlds.growth_with_rates())[:cut]),
        "lines": (LINES_ABOUT, list(worlds.growth_with_links(evening(options.gq)))[:cut]),
        "lines behind one link": (SHARED_ABOUT, list(worlds.growth_behind_one_link())[:cut]),
    }
    series = {unit: [(world.name, *least(options, world)) for world in cases] for unit, (_, cases) in groups.items()}
    circuits = [(f"{count:,}", *of_circuits(options, count)) for count in worlds.CIRCUITS[: 1 if options.quick else None]]
    text = ""
    for unit, (about, _) in groups.items():
        rows = [[name, f"{nanos:.0f}", f"{memory:.0f}"] for name, nanos, memory in series[unit]]
        text += f"{about[0].upper()}{about[1:]}:\n\n{table([f'{unit}:', 'ns per packet:', 'memory, MB:'], rows)}\n\n"
    rows = [[name, f"{cpu_s:.1f}", f"{memory:.0f}"] for name, cpu_s, memory in circuits]
    text += f"{CIRCUITS_ABOUT}:\n\n{table(['circuits:', 'CPU seconds:', 'memory, MB:'], rows)}"
    if not options.quick:
        draw(series, circuits)
    return text


def draw(series, circuits):
    """Panels of logarithmic axes, cost on the left and memory on the right."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "speed"
    from matplotlib import pyplot, ticker

    cost, memory = "#0b6e99", "#b35900"
    figure, panels = pyplot.subplots(3, 2, figsize=(9, 9), layout="constrained")
    panels.flat[-1].set_axis_off()
    parts = [(unit, "ns per packet", points) for unit, points in series.items()] + [("circuits", "CPU seconds", circuits)]
    for axes, (unit, what, points) in zip(panels.flat[:-1], parts, strict=True):
        places = [float(name.replace(",", "")) for name, *_ in points]
        right = axes.twinx()
        axes.plot(places, [one[1] for one in points], "o-", color=cost)
        right.plot(places, [one[2] for one in points], "s--", color=memory)
        for each in (axes, right):
            each.set_xscale("log")
            each.set_yscale("log")
            each.xaxis.set_major_formatter(ticker.StrMethodFormatter("{x:,.0f}"))
            each.yaxis.set_major_formatter(ticker.StrMethodFormatter("{x:,.0f}"))
            each.yaxis.set_minor_locator(ticker.LogLocator(subs=(2, 3, 5)))
            each.yaxis.set_minor_formatter(ticker.StrMethodFormatter("{x:,.0f}"))
        axes.set_xlabel(unit)
        axes.set_ylabel(what, color=cost)
        right.set_ylabel("memory, MB", color=memory)
        axes.set_ylim(*around([one[1] for one in points]))
        right.set_ylim(*around([one[2] for one in points]))
        axes.grid(visible=True, which="major", alpha=0.3)
    figure.savefig(PICTURE, metadata={"Date": None})


def around(values):
    """A range of at least one decade with the values within."""
    low, high = min(values) / 1.5, max(values) * 1.5
    middle = (low * high) ** 0.5
    return min(low, middle / 10**0.5), max(high, middle * 10**0.5)
