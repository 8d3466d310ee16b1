"""Parts of a scenario: frozen records with the keys of scenario files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self

from goodqueue._toml import Value


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Part:
    """A table of a scenario file.

    Parameters
    ----------
    more
        Further keys, as in the file: for keys that this class does not name.
    """

    __goodqueue__: ClassVar[bool] = True

    more: Mapping[str, Value] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Value]:
        """Keys and values as in a scenario file, without those that are not given."""
        table: dict[str, Value] = {}
        for each in fields(self):
            given = getattr(self, each.name)
            if each.name != "more" and given is not None:
                # A keyword of Python has an underscore behind it here: class_, from_.
                table[each.name.rstrip("_")] = plain(given)
        for name, given in self.more.items():
            table[name] = plain(given)
        return table

    @classmethod
    def from_dict(cls, table: Mapping[str, Value]) -> Self:
        """Make it from the keys and values of a scenario file."""
        known = {each.name.rstrip("_"): each.name for each in fields(cls) if each.name != "more"}
        given: dict[str, Any] = {known[name]: value for name, value in table.items() if name in known}
        more = {name: value for name, value in table.items() if name not in known}
        return cls(**given, more=more)

    def __repr__(self) -> str:
        given = ((each.name, getattr(self, each.name)) for each in fields(self))
        shown = ", ".join(f"{name}={value!r}" for name, value in given if value is not None and value != {})
        return f"{type(self).__name__}({shown})"

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(repr(self))


_DEEPEST = 32
"""What is nested deeper stays as it is, and is refused where it is written."""


def plain(given: Any, depth: int = 0) -> Any:
    """Parts within a value as plain tables; everything else as it is."""
    if depth > _DEEPEST:
        return given
    if getattr(given, "__goodqueue__", False) and not isinstance(given, type):
        return given.to_dict()
    if isinstance(given, Mapping):
        return {name: plain(value, depth + 1) for name, value in given.items()}
    if isinstance(given, list | tuple):
        return [plain(value, depth + 1) for value in given]
    return given


def table_of(kind: str, given: Mapping[str, Value]) -> dict[str, Value]:
    """A table with a kind, its values plain."""
    return {"kind": kind, **{name.rstrip("_"): plain(value) for name, value in given.items()}}
