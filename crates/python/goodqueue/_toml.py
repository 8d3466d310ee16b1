"""Writing TOML: the few kinds of values that scenarios have."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from goodqueue.exceptions import Fault, ScenarioError

Value: TypeAlias = "str | bool | int | float | Mapping[str, Value] | Sequence[Value]"
"""What a setting can be: a text with its unit, a number, true or false, a table or a list of these."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_DEEPEST = 16
_LONGEST = 100_000


def key(name: object) -> str:
    """Write a key, in quotes where it needs them."""
    if not isinstance(name, str):
        raise _error(str(name), f"a key is {_kind(name)}: expected a text")
    return name if _BARE.fullmatch(name) else _text(name, name)


def value(given: object, path: str, depth: int = 0) -> str:
    """Write a value on one line; ``path`` is its dotted key, for messages."""
    if depth > _DEEPEST:
        raise _error(path, f"is nested deeper than {_DEEPEST} levels")
    match given:
        case bool():
            return "true" if given else "false"
        case int():
            return _integer(given, path)
        case float():
            return _number(given)
        case str():
            return _text(given, path)
        case Mapping():
            inner = (f"{key(k)} = {value(v, f'{path}.{k}', depth + 1)}" for k, v in given.items())
            return "{ " + ", ".join(inner) + " }" if given else "{}"
        case list() | tuple():
            if len(given) > _LONGEST:
                raise _error(path, f"has {len(given)} items: allowed up to {_LONGEST}")
            return "[" + ", ".join(value(v, f"{path}.{n}", depth + 1) for n, v in enumerate(given)) + "]"
    # Numbers of numpy and the like know how to become Python's own; arrays of one item must not
    # pass for numbers.
    if getattr(given, "ndim", None) == 0 and callable(plain := getattr(given, "item", None)):
        own = plain()
        if isinstance(own, bool | int | float | str):
            return value(own, path, depth)
    tables = getattr(given, "to_dict", None)
    if callable(tables) and hasattr(given, "__goodqueue__"):
        return value(tables(), path, depth)
    raise _error(
        path, f"is {_kind(given)}: expected a text with its unit, a number, True or False, a mapping or a list"
    )


def _integer(given: int, path: str) -> str:
    if given.bit_length() > 256:
        raise _error(path, "is a whole number of more than 256 bits")
    return str(int(given))


def _number(given: float) -> str:
    # Whatever Python writes is TOML too: `1e-05`, `1e+16`, `inf`, `nan`.
    return repr(float(given))


def _text(given: str, path: str) -> str:
    try:
        given.encode()
    except UnicodeEncodeError as error:
        raise _error(path, "is not Unicode text: it has half of a surrogate pair") from error
    return json.dumps(given, ensure_ascii=False).replace("\x7f", "\\u007F")


def _kind(given: object) -> str:
    if given is None:
        return "None"
    name = type(given).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def _error(path: str, message: str) -> ScenarioError:
    fault = Fault("scenario", None, None, path, message, None)
    return ScenarioError(f"scenario: {path}: {message}", [fault])
