"""Scenarios: what ``gq`` reads from files, built in Python or read from the same files."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, fields
from pathlib import Path
from typing import Any, Self, TypeAlias

from goodqueue import _core, _toml
from goodqueue._part import plain, table_of
from goodqueue._toml import Value
from goodqueue.access import Access
from goodqueue.link import Link
from goodqueue.traffic import Traffic

__all__ = ["Access", "Control", "Link", "Queue", "Scenario"]

Algorithms: TypeAlias = "Mapping[str, Callable[[], Any]]"
"""Algorithms written in Python, by the name that scenarios have for them: subclasses of
:class:`goodqueue.aqm.Algorithm`, or functions that make one."""


class _Named:
    """A kind with parameters."""

    __goodqueue__ = True
    __slots__ = ("kind", "parameters")

    def __init__(self, kind: str, /, **parameters: Value) -> None:
        self.kind = kind
        self.parameters: Mapping[str, Value] = parameters

    def to_dict(self) -> dict[str, Value]:
        """Kind and parameters as in a scenario file."""
        return table_of(self.kind, self.parameters)

    def __repr__(self) -> str:
        given = "".join(f", {name}={value!r}" for name, value in self.parameters.items())
        return f"{type(self).__name__}({self.kind!r}{given})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, _Named) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(repr(self))


class Queue(_Named):
    """A queue's algorithm with parameters; ``gq list aqm`` names them.

    Parameters
    ----------
    kind
        The algorithm, for instance ``"codel"``.
    **parameters
        Its parameters, ``ecn``, ``limit``, and ``of`` for kinds over another.

    Examples
    --------
    >>> Queue("codel", target="10 ms", ecn=True).to_dict()
    {'kind': 'codel', 'target': '10 ms', 'ecn': True}
    """


class Control(_Named):
    """A congestion control with parameters; ``gq list cc`` names them.

    Parameters
    ----------
    kind
        The control, for instance ``"cubic"``.
    **parameters
        Its parameters.

    Examples
    --------
    >>> Control("cubic", beta=0.8).to_dict()
    {'kind': 'cubic', 'beta': 0.8}
    """


@dataclass(frozen=True, kw_only=True, eq=False)
class Scenario:
    """A link or a network, the flows that cross it, how long to run and what to vary.

    It is checked when it is made, by the reader of scenario files and in its words. Two scenarios are equal when all
    their settings are, however they were written.

    Parameters
    ----------
    link
        The bottleneck, or links by name.
    traffic
        Groups of flows.
    duration
        The measured part, after the warm-up.
    warmup
        Time before measuring begins.
    name, description
        What it is called, and what it is about.
    replications
        Independent repetitions of each point.
    seed
        Root of all randomness.
    access
        The links of the hosts.
    sweep
        Dotted keys with lists of values, of which all combinations are run; or a list of points, each with a value for
        each key.
    more
        Further keys, as in the file.
    algorithms
        Algorithms written in Python by name (:class:`goodqueue.aqm.Algorithm`), which queues may name
        in addition to the listed ones. They are no part of the file.
    base_dir
        Folder that paths of recordings are relative to; the current one when not given.
    stem
        What it is called when it has no name.

    Raises
    ------
    ScenarioError
        With every fault, when anything is wrong.

    Examples
    --------
    >>> from goodqueue import Bulk, Link, Scenario
    >>> home = Scenario(
    ...     duration="10 s",
    ...     link=Link(rate="10 Mbit/s", delay="5 ms", buffer="30 packets", queue="codel"),
    ...     traffic=[Bulk(cc="cubic", flows=16)],
    ... )
    >>> print(home.to_toml())
    goodqueue = 1
    duration = "10 s"
    <BLANKLINE>
    [link.bottleneck]
    rate = "10 Mbit/s"
    delay = "5 ms"
    buffer = "30 packets"
    queue = "codel"
    <BLANKLINE>
    [[traffic]]
    kind = "bulk"
    flows = 16
    cc = "cubic"
    <BLANKLINE>
    """

    name: str | None = None
    description: str | None = None
    warmup: Value | None = None
    duration: Value | None = None
    replications: int | None = None
    seed: int | None = None
    access: Access | Mapping[str, Value] | None = None
    link: Link | Mapping[str, Link | Mapping[str, Value]]
    traffic: Sequence[Traffic | Mapping[str, Value]]
    sweep: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]] | None = None
    more: Mapping[str, Value] = field(default_factory=dict)
    algorithms: Algorithms = field(default_factory=dict)
    base_dir: Path | None = None
    stem: str = "scenario"
    _plan: InitVar[_core.Plan | None] = None

    def __post_init__(self, _plan: _core.Plan | None) -> None:
        if isinstance(self.traffic, list):
            object.__setattr__(self, "traffic", tuple(self.traffic))
        plan = _plan or self._read()
        object.__setattr__(self, "_checked", plan)

    def _read(self, algorithms: Algorithms | None = None) -> _core.Plan:
        """Let the engine read it, with further algorithms."""
        known = described({**self.algorithms, **(algorithms or {})})
        return _core.Plan(self._source_name(), self.to_toml(), str(self.base_dir or Path()), [], known)

    def _source_name(self) -> str:
        # The reader calls a scenario without a name after its file.
        return self.stem if self.name is None else "scenario"

    @property
    def plan(self) -> _core.Plan:
        """The scenario as the engine read it."""
        plan: _core.Plan = self.__dict__["_checked"]
        return plan

    @property
    def point_count(self) -> int:
        """How many points the sweep has."""
        return self.plan.point_count

    def warnings(self) -> list[str]:
        """What is odd about it, each thing once, in the words of ``gq check``."""
        return self.plan.warnings()

    def to_dict(self) -> dict[str, Any]:
        """All settings as in a scenario file."""
        table: dict[str, Any] = {"goodqueue": 1}
        for each in fields(self):
            given = getattr(self, each.name)
            if given is None or each.name in ("more", "base_dir", "stem", "algorithms"):
                continue
            if each.name == "link" and isinstance(given, Link):
                given = {"bottleneck": given}
            table[each.name] = plain(given)
        return table | {name: plain(value) for name, value in self.more.items()}

    def to_toml(self) -> str:
        """The text of a scenario file with these settings."""
        return "\n".join(_lines(self.to_dict())) + "\n"

    def save(self, path: str | Path) -> None:
        """Write it to a file."""
        Path(path).write_text(self.to_toml(), encoding="utf-8")

    @classmethod
    def from_toml(cls, text: str, base_dir: str | Path | None = None) -> Self:
        """Read the text of a scenario file.

        Parameters
        ----------
        text
            TOML.
        base_dir
            Folder that paths in it are relative to; the current one when not given.

        Raises
        ------
        ScenarioError
            With line and column of every fault.
        """
        plan = _core.Plan("scenario", text, str(base_dir or Path()))
        return cls._of(plan, None if base_dir is None else Path(base_dir), "scenario")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a scenario file; paths in it are relative to its folder.

        Parameters
        ----------
        path
            The file.

        Raises
        ------
        ScenarioError
            When it cannot be read or anything in it is wrong.
        """
        path = Path(path)
        return cls._of(_core.Plan.load(str(path)), path.parent, path.stem)

    @classmethod
    def _of(cls, plan: _core.Plan, base_dir: Path | None, stem: str) -> Self:
        table = tomllib.loads(plan.source_text)
        table.pop("goodqueue", None)
        known = {each.name for each in fields(cls)} - {"more", "base_dir", "stem", "algorithms"}
        given: dict[str, Any] = {name: value for name, value in table.items() if name in known}
        more = {name: value for name, value in table.items() if name not in known}
        links = {name: Link.from_dict(link) for name, link in given["link"].items()}
        given["link"] = links["bottleneck"] if list(links) == ["bottleneck"] else links
        given["traffic"] = [Traffic.of(group) for group in given["traffic"]]
        if "access" in given:
            given["access"] = Access.from_dict(given["access"])
        if isinstance(given.get("sweep"), Mapping):
            given["sweep"] = dict(_flat(given["sweep"]))
        return cls(**given, more=more, base_dir=base_dir, stem=stem, _plan=plan)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scenario):
            return NotImplemented
        return (self.plan.name, self.plan.sha256) == (other.plan.name, other.plan.sha256)

    def __hash__(self) -> int:
        return hash(self.plan.sha256)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_checked"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__(None)


def described(algorithms: Algorithms) -> list[tuple[str, str, Callable[[], Any]]]:
    """Name, version and maker of each algorithm, checked; for the engine."""
    if not algorithms:
        return []
    # That module needs this one.
    from goodqueue import aqm

    return aqm.described(algorithms)


def _flat(table: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Swept keys, which may be written with plain dots and then are nested tables."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value


def _lines(table: Mapping[str, Any]) -> Iterator[str]:
    """Plain keys first, then a section for each table, as a person would write them."""
    sections = ("access", "link", "traffic", "sweep")
    for name, value in table.items():
        if name not in sections or not _is_section(name, value):
            yield f"{_toml.key(name)} = {_toml.value(value, name)}"
    for name in sections:
        if name not in table or not _is_section(name, table[name]):
            continue
        value = table[name]
        if name == "link":
            for key, link in value.items():
                yield from ("", f"[link.{_toml.key(key)}]", *_pairs(link, f"link.{key}"))
        elif isinstance(value, list):
            for number, group in enumerate(value):
                yield from ("", f"[[{name}]]", *_pairs(group, f"{name}.{number}"))
        else:
            yield from ("", f"[{name}]", *_pairs(value, name))


def _is_section(name: str, value: Any) -> bool:
    """Can it stand under a heading of its own? What cannot is written as it is, for the reader to refuse."""
    if name == "link":
        return isinstance(value, Mapping) and bool(value) and all(isinstance(link, Mapping) for link in value.values())
    listed = isinstance(value, list) and bool(value) and all(isinstance(group, Mapping) for group in value)
    return listed if name == "traffic" else isinstance(value, Mapping) or (listed and name == "sweep")


def _pairs(table: Mapping[str, Any], path: str) -> Iterator[str]:
    for name, value in table.items():
        yield f"{_toml.key(name)} = {_toml.value(value, f'{path}.{name}')}"
