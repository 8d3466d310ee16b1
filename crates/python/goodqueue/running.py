"""Running scenarios: in the simulator, and where this machine allows it with real kernels."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from goodqueue import _core, _toml
from goodqueue._part import plain
from goodqueue._progress import Progress, shown
from goodqueue._toml import Value
from goodqueue.exceptions import Fault, RunError, RunFailure, ScenarioError
from goodqueue.results import Result
from goodqueue.scenario import Algorithms, Scenario, described

__all__ = ["compare", "run"]

Record: TypeAlias = Literal["nothing", "first", "all"]
Host: TypeAlias = Literal["sim", "linux", "linux-7.3", "kernel", "live"]


def _again() -> list[str]:
    lean = [sys.executable, "-I", "-S", str(Path(__file__).with_name("_guest.py")), _core.__file__]
    # Kernel command lines take no other characters.
    is_plain = all(word.isascii() and word.isprintable() and not set(word) & {" ", '"'} for word in lean)
    return lean if is_plain else [sys.executable, "-m", "goodqueue"]


GQ = _again()
"""The command that starts ``gq`` once more; guests of the host ``linux`` begin with it."""


def run(
    scenario: Scenario | str | os.PathLike[str],
    *,
    on: Host = "sim",
    set: Mapping[str, Value] | None = None,
    seed: int | None = None,
    replications: int | None = None,
    jobs: int | None = None,
    record: Record = "first",
    sample: str | None = None,
    packets: bool = False,
    algorithms: Algorithms | None = None,
    progress: Progress = None,
) -> Result:
    """Run every point and replication of a scenario.

    The interpreter's lock is free meanwhile; an interrupt ends the run. In the simulator the result depends on the
    scenario alone, not on ``jobs`` or the machine, and its summary has the bytes that ``gq run`` writes.

    Parameters
    ----------
    scenario
        A scenario, or the path of a scenario file.
    on
        Where it runs: ``"sim"``, the simulator; ``"linux"``, TCP of a guest kernel in virtual time, which ``make
        linux`` has built, or ``"linux-7.3"``, that of ``make linux-7.3``; ``"kernel"``, the same with queues in a
        kernel; or ``"live"``, TCP of this machine's kernel in real time, which needs root and is not repeatable
        (:attr:`Result.validity`). All but the first need Linux.
    set
        Dotted keys and their values on top of it, as ``gq run --set``: ``{"link.bottleneck.rate": "5 Mbit/s"}``.
    seed, replications
        Instead of the scenario's.
    jobs
        Runs at the same time; one for each processor when not given.
    record
        Which runs are sampled for :attr:`Result.series`: ``"nothing"``, the ``"first"`` replication of each point or
        ``"all"``.
    sample
        Time between two samples, for instance ``"10 ms"``; about 2500 samples per run when not given.
    packets
        Keep every packet event of the recorded runs for :attr:`Result.packets`?
    algorithms
        Algorithms written in Python by name (:class:`goodqueue.aqm.Algorithm`), for queues to name
        in addition to the listed ones. An exception in one of them ends the run and is raised here.
    progress
        A bar (``True``), none (``False``), a bar where someone sees it (``None``), or a function that is told the
        finished part, in [0, 1].

    Raises
    ------
    ScenarioError
        When the scenario or an argument is wrong, or the host cannot honor a key of any point, which its fault names.
    HostError
        When this machine cannot provide the host.
    RunError
        When runs failed; it has the result of the others.

    Examples
    --------
    >>> from goodqueue import Bulk, Link, Scenario, run
    >>> link = Link(rate="10 Mbit/s", delay="5 ms", buffer="50 packets", queue="codel")
    >>> result = run(Scenario(duration="5 s", link=link, traffic=[Bulk(flows=2)]))
    >>> result.links["link"].to_list()
    ['bottleneck']
    >>> 0.9 < result.links["utilization"][0] <= 1.0
    True
    """
    if isinstance(scenario, Scenario):
        plan = scenario._read(algorithms) if algorithms else scenario.plan
    else:
        plan = _core.Plan.load(os.fspath(scenario), described(algorithms or {}))
    given: object = set
    if given is not None and not isinstance(given, Mapping):
        message = f"is a `{type(given).__name__}`: expected a mapping of keys to values"
        raise ScenarioError(f"run(): set: {message}", [Fault("run()", None, None, "set", message, None)])
    pairs = [(key, _toml.value(plain(value), key)) for key, value in (set or {}).items()]
    numbers = (("seed", seed), ("replications", replications))
    pairs += [(key, _toml.value(value, key)) for key, value in numbers if value is not None]
    return _run(
        plan.with_overrides(pairs) if pairs else plan,
        jobs,
        on=on,
        record=record,
        sample=sample,
        packets=packets,
        progress=progress,
    )


def compare(
    *,
    rate: str | None = None,
    rate_up: str | None = None,
    trace: str | os.PathLike[str] | None = None,
    trace_up: str | os.PathLike[str] | None = None,
    rtt: str = "20ms",
    overhead: str | None = None,
    buffer: str | None = None,
    buffer_up: str | None = None,
    traffic: str | os.PathLike[str] | None = None,
    flows: int | None = None,
    flows_up: int | None = None,
    cc: str | Sequence[str] = "cubic",
    aqm: str | Sequence[str] | None = None,
    aqm_up: str | Sequence[str] = (),
    ecn: bool = False,
    warmup: str | None = None,
    duration: str | None = None,
    replications: int | None = None,
    seed: int = 1,
    jobs: int | None = None,
    record: Record = "first",
    sample: str | None = None,
    packets: bool = False,
    progress: Progress = None,
) -> Result:
    """Compare queues on one line, as ``gq compare`` does.

    Parameters
    ----------
    rate
        Rate of the bottleneck, for instance ``"10 Mbit/s"``, or down and up as ``"50/10mbit"``; this or ``trace`` is
        needed.
    rate_up
        Rate of the upload direction, which then has its own buffer and uploads.
    trace, trace_up
        Recorded rate of the bottleneck and of the upload direction: mahimahi files of delivery opportunities.
    rtt
        Round-trip time without queueing.
    overhead
        Framing of the bottleneck: bytes for each packet, or keywords of tc-cake (``"pppoe-ptm"``); none by default.
    buffer
        Buffer of the bottleneck; 250 ms when not given.
    buffer_up
        Buffer of the upload direction; the same when not given.
    traffic
        Name of a mix (``gq list mix``), or path of a file with ``[[traffic]]`` tables; ``download`` when not given,
        ``backup`` on lines of two rates, ``slow`` on slow lines. Warnings name groups that the line cannot carry.
    flows, flows_up
        Bulk flows of each congestion control, down and up; the mix's own numbers when not given.
    cc
        Congestion control, as ``"KIND"`` or ``"KIND:PARAMETER=VALUE:…"``; of several, each has bulk flows of its own.
    aqm
        Queues, each as ``"KIND"`` or ``"KIND:PARAMETER=VALUE:…"``; a usual choice when not given.
    aqm_up
        Queues of the upload direction, each combined with each of ``aqm``; the same in both directions when not given.
    ecn
        Mark instead of drop where queues can?
    warmup, duration
        Time before measuring begins, and the measured part after it: when not given 30 s (120 s where videos compete
        with downloads) and 120 s for mixes of sessions, else 5 s and 30 s, or as long as the recording.
    replications
        Independent repetitions of each queue; 5 when not given.
    seed
        Root of all randomness.
    jobs, record, sample, packets, progress
        As in :func:`run`.

    Raises
    ------
    ScenarioError
        When an argument is wrong.
    RunError
        When runs failed; it has the result of the others.

    Examples
    --------
    >>> from goodqueue import compare
    >>> result = compare(rate="10 Mbit/s", aqm=["tail-drop", "codel"], duration="5 s", replications=2)
    >>> result.links["label"].to_list()
    ['tail-drop', 'codel']
    """

    def listed(given: str | Sequence[str]) -> Sequence[str]:
        return [given] if isinstance(given, str) else given

    where = {"trace": trace, "trace_up": trace_up}
    paths = {name: None if path is None else str(Path(path).absolute()) for name, path in where.items()}
    arguments = {
        "rate": rate,
        "rate_up": rate_up,
        **paths,
        "rtt": rtt,
        "overhead": overhead,
        "buffer": buffer,
        "buffer_up": buffer_up,
        "traffic": _traffic(traffic),
        "flows": flows,
        "flows_up": flows_up,
        "cc": listed(cc),
        "aqm": None if aqm is None else listed(aqm),
        "aqm_up": listed(aqm_up),
        "ecn": ecn,
        "warmup": warmup,
        "duration": duration,
        "replications": replications,
        "seed": seed,
    }
    plan = _core.comparison(arguments)
    return _run(plan, jobs, record=record, sample=sample, packets=packets, progress=progress)


def _traffic(given: str | os.PathLike[str] | None) -> tuple[bool, str] | None:
    """Whether it is the text of a file rather than the name of a mix, and which."""
    if given is None:
        return None
    path = Path(given)
    return (True, path.read_text(encoding="utf-8")) if path.is_file() else (False, os.fspath(given))


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def checked_jobs(jobs: int | None) -> int:
    """How many runs at a time."""
    is_number = isinstance(jobs, int) and not isinstance(jobs, bool)
    if jobs is not None and not (is_number and 1 <= jobs <= 4096):
        message = f"`{jobs}` is out of range: allowed 1 to 4096" if is_number else f"`{jobs!r}` is not a whole number"
        raise ScenarioError(f"run(): jobs: {message}", [Fault("run()", None, None, "jobs", message, None)])
    return jobs or processors()


def _run(
    plan: _core.Plan,
    jobs: int | None,
    *,
    record: str,
    sample: str | None,
    packets: bool,
    progress: Progress,
    on: Host = "sim",
) -> Result:
    runs = plan.point_count * plan.replications
    with shown(progress, "1 run" if runs == 1 else f"{runs} runs") as told:
        report = _core.run(
            plan,
            on=on,
            itself=GQ,
            jobs=checked_jobs(jobs),
            record=record,
            sample=sample,
            packets=packets,
            progress=told,
        )
    result = Result(report)
    if result.failures:
        raise _failed(result, runs)
    return result


def _failed(result: Result, runs: int) -> RunError:
    first: RunFailure = result.failures[0]
    count = len(result.failures)
    words = f"{count} of {runs} runs failed; the first: {first.place}, replication {first.replication}: {first.message}"
    return RunError(words, result.failures, result)
