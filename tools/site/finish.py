"""Makes a built site complete in itself: finish.py FOLDER.

The theme loads a script from elsewhere for the search of pages that are opened from a disk; a script of
our own takes its place. Fails when any page still loads something from another place.
"""

import os
import re
import shutil
import sys
from pathlib import Path

THEIRS = "https://unpkg.com/iframe-worker/shim"
OURS = "assets/javascripts/frame-worker.js"
FOREIGN = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"(https?:)?//[^\"]*\"|<link\b[^>]*\brel=\"stylesheet\"[^>]*\bhref=\"(https?:)?//[^\"]*\""
)


def main() -> int:
    site = Path(sys.argv[1])
    shutil.copyfile(Path(__file__).with_name("frame-worker.js"), site / OURS)
    pages = sorted(site.rglob("*.html"))
    replaced, foreign = 0, []
    for page in pages:
        text = page.read_text()
        replaced += THEIRS in text
        text = text.replace(THEIRS, os.path.relpath(site / OURS, page.parent))
        page.write_text(text)
        foreign += [f"site: {page.relative_to(site)} loads {match[0]}" for match in FOREIGN.finditer(text)]
    if replaced == 0:
        foreign.append(f"site: no page names {THEIRS}, so search from a disk has no script: see tools/site/finish.py")
    print("\n".join(foreign), file=sys.stderr, end="\n" if foreign else "")
    return 1 if foreign else 0


if __name__ == "__main__":
    sys.exit(main())
