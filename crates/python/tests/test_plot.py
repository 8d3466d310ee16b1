"""Figures: what is in them, not how they look."""

from __future__ import annotations

import matplotlib as mpl
import pytest

mpl.use("Agg")

from matplotlib import pyplot

from goodqueue import Bulk, Link, Result, Scenario, plot, run


@pytest.fixture(scope="module")
def result() -> Result:
    link = Link(rate="10 Mbit/s", delay="5 ms", buffer="50 packets")
    sweep = {"link.bottleneck.queue": ["tail-drop", "codel"], "traffic.0.flows": [2, 4]}
    return run(Scenario(duration="4 s", replications=3, link=link, traffic=[Bulk()], sweep=sweep))


@pytest.fixture(autouse=True)
def _close() -> object:
    yield
    pyplot.close("all")


def names(ax: object) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]  # type: ignore[attr-defined]


LABELS = ["tail-drop, flows=2", "tail-drop, flows=4", "codel, flows=2", "codel, flows=4"]


def test_series_over_time(result: Result) -> None:
    ax = plot.time_series(result)
    assert names(ax) == LABELS
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("time (s)", "queue (packets)")
    times, values = ax.lines[0].get_data()
    assert times[-1] == pytest.approx(4.0, abs=0.01)
    assert max(values) <= 50
    with pytest.raises(ValueError, match="there is no series `nothing`"):
        plot.time_series(result, "nothing")


def test_distributions(result: Result) -> None:
    ax = plot.cdf(result)
    assert names(ax) == LABELS
    assert ax.lines[0].get_ydata()[-1] == 1.0
    with pytest.raises(ValueError, match="allowed bottleneck"):
        plot.cdf(result, link="other")


def test_boxes_have_the_quantiles_of_the_summary(result: Result) -> None:
    ax = plot.box(result)
    assert [text.get_text() for text in ax.get_xticklabels()] == LABELS
    whole = run(
        Scenario(duration="4 s", link=Link(rate="10 Mbit/s", delay="5 ms", buffer="50 packets"), traffic=[Bulk()])
    )
    only = plot.box(whole)
    medians = [
        line.get_ydata()[0] for line in only.lines if line.get_color() == "black" and len(set(line.get_ydata())) == 1
    ]
    assert any(abs(median - whole.links["sojourn_s.p50"][0] * 1e3) < 0.05 for median in medians)


def test_trade_off_has_an_ellipse_a_point(result: Result) -> None:
    ax = plot.trade_off(result)
    assert names(ax) == LABELS
    assert len(ax.patches) == 4
    assert ax.patches[0].get_width() == pytest.approx(2e3 * result.links["sojourn_s.p95_ci95"][0])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("sojourn, p95 (ms)", "utilization")
    with pytest.raises(ValueError, match="metric: `speed` is not known"):
        plot.trade_off(result, "speed")


def test_heat_maps(result: Result) -> None:
    ax = plot.heat_map(result, "traffic.0.flows", "link.bottleneck.queue", "utilization")
    assert [text.get_text() for text in ax.get_yticklabels()] == ["tail-drop", "codel"]
    assert ax.images[0].get_array()[1][0] == pytest.approx(result.links["utilization"][2])
    with pytest.raises(ValueError, match="is not swept"):
        plot.heat_map(result, "traffic.0.flows", "seed")
    with pytest.raises(ValueError, match="both axes"):
        plot.heat_map(result, "traffic.0.flows", "traffic.0.flows")


def test_shares(result: Result) -> None:
    own = pyplot.figure().subplots()
    ax = plot.shares(result, ax=own)
    assert ax is own
    assert names(ax) == LABELS
    bars = next(container for container in ax.containers if hasattr(container, "patches"))
    assert bars[0].get_height() == pytest.approx(result.flows["goodput_bit_s"][0] * 1e-6)


def test_a_queue_has_the_colours_of_the_report(result: Result) -> None:
    colours = [line.get_color() for line in plot.time_series(result).lines]
    assert len({str(colour) for colour in colours[:2]}) == 1, "two points of one queue"
    assert colours[0] != colours[2]
    marks = [line.get_marker() for line in plot.trade_off(result).lines]
    assert len(set(marks)) > 2
