"""What running gave: figures as text and as tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from goodqueue import _core
from goodqueue.exceptions import RunFailure

__all__ = ["Headline", "Result", "Table"]

Table = _core.Table
"""Columns that any library with Arrow's C interface takes over without copying: ``polars.DataFrame(table)``,
``pyarrow.table(table)``, ``duckdb.from_arrow(pyarrow.table(table))``."""


@dataclass(frozen=True)
class Headline:
    """The answer of a result in words, as every table and page shows it."""

    text: str
    """The sentences."""
    best: str | None
    """Label of the best point, or the best queue over several settings; ``None`` when nothing is ranked."""
    not_significantly_different: tuple[str, ...]
    """Labels of those that are not significantly worse for anybody on the line."""
    policy: str
    """The policy in words."""
    outside_policy: tuple[str, ...]
    """Labels of points that do not satisfy it."""


def _figures(got: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, dict[str, float | None]]]:
    """Figures with their dotted names."""
    for key, value in got.items():
        if isinstance(value, Mapping):
            if "ci95" in value:
                yield prefix + key, {"mean": value["mean"], "ci95": value["ci95"]}
            else:
                yield from _figures(value, f"{prefix}{key}.")


class Result:
    """What running a scenario gave.

    Tables have a row for each thing that has figures. Their columns ``point`` (from zero, in the order of the sweep)
    and ``label`` (a short name) say which point a row belongs to. A figure is the mean over replications, and
    ``NAME_ci95`` is the half-width of its 95 % confidence interval (Student t), null with one replication. Names carry
    their SI unit: ``_s``, ``_bit_s``, ``_bytes``. Whatever is before the warm-up's end is excluded, but from
    :attr:`series` and :attr:`packets`.
    """

    def __init__(self, report: _core.Report) -> None:
        self._report = report

    def to_json(self) -> str:
        """The summary as ``gq`` writes it to ``summary.json``, byte for byte."""
        return self._report.summary_json

    @cached_property
    def summary(self) -> Mapping[str, Any]:
        """The summary, schema ``goodqueue.summary/1``."""
        parsed: Mapping[str, Any] = json.loads(self.to_json())
        return parsed

    @cached_property
    def headline(self) -> Headline:
        """The answer: which queue is best for the people on the line (docs/answers.md has the rule)."""
        given = self.summary["headline"]
        return Headline(
            text=given["text"],
            best=given["best"],
            not_significantly_different=tuple(given["not_significantly_different"]),
            policy=given["policy"],
            outside_policy=tuple(given["outside_policy"]),
        )

    @cached_property
    def experience(self) -> pl.DataFrame:
        """What each group got, one figure per row.

        Columns are ``point``, ``label``, ``group``, ``activity`` (``call``, ``ping``, ``bulk``, …), ``figure``,
        ``mean`` and ``ci95``.
        """
        numbers = self.groups.select("point", "label").unique(maintain_order=True)
        rows = [
            {"point": point, "label": label, "group": group, "activity": got["activity"], "figure": name, **values}
            for (point, label), summary in zip(numbers.iter_rows(), self.summary["points"], strict=True)
            for group, got in summary.get("experience", {}).items()
            for name, values in _figures(got)
        ]
        columns = {
            "point": pl.UInt32,
            "label": pl.String,
            "group": pl.String,
            "activity": pl.String,
            "figure": pl.String,
        }
        return pl.DataFrame(rows, schema={**columns, "mean": pl.Float64, "ci95": pl.Float64})

    def save(self, path: str | Path) -> None:
        """Write the summary to a file."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    def table(self, name: str) -> _core.Table:
        """One of the tables, for any library that takes Arrow data.

        Parameters
        ----------
        name
            ``points``, ``links``, ``groups``, ``flows``, ``fairness``, ``cdf``, ``series``, ``packets`` or
            ``validity``.
        """
        return self._report.table(name)

    def _frame(self, name: str) -> pl.DataFrame:
        return pl.DataFrame(self.table(name))

    def to_pandas(self, name: str) -> Any:
        """One of the tables for pandas (needs pandas and pyarrow)."""
        import pyarrow

        return pyarrow.table(self.table(name)).to_pandas()

    @cached_property
    def points(self) -> pl.DataFrame:
        """The points, with a column for each swept key."""
        return self._frame("points")

    @cached_property
    def links(self) -> pl.DataFrame:
        """Figures of each link: utilization, queue, sojourn times, drops and marks."""
        return self._frame("links")

    @cached_property
    def groups(self) -> pl.DataFrame:
        """Figures of each group of flows: goodput, round-trip times, losses, completion times."""
        return self._frame("groups")

    @cached_property
    def flows(self) -> pl.DataFrame:
        """Goodput of each flow."""
        return self._frame("flows")

    @cached_property
    def fairness(self) -> pl.DataFrame:
        """Jain's indices of each point: 1 is equal shares, 1/n is one flow taking all."""
        return self._frame("fairness")

    @cached_property
    def cdf(self) -> pl.DataFrame:
        """Distribution of sojourn times at each link: ``share`` of the packets waited at most ``sojourn_s``."""
        return self._frame("cdf")

    @cached_property
    def series(self) -> pl.DataFrame:
        """Sampled values of the recorded runs, one per row.

        Columns are ``subject`` (``link:NAME``, ``flow:GROUP:NUMBER``), ``name`` (what was sampled), ``time_s`` and
        ``value``.
        """
        return self._frame("series")

    @cached_property
    def packets(self) -> pl.DataFrame:
        """Packet events of the recorded runs; empty unless they were asked for."""
        return self._frame("packets")

    @cached_property
    def validity(self) -> pl.DataFrame:
        """How far each attempt at a run in real time can be trusted; empty but for the host ``live``.

        ``void`` says why nothing can be concluded from an attempt and is null for a good one; ``counted`` is true for
        those whose figures are in the result. Of each direction there are the times by which packets were handed over
        late (``down_late_p99_s``, …), how many were late by more than a millisecond (``down_stalled``), and how many
        were lost outside of the queue (``down_lost_outside``).
        """
        return self._frame("validity")

    @property
    def host(self) -> str:
        """Where it ran: ``"sim"``, ``"linux"`` or ``"live"``."""
        return self._report.host

    @property
    def complete(self) -> bool:
        """Did every run finish? Otherwise :attr:`failures` says which did not."""
        return self._report.complete

    @property
    def failures(self) -> tuple[RunFailure, ...]:
        """Each run that failed."""
        return tuple(RunFailure(*facts) for facts in self._report.failures)

    def __repr__(self) -> str:
        name, count = self.summary["scenario"], len(self.summary["points"])
        return f"Result({name!r}, {count} {'point' if count == 1 else 'points'})"
