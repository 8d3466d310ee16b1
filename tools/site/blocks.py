"""Runs the blocks of code on the pages: blocks.py GQ [PYTHON] [PAGE...].

- `sh`: lines that begin with `gq` are run, page by page, in a folder of the page's own that has links
  to the folders of the repository; `> FILE` keeps the output for later lines. Simulations are
  shortened. A line before a block that begins with `error:` must fail with that message.
- `json`, `csv` and `toml` after a comment `<!-- file: NAME -->` become files of that folder. `toml`
  that begins with `goodqueue = 1` is checked with `gq check`.
- `python` is run in order, page by page, by PYTHON, which has the package; `>>>` blocks are left to
  pytest.
- Of a command that takes minutes, needs root or does not end, only the options are checked; of
  every other `gq` line in a block or in `code`, too.
- Commands of `gq` stand in blocks in `sh`; in `text` if they cannot run as they stand, such as a
  synopsis, and in `console` with what they printed.

What is not run is counted by its reason. Fails on the first wrong block of each page.
"""

import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Records of what was run on some day, with the command of that day.
RECORDS = ("CHANGELOG.md", "docs/evidence/")
SHORT = {
    "compare": ["--duration", "2s", "--warmup", "1s", "--replications", "2"],
    "run": ["--set", "duration=2 s", "--set", "warmup=1 s", "--replications", "2"],
    "sweep": ["--set", "duration=2 s", "--set", "warmup=1 s", "--replications", "2"],
}
REASONS = {
    "recommend": "takes minutes",
    "evaluate": "takes minutes",
    "reproduce": "takes minutes",
    "validate": "needs a guest kernel or root",
    "exec": "needs a guest kernel",
    "shell": "needs namespaces",
    "qlog": "needs a recorded connection",
    "bridge": "needs root and interfaces",
    "endpoint": "needs root and an interface",
    "replay": "needs a recording of a bridge",
    "serve": "does not end",
    "doctor": "depends on the machine",
}

BLOCK = re.compile(
    r"(?:<!-- file: (?P<file>\S+) -->\n\n?)?^(?P<indent> *)```(?P<language>[a-z]*)[^\n]*\n(?P<text>.*?)^ *```$",
    re.DOTALL | re.MULTILINE,
)
INLINE = re.compile(r"`(gq(?:-checks)? [a-z][^`\n]*)`")


class Fault(Exception):
    """What is wrong with a block."""


class Pages:
    """The pages, the programs they are run with, and what was not run."""

    def __init__(self, gq: str, python: str | None) -> None:
        self.gq, self.python = gq, python
        self.counts: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.known: dict[str, set[str] | None] = {}
        # Files that skipped lines of this page would have written.
        self.unwritten: set[str] = set()

    def call(self, words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
        """Runs `gq`, or `gq-checks` beside it."""
        return subprocess.run(
            [self.program(words[0]), *words[1:]],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=300,
            stdin=subprocess.DEVNULL,
        )

    def program(self, name: str) -> str:
        """The path of `gq` or `gq-checks`."""
        return str(Path(self.gq).with_name(name))

    def options(self, program: str, command: str) -> set[str] | None:
        """The options of a command; none where there is no such command."""
        key = f"{program} {command}"
        if key not in self.known:
            done = subprocess.run([self.program(program), command, "--help"], capture_output=True, text=True)
            options = set(re.findall(r"(?<![\w-])(--[a-z][a-z-]*)", done.stdout))
            self.known[key] = options if done.returncode == 0 else None
        return self.known[key]

    def check_options(self, line: str) -> None:
        """Fails where a line has a command or an option that `gq` has not."""
        words = re.split(r"[\s|=]+", re.sub(r"'[^']*'|\"[^\"]*\"|#.*", "", line))
        if len(words) < 2 or not re.fullmatch(r"[a-z][a-z-]*", words[1]):
            return
        known = self.options(words[0], words[1])
        if known is None:
            raise Fault(f"`{line}`: {words[0]} has no command `{words[1]}`")
        for word in words[2:]:
            option = re.match(r"\[?(--[a-z][a-z-]*)", word)
            if option and option[1] not in known:
                raise Fault(f"`{line}`: {words[0]} {words[1]} has no option {option[1]}")
        self.counts["lines whose options exist"] += 1

    def line(self, line: str, folder: Path, error: str | None) -> None:
        """Runs a line of a shell block."""
        first = line.split()[0] if line.split() else ""
        if first not in ("gq", "gq-checks"):
            if first and not first.startswith("#"):
                self.skipped[f"no gq command: {Path(first).name}"] += 1
            return
        self.check_options(line)
        command, _, output = re.sub(r"\s#\s.*", "", line).partition(" > ")
        program, *words = shlex.split(command)
        if words[0] in REASONS:
            self.skipped[f"gq {words[0]} {REASONS[words[0]]}"] += 1
            self.unwritten.update(word for word in words if "." in word)
            return
        if self.unwritten.intersection(words):
            self.skipped["gq lines that read what a skipped line writes"] += 1
            return
        if "--on" in words:
            self.skipped["gq lines with --on need a guest kernel or root"] += 1
            return
        if "--circuits" in words:
            self.skipped["gq lines with --circuits need a provider's files"] += 1
            return
        # The first occurrence of an option counts, as clap refuses a second one.
        short = SHORT.get(words[0], [])
        pairs = [short[at : at + 2] for at in range(0, len(short), 2)]
        words += [word for pair in pairs if pair[0] == "--set" or pair[0] not in words for word in pair]
        done = self.call([program, *words], folder)
        if error is not None:
            if done.returncode != 2 or done.stderr.strip() != error:
                raise Fault(f"`{line}`: expected `{error}`, got exit code {done.returncode}: {done.stderr.strip()}")
        elif done.returncode != 0:
            raise Fault(f"`{line}`: exit code {done.returncode}: {done.stderr.strip()[-400:]}")
        # A shell's `~` is the reader's, not ours.
        if output and not output.startswith("~"):
            (folder / output.strip()).write_text(done.stdout)
        self.counts["gq lines run"] += 1

    def page(self, name: str) -> None:
        """Runs the blocks of a page in order."""
        self.unwritten.clear()
        text = (ROOT / name).read_text()
        with tempfile.TemporaryDirectory() as path:
            folder = Path(path)
            for place in ("examples", "gallery", "crates", "docs"):
                (folder / place).symlink_to(ROOT / place)
            blocks = list(BLOCK.finditer(text))
            scripts = []
            for number, block in enumerate(blocks):
                language, body = block["language"], block["text"]
                if block["indent"]:
                    body = re.sub(f"^{block['indent']}", "", body, flags=re.MULTILINE)
                if block["file"]:
                    (folder / block["file"]).write_text(body)
                if language == "sh":
                    after = blocks[number + 1]["text"] if number + 1 < len(blocks) else ""
                    lines = body.replace("\\\n", " ").splitlines()
                    runs = [line for line in lines if line.startswith(("gq ", "gq-checks "))]
                    for line in lines:
                        fails = after.startswith("error: ") and runs and line is runs[-1]
                        self.line(line, folder, after.strip() if fails else None)
                elif (
                    language == "toml" and body.lstrip().startswith(("goodqueue = 1", "#")) and "goodqueue = 1" in body
                ):
                    (folder / "block.toml").write_text(body)
                    done = self.call(["gq", "check", "block.toml"], folder)
                    if done.returncode != 0:
                        raise Fault(f"toml block {number + 1}: {done.stderr.strip()}")
                    self.counts["scenarios checked"] += 1
                elif language == "python" and ">>>" not in body:
                    scripts.append(body)
                else:
                    commands = [
                        line for line in body.splitlines() if re.match(r"(\$ |target/quick/)?gq(-checks)? [a-z-]", line)
                    ]
                    if commands and language == "":
                        raise Fault(f"`{commands[0]}`: its block has no language: sh, text or console")
                    for line in commands:
                        self.check_options(line[line.index("gq") :])
            if scripts and self.python is None:
                self.skipped["python needs the package (make python)"] += len(scripts)
            elif scripts:
                script = folder / "page.py"
                script.write_text("import matplotlib\nmatplotlib.use('Agg')\n" + "\n".join(scripts))
                done = subprocess.run(
                    [self.python, str(script)], cwd=folder, capture_output=True, text=True, timeout=300
                )
                if done.returncode != 0:
                    raise Fault(f"python: {done.stderr.strip()[-600:]}")
                self.counts["python blocks run"] += len(scripts)
        indented = re.search(r"^    (gq [a-z][^\n]*)$", BLOCK.sub("", text), re.MULTILINE)
        if indented:
            raise Fault(f"`{indented[1]}`: stands in an indented block, not in ```sh")
        for match in INLINE.finditer(BLOCK.sub("", text)):
            self.check_options(match[1])


def main() -> int:
    if len(sys.argv) < 2:
        print("usage: blocks.py GQ [PYTHON] [PAGE...]", file=sys.stderr)
        return 2
    names = [word for word in sys.argv[2:] if word.endswith(".md")]
    pythons = [word for word in sys.argv[2:] if not word.endswith(".md")]
    pages = Pages(str(Path(sys.argv[1]).resolve()), pythons[0] if pythons else None)
    if not names:
        command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
        names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
        names = [name for name in sorted(names) if not name.startswith(RECORDS) and (ROOT / name).exists()]
    faults = 0
    for name in names:
        try:
            pages.page(name)
        except Fault as fault:
            faults += 1
            print(f"{name}: {fault}", file=sys.stderr)
    for what, count in sorted(pages.skipped.items()):
        print(f"skipped: {count} lines or blocks, {what}")
    counted = ", ".join(f"{count} {what}" for what, count in sorted(pages.counts.items()))
    print(f"blocks: {len(names)} pages, {counted}, {faults} pages at fault")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
