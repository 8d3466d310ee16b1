#!/usr/bin/env python3
"""Writes docs/python-reference.md from the docstrings of the package: reference.py [--check]"""

import importlib
import inspect
import re
import sys
import textwrap
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs/python-reference.md"
MODULES = ["goodqueue", "goodqueue.aqm", "goodqueue.plot"]
SECTIONS = {"Parameters", "Attributes", "Returns", "Raises", "Notes", "Examples", "Yields"}
HEAD = """# Python reference

Made from the docstrings by `make docs`; [python.md](python.md) is the introduction. Quantities are strings with units as in
[scenario files](scenario.md); names that end in `_s` are seconds.
"""


def documented(text):
    """A numpy docstring as Markdown."""
    lines = inspect.cleandoc(text or "").splitlines()
    out, section, number = [], None, 0
    while number < len(lines):
        line = lines[number]
        if line in SECTIONS and number + 1 < len(lines) and set(lines[number + 1]) == {"-"}:
            section = line
            out += [f"**{section}**", ""]
            number += 2
            continue
        if section == "Examples":
            block = []
            while number < len(lines) and lines[number] not in SECTIONS:
                block.append(lines[number])
                number += 1
            out += ["```python", *block, *([""] if block and block[-1] else []), "```", ""]
            continue
        if section in ("Parameters", "Attributes", "Raises", "Returns") and line and not line.startswith(" "):
            about = []
            while number + 1 < len(lines) and (lines[number + 1].startswith(" ") or not lines[number + 1]):
                number += 1
                about.append(lines[number].strip())
            names = ", ".join(f"`{name.strip()}`" for name in line.split(","))
            out.append(f"- {names}: {' '.join(filter(None, about))}")
            if number + 1 == len(lines) or lines[number + 1] in SECTIONS:
                out.append("")
        else:
            out.append(line)
        number += 1
    return linked("\n".join(out).strip())


def linked(text):
    """Roles of Sphinx as plain code."""
    text = re.sub(r":(?:class|func|meth|attr|mod|exc):`~?([^`]+)`", r"`\1`", text)
    # Inline code has two marks in docstrings; a fence, with three, stays.
    return re.sub(r"(?<!`)``(?!`)", "`", text)


def signature(name, value):
    """How it is called."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return name
    kept = [
        p.replace(annotation=inspect.Parameter.empty)
        for p in found.parameters.values()
        if p.name not in ("self", "cls")
    ]
    kept = [p for p in kept if not p.name.startswith("_")]
    shown = str(found.replace(parameters=kept, return_annotation=inspect.Signature.empty))
    return name + re.sub(r"<factory>|<object object at 0x[0-9a-f]+>", "…", shown)


def wrapped(call):
    """A call in lines of at most 100 columns."""
    return call if len(call) <= 100 else textwrap.fill(call, 100, subsequent_indent="    ", break_on_hyphens=False)


def members(kind):
    """Its own public methods and properties, in their order; those of compiled classes, which have none, by name."""
    own = list(vars(kind).items())
    if any(not name.startswith("_") and inspect.isgetsetdescriptor(value) for name, value in own):
        own.sort(key=lambda item: item[0])
    for name, value in own:
        if name.startswith("_") or getattr(kind, "__module__", "").startswith("typing"):
            continue
        if isinstance(value, property) or inspect.isgetsetdescriptor(value):
            yield f"`{name}`", value.__doc__
        elif isinstance(value, classmethod | staticmethod):
            yield f"`{signature(name, value.__func__)}`", value.__doc__
        elif inspect.isfunction(value) or inspect.ismethoddescriptor(value):
            yield f"`{signature(name, value)}`", value.__doc__
        elif type(value).__name__ == "cached_property":
            yield f"`{name}`", value.__doc__


def entry(module, name):
    """One class or function."""
    value = getattr(module, name)
    if not callable(value):
        return
    yield f"### `{name}`\n"
    yield f"```py\n{wrapped(signature(name, value))}\n```\n"
    yield documented(value.__doc__) + "\n"
    if inspect.isclass(value):
        given = [(title, documented(text)) for title, text in members(value) if text]
        for title, text in given:
            first, _, rest = text.partition("\n\n")
            yield f"#### {title}\n"
            yield f"{first}\n" + (f"\n{rest}\n" if rest else "")


def page():
    """The whole page."""
    parts = [HEAD]
    for path in MODULES:
        module = importlib.import_module(path)
        parts.append(f"## {path}\n")
        parts.append(documented(module.__doc__) + "\n")
        names = [
            n
            for n in getattr(module, "__all__", ())
            if inspect.isclass(getattr(module, n)) or inspect.isfunction(getattr(module, n))
        ]
        for name in sorted(names):
            parts += entry(module, name)
    return "\n".join(parts).rstrip() + "\n"


if __name__ == "__main__":
    made = page()
    if broken := re.findall(r"^``(?:[^`].*)?$", made, flags=re.MULTILINE):
        sys.exit(f"{PAGE}: a fence of two marks shows its code as text: {broken[0]}")
    if sys.argv[1:] == ["--check"]:
        if PAGE.read_text(encoding="utf-8") != made:
            sys.exit(f"{PAGE} is stale: make docs")
    else:
        PAGE.write_text(made, encoding="utf-8")
