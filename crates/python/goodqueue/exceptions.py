"""What can go wrong. Each class stands for one kind of error of the Rust engine and says the same words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goodqueue.results import Result

__all__ = [
    "ArrivalError",
    "Fault",
    "GoodqueueError",
    "HostError",
    "PlotError",
    "ResultError",
    "RunError",
    "RunFailure",
    "ScenarioError",
    "SweepError",
]


class GoodqueueError(Exception):
    """Everything that goodqueue raises of its own."""


@dataclass(frozen=True)
class Fault:
    """One wrong thing in a scenario.

    Attributes
    ----------
    file
        Where it was written: a file's name, ``"scenario"`` for one that was built in Python, or ``"--set"``.
    line, column
        Place in that text, counted from one; ``None`` where there is none.
    field
        The setting as a dotted key, for instance ``link.bottleneck.rate``; empty when the whole is meant.
    message
        What is wrong: the value and what is allowed.
    help
        What to write instead, if that can be said.
    """

    file: str
    line: int | None
    column: int | None
    field: str
    message: str
    help: str | None


class ScenarioError(GoodqueueError, ValueError):
    """A scenario, or an argument that stands for a part of one, is wrong.

    Parameters
    ----------
    text
        All faults, one per line, in the words of ``gq check``.
    faults
        The same as values.
    """

    def __init__(
        self, text: str, faults: Sequence[tuple[str, int | None, int | None, str, str, str | None] | Fault] = ()
    ) -> None:
        super().__init__(text)
        self.faults: tuple[Fault, ...] = tuple(f if isinstance(f, Fault) else Fault(*f) for f in faults)

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[str, tuple[Fault, ...]]]:
        return type(self), (str(self), self.faults)


@dataclass(frozen=True)
class RunFailure:
    """A run that gave no figures.

    Attributes
    ----------
    place
        The point, by its swept values.
    replication
        Which replication of it, from zero.
    message
        What happened.
    """

    place: str
    replication: int
    message: str


class RunError(GoodqueueError, RuntimeError):
    """Runs failed. What the others gave is in :attr:`result`.

    Parameters
    ----------
    text
        What failed.
    failures
        Each run that failed.
    result
        What the other runs gave.
    """

    def __init__(self, text: str, failures: Sequence[RunFailure] = (), result: Result | None = None) -> None:
        super().__init__(text)
        self.failures: tuple[RunFailure, ...] = tuple(failures)
        self.result = result


class HostError(GoodqueueError, RuntimeError):
    """A host that this machine cannot provide; the text names it and says why."""


class ArrivalError(GoodqueueError, ValueError):
    """A packet or a time that was given to a queue of :mod:`goodqueue.aqm` is wrong."""


class ResultError(GoodqueueError, ValueError):
    """A folder holds no result, or one that cannot be read, or the result lacks what was requested."""


class PlotError(GoodqueueError, ValueError):
    """A figure cannot be drawn: a setting is wrong, or the result does not have what it needs.

    Parameters
    ----------
    field
        The setting, by its name in :meth:`goodqueue.Result.plot`; ``"result"`` when it is none of them.
    message
        What is wrong: the value and what is allowed.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message

    def __reduce__(self) -> tuple[type[PlotError], tuple[str, str]]:
        return type(self), (self.field, self.message)


class SweepError(GoodqueueError, RuntimeError):
    """A sweep cannot begin or resume: its folder holds another one, or a file cannot be written.

    Finished points are kept.
    """
