"""Puts the pages of the site, and its settings, into a folder for mkdocs: stage.py FOLDER [--draft].

Pages keep their places in the repository, so that links between them hold on the site as they do in
the repository. The navigation is docs/README.md: a chapter per heading, a page per row of its tables;
the algorithms are the chapters of docs/algorithms/README.md. A link whose text is the file name of a page
gets the page's title instead, and prompts of Python are taken away, so that code can be copied. Fails on
a page that no row names, and on a link to a file that does not exist; mkdocs itself fails
on links between pages and on their anchors. `--draft` does without pages that are built by other programs.
With `--check` writes nothing, and checks anchors itself.
"""

import base64
import json
import os
import re
import shutil
import sys
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INDEX = Path("docs/README.md")
ALGORITHMS = Path("docs/algorithms/README.md")
# Pages of the site that are built, not written: what the repository calls them, and where they are
# built.
BUILT = {Path("site/playground.html"): Path("crates/web/dist/playground/playground.html")}
# Parts of generated pages.
PARTS = Path("docs/algorithms/notes")

LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
# Settings of the playground, and links of the same page that mean them.
PLAY = re.compile(r"<!-- play: (\{.*\}) -->")
PLAY_ANCHOR = "/play"
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
                is_page = found is not None and (found.suffix == ".md" or found in BUILT)
                if is_page and found not in chapters[-1][1]:
                    chapters[-1][1].append(found)
    return [(title, pages) for title, pages in chapters if pages]


def title(page: Path) -> str:
    """The heading of a page, without its markup; of a page that is built, its file's name."""
    if page in BUILT:
        return page.stem.capitalize()
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
                    families.append({family: [{title(member).split(":")[0]: str(member)} for member in members]})
                entries.append({"Algorithms": families})
            else:
                entries.append({title(page): page.name if page in BUILT else str(page)})
        if entries:
            tree.append({chapter: entries})
    return tree, seen


def play(page: Path) -> str:
    """The playground's settings on a page, as addresses hold them: crates/web/src/app/share.ts."""
    found = PLAY.search((ROOT / page).read_text())
    if found is None:
        faults.append(f"{page}: links the playground with settings, and has none")
        return ""
    pack = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = pack.compress(json.dumps(json.loads(found[1])).encode()) + pack.flush()
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def without_prompts(block: re.Match[str]) -> str:
    """An example of Python that can be copied: what it prints becomes a block of its own."""
    parts: list[tuple[str, list[str]]] = []
    for line in block[1].splitlines():
        is_code = line.startswith(">>> ") or line.startswith("...")
        language = "python" if is_code else "text"
        if not parts or parts[-1][0] != language:
            parts.append((language, []))
        parts[-1][1].append(line[4:] if is_code else line)
    texts = [(language, "\n".join(lines).strip("\n")) for language, lines in parts]
    return "\n\n".join(f"```{language}\n{text}\n```" for language, text in texts if text)


def slug(heading: str) -> str:
    """The anchor of a heading, as the site and GitHub make it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    """The anchors of a page."""
    text = (ROOT / page).read_text()
    found = [slug(line.lstrip("#")) for line, is_text in prose(text) if is_text and line.startswith("#")]
    return {
        name if count == 0 else f"{name}_{count}"
        for number, name in enumerate(found)
        for count in [found[:number].count(name)]
    }


def stage(page: Path, folder: Path | None, pages: set[Path]) -> None:
    """Copies a page and the files that it links, if there is a folder; checks its links.

    A link to a folder becomes plain text.
    """

    def mend(match: re.Match[str]) -> str:
        image, text, address = match.groups()
        found = target(page, address)
        if found is None:
            return match.group(0)
        if found in BUILT:
            _, mark, anchor = address.partition("#")
            if anchor == PLAY_ANCHOR:
                anchor += f"?s={play(page)}"
            return f"{image}[{text}]({os.path.relpath(found.name, page.parent)}{mark}{anchor})"
        if not (ROOT / found).exists():
            faults.append(f"{page}: links {address}, which does not exist")
        elif (ROOT / found).is_dir():
            return text
        elif found.suffix == ".md":
            if found not in pages:
                extra.append(found)
            _, _, anchor = address.partition("#")
            if anchor and anchor not in anchors(found):
                faults.append(f"{page}: links {address}, but {found} has no such heading")
            # `report.md` and `GLOSSARY` name a page; `report` is a word of the sentence.
            if text.removeprefix("docs/") in (found.name, str(found)) or text == found.stem.upper():
                text = title(found)
        elif folder is not None:
            (folder / found).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / found, folder / found)
        return f"{image}[{text}]({address})"

    extra: list[Path] = []
    lines = [LINK.sub(mend, line) if is_text else line for line, is_text in prose((ROOT / page).read_text())]
    if folder is not None:
        text = re.sub(r"^```python\n(>>> .*?)^```$", without_prompts, "\n".join(lines), flags=re.DOTALL | re.MULTILINE)
        (folder / page).parent.mkdir(parents=True, exist_ok=True)
        (folder / page).write_text(text)
    for more in extra:
        if more not in pages:
            pages.add(more)
            stage(more, folder, pages)


def style(source: Path) -> None:
    """Writes the site's style: the typeface and the colors of the report, then what is the site's own."""
    theme = (ROOT / "crates/web/src/theme.css").read_text()
    face, colors = (
        re.search(r"@font-face \{.*?\n\}\n", theme, re.DOTALL),
        re.search(r":root \{.*?\n\}\n", theme, re.DOTALL),
    )
    if face is None or colors is None:
        faults.append("crates/web/src/theme.css: has no typeface or no colors")
        return
    font = Path(re.findall(r'url\("([^"]+)"\)', face[0])[0])
    shutil.copyfile(ROOT / "crates/web/node_modules" / font, source / font.name)
    own = Path(__file__).with_name("site.css").read_text()
    (source / "site.css").write_text(face[0].replace(str(font), font.name) + colors[0] + own)


def main() -> int:
    is_draft = sys.argv[2:] == ["--draft"]
    if len(sys.argv) < 2 or (sys.argv[2:] and not is_draft):
        print("usage: stage.py FOLDER [--draft] | --check", file=sys.stderr)
        return 2
    folder = None if sys.argv[1] == "--check" else Path(sys.argv[1]).resolve()
    source = None if folder is None else folder / "pages"
    if source is not None:
        shutil.rmtree(source, ignore_errors=True)
    tree, pages = navigation()
    pages = (pages - set(BUILT)) | {Path("README.md"), INDEX}
    for page in sorted((ROOT / "docs").rglob("*.md")):
        page = page.relative_to(ROOT)
        if page not in pages and PARTS not in page.parents:
            faults.append(f"{page}: no table of {INDEX} names it")
    listed = set(pages)
    for page in sorted(pages):
        stage(page, source, pages)
    faults.extend(f"{page}: is linked, but no table of {INDEX} names it" for page in sorted(pages - listed))
    if folder is not None and source is not None:
        style(source)
        for page, file in BUILT.items():
            text = "" if is_draft else (ROOT / file).read_text()
            # With a way back, since mkdocs puts no navigation around it.
            home = '<head><meta name="goodqueue-home" content="index.html" />'
            (source / page.name).write_text(text.replace("<head>", home, 1))
        settings = {
            "INHERIT": str(ROOT / "tools/site/mkdocs.yml"),
            "docs_dir": str(source),
            "site_dir": str(ROOT / "site"),
            "nav": tree,
        }
        # JSON is YAML.
        (folder / "mkdocs.yml").write_text(json.dumps(settings, indent=1))
    for fault in faults:
        print(f"site: {fault}", file=sys.stderr)
    if folder is None:
        print(f"site: {len(pages)} pages, {len(faults)} faults of links and navigation")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
