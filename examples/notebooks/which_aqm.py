"""Which AQM for my line: marimo edit examples/notebooks/which_aqm.py (or run it with python)."""

import marimo

app = marimo.App(app_title="Which AQM for my line")


@app.cell
def _():
    import marimo as mo
    import polars as pl

    from goodqueue import Bulk, Link, Scenario, Voip, plot, run

    return Bulk, Link, Scenario, Voip, mo, pl, plot, run


@app.cell
def _(mo):
    mo.md("""
    # Which AQM for my line

    A line to a home: fill in its rate and round-trip time. A few transfers share it with a call. A good queue keeps the
    line busy and the call's packets short of waiting; we look for both at once.
    """)


@app.cell
def _(mo):
    rate = mo.ui.dropdown(["2 Mbit/s", "10 Mbit/s", "50 Mbit/s"], value="10 Mbit/s", label="rate")
    delay = mo.ui.dropdown(["5 ms", "10 ms", "50 ms"], value="10 ms", label="one-way delay")
    flows = mo.ui.slider(1, 16, value=4, label="transfers")
    mo.hstack([rate, delay, flows])
    return delay, flows, rate


@app.cell
def _(Bulk, Link, Scenario, Voip, delay, flows, rate):
    candidates = ["tail-drop", "red", "codel", "pie", "fq-codel", "cake"]
    line = Scenario(
        name="my line",
        warmup="5 s",
        duration="20 s",
        replications=3,
        link=Link(rate=rate.value, delay=delay.value, buffer="250 ms"),
        traffic=[Bulk(name="transfers", cc="cubic", flows=flows.value), Voip(name="call")],
        sweep={"link.bottleneck.queue": candidates},
    )
    return (line,)


@app.cell
def _(line, mo, run):
    result = run(line, progress=False)
    mo.md("Points toward the upper left are better: a busy line, short waits. The ellipses are 95 % intervals.")
    return (result,)


@app.cell
def _(plot, result):
    plot.trade_off(result)


@app.cell
def _(plot, result):
    plot.cdf(result)


@app.cell
def _(mo, pl, result):
    # What the call notices: its own quality, delay and loss, not those of the transfers.
    call = result.experience.filter(pl.col("group") == "call").pivot("figure", index="label", values="mean")
    table = call.select("label", "bad_ratio", "mos", "one_way_delay_s.p95", "loss_ratio").sort("mos", descending=True)
    mo.ui.table(table)
    return (table,)


@app.cell
def _(mo, result):
    # The rule of docs/answers.md: queues that keep the line busy, ranked by what the call got.
    mo.md(result.headline.text)
    return


if __name__ == "__main__":
    app.run()
