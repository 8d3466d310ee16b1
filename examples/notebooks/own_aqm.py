"""Write your own AQM in Python: marimo edit examples/notebooks/own_aqm.py (or run it with python)."""

import marimo

app = marimo.App(app_title="Write your own AQM in Python")


@app.cell
def _():
    import functools

    import marimo as mo
    import numpy as np
    import polars as pl

    from goodqueue import Bulk, Link, Scenario, plot, run
    from goodqueue.aqm import Algorithm, Qdisc, Verdict

    return Algorithm, Bulk, Link, Qdisc, Scenario, Verdict, functools, mo, np, pl, plot, run


@app.cell
def _(mo):
    mo.md("""
    # Write your own AQM in Python

    An algorithm sees one packet at a time and says what becomes of it; the queue does the rest. This one is a
    proportional-integral controller: every 16 ms it moves a probability of dropping by how far the delay of the queue
    is from where it should be, and by how much it has moved since.
    """)


@app.cell
def _(Algorithm, Verdict):
    class Controller(Algorithm):
        """Drops with a probability that steers the delay of the queue to `target` seconds."""

        period = 0.016

        def __init__(self, target=0.015, alpha=0.125, beta=1.25):
            self.target, self.alpha, self.beta = target, alpha, beta
            self.probability = self.before = 0.0
            self.due = self.period

        def on_arrival(self, packet, queue):
            """Signal by chance: that drops, or marks where the packet and the queue allow it."""
            return Verdict.SIGNAL if queue.random() < self.probability else Verdict.PASS

        def next_update(self):
            """When the controller moves next."""
            return self.due

        def on_update(self, queue):
            """Move the probability."""
            delay = queue.delay_s
            change = self.alpha * (delay - self.target) + self.beta * (delay - self.before)
            self.probability = min(max(self.probability + change, 0.0), 1.0)
            self.before = delay
            self.due += self.period

        def gauges(self):
            """What is worth a plot."""
            return {"probability": self.probability}

    return (Controller,)


@app.cell
def _(Controller, Qdisc, mo, np):
    # First alone, with arrivals of our own: a fifth more than the line can carry.
    arrivals = np.random.default_rng(1).exponential(1500 * 8 / 12e6, 30_000).cumsum()
    verdicts = Qdisc(Controller, rate="10 Mbit/s", limit="500 packets").drive(arrivals, 1500)
    lost = (verdicts["verdict"] == "dropped").mean()
    mo.md(f"Of packets that come at 12 Mbit/s through 10 Mbit/s it drops {lost:.1%}; a sixth must go.")
    return lost, verdicts


@app.cell
def _(Bulk, Controller, Link, Scenario, functools):
    # Then in the simulator, alongside built-in ones, under senders that react.
    scenario = Scenario(
        name="own",
        warmup="5 s",
        duration="20 s",
        replications=2,
        link=Link(rate="10 Mbit/s", delay="10 ms", buffer="250 ms"),
        traffic=[Bulk(cc="cubic", flows=8)],
        sweep={"link.bottleneck.queue": ["tail-drop", "codel", "pie", "controller", "slack"]},
        algorithms={"controller": Controller, "slack": functools.partial(Controller, target=0.05)},
    )
    return (scenario,)


@app.cell
def _(run, scenario):
    result = run(scenario, progress=False)
    result.links.select("label", "utilization", "sojourn_s.mean", "sojourn_s.p95", "drop_ratio")
    return (result,)


@app.cell
def _(plot, result):
    plot.trade_off(result)


@app.cell
def _(pl, plot, result):
    # Gauges of the algorithm are sampled with everything else.
    sampled = result.series.filter(pl.col("name") == "gauge:probability")
    plot.time_series(result, "sojourn_s")
    return (sampled,)


@app.cell
def _(mo, result):
    delays = dict(result.links.select("label", "sojourn_s.mean").rows())
    assert delays["controller"] < delays["slack"] < delays["tail-drop"]
    mo.md(
        "When it is worth keeping, `docs/adding-an-algorithm.md` shows the same hooks in Rust, which save a microsecond per packet."
    )
    return (delays,)


if __name__ == "__main__":
    app.run()
