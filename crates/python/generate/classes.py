"""Writes the classes of traffic, links and access links in crates/python/goodqueue from the output of `gq list`: classes.py GQ [--check].

The keys of `Scenario`, which has methods of its own, are only compared.
"""

from __future__ import annotations

import json
import keyword
import subprocess
import sys
import textwrap
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "goodqueue"

NEEDS_QUEUE = """
if TYPE_CHECKING:
    from goodqueue.scenario import Queue
"""


def head(about: str, what: str, exported: list[str], *, before: str = "", behind: str = "", last: str = "") -> str:
    """The beginning of a module: imports stand before and behind that of dataclasses, and last."""
    return f'''"""{about}

Made by crates/python/generate/classes.py from the descriptions that `gq list {what}` prints; do not edit.
"""

from __future__ import annotations

{before}from dataclasses import dataclass
{behind}
from goodqueue._part import Part
from goodqueue._toml import Value
{last}
__all__ = [{", ".join(f'"{name}"' for name in exported)}]

'''


def class_name(kind: str) -> str:
    return "".join(part.capitalize() for part in kind.split("-"))


def field_name(key: str) -> str:
    return f"{key}_" if keyword.iskeyword(key) else key


def quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("`", "``")


def parameter(described: dict[str, str]) -> str:
    example = described.get("example", "")
    words = f"{described['doc']}; for instance ``{example}``" if example else described["doc"]
    default = described["default"].removeprefix("automatic: ")
    words += ". Required." if default == "required" else f". Default: {default}."
    lines = textwrap.wrap(words[0].upper() + words[1:], 110)
    body = "\n".join(f"        {line}" for line in lines)
    return f"    {field_name(described['name'])}\n{body}\n"


def fields(parameters: list[dict[str, str]]) -> str:
    lines = []
    for described in sorted(parameters, key=lambda each: each["default"] != "required"):
        default = "" if described["default"] == "required" else " | None = None"
        kind = "Value | Queue" if described["name"].startswith("queue") else "Value"
        lines.append(f"    {field_name(described['name'])}: {kind}{default}\n")
    return "".join(lines)


def one_class(name: str, base: str, kind: str | None, summary: str, parameters: list[dict[str, str]]) -> str:
    doc = f'    """{summary[0].upper()}{summary[1:]}.\n\n    Parameters\n    ----------\n'
    doc += "".join(parameter(each) for each in parameters) + '    """\n\n'
    constant = "" if kind is None else f'    kind: ClassVar[str] = "{kind}"\n\n'
    text = f"\n@dataclass(frozen=True, kw_only=True, repr=False, eq=False)\nclass {name}({base}):\n{doc}{constant}"
    return text + fields(parameters)


def shared(items: list[dict]) -> list[dict[str, str]]:
    """The parameters that all of these kinds have."""
    return [each for each in items[0]["parameters"] if all(each in item["parameters"] for item in items)]


def is_over_tcp(item: dict) -> bool:
    return any(each["name"] == "cc" for each in item["parameters"])


def render(kinds: list[dict]) -> str:
    common = shared(kinds)
    tcp = [each for each in shared([item for item in kinds if is_over_tcp(item)]) if each not in common]
    names = [class_name(item["name"]) for item in kinds]
    about = "Groups of flows: one class for each kind of traffic, with the keys of scenario files."
    before, behind = "from collections.abc import Mapping\n", "from typing import ClassVar\n"
    text = head(about, "traffic", ["KINDS", *sorted([*names, "TcpTraffic", "Traffic"])], before=before, behind=behind)
    text += one_class("Traffic", "Part", "", "A group of flows; use one of the classes below", common)
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
    summary = "A group of flows over TCP; use one of the classes below"
    text += one_class("TcpTraffic", "Traffic", None, summary, tcp) + "\n"
    for name, item in zip(names, kinds, strict=True):
        base, inherited = ("TcpTraffic", common + tcp) if is_over_tcp(item) else ("Traffic", common)
        own = [each for each in item["parameters"] if each not in inherited]
        text += one_class(name, base, item["name"], item["summary"], own) + "\n"
    text += "\nKINDS: Mapping[str, type[Traffic]] = {\n"
    text += "".join(f'    "{item["name"]}": {name},\n' for name, item in zip(names, kinds, strict=True)) + "}\n"
    return text + '"""Each kind\'s class."""\n'


def table(about: str, item: dict, **imports: str) -> str:
    """The module of a table that has one kind."""
    name = class_name(item["name"])
    about = f"{about}: one class with the keys of scenario files."
    text = head(about, item["name"], [name], **imports)
    return text + one_class(name, "Part", None, item["summary"], item["parameters"])


def scenario_lacks(item: dict) -> list[str]:
    """Keys of a scenario file that the class `Scenario` does not have."""
    text = (PACKAGE / "scenario.py").read_text()
    names = [each["name"] for each in item["parameters"] if each["name"] != "goodqueue"]
    return [name for name in names if f"\n    {name}: " not in text]


def main() -> int:
    def listed(what: str) -> list[dict]:
        out = subprocess.run([sys.argv[1], "list", what, "--json"], check=True, capture_output=True, text=True)
        return json.loads(out.stdout)

    made = {
        "traffic.py": render(listed("traffic")),
        "link.py": table("A link", listed("link")[0], behind="from typing import TYPE_CHECKING\n", last=NEEDS_QUEUE),
        "access.py": table("The links of the hosts", listed("access")[0]),
    }
    lacking = scenario_lacks(listed("scenario")[0])
    if lacking:
        print(f"{PACKAGE / 'scenario.py'}: Scenario lacks {', '.join(lacking)}", file=sys.stderr)
        return 1
    if "--check" not in sys.argv:
        for name, text in made.items():
            (PACKAGE / name).write_text(text)
        return 0
    stale = [
        name for name, text in made.items() if not (PACKAGE / name).exists() or (PACKAGE / name).read_text() != text
    ]
    for name in stale:
        print(f"{PACKAGE / name}: is not what `gq list` says: run make docs", file=sys.stderr)
    if not stale:
        print("crates/python/goodqueue/{traffic,link,access}.py: as generated")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
