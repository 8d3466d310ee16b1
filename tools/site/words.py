"""Checks words of pages, comments and messages: words.py [FILE...].

Finds words that `words.toml` replaces in every Markdown page, and in comments and texts of sources,
unless files are named; and lines with two sentences in pages. Code and links are not looked at, and
pages that programs write may have several sentences in a line.
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
# Pages that programs write: all of these folders, and those with a line that names their program.
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
    # Quotations.
    re.compile(r"\"[^\"\n]*\""),
]


# Sources, and the mark of their comments.
SOURCES = {".rs": "//", ".ts": "//", ".py": "#", ".sh": "#"}
# A text for people has at least three words.
TEXT = re.compile(r'"(?=[^"]*\w \w+[^"]* \w)(?:[^"\\\n]|\\.)*"')


def files(*patterns: str) -> list[Path]:
    """Every such file that is under version control, or about to be."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns]
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


def words_of_source(text: str, mark: str) -> list[str]:
    """The lines of a source; what is neither comment nor text for people is replaced by spaces."""
    lines = []
    for line in text.split("\n"):
        is_comment = line.lstrip().startswith(mark)
        kept = [(0, len(line))] if is_comment else [found.span() for found in TEXT.finditer(line)]
        shown = [any(begin <= at < end for begin, end in kept) for at in range(len(line))]
        line = "".join(letter if is_shown else " " for letter, is_shown in zip(line, shown, strict=True))
        # Code, names and expressions in a format, and addresses are no words.
        lines.append(re.sub(r"`[^`]*`|\{[^{}]*\}|https?://\S+", lambda found: " " * len(found.group()), line))
    return lines


def faults(name: str, text: str, rules: list[dict]) -> list[str]:
    """What one page or source has to mend, one line each."""
    found = []
    mark = SOURCES.get(Path(name).suffix)
    is_written = mark is not None or name.startswith(WRITTEN) or WRITES.search(text) is not None
    for number, line in enumerate(words_of_source(text, mark) if mark else prose(text), 1):
        is_row = line.startswith("|")
        second = None if is_row or is_written else SECOND_SENTENCE.search(line)
        if second:
            found.append(f"{name}:{number}:{second.end() + 1}: a second sentence: begin a new line")
        for rule in rules:
            if (is_row or mark) and not rule.get("tables", True):
                continue
            for match in rule["find"].finditer(line):
                found.append(f'{name}:{number}:{match.start() + 1}: "{match.group()}": write {rule["say"]}')
    return found


def main() -> int:
    named = [Path(name).resolve() for name in sys.argv[1:]]
    texts = {
        str(file.relative_to(ROOT)) if file.is_relative_to(ROOT) else str(file): file.read_text()
        for file in named or files("*.md", *(f"*{suffix}" for suffix in SOURCES))
    }
    rules = tomllib.loads(RULES.read_text())["rule"]
    for rule in rules:
        rule["find"] = re.compile(rule["find"], re.IGNORECASE)
    found = [fault for name, text in texts.items() for fault in faults(name, text, rules)]
    for fault in found:
        print(fault, file=sys.stderr)
    print(f"prose: {len(texts)} files, {len(rules)} rules, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
