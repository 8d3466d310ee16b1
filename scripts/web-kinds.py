"""Writes web/src/families.ts, the family of each queue kind, from what `gq list aqm` says: web-kinds.py GQ [--check]."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

TARGET = Path(__file__).parent.parent / "web/src/families.ts"

HEAD = """// The family of each kind of queue. Made by scripts/web-kinds.py from the descriptions that
// `gq list aqm` prints; do not edit.

"""


def render(kinds: list[dict[str, object]]) -> str:
    lines = [f"  {json.dumps(item['name'])}: {json.dumps(dict(item['facts'])['family'])},\n" for item in kinds]
    return HEAD + "export const FAMILY_OF: Readonly<Record<string, string>> = {\n" + "".join(lines) + "};\n"


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
