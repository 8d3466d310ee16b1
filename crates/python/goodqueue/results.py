"""What running gave: figures as text and as tables."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from goodqueue import _core
from goodqueue.exceptions import ResultError, RunFailure

__all__ = ["Drawing", "Headline", "Result", "Table"]

Table = _core.Table
"""Columns that any library with Arrow's C interface takes over without copying: ``polars.DataFrame(table)``,
``pyarrow.table(table)``, ``duckdb.from_arrow(pyarrow.table(table))``."""


@dataclass(frozen=True)
class Headline:
    """The verdict of a result in words, as every table and page shows it."""

    text: str
    """At most two sentences, a blank line, and details in a line each."""
    best: str | None
    """Label of the queue that is named; ``None`` when nothing is ranked."""
    not_significantly_different: tuple[str, ...]
    """Labels of those that are not significantly worse for anybody on the line."""
    price: str
    """What the named queue costs in utilization and goodput, in words."""
    unusable: tuple[str, ...]
    """Activities that are unusable under the named queue."""
    grades: Mapping[str, Mapping[str, str]]
    """For each queue its activities as ``good``, ``fair``, ``poor`` or ``unusable``."""
    policy: str
    """The policy in words; empty without one."""
    outside_policy: tuple[str, ...]
    """Labels of the queues that the policy excludes."""


@dataclass(frozen=True)
class Drawing:
    """A figure for a paper, drawn by the same code as ``gq plot``; notebooks show it."""

    svg: str
    """The figure as SVG."""
    _draw: Callable[[str], bytes] = field(repr=False, compare=False)

    def _repr_svg_(self) -> str:
        return self.svg

    def to_bytes(self, format: str = "pdf") -> bytes:
        """The figure as ``pdf``, ``svg`` or ``png`` (300 pixels per inch).

        Parameters
        ----------
        format
            Which of them.
        """
        return self._draw(format)

    def save(self, path: str | Path) -> None:
        """Write the figure to a file, in the format that its name ends in: ``.pdf``, ``.svg`` or ``.png``.

        Parameters
        ----------
        path
            The file; it is replaced.
        """
        path = Path(path)
        path.write_bytes(self._draw(path.suffix.removeprefix(".").lower()))


@dataclass(frozen=True)
class _Folder:
    """A result on disk: what its tables lack, from the files next to its summary."""

    path: Path
    stored: _core.Stored

    def failures(self) -> tuple[RunFailure, ...]:
        told = self._run().get("failures", [])
        parts = (re.fullmatch(r"(.*), replication (\d+): (.*)", text, re.DOTALL) for text in told)
        return tuple(RunFailure(part[1], int(part[2]), part[3]) for part in parts if part)

    def frame(self, name: str) -> pl.DataFrame | None:
        """A table that is a file of its own, or ``None`` for one of figures."""
        if name == "validity" and self._run().get("validity"):
            raise ResultError(f"{self.path}: how far runs in real time can be trusted is in run.json, not in a table")
        if name == "cdf":
            return self._cdf()
        return self._recorded(name) if name in ("series", "packets") else None

    def _run(self) -> Mapping[str, Any]:
        try:
            parsed: Mapping[str, Any] = json.loads((self.path / "run.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise ResultError(f"{self.path / 'run.json'}: cannot be read: {error}") from None
        return parsed

    def _read(self, file: str, columns: Mapping[str, Any]) -> pl.DataFrame:
        path = self.path / file
        if not path.exists():
            return pl.DataFrame(schema=columns)
        try:
            return pl.read_parquet(path).select(pl.col(name).cast(kind) for name, kind in columns.items())
        except (OSError, pl.exceptions.PolarsError) as error:
            raise ResultError(f"{path}: cannot be read: {error}") from None

    def _recorded(self, name: str) -> pl.DataFrame:
        columns = pl.DataFrame(self.stored.table(name)).schema
        names = pl.DataFrame({"label": self.stored.labels}).with_row_index("point")
        rows = self._read(f"{name}.parquet", {name: kind for name, kind in columns.items() if name != "label"})
        joined = rows.join(names, on="point", how="left", maintain_order="left")
        return joined.with_columns(pl.col("label").fill_null("")).select(columns.names())

    def _cdf(self) -> pl.DataFrame:
        texts = dict.fromkeys(("label", "subject", "name"), pl.String)
        rows = self._read(
            "distributions.parquet", {"point": pl.UInt32, **texts, "value": pl.Float64, "share": pl.Float64}
        )
        link = pl.col("subject").str.strip_prefix("link:").alias("link")
        sojourn = rows.filter(pl.col("name") == "sojourn_s")
        return sojourn.select("point", "label", link, pl.col("value").alias("sojourn_s"), "share")


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

    def __init__(self, report: _core.Report | _core.Stored, folder: _Folder | None = None) -> None:
        self._report = report
        self._folder = folder

    def __reduce__(self) -> tuple[Callable[[Path], Result], tuple[Path]]:
        """Pickle a result of a folder as the path of the folder; one in memory is none that can be pickled."""
        if self._folder is None:
            msg = "a Result in memory cannot be pickled: send its tables (`result.groups`), or Result.load(folder)"
            raise TypeError(msg)
        return type(self).load, (self._folder.path,)

    @classmethod
    def load(cls, folder: str | Path) -> Result:
        """Read the result that ``gq run``, ``gq compare`` or ``gq sweep`` wrote to a folder.

        It has the same tables as one from :func:`goodqueue.run`; those of what was not recorded are empty. Raises
        :class:`goodqueue.ResultError` when the folder holds no result.

        Parameters
        ----------
        folder
            The folder, which holds ``summary.json``.
        """
        stored = _core.Stored.load(str(folder))
        return cls(stored, _Folder(Path(folder), stored))

    def plot(
        self,
        figure: str,
        *,
        width: str = "3.3in",
        height: str | None = None,
        font: str = "sans",
        font_size: str = "8pt",
        title: str | None = None,
        link: str | None = None,
        group: str | None = None,
        metric: str | Sequence[str] = (),
        only: str | Sequence[str] = (),
        scale: str | None = None,
    ) -> Drawing:
        """Draw a figure for a paper, as ``gq plot`` does: the same bytes for the same result.

        Colors and marks are those of the report, axes have units, and there is no title unless one is given. Raises
        :class:`goodqueue.PlotError` when a setting is wrong or the result lacks the figure that is needed. For
        figures that are further worked on, :mod:`goodqueue.plot` draws into axes of matplotlib.

        Parameters
        ----------
        figure
            ``"sweep"``, one metric over a swept setting; ``"bars"``, one metric; ``"tradeoff"``, one metric against
            another; ``"cdf"``, distributions of times; ``"time"``, what was sampled over time.
        width, height
            Lengths in ``in``, ``cm``, ``mm`` or ``pt``; the height as the width needs when not given.
        font, font_size
            ``"serif"``, ``"sans"`` or the name of a font, and the size of the letters at the axes.
        title
            Above the figure.
        link
            Of which link; the first when not given.
        group
            Of which group of flows, instead of a link.
        metric
            By its name in the summary, or for ``"time"`` in the series; two for ``"tradeoff"``, across and up.
        only
            Labels of the points to draw; all when none is given.
        scale
            ``"linear"`` or ``"log"``; as the values spread when not given.
        """

        def listed(names: str | Sequence[str]) -> list[str]:
            return [names] if isinstance(names, str) else list(names)

        settings: dict[str, str | list[str] | None] = {
            "figure": figure,
            "width": width,
            "height": height,
            "font": font,
            "font_size": font_size,
            "title": title,
            "link": link,
            "group": group,
            "metric": listed(metric),
            "only": listed(only),
            "scale": scale,
        }

        def draw(format: str) -> bytes:
            return _core.draw(self._report, {**settings, "format": format})

        return Drawing(draw("svg").decode(), draw)

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
            price=given["price"],
            unusable=tuple(given["unusable"]),
            grades={graded["label"]: graded["grades"] for graded in given["grades"]},
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

    def table(self, name: str) -> _core.Table | pl.DataFrame:
        """One of the tables, for any library that takes Arrow data.

        Parameters
        ----------
        name
            ``points``, ``links``, ``groups``, ``flows``, ``fairness``, ``cdf``, ``series``, ``packets`` or
            ``validity``.
        """
        own = self._folder.frame(name) if self._folder else None
        return self._report.table(name) if own is None else own

    def _frame(self, name: str) -> pl.DataFrame:
        table = self.table(name)
        return table if isinstance(table, pl.DataFrame) else pl.DataFrame(table)

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

        Columns are ``subject`` (``link:NAME``, ``flow:GROUP:NUMBER``, ``probe:GROUP:NUMBER``), ``name`` (what was
        sampled), ``time_s`` and ``value``.
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
        """Where it ran: ``"sim"``, ``"linux"``, ``"linux-7.3"``, ``"kernel"`` or ``"live"``."""
        return self._report.host

    @property
    def complete(self) -> bool:
        """Did every run finish? Otherwise :attr:`failures` says which did not."""
        return self._report.complete

    @property
    def failures(self) -> tuple[RunFailure, ...]:
        """Each run that failed."""
        if isinstance(self._report, _core.Stored):
            return self._folder.failures() if self._folder else ()
        return tuple(RunFailure(*facts) for facts in self._report.failures)

    def __repr__(self) -> str:
        name, count = self.summary["scenario"], len(self.summary["points"])
        return f"Result({name!r}, {count} {'point' if count == 1 else 'points'})"
