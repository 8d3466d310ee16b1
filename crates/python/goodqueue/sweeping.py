"""Sweeps: designs of points, and running them into a folder that survives."""

from __future__ import annotations

import itertools
import json
import math
import os
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from goodqueue import _core
from goodqueue._progress import Progress, shown
from goodqueue._store import Files, Folder, is_url, opened
from goodqueue.exceptions import Fault, ScenarioError, SweepError
from goodqueue.running import checked_jobs
from goodqueue.scenario import Scenario

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["Range", "Sweep", "latin_hypercube", "sobol", "sweep"]

Design: TypeAlias = "list[dict[str, Any]]"
"""Points, each with a value for each key: what ``Scenario(sweep=…)`` takes."""

_QUANTITY = re.compile(r"\s*([-+0-9.eE]+)\s*(.*?)\s*")
_DIGITS = 6


@dataclass(frozen=True, kw_only=True)
class Range:
    """A range that a design draws values from.

    Parameters
    ----------
    low, high
        Numbers, or quantities of one unit: ``"1 Mbit/s"`` and ``"100 Mbit/s"``.
    log
        Evenly over the logarithm?
    whole
        Whole numbers only?

    Examples
    --------
    >>> Range(low="1 Mbit/s", high="100 Mbit/s", log=True).at(0.5)
    '10 Mbit/s'
    >>> Range(low=1, high=8, whole=True).at(0.999)
    8
    """

    low: str | float
    high: str | float
    log: bool = False
    whole: bool = False

    def __post_init__(self) -> None:
        (low, unit), (high, other) = _quantity(self.low), _quantity(self.high)
        if unit != other:
            raise ValueError(f"Range: `{self.low}` and `{self.high}` have different units")
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ValueError(f"Range: `{self.low}` is not below `{self.high}`")
        if self.log and low <= 0:
            raise ValueError(f"Range: `{self.low}` has no logarithm: allowed numbers above zero")
        if self.whole and not (low.is_integer() and high.is_integer()):
            raise ValueError(f"Range: `{self.low}` to `{self.high}`: whole=True needs whole numbers")

    def at(self, part: float) -> str | int | float:
        """The value at a part of the way from low to high, in [0, 1), to six digits."""
        (low, unit), (high, _) = _quantity(self.low), _quantity(self.high)
        number: float
        if self.whole:
            # Every whole number has a share of its own, of equal size when evenly spread.
            top = high + 1
            number = math.floor(low * (top / low) ** part if self.log else low + (top - low) * part)
            number = min(max(number, int(low)), int(high))
        else:
            number = low * (high / low) ** part if self.log else low + (high - low) * part
            number = float(f"{number:.{_DIGITS}g}")
        # Quantities are written without exponents.
        return f"{format(Decimal(repr(number)), 'f').removesuffix('.0')} {unit}" if unit else number


def _quantity(given: str | float) -> tuple[float, str]:
    if not isinstance(given, str):
        return float(given), ""
    parts = _QUANTITY.fullmatch(given)
    try:
        return (float(parts[1]), parts[2]) if parts else (math.nan, "")
    except ValueError:
        return math.nan, ""


def latin_hypercube(ranges: Mapping[str, Range], *, points: int, seed: int = 1) -> Design:
    """Points of a Latin hypercube: each key takes one value from each of ``points`` equal parts of its range.

    McKay, Beckman and Conover, "A comparison of three methods for selecting values of input variables in the analysis
    of output from a computer code", Technometrics 21(2), 1979.

    Parameters
    ----------
    ranges
        Dotted keys and what their values are drawn from.
    points
        How many.
    seed
        Root of the design's own random numbers.

    Examples
    --------
    >>> latin_hypercube({"traffic.0.flows": Range(low=1, high=4, whole=True)}, points=4)
    [{'traffic.0.flows': 4}, {'traffic.0.flows': 1}, {'traffic.0.flows': 3}, {'traffic.0.flows': 2}]
    """
    _check(ranges, points)
    rng = random.Random(seed)
    columns = []
    for each in ranges.values():
        order = list(range(points))
        rng.shuffle(order)
        columns.append([each.at((place + rng.random()) / points) for place in order])
    return [dict(zip(ranges, row, strict=True)) for row in zip(*columns, strict=True)]


def sobol(ranges: Mapping[str, Range], *, points: int) -> Design:
    """The first points of Sobol's sequence, without the first of all, which is the corner of all ranges.

    Every prefix fills the ranges evenly, best when ``points`` is one less than a power of two. Direction numbers are
    those of Joe and Kuo, "Constructing Sobol sequences with better two-dimensional projections", SIAM Journal on
    Scientific Computing 30(5), 2008.

    Parameters
    ----------
    ranges
        Dotted keys and what their values are taken from, up to ten.
    points
        How many.

    Examples
    --------
    >>> sobol({"link.bottleneck.delay": Range(low="0 ms", high="8 ms")}, points=3)
    [{'link.bottleneck.delay': '4 ms'}, {'link.bottleneck.delay': '6 ms'}, {'link.bottleneck.delay': '2 ms'}]
    """
    _check(ranges, points)
    if len(ranges) > len(_DIRECTIONS):
        raise ValueError(f"sobol: {len(ranges)} keys: allowed up to {len(_DIRECTIONS)}")
    sequences = [_sequence(dimension, points) for dimension in range(len(ranges))]
    rows = zip(*sequences, strict=True)
    return [{key: each.at(part) for (key, each), part in zip(ranges.items(), row, strict=True)} for row in rows]


_BITS = 32
# Degree and coefficients of the primitive polynomial, and first direction numbers; the first
# dimension needs none.
_DIRECTIONS: Sequence[tuple[int, int, Sequence[int]]] = (
    (0, 0, ()),
    (1, 0, (1,)),
    (2, 1, (1, 3)),
    (3, 1, (1, 3, 1)),
    (3, 2, (1, 1, 1)),
    (4, 1, (1, 1, 3, 3)),
    (4, 4, (1, 3, 5, 13)),
    (5, 2, (1, 1, 5, 5, 17)),
    (5, 4, (1, 1, 5, 5, 5)),
    (5, 7, (1, 1, 7, 11, 19)),
)


def _sequence(dimension: int, points: int) -> Iterator[float]:
    degree, coefficients, first = _DIRECTIONS[dimension]
    if degree == 0:
        numbers = [1 << (_BITS - 1 - bit) for bit in range(_BITS)]
    else:
        numbers = [value << (_BITS - 1 - bit) for bit, value in enumerate(first)]
        for bit in range(degree, _BITS):
            number = numbers[bit - degree] ^ (numbers[bit - degree] >> degree)
            for term in range(1, degree):
                if coefficients >> (degree - 1 - term) & 1:
                    number ^= numbers[bit - term]
            numbers.append(number)
    value = 0
    for place in range(points):
        # The Gray code of the next place differs in the bit of the lowest zero.
        value ^= numbers[(~place & (place + 1)).bit_length() - 1]
        yield value / 2**_BITS


def _check(ranges: Mapping[str, Range], points: int) -> None:
    if not ranges:
        raise ValueError("a design needs at least one key")
    if not 1 <= points <= 100_000:
        raise ValueError(f"points: {points} is out of range: allowed 1 to 100000")


class Sweep:
    """A place that a sweep was run into.

    Parameters
    ----------
    path
        The folder, or a URL of fsspec.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        place = os.fspath(path)
        self.path: Path | str = place if is_url(place) else Path(place)

    def _read(self, name: str) -> bytes:
        if isinstance(self.path, Path):
            return (self.path / name).read_bytes()
        data = Files(self.path).read(name)
        if data is None:
            raise FileNotFoundError(f"{self.path}/{name}")
        return data

    @property
    def summary_json(self) -> str:
        """``summary.json``: the bytes that running all points at once gives."""
        return self._read("summary.json").decode()

    def scan(self) -> pl.LazyFrame:
        """All figures of all points, one per row, read when they are asked for.

        Columns are ``point``, one for each swept key, ``part`` (link, group, fairness, flow), ``subject``, ``index``
        (of a flow), ``metric``, ``unit``, ``mean``, ``ci95`` and ``n``.
        """
        if isinstance(self.path, Path):
            return pl.scan_parquet(self.path / "points" / "*.parquet")
        if self.path.split("://")[0] in _POLARS_READS:
            return pl.scan_parquet(f"{self.path.rstrip('/')}/points/*.parquet")
        files = Files(self.path)
        names = [f"points/{name}" for name in files.names("points") if name.endswith(".parquet")]
        read = files.read_all(names)
        return pl.concat([pl.read_parquet(data) for data in read if data is not None]).lazy()

    def failures(self) -> list[Mapping[str, Any]]:
        """What is known of each point that failed: ``point``, ``set``, ``errors``, ``settings``."""
        if isinstance(self.path, Path):
            names = sorted(file.name for file in (self.path / "failed").glob("*.json"))
        else:
            names = [name for name in Files(self.path).names("failed") if name.endswith(".json")]
        return [json.loads(self._read(f"failed/{name}")) for name in names]

    def __repr__(self) -> str:
        return f"Sweep({str(self.path)!r})"


_POLARS_READS = {"s3", "gs", "az", "abfs", "abfss", "file"}
"""Stores that polars reads by itself."""


def sweep(
    scenario: Scenario | str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    jobs: int | None = None,
    client: Client | str | None = None,
    progress: Progress = None,
) -> Sweep:
    """Run every point of a scenario's sweep into a folder, resuming an earlier call that was stopped.

    Each finished point is a file of its own, under its name only when it is whole. All points see the same random
    numbers. A sweep that was stopped or killed ends with the same bytes as an uninterrupted one. Points that fail are
    recorded with their errors (:meth:`Sweep.failures`) and do not stop the others; the next call tries them again.

    Parameters
    ----------
    scenario
        A scenario, or the path of a scenario file.
    out
        The folder, or a URL that fsspec can write to, such as ``s3://bucket/sweep``. This process writes, no matter
        who runs the points.
    jobs
        Points at the same time on this machine; one for each processor when not given.
    client
        A ``distributed.Client``, or the address of a Dask scheduler: its workers run the points. With an address, a
        scheduler that is restarted within a minute is found again.
    progress
        As in :func:`goodqueue.run`.

    Raises
    ------
    ScenarioError
        When the scenario or an argument is wrong.
    SweepError
        When the folder holds another sweep or cannot be written; when a worker has another version of the package or
        reads another scenario; when the scheduler is gone.

    Examples
    --------
    >>> import tempfile
    >>> from goodqueue import Bulk, Link, Range, Scenario, sobol, sweep
    >>> scenario = Scenario(
    ...     duration="2 s",
    ...     link=Link(rate="10 Mbit/s", delay="5 ms", buffer="1 bdp"),
    ...     traffic=[Bulk()],
    ...     sweep=sobol({"link.bottleneck.delay": Range(low="1 ms", high="100 ms", log=True)}, points=3),
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     figures = sweep(scenario, folder).scan().filter(metric="utilization").collect()
    >>> figures["link.bottleneck.delay"].to_list()
    ['10 ms', '31.6228 ms', '3.16228 ms']
    """
    plan = scenario.plan if isinstance(scenario, Scenario) else _core.Plan.load(os.fspath(scenario))
    run_plan(plan, os.fspath(out), jobs=jobs, client=client, progress=progress)
    return Sweep(out)


def run_plan(
    plan: _core.Plan, place: str, *, jobs: int | None, client: Client | str | None, progress: Progress
) -> tuple[int, int, int]:
    """Run a plan's missing points: how many were found, are finished in the end, and failed."""
    if client is not None and jobs is not None:
        message = "is given with a client, whose workers have threads of their own"
        raise ScenarioError(f"sweep(): jobs: {message}", [Fault("sweep()", None, None, "jobs", message, None)])
    jobs = checked_jobs(jobs)
    with shown(progress, f"{plan.point_count} points") as told:
        if client is None and not is_url(place):
            _, found, finished, failed = _core.sweep(plan, place, jobs=jobs, progress=told)
            return found, finished, failed
        folder = opened(plan, place)
        found = plan.point_count - len(folder.missing())
        if client is None:
            finished, failed = _threads(plan, folder, jobs, told)
        else:
            finished, failed = _module().run(client, plan, folder, told)
    folder.summarize()
    return found, finished, failed


def _module() -> Any:
    try:
        from goodqueue import _distributed
    except ImportError as error:
        raise SweepError("a client needs Dask: pip install 'goodqueue[dask]'") from error
    return _distributed


def _threads(plan: _core.Plan, folder: Folder, jobs: int, told: Callable[[float], object] | None) -> tuple[int, int]:
    """Run the missing points on this machine, into a place that only Python can write to."""
    missing, sha256 = folder.missing(), plan.sha256
    finished, failed = plan.point_count - len(missing), 0
    with ThreadPoolExecutor(jobs) as pool:
        numbers, out = iter(missing), dict[Any, int]()
        while True:
            # A few ahead of those that run, so that no thread waits while this one writes.
            for number in itertools.islice(numbers, 2 * jobs - len(out)):
                out[pool.submit(_core.run_point, plan, sha256, number)] = number
            if not out:
                return finished, failed
            for future in wait(out, return_when=FIRST_COMPLETED).done:
                whole, data = future.result()
                folder.keep(out.pop(future), whole, data)
                finished, failed = finished + whole, failed + (not whole)
            if told is not None:
                told((finished + failed) / plan.point_count)
