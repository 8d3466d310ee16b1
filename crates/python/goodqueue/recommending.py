"""What to set up on a line that is known only roughly."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias

from goodqueue import _core
from goodqueue._progress import Progress, shown
from goodqueue.running import GQ, checked_jobs

__all__ = ["Recommendation", "Setup", "Undetermined", "recommend"]

Checker: TypeAlias = Literal["linux", "linux-7.3"]
Effort: TypeAlias = Literal["quick", "thorough"]
Modem: TypeAlias = Literal["fifo", "pie"]
Unit: TypeAlias = Literal["ms", "rpm", "grade", "qoo"]
Want: TypeAlias = Literal["throughput", "l4s"]


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
    stopped: bool
    """Whether it was stopped before the search had ended."""
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
    down: str = "",
    up: str = "",
    from_file: str | os.PathLike[str] | None = None,
    line: str = "",
    overhead: str = "",
    varies: str = "",
    rtt: str = "",
    buffer: str = "",
    modem: Modem = "fifo",
    hosts: str | int = 1,
    cpu: str = "",
    want: Want | None = None,
    flows: str | int = "",
    cc: str | Sequence[str] = ("cubic", "bbr"),
    mix: str = "",
    hardware: str = "any",
    policy: str = "",
    unit: Unit = "ms",
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
        Measured rates toward the user and from the user, for instance ``"50 Mbit/s"``; needed where no file tells them.
    from_file
        Measurement of the line, any file that ``gq import`` reads. Arguments that are given go before what it tells;
        ``line`` of the answer has what was taken, and warnings have remarks on it.
    line
        Kind of line, which fills in what is not given: ``"adsl"``, ``"vdsl"``, ``"docsis"``, ``"lte"``, ``"leo"``,
        ``"geo"`` or ``"fiber"``.
    overhead
        Framing on the line: bytes for each packet, or keywords of tc-cake (``"pppoe-ptm"``); that of the kind of line
        when not given.
    varies
        Part by which the rate at a time may lie above or below the measured one; when not given zero, or that of the
        kind of line.
    rtt
        Round-trip time without queueing, or its range; when not given ``"20ms..120ms"``, or that of the kind of line.
    buffer
        What the modem and the provider can hold, as time at the line's rate, or its range; when not given
        ``"50ms..500ms"``, or that of the kind of line.
    modem
        Queue of the modem toward the provider: ``"fifo"``, or ``"pie"`` as in cable modems of DOCSIS 3.1.
    hosts
        Devices behind the router; one of them has the large transfers.
    cpu
        Fastest that the router can shape, for instance ``"300 Mbit/s"``; fast enough when not given.
    want
        Aim other than what people notice: ``"throughput"`` or ``"l4s"``.
    flows
        Transfers without end at once in each direction, or their range; the mix's own number when not given.
    cc
        Their congestion control, one or two.
    mix
        What people do on the line (``gq list mix``); the worse of ``evening`` and ``backup`` when not given, and
        ``slow`` on slow lines. Former names get a warning.
    hardware
        What the router can run: ``"openwrt"``, ``"linux"``, ``"libreqos"``, ``"routeros"``, ``"pfsense"``,
        ``"opnsense"`` or ``"any"``.
    policy
        What a candidate must do before it is ranked (docs/answers.md has the keys); nothing when empty.
    unit
        Unit of the latency under load in the answer's words: ``"ms"``, ``"rpm"``, ``"grade"`` or ``"qoo"``.
    effort
        ``"quick"``, or ``"thorough"`` for more shaped rates, longer runs and more of them.
    check
        Another host that runs the choice and its rivals at the same corners: ``"linux"``, TCP of guest kernels, or
        ``"linux-7.3"``.
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
    arguments = {
        "from_file": from_file,
        "down": down,
        "up": up,
        "line": line,
        "overhead": overhead,
        "varies": varies,
        "rtt": rtt,
        "buffer": buffer,
        "modem": modem,
        "hosts": str(hosts),
        "cpu": cpu,
        "want": want or "",
        "flows": str(flows),
        "cc": cc if isinstance(cc, str) else ",".join(cc),
        "mix": mix,
        "hardware": hardware,
        "policy": policy,
        "unit": unit,
        "effort": effort,
        "seed": seed,
        "jobs": checked_jobs(jobs),
    }
    with shown(progress, "recommendation") as told:
        text = _core.recommendation(arguments, check, GQ, told)
    return Recommendation._of(text)
