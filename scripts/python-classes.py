"""Writes python/goodqueue/traffic.py from what `gq list traffic` says: python-classes.py GQ [--check]."""

from __future__ import annotations

import json
import keyword
import subprocess
import sys
import textwrap
from pathlib import Path

TARGET = Path(__file__).parent.parent / "python/goodqueue/traffic.py"

HEAD = '''"""Groups of flows: one class for each kind of traffic, with the keys of scenario files.

Made by scripts/python-classes.py from the descriptions that `gq list traffic` prints; do not edit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from goodqueue._part import Part
from goodqueue._toml import Value

'''


def class_name(kind: str) -> str:
    return "".join(part.capitalize() for part in kind.split("-"))


def field_name(key: str) -> str:
    return f"{key}_" if keyword.iskeyword(key) else key


def quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("`", "``")


def parameter(described: dict[str, str]) -> str:
    unit = described.get("unit", "").removeprefix("for instance ")
    words = f"{described['doc']}; for instance ``{unit}``" if unit else described["doc"]
    default = described["default"]
    words += ". Required." if default == "required" else f". Default: {default}."
    lines = textwrap.wrap(words[0].upper() + words[1:], 110)
    body = "\n".join(f"        {line}" for line in lines)
    return f"    {field_name(described['name'])}\n{body}\n"


def fields(parameters: list[dict[str, str]]) -> str:
    lines = []
    for described in sorted(parameters, key=lambda each: each["default"] != "required"):
        default = "" if described["default"] == "required" else " | None = None"
        lines.append(f"    {field_name(described['name'])}: Value{default}\n")
    return "".join(lines)


def one_class(name: str, base: str, kind: str | None, summary: str, parameters: list[dict[str, str]]) -> str:
    doc = f'    """{summary[0].upper()}{summary[1:]}.\n\n    Parameters\n    ----------\n'
    doc += "".join(parameter(each) for each in parameters) + '    """\n\n'
    constant = f'    kind: ClassVar[str] = "{kind}"\n' if kind else '    kind: ClassVar[str] = ""\n'
    text = f"\n@dataclass(frozen=True, kw_only=True, repr=False)\nclass {name}({base}):\n{doc}{constant}\n"
    return text + fields(parameters) + "\n    __hash__ = Part.__hash__\n"


def render(items: list[dict]) -> str:
    kinds = items
    common = [each for each in kinds[0]["parameters"] if all(each in item["parameters"] for item in kinds)]
    names = [class_name(item["name"]) for item in kinds]
    text = HEAD + "__all__ = [" + ", ".join(f'"{name}"' for name in ["KINDS", *sorted([*names, "Traffic"])]) + "]\n\n"
    text += one_class("Traffic", "Part", None, "A group of flows; use one of the classes below", common)
    text += '''
    def to_dict(self) -> dict[str, Value]:
        """Keys and values as in a scenario file, ``kind`` first."""
        return {"kind": self.kind, **super().to_dict()}

    @classmethod
    def of(cls, table: Mapping[str, Value]) -> Traffic | Mapping[str, Value]:
        """Make the group that a table describes; a kind without a class stays a table."""
        kind = KINDS.get(str(table.get("kind")))
        if kind is None:
            return table
        return kind.from_dict({name: value for name, value in table.items() if name != "kind"})

'''
    for name, item in zip(names, kinds, strict=True):
        own = [each for each in item["parameters"] if each not in common]
        text += one_class(name, "Traffic", item["name"], item["summary"], own) + "\n"
    text += "\nKINDS: Mapping[str, type[Traffic]] = {\n"
    text += "".join(f'    "{item["name"]}": {name},\n' for name, item in zip(names, kinds, strict=True)) + "}\n"
    return text + '"""Each kind\'s class."""\n'


def main() -> int:
    listed = subprocess.run([sys.argv[1], "list", "traffic", "--json"], check=True, capture_output=True, text=True)
    text = render(json.loads(listed.stdout))
    if "--check" not in sys.argv:
        TARGET.write_text(text)
        return 0
    if TARGET.read_text() != text:
        print(f"{TARGET}: is not what `gq list traffic` says: run make docs", file=sys.stderr)
        return 1
    print("python/goodqueue/traffic.py: as generated")
    return 0


if __name__ == "__main__":
    sys.exit(main())
