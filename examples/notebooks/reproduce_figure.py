"""Reproduce a figure: marimo edit examples/notebooks/reproduce_figure.py (or run it with python)."""

import marimo

app = marimo.App(app_title="Reproduce a figure")


@app.cell
def _():
    from pathlib import Path

    import marimo as mo
    import matplotlib.pyplot as plt
    import polars as pl

    from goodqueue import Scenario, run

    return Path, Scenario, mo, pl, plt, run


@app.cell
def _(mo):
    mo.md("""
    # Reproduce a figure

    `gallery/cp-aqm/cp-1.toml` describes an experiment: tail drop under five kinds of load, while the bottleneck's delay
    grows. The published figure shows the mean queue and the utilization. A scenario file holds every setting of it, so
    all that is left to do here is to run it and to draw.

    The published figures are of many long runs. Switch `quick` off for the settings in the file (some minutes).
    """)


@app.cell
def _(mo):
    quick = mo.ui.switch(value=True, label="quick")
    quick
    return (quick,)


@app.cell
def _(Path, Scenario, mo):
    folder = Path(mo.notebook_dir() or ".").parents[1]
    scenario = Scenario.load(folder / "gallery/cp-aqm/cp-1.toml")
    print(scenario.to_toml())
    return (scenario,)


@app.cell
def _(quick, run, scenario):
    shorter = {"warmup": "5 s", "duration": "15 s", "replications": 1} if quick.value else {}
    result = run(scenario, set=shorter, record="nothing", progress=False)
    return (result,)


@app.cell
def _(pl, result):
    # The swept values of each point stand in `points`; a load is a table there, so its name is
    # taken out of the text.
    loads = result.points.with_columns(
        load=pl.col("traffic.0").str.extract(r'"name":"([^"]+)"'),
        delay_ms=pl.col("link.bottleneck.delay").str.strip_suffix(" ms").cast(pl.Float64),
    )
    figures = result.links.join(loads.select("point", "load", "delay_ms"), on="point")
    figures = figures.select("load", "delay_ms", "queue_packets", "queue_packets_ci95", "utilization")
    return (figures,)


@app.cell
def _(figures, plt):
    figure, (queue, busy) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
    for (load,), rows in figures.group_by("load", maintain_order=True):
        queue.errorbar(rows["delay_ms"], rows["queue_packets"], rows["queue_packets_ci95"].fill_null(0), label=load)
        busy.plot(rows["delay_ms"], rows["utilization"], label=load)
    queue.set(xlabel="one-way delay [ms]", ylabel="mean queue [packets]")
    busy.set(xlabel="one-way delay [ms]", ylabel="utilization")
    queue.legend(fontsize="small")
    figure


@app.cell
def _(figures, mo, pl):
    # What must hold whatever the seed: constant load above the line's rate fills the buffer of 30
    # packets and the line.
    flood = figures.filter(pl.col("load") == "cbr")
    assert flood["queue_packets"].min() > 28
    assert flood["utilization"].min() > 0.999
    one = figures.filter(pl.col("load") == "reno-1").sort("delay_ms")
    mo.md(f"A single Reno flow fills {one['utilization'][-1]:.0%} of the line at {one['delay_ms'][-1]:.0f} ms.")
    return (one,)


if __name__ == "__main__":
    app.run()
