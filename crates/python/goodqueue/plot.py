"""Figures for papers (needs matplotlib): one function a kind of figure, with units, and intervals where there are some.

Functions read a :class:`goodqueue.Result` and draw into ``ax``, or into a figure of their own, and give the axes back.
A queue has the color, dash and mark that it has in the report and in the figures of :meth:`goodqueue.Result.plot`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goodqueue import _core
from goodqueue.results import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["box", "cdf", "heat_map", "shares", "time_series", "trade_off"]

_MARKS = {"circle": "o", "square": "s", "diamond": "D", "up": "^", "down": "v", "cross": "x"}
_UNITS = {"_bit_s": ("Mbit/s", 1e-6), "_s": ("ms", 1e3), "_bytes": ("kB", 1e-3), "_packets": ("packets", 1.0)}


def _scaled(name: str) -> tuple[str, float]:
    """Axis label and factor of a figure, whose name ends in its unit."""
    stem, _, statistic = name.partition(".")
    statistic = f", {statistic}" if statistic else ""
    for ending, (unit, factor) in _UNITS.items():
        if stem.endswith(ending):
            return f"{stem.removesuffix(ending).replace('_', ' ')}{statistic} ({unit})", factor
    return name.replace("_", " "), 1.0


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]


@dataclass(frozen=True)
class _Look:
    """How a point of a result is drawn."""

    colour: str
    dashes: tuple[float, ...]
    mark: str

    @property
    def line(self) -> dict[str, Any]:
        # Lengths of dashes are pixels there, and widths of lines here.
        return {
            "color": self.colour,
            "linestyle": (0, tuple(length * 0.75 for length in self.dashes)) if self.dashes else "-",
        }


def _looks(result: Result) -> dict[str, _Look]:
    """The look of each point, by its label."""
    labels = result.points["label"].to_list()
    queues = [point.get("queue", "") for point in result.summary["points"]]
    queues += [""] * (len(labels) - len(queues))
    looks = _core.looks(queues)
    return {
        label: _Look(colour, tuple(dashes), _MARKS[mark])
        for label, (colour, dashes, mark) in zip(labels, looks, strict=True)
    }


def _link(result: Result, link: str | None) -> str:
    known = result.links["link"].unique(maintain_order=True).to_list()
    if link is None:
        return str(known[0])
    if link not in known:
        raise ValueError(f"link: `{link}` is not known: allowed {', '.join(known)}")
    return link


def _metric(frame: pl.DataFrame, metric: str) -> str:
    known = [name.removesuffix("_ci95") for name in frame.columns if name.endswith("_ci95")]
    if metric not in known:
        raise ValueError(f"metric: `{metric}` is not known: allowed {', '.join(known)}")
    return metric


def time_series(
    result: Result, name: str = "queue_packets", *, subject: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a sampled value over time, one line per point, from the first recorded replication.

    Parameters
    ----------
    result
        With series, so not from ``run(record="nothing")``.
    name
        What was sampled, for instance ``"sojourn_s"``.
    subject
        Of what; the first link when not given.
    ax
        Where to draw.
    """
    subject = subject or f"link:{_link(result, None)}"
    rows = result.series.filter(pl.col("name") == name, pl.col("subject") == subject)
    if rows.is_empty():
        there = result.series.select("subject", "name").unique(maintain_order=True).rows()
        raise ValueError(f"there is no series `{name}` of `{subject}`: there are {there[:20]}")
    ax = _axes(ax)
    label, factor = _scaled(name)
    first = rows.filter(pl.col("replication") == pl.col("replication").min().over("point"))
    looks = _looks(result)
    for (_, called), line in first.group_by("point", "label", maintain_order=True):
        ax.plot(line["time_s"], line["value"] * factor, label=str(called), linewidth=1, **looks[str(called)].line)
    ax.set(xlabel="time (s)", ylabel=label, ylim=(0, None))
    ax.legend()
    return ax


def cdf(result: Result, *, link: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw the distribution of sojourn times at a link, one line per point, over all replications.

    Parameters
    ----------
    result
        What to draw.
    link
        Which; the first when not given.
    ax
        Where to draw.
    """
    rows = result.cdf.filter(pl.col("link") == _link(result, link))
    ax = _axes(ax)
    looks = _looks(result)
    for (_, called), line in rows.group_by("point", "label", maintain_order=True):
        ax.plot(
            line["sojourn_s"] * 1e3, line["share"], drawstyle="steps-post", label=str(called), **looks[str(called)].line
        )
    ax.set(xlabel="sojourn time (ms)", ylabel="share of packets", ylim=(0, 1), xlim=(0, None))
    ax.legend()
    return ax


def box(result: Result, *, link: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw quartiles of the sojourn times at a link as boxes, 5 % and 95 % as whiskers, one box a point.

    Parameters
    ----------
    result
        What to draw.
    link
        Which; the first when not given.
    ax
        Where to draw.
    """
    rows = result.cdf.filter(pl.col("link") == _link(result, link))
    keys = {"whislo": 0.05, "q1": 0.25, "med": 0.5, "q3": 0.75, "whishi": 0.95}
    boxes = []
    for (_, called), line in rows.group_by("point", "label", maintain_order=True):
        quantile = {key: line.filter(pl.col("share") >= part)["sojourn_s"][0] * 1e3 for key, part in keys.items()}
        boxes.append({**quantile, "label": str(called), "fliers": []})
    ax = _axes(ax)
    drawn = ax.bxp(boxes, showfliers=False, patch_artist=True, medianprops={"color": "black"})
    looks = _looks(result)
    for one, patch in zip(boxes, drawn["boxes"], strict=True):
        patch.set_facecolor(looks[one["label"]].colour)
    ax.set(ylabel="sojourn time (ms), 5, 25, 50, 75, 95 %", ylim=(0, None))
    ax.tick_params(axis="x", rotation=30)
    return ax


def trade_off(
    result: Result,
    x: str = "sojourn_s.p95",
    y: str = "utilization",
    *,
    link: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw two figures of a link against each other, one mark a point; half-axes of the ellipses are 95 % intervals.

    Parameters
    ----------
    result
        What to draw; ellipses need two replications.
    x, y
        Figures of links, see ``gq list metric``.
    link
        Which; the first when not given.
    ax
        Where to draw.
    """
    from matplotlib.patches import Ellipse

    rows = result.links.filter(pl.col("link") == _link(result, link))
    (x_label, x_factor), (y_label, y_factor) = _scaled(_metric(rows, x)), _scaled(_metric(rows, y))
    ax = _axes(ax)
    looks = _looks(result)
    for row in rows.iter_rows(named=True):
        if row[x] is None or row[y] is None:
            continue
        look = looks[row["label"]]
        place = (row[x] * x_factor, row[y] * y_factor)
        ax.plot(*place, marker=look.mark, color=look.colour, linestyle="", label=row["label"])
        if row[f"{x}_ci95"] is not None and row[f"{y}_ci95"] is not None:
            width, height = 2 * row[f"{x}_ci95"] * x_factor, 2 * row[f"{y}_ci95"] * y_factor
            ax.add_patch(Ellipse(place, width, height, facecolor=look.colour, alpha=0.25))
    ax.set(xlabel=x_label, ylabel=y_label)
    ax.legend()
    return ax


def heat_map(
    result: Result, x: str, y: str, metric: str = "sojourn_s.p95", *, link: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a figure of a link over two swept keys, with its value in each field.

    Parameters
    ----------
    result
        Of a sweep over both keys and nothing else.
    x, y
        Swept keys, for instance ``"traffic.0.flows"``.
    metric
        A figure of links, see ``gq list metric``.
    link
        Which; the first when not given.
    ax
        Where to draw.
    """
    for key in (x, y):
        if key not in result.points.columns[2:]:
            raise ValueError(f"`{key}` is not swept: allowed {', '.join(result.points.columns[2:])}")
    links = result.links.filter(pl.col("link") == _link(result, link))
    label, factor = _scaled(_metric(links, metric))
    rows = result.points.join(links.select("point", metric), on="point")
    if x == y:
        raise ValueError(f"`{x}` cannot be on both axes")
    if rows.select(x, y).is_duplicated().any():
        raise ValueError(f"more than `{x}` and `{y}` is swept: a field of the map would have several values")
    columns, lines = rows[x].unique(maintain_order=True).to_list(), rows[y].unique(maintain_order=True).to_list()
    values = {(row[x], row[y]): row[metric] for row in rows.iter_rows(named=True)}
    missing = float("nan")
    fields = [[missing if (v := values.get((c, r))) is None else v * factor for c in columns] for r in lines]
    ax = _axes(ax)
    image = ax.imshow(fields, cmap="cividis", aspect="auto", origin="lower")
    for row_number, row in enumerate(fields):
        for column_number, value in enumerate(row):
            text = ax.text(column_number, row_number, f"{value:.3g}", ha="center", va="center", color="white")
            text.set_bbox({"facecolor": "black", "alpha": 0.4, "linewidth": 0, "pad": 1})
    ax.set_xticks(range(len(columns)), [str(value) for value in columns])
    ax.set_yticks(range(len(lines)), [str(value) for value in lines])
    ax.set(xlabel=x, ylabel=y)
    ax.figure.colorbar(image, ax=ax, label=label)
    return ax


def shares(result: Result, *, ax: Axes | None = None) -> Axes:
    """Draw the goodput of each flow with its 95 % interval, one color per point.

    Parameters
    ----------
    result
        What to draw.
    ax
        Where to draw.
    """
    ax = _axes(ax)
    looks = _looks(result)
    points = result.flows.partition_by("point", maintain_order=True)
    width = 0.8 / max(len(points), 1)
    for number, rows in enumerate(points):
        places = [place + (number - (len(points) - 1) / 2) * width for place in range(rows.height)]
        heights = (rows["goodput_bit_s"].fill_null(0) * 1e-6).to_list()
        half = (rows["goodput_bit_s_ci95"].fill_null(0) * 1e-6).to_list()
        label = str(rows["label"][0])
        ax.bar(places, heights, width, yerr=half, color=looks[label].colour, label=label, capsize=2)
    if points:
        names = [f"{group} {index}" for group, index in points[0].select("group", "index").rows()]
        ax.set_xticks(range(len(names)), names, rotation=30)
    ax.set(xlabel="flow", ylabel="goodput (Mbit/s)", ylim=(0, None))
    ax.legend()
    return ax
