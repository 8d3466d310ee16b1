"""Writes web/src/families.ts, the families of queues and their colors, from what `gq list aqm` says: web-kinds.py GQ [--check]."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

TARGET = Path(__file__).parent.parent / "web/src/families.ts"

HEAD = """// The family of each kind of queue, and the color of each family. Made by scripts/web-kinds.py from
// the descriptions that `gq list aqm` prints; do not edit.

"""


def render(kinds: list[dict[str, object]]) -> str:
    facts = {item["name"]: dict(item["facts"]) for item in kinds}
    families = {name: fact["family"] for name, fact in facts.items()}
    colours = {fact["family"]: fact["color in charts"] for fact in facts.values()}
    return HEAD + record("FAMILY_OF", families) + "\n" + record("COLOUR_OF", colours)


def record(name: str, entries: dict[str, str]) -> str:
    lines = [f"  {json.dumps(key)}: {json.dumps(value)},\n" for key, value in entries.items()]
    return f"export const {name}: Readonly<Record<string, string>> = {{\n" + "".join(lines) + "};\n"


def main() -> int:
    listed = subprocess.run([sys.argv[1], "list", "aqm", "--json"], check=True, capture_output=True, text=True)
    text = render(json.loads(listed.stdout))
    if "--check" not in sys.argv:
        TARGET.write_text(text)
        return 0
    if TARGET.read_text() != text:
        print(f"{TARGET}: is not what `gq list aqm` says: run make docs", file=sys.stderr)
        return 1
    print("web/src/families.ts: as generated")
    return 0


if __name__ == "__main__":
    sys.exit(main())
