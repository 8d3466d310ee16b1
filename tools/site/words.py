"""Checks the words of the pages: words.py [--readability] [FILE...].

Finds words that `words.toml` replaces, and lines with two sentences, in every Markdown page of the
repository unless files are named. Code, links and comments are not looked at, and pages that
programs write may have several sentences in a line. With `--readability` prints a figure per page
instead: the Automated Readability Index (Smith and Senter 1967), the school grade that a text asks
for by characters per word and words per sentence. Tables are left out of it, as they have no sentences.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RULES = Path(__file__).with_name("words.toml")
# The glossary lists words that are not used.
EXEMPT = {"docs/GLOSSARY.md"}
# Pages that programs write: all of these folders, and those that say so.
WRITTEN = ("tools/bench/", "docs/algorithms/", "gallery/")
WRITES = re.compile(r"^(<!-- )?Made (by|from) |It is made by `|` (wrote|made) this page", re.MULTILINE)
# The end of a sentence, and a capital behind it. Shorter words are abbreviations and initials.
SECOND_SENTENCE = re.compile(r"\b\w{3,}[)\"]?[.!?] +(?=[(\"*\[]*[A-Z])")

FENCE = re.compile(r"^\s*(```|~~~)")
BLANKED = [
    re.compile(r"<!--.*?-->", re.DOTALL),
    # A code span may be broken between lines, but does not end a paragraph.
    re.compile(r"(?<!`)(`+)(?!`)(?:(?!\n\s*\n).)+?(?<!`)\1(?!`)", re.DOTALL),
    re.compile(r"(?<=\])\([^)\s]*\)"),
    re.compile(r"https?://\S+"),
    # Words of others, quoted.
    re.compile(r"\"[^\"\n]*\""),
]


def pages() -> list[Path]:
    """Every page that is under version control, or about to be."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return [ROOT / name for name in sorted(names) if name not in EXEMPT and (ROOT / name).exists()]


def prose(text: str) -> list[str]:
    """The lines of a page; what is no prose is replaced by spaces, so that places stay."""
    lines = []
    is_code = False
    for line in text.split("\n"):
        is_fence = bool(FENCE.match(line))
        is_code ^= is_fence
        lines.append("" if is_fence or is_code or line.startswith("    ") else line)
    text = "\n".join(lines)
    for pattern in BLANKED:
        text = pattern.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
    return text.split("\n")


def faults(name: str, text: str, rules: list[dict]) -> list[str]:
    """What one page has to mend, one line each."""
    found = []
    is_written = name.startswith(WRITTEN) or WRITES.search(text) is not None
    for number, line in enumerate(prose(text), 1):
        is_row = line.startswith("|")
        second = None if is_row or is_written else SECOND_SENTENCE.search(line)
        if second:
            found.append(f"{name}:{number}:{second.end() + 1}: a second sentence: begin a new line")
        for rule in rules:
            if is_row and not rule.get("tables", True):
                continue
            for match in rule["find"].finditer(line):
                found.append(f'{name}:{number}:{match.start() + 1}: "{match.group()}": write {rule["say"]}')
    return found


def readability(text: str) -> tuple[int, float, float] | None:
    """Words, words per sentence, and the index of a page; none where there is hardly any prose."""
    lines = [line for line in prose(text) if not line.startswith(("|", "#", "!", "<"))]
    # A paragraph, or an entry of a list, ends a sentence with or without a full stop.
    blocks = re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", "\n".join(lines))
    words, characters, sentences = 0, 0, 0
    for block in blocks:
        for sentence in re.split(r"(?<=[.!?:;])\s+", block):
            found = re.findall(r"[A-Za-z][A-Za-z'-]*", sentence)
            if len(found) > 1:
                sentences += 1
                words += len(found)
                characters += sum(map(len, found))
    if words < 50:
        return None
    return words, words / sentences, 4.71 * characters / words + 0.5 * words / sentences - 21.43


def main() -> int:
    arguments = sys.argv[1:]
    wants_figures = "--readability" in arguments
    files = [Path(name).resolve() for name in arguments if name != "--readability"] or pages()
    texts = {
        str(file.relative_to(ROOT)) if file.is_relative_to(ROOT) else str(file): file.read_text() for file in files
    }
    if wants_figures:
        print("grade  words/sentence  words  page")
        figures = {name: readability(text) for name, text in texts.items()}
        for name, figure in sorted(figures.items(), key=lambda item: -(item[1] or (0, 0, 0))[2]):
            if figure is not None:
                print(f"{figure[2]:5.1f}  {figure[1]:14.1f}  {figure[0]:5}  {name}")
        return 0
    rules = tomllib.loads(RULES.read_text())["rule"]
    for rule in rules:
        rule["find"] = re.compile(rule["find"], re.IGNORECASE)
    found = [fault for name, text in texts.items() for fault in faults(name, text, rules)]
    for fault in found:
        print(fault, file=sys.stderr)
    print(f"prose: {len(texts)} pages, {len(rules)} rules, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
