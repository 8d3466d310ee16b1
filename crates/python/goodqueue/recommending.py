"""What to set up on a line that is known only roughly."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias

from goodqueue import _core
from goodqueue._progress import Progress, shown
from goodqueue.running import GQ, checked_jobs

__all__ = ["Recommendation", "Setup", "Undetermined", "recommend"]

Checker: TypeAlias = Literal["linux", "live"]
Effort: TypeAlias = Literal["quick", "thorough"]


@dataclass(frozen=True)
class Setup:
    """What a router can be set to, and what people get under it."""

    label: str
    """What it is called, for instance ``"cake at 90 %"``."""
    down: Mapping[str, Any]
    """The queue toward the user, with the keys of a scenario's."""
    up: Mapping[str, Any]
    """The queue from the user."""
    shape_percent: float | None
    """The shaped rate in per cent of the measured one; ``None`` where nothing is shaped."""
    rate_down_bit_s: int | None
    """The shaped rate toward the user."""
    rate_up_bit_s: int | None
    """The shaped rate from the user."""
    experience: Mapping[str, Mapping[str, Mapping[str, Any]]]
    """Activity and figure, each with ``mean``, ``ci95`` and ``n`` over corners and seeds."""
    utilization: Sequence[Mapping[str, Any]]
    """Utilization of the line, toward the user and from the user."""


@dataclass(frozen=True)
class Undetermined(Setup):
    """A setup of which the runs do not settle whether it is worse."""

    metric: str
    """The figure in which it seems worse."""
    behind: Mapping[str, Any]
    """By how much, with the interval that does not settle it."""


@dataclass(frozen=True)
class Recommendation:
    """An answer of :func:`recommend`: the fields of what ``gq recommend --json`` writes."""

    schema: str
    """Name and version of the form, ``goodqueue.recommendation/2``."""
    version: str
    """Version of the program."""
    text: str
    """The answer in words."""
    choice: Setup
    """What to set up."""
    shape_percent: float | None
    """The choice's shaped rate in per cent of the measured one."""
    experience: Mapping[str, Mapping[str, Mapping[str, Any]]]
    """What people get under the choice."""
    deciding: Sequence[Mapping[str, str]]
    """The figures by which candidates were compared, in order: ``activity``, ``metric``, ``words``, ``quantity``."""
    without: Setup
    """The same line with nothing set up."""
    alternatives: Sequence[Setup]
    """Those that are as good for everybody on the line."""
    undetermined: Sequence[Undetermined]
    """Those of which the runs do not settle whether they are worse."""
    regret: Sequence[Mapping[str, Any]]
    """Where the choice does worst, by each figure that decides."""
    measure_next: Mapping[str, str] | None
    """The measurement that would change the choice; ``None`` if none would."""
    policy: str
    """The policy in words; empty without one."""
    line: Mapping[str, Any]
    """The question."""
    left_out: Sequence[str]
    """Groups of the mix that would take too much of the line."""
    corners: Sequence[str]
    """The corners that were tried."""
    candidates: int
    """How many candidates were tried."""
    runs: int
    """How many runs were made."""
    seed: int
    """Root of all randomness."""
    scenario: str
    """The line with the choice, as the text of a scenario file: :meth:`Scenario.from_toml` reads it."""
    check: Mapping[str, Any] | None
    """What another host says of the answer; ``None`` unless it was asked for."""
    _json: str = field(repr=False)

    def to_json(self) -> str:
        """The answer as ``gq recommend --json`` writes it, byte for byte."""
        return self._json

    @classmethod
    def _of(cls, text: str) -> Recommendation:
        given: dict[str, Any] = json.loads(text)
        for name in ("choice", "without"):
            given[name] = Setup(**given[name])
        given["alternatives"] = tuple(Setup(**one) for one in given["alternatives"])
        given["undetermined"] = tuple(Undetermined(**one) for one in given["undetermined"])
        known = {one.name for one in fields(cls)}
        return cls(**{name: value for name, value in given.items() if name in known}, _json=text + "\n")


def recommend(
    *,
    down: str,
    up: str,
    varies: str = "0%",
    rtt: str = "20ms..120ms",
    buffer: str = "50ms..500ms",
    flows: str | int = "",
    cc: str | Sequence[str] = ("cubic", "bbr"),
    mix: str = "",
    hardware: str = "any",
    policy: str = "",
    effort: Effort = "quick",
    check: Checker | None = None,
    seed: int = 1,
    jobs: int | None = None,
    progress: Progress = None,
) -> Recommendation:
    """Find queue, settings and shaped rate for a line, as ``gq recommend`` does.

    Parameters
    ----------
    down, up
        Measured rates toward the user and from the user, for instance ``"50 Mbit/s"``.
    varies
        Part by which the rate at a time may lie above or below the measured one.
    rtt
        Round-trip time without queueing, or its range: ``"20ms..120ms"``.
    buffer
        What the modem and the provider can hold, as time at the line's rate, or its range.
    flows
        Large transfers at once in each direction, or their range.
    cc
        Their congestion control, one or two.
    mix
        What people do on the line (``gq list mix``); by default an evening at home and a backup.
    hardware
        What the router can run: ``"openwrt"``, ``"linux"``, ``"libreqos"``, ``"routeros"`` or ``"any"``.
    policy
        What a candidate must do before it is ranked (docs/answers.md has the keys); nothing when empty.
    effort
        ``"quick"``, or ``"thorough"`` for more shaped rates, longer runs and more of them.
    check
        Another host that runs the choice and its rivals at the same corners: ``"linux"``, TCP of guest kernels.
    seed
        Root of all randomness.
    jobs
        Runs at the same time; one for each processor when not given.
    progress
        As in :func:`run`; a check begins at zero once more.

    Raises
    ------
    ScenarioError
        When an argument is wrong, or the host of the check cannot run the mix.
    HostError
        When this machine cannot provide that host.
    RunError
        When a run failed.

    Examples
    --------
    >>> from goodqueue import recommend
    >>> answer = recommend(
    ...     down="4 Mbit/s", up="2 Mbit/s", rtt="20ms", buffer="500ms", flows=2, cc="cubic",
    ...     mix="call-and-ping", hardware="openwrt",
    ... )
    >>> answer.choice.down["kind"] in ("cake", "fq-codel")
    True
    """
    with shown(progress, "recommendation") as told:
        text = _core.recommendation(
            down=down,
            up=up,
            varies=varies,
            rtt=rtt,
            buffer=buffer,
            flows=str(flows),
            cc=cc if isinstance(cc, str) else ",".join(cc),
            mix=mix,
            hardware=hardware,
            policy=policy,
            effort=effort,
            on=check,
            itself=GQ,
            seed=seed,
            jobs=checked_jobs(jobs),
            progress=told,
        )
    return Recommendation._of(text)
