"""Puts the pages of the site, and its settings, into a folder for mkdocs: stage.py FOLDER.

Pages keep their places in the repository, so that links between them hold on the site as they do in
the repository. The navigation is docs/README.md: a chapter per heading, a page per row of its tables;
the algorithms are the chapters of docs/algorithms/README.md. Fails on a page below docs/ that no row
names, and on a link to a file that does not exist; mkdocs itself fails on links between pages and on
their anchors.
"""

import json
import os
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INDEX = Path("docs/README.md")
ALGORITHMS = Path("docs/algorithms/README.md")
# Parts of generated pages.
PARTS = Path("docs/algorithms/notes")

LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```|~~~)")

faults: list[str] = []


def prose(text: str):
    """Lines of a page with whether they are text, not code."""
    inside = False
    for line in text.split("\n"):
        is_fence = bool(FENCE.match(line.lstrip()))
        yield line, not inside and not is_fence
        inside ^= is_fence


def target(page: Path, address: str) -> Path | None:
    """The file that a link of a page names; none for other places."""
    path = address.split("#")[0]
    if not path or re.match(r"[a-z]+:", address):
        return None
    return Path(os.path.normpath(page.parent / path))


def rows(page: Path):
    """Headings of a page, each with the pages that the first column of its tables links."""
    chapters: list[tuple[str, list[Path]]] = []
    for line, is_text in prose((ROOT / page).read_text()):
        if not is_text:
            continue
        if line.startswith("## "):
            chapters.append((line[3:].strip(), []))
        elif line.startswith("| ") and chapters:
            for _, _, address in LINK.findall(line.split("|")[1]):
                found = target(page, address)
                if found is not None and found.suffix == ".md" and found not in chapters[-1][1]:
                    chapters[-1][1].append(found)
    return [(title, pages) for title, pages in chapters if pages]


def title(page: Path) -> str:
    """The heading of a page, without its markup."""
    for line, is_text in prose((ROOT / page).read_text()):
        if is_text and line.startswith("# "):
            return re.sub(r"[`*]", "", line[2:]).strip()
    faults.append(f"{page}: has no heading")
    return page.stem


def navigation():
    """The tree of pages; a page that several chapters name stands in the first one."""
    seen: set[Path] = set()
    tree = []
    for chapter, pages in rows(INDEX):
        entries = []
        for page in pages:
            if page in seen:
                continue
            seen.add(page)
            if page == ALGORITHMS:
                families = [{"Overview": str(page)}]
                for family, members in rows(ALGORITHMS):
                    seen.update(members)
                    families.append({family: [{title(member): str(member)} for member in members]})
                entries.append({"Algorithms": families})
            else:
                entries.append({title(page): str(page)})
        if entries:
            tree.append({chapter: entries})
    return tree, seen


def stage(page: Path, folder: Path, pages: set[Path]) -> None:
    """Copies a page and the files that it links; a link to a folder becomes plain text."""

    def mend(match: re.Match[str]) -> str:
        image, text, address = match.groups()
        found = target(page, address)
        if found is None:
            return match.group(0)
        if not (ROOT / found).exists():
            faults.append(f"{page}: links {address}, which does not exist")
        elif (ROOT / found).is_dir():
            return text
        elif found not in pages:
            if found.suffix == ".md":
                extra.append(found)
            else:
                (folder / found).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / found, folder / found)
        return f"{image}[{text}]({address})"

    extra: list[Path] = []
    lines = [LINK.sub(mend, line) if is_text else line for line, is_text in prose((ROOT / page).read_text())]
    (folder / page).parent.mkdir(parents=True, exist_ok=True)
    (folder / page).write_text("\n".join(lines))
    for more in extra:
        if more not in pages:
            pages.add(more)
            stage(more, folder, pages)


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: stage.py FOLDER", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1]).resolve()
    source = folder / "pages"
    shutil.rmtree(source, ignore_errors=True)
    tree, pages = navigation()
    pages |= {Path("README.md"), INDEX}
    for page in sorted((ROOT / "docs").rglob("*.md")):
        page = page.relative_to(ROOT)
        if page not in pages and PARTS not in page.parents:
            faults.append(f"{page}: no table of {INDEX} names it")
    for page in sorted(pages):
        stage(page, source, pages)
    settings = {
        "INHERIT": str(ROOT / "scripts/site/mkdocs.yml"),
        "docs_dir": str(source),
        "site_dir": str(ROOT / "site"),
        "nav": tree,
    }
    # JSON is YAML.
    (folder / "mkdocs.yml").write_text(json.dumps(settings, indent=1))
    for fault in faults:
        print(f"site: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
