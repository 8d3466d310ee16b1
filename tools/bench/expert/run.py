#!/usr/bin/env python3
"""Asks `gq` about the lines of cases.toml with several seeds, and holds the answers against those of an expert.

    run.py [GQ] [--only ROW,...] [--seeds N] [--minutes N] [--again] [--store]

Answers are kept in out/expert, a file for each row and seed, so that an interrupted run resumes; those of another program
are made again. Standard output gets a page in Markdown; the exit code is 1 when a row fails. --store writes what of the
answers is judged into answers/, which `make test` judges again.
"""

import argparse
import hashlib
import json
import os
import resource
import shlex
import shutil
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import judge

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parent))

from process import machine  # noqa: E402 (the folder above)
from tables import table  # noqa: E402

NONE = "\N{EN DASH}"
KEPT = ROOT / "out/expert"
STORED = HERE / "answers"


class Asker:
    """Runs a program, and keeps what it answers."""

    def __init__(self, gq, minutes, kept=KEPT):
        self.minutes = minutes
        self.kept = kept
        kept.mkdir(parents=True, exist_ok=True)
        # A copy, so that a build meanwhile does not change who answers.
        self.gq = kept / "gq"
        shutil.copy2(gq, part := kept / "gq.tmp")
        part.replace(self.gq)
        self.version = subprocess.run([self.gq, "--version"], capture_output=True, text=True, check=True).stdout.strip()
        self.build = hashlib.sha256(self.gq.read_bytes()).hexdigest()[:12]

    def summary(self, case, seed, options=None):
        """What of an answer is judged; kept, or made now."""
        words = [case["command"], *shlex.split(options or case["options"]), "--seed", str(seed), "--json", "-"]
        if case["command"] == "compare":
            words += ["--no-report", "--force", "--out", str(self.kept / "compared")]
        answer = self.ask(words, f"{case['number']:02}-seed-{seed}")
        found = {"error": answer["error"]} if "error" in answer else judge.summary(case, json.loads(answer["out"]))
        return {"seed": seed, "cpu_s": answer["cpu_s"]} | found

    def argument(self, case):
        """The lines that a command prints with the figure that is argued with."""
        words = shlex.split(case["argument"]["command"])[1:]
        answer = self.ask(words, f"{case['number']:02}-argument")
        lines = [line for line in answer.get("out", "").splitlines() if judge.has(line, case["argument"]["figure"])]
        return {"seed": 1, "cpu_s": answer["cpu_s"], "text": "\n".join(lines)}

    def ask(self, words, name):
        """The output of a command and its seconds of processor time; an error is not kept."""
        file = self.kept / f"{name}.json"
        asked = {"command": shlex.join(["gq", *words]), "build": self.build}
        if file.exists():
            answer = json.loads(file.read_text())
            if {key: answer[key] for key in asked} == asked:
                return answer
        began = processor_time()
        try:
            made = subprocess.run(
                [self.gq, *words], cwd=HERE, capture_output=True, text=True, timeout=self.minutes * 60
            )
            said = made.stderr.strip().splitlines()
            error = (
                None
                if made.returncode == 0
                else next((line.removeprefix("error: ") for line in said if line.startswith("error: ")), "no message")
            )
        except subprocess.TimeoutExpired:
            error = f"did not end within {self.minutes * 60:g} s"
        answer = asked | {"cpu_s": round(processor_time() - began, 2)}
        if error is not None:
            return answer | {"error": error}
        answer["out"] = made.stdout
        # A file is there as a whole or not at all.
        part = file.with_suffix(".tmp")
        part.write_text(json.dumps(answer))
        part.replace(file)
        return answer


def processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def answered(asker, cases):
    """The summaries of all seeds of each row that is run or argued, with progress."""
    summaries, began = {}, time.monotonic()
    total = sum(case["seeds"] for case in cases if case["status"] == "run")
    done = 0
    for case in cases:
        if case["status"] == "argued":
            summaries[case["number"]] = [asker.argument(case)]
        if case["status"] != "run":
            continue
        found = summaries[case["number"]] = []
        for seed in range(1, case["seeds"] + 1):
            progress(
                f"[{done}/{total}, {time.monotonic() - began:.0f} s] row {case['number']}, seed {seed}: {case['situation']}"
            )
            found.append(asker.summary(case, seed))
            done += 1
        verdict = judge.verdict(case, found)
        progress(f"row {case['number']}: {'passes' if verdict['passes'] else verdict['why']}")
    return summaries


def progress(line):
    print(line, file=sys.stderr, flush=True)


def page(asker, cases, summaries):
    """The verdicts as a page, and whether all rows pass."""
    verdicts, faults = judge.judge(cases, summaries)
    rows = []
    for case in cases:
        found = summaries.get(case["number"], [])
        verdict = verdicts.get(case["number"])
        if verdict is None:
            rows.append([case["number"], case["situation"], NONE, NONE, NONE, f"open: {case['reason']}", NONE])
            continue
        same = f"{round(verdict['share'] * len(found))} of {len(found)}" + (", a pair" if verdict["is_pair"] else "")
        why = "passes" if verdict["passes"] else f"**fails**: {verdict['why']}"
        if case["status"] == "argued":
            same, why = NONE, f"argued with `{case['argument']['command']}`: {why}"
        slowest = max((one["cpu_s"] for one in found), default=0)
        rows.append(
            [case["number"], case["situation"], judge.expected(case), verdict["answer"], same, why, f"{slowest:.1f} s"]
        )
    passed = sum(one["passes"] for one in verdicts.values())
    heads = [
        "row:",
        "line or situation",
        "accepted",
        "answer of most seeds",
        "the same answer",
        "verdict",
        "most processor time:",
    ]
    lines = [
        "# Answers that an expert would give",
        "",
        "This page is a record and is not edited again; [expert.md](../expert.md) has the rule.",
        f"Made by `make expert` on {datetime.now(UTC):%Y-%m-%d} with {asker.version}; {machine()}.",
        f"{passed} of {len(verdicts)} rows pass, {len(cases) - len(verdicts)} open.",
        *faults,
        "",
        table(heads, [[str(cell).replace("|", "\\|") for cell in row] for row in rows]),
    ]
    return "\n".join(lines), passed == len(verdicts) and not faults


def store(cases, summaries):
    """Writes what is judged next to the cases, a file for each row."""
    STORED.mkdir(exist_ok=True)
    for case in cases:
        file = STORED / f"{case['number']:02}.json"
        if case["status"] == "open":
            file.unlink(missing_ok=True)
        elif (found := summaries.get(case["number"])) is not None:
            found = judge.shortened(found)
            lines = ",\n".join(json.dumps(one, sort_keys=True, ensure_ascii=False) for one in found)
            file.write_text(f"[\n{lines}\n]\n")


def stored():
    """The summaries that were stored last."""
    return {int(file.stem): json.loads(file.read_text()) for file in sorted(STORED.glob("*.json"))}


def arguments(numbers):
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/gq"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gq", nargs="?", default=str(built), help="the program to ask")
    parser.add_argument("--only", metavar="ROW,...", help="these rows alone")
    parser.add_argument("--seeds", type=int, metavar="N", help="the seeds of every row: 20 and 5 without")
    parser.add_argument("--minutes", type=float, default=30, metavar="N", help="most time for one answer")
    parser.add_argument("--again", action="store_true", help="makes all answers again")
    parser.add_argument("--store", action="store_true", help="stores what is judged for `make test`")
    chosen = parser.parse_args()
    wanted = chosen.only.split(",") if chosen.only else numbers
    if unknown := [number for number in wanted if number not in numbers]:
        parser.error(f"--only: there is no row `{unknown[0]}`: allowed {numbers[0]} to {numbers[-1]}")
    if not Path(chosen.gq).is_file():
        parser.error(f"there is no program `{chosen.gq}`: `cargo build --release --bin gq` makes one")
    if chosen.seeds is not None and chosen.seeds < 1:
        parser.error(f"--seeds: `{chosen.seeds}` is out of range: allowed 1 and more")
    return chosen, wanted


def main():
    cases, _ = judge.cases()
    chosen, wanted = arguments([str(case["number"]) for case in cases])
    cases = [case | {"seeds": chosen.seeds or case["seeds"]} for case in cases if str(case["number"]) in wanted]
    asker = Asker(chosen.gq, chosen.minutes)
    if chosen.again:
        for case in cases:
            for kept in KEPT.glob(f"{case['number']:02}-*.json"):
                kept.unlink()
    try:
        summaries = answered(asker, cases)
    except KeyboardInterrupt:
        progress(f"stopped; what was answered is in {KEPT}, and the same command resumes there")
        sys.exit(130)
    text, passes = page(asker, cases, summaries)
    if chosen.store:
        store(cases, summaries)
    print(text)
    sys.exit(not passes)


if __name__ == "__main__":
    main()
