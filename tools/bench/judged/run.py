"""Writes docs/judged.md, docs/scorecard.md and docs/scorecard-cc.md: what suites and guidelines that others wrote say of goodqueue.

    python3 tools/bench/judged/run.py GQ SUITES OUT

GQ is the command, SUITES a folder with clones of the suites that tools/bench/judged/suites.toml names, OUT a folder for results of `gq evaluate`.
"""

import json
import os
import platform
import subprocess
import sys
import tomllib
from pathlib import Path

# They put other queues to work and decide nothing by themselves.
WITHOUT_SCORE = {"fair", "htb", "priority", "shaper"}
OTHERS = ["l4s-tests", "dualpi2", "ns3", "ns2"]
CONTROLS = "reno,bbr,bbr3,prague"
VERDICTS = ["passes", "fails", "does-not-apply", "unreadable"]
BASE = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(BASE / "tools/bench"))

from tables import table  # noqa: E402

DATA = tomllib.loads((BASE / "tools/bench/judged/suites.toml").read_text())


def results(gq: str, files: list[Path]) -> list[dict]:
    """Verdicts of `gq-checks packetdrill` over these scripts, in parts that a command line holds."""
    found = []
    for first in range(0, len(files), 200):
        part = [str(file) for file in files[first : first + 200]]
        done = subprocess.run([f"{gq}-checks", "packetdrill", "--json", *part], capture_output=True, text=True, check=False)
        found += json.loads(done.stdout)
    return found


def oracle(root: Path, begin: Path, files: list[Path], out: Path, series: str) -> dict[Path, str]:
    """What the TCP of Linux of this series in a guest kernel does in these scripts, by packetdrill itself: nothing or the first difference."""
    out.mkdir(parents=True, exist_ok=True)
    paths = "".join(f"{file.relative_to(begin)}\n" for file in files)
    program = [str(BASE / "tools/bench/judged/oracle.sh"), str(root / "packetdrill"), str(begin), str(out)]
    if subprocess.run(program, input=paths, text=True, check=False, env={**os.environ, "SERIES": series}).returncode:
        return {}
    lines = (line.split("\t") for line in (out / "verdicts").read_text(errors="replace").splitlines())
    return {begin / path: "" if code == "0" else said for path, code, said in lines}


def version(folder: Path, known: str) -> str:
    """The commit of a clone, or the one that is known where it is no clone."""
    command = ["git", "-C", str(folder), "rev-parse", "--short=7", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    is_clone = (folder / ".git").exists() and done.returncode == 0
    return done.stdout.strip() if is_clone else known


def linux_says(verdicts: dict[Path, str], file: Path) -> str:
    """`passes`, `fails` or `not asked`."""
    return "not asked" if file not in verdicts else "fails" if verdicts[file] else "passes"


def suites(gq: str, root: Path, out: Path) -> tuple[list[list], list[list], list[str]]:
    """Rows of the table, rows of failures, and names of suites that are not there."""
    rows, failures, missing = [], [], []
    for suite in DATA["suite"]:
        folder = root / suite["folder"]
        if not folder.is_dir():
            missing.append(suite["name"])
            continue
        begin = folder / suite["scripts"]
        files = [file for file in sorted(begin.rglob("*.pkt")) if not set(file.parts) & set(suite["without"])]
        found = results(gq, files)
        counts = [sum(one["verdict"] == verdict for one in found) for verdict in VERDICTS]
        name = f"[{suite['name']}]({suite['url']})"
        asked = [Path(one["script"]) for one in found if one["verdict"] in VERDICTS[:2]] if suite["linux"] else []
        linux = oracle(root, folder, asked, out / suite["folder"], suite["linux"]) if asked else {}
        passes = list(linux.values()).count("")
        says = f"{suite['linux']}: {passes} of {len(linux)}" if linux else "not asked"
        rows.append([name, version(folder, suite["version"]), suite["licence"], len(found), *counts, says])
        for one in (one for one in found if one["verdict"] == "fails"):
            script = Path(one["script"])
            mechanism = DATA["mechanism"].get(script.stem, "not established")
            difference = f"line {one['line']}: `{one['got']}` instead of `{one['expected']}`".replace("|", "\\|")
            says = linux_says(linux, script)
            failures.append([suite["name"].split("/")[0], f"`{script.stem}`", difference, says, mechanism])
    return rows, failures, missing


def own_scripts(gq: str, root: Path, out: Path) -> str:
    """Verdicts of the scripts of this project, here and of Linux."""
    files = sorted((BASE / "crates/checks/scripts").glob("*.pkt"))
    verdicts = [one["verdict"] for one in results(gq, files)]
    names = ", ".join(f"`{file.stem}`" for file in files)
    passed = verdicts.count("passes")
    linux = ""
    for series in ("6.12", "7.3") if (root / "packetdrill").is_dir() else ():
        found = oracle(root, files[0].parent, files, out / series, series)
        if not found:
            continue
        linux += f"\n\nLinux {series}, judged by packetdrill itself, passes {list(found.values()).count('')} of {len(found)}."
        for file in (file for file in files if found.get(file)):
            said = found[file].replace("|", "\\|")
            why = DATA["linux"].get(f"{file.stem} {series}", DATA["linux"].get(file.stem, "Not established."))
            linux += f"\n\n- `{file.stem}`: Linux {series} fails, `{said}`. {why}"
    linux = linux or "\n\nLinux was not asked."
    return f"""For RACK, loss probes, F-RTO, PRR and HyStart++ there are no public scripts. Of the {len(files)} here {passed} pass: {names}.
They follow the RFCs.{linux}"""


def evaluate(gq: str, out: Path, option: str, subjects: str, page: str) -> dict:
    """Runs `gq evaluate` over many subjects, at low priority, and writes its page."""
    command = ["evaluate", option, subjects, "--against", ",", "--out", str(out), "--markdown", str(BASE / "docs" / page)]
    subprocess.run(["nice", "-n", "5", gq, *command], stdout=subprocess.DEVNULL, check=True)
    text = (BASE / "docs" / page).read_text()
    # Where the results lie says nothing about them.
    text = text.replace(f" --out {out} --markdown {BASE / 'docs' / page}", f" --markdown docs/{page}")
    (BASE / "docs" / page).write_text(text)
    return json.loads((out / "evaluation.json").read_text())


def queues(gq: str) -> str:
    """All kinds of queue but the baseline, which is always there."""
    done = subprocess.run([gq, "list", "aqm", "--json"], capture_output=True, text=True, check=True)
    names = [kind["name"] for kind in json.loads(done.stdout)]
    return ",".join(name for name in names if name not in WITHOUT_SCORE | {"tail-drop"})


def gallery(gq: str, out: Path) -> tuple[list[list], list[list]]:
    """Rows of the gallery's table of results from other papers, and of what fails there."""
    rows, failures = [], []
    for paper in OTHERS:
        command = ["nice", "-n", "5", gq, "reproduce", paper, "--gallery", str(BASE / "gallery"), "--out", str(out)]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        found = json.loads((out / paper / "results.json").read_text())
        title = found["title"].removeprefix("Others' results: ")
        verdicts = [row["verdict"] for row in found["rows"]]
        counts = [verdicts.count(verdict) for verdict in ["holds", "fails", "not comparable"]]
        rows.append([f"[{title}](../gallery/{paper}/README.md)", len(verdicts), *counts])
        for row in (row for row in found["rows"] if row["verdict"] == "fails"):
            words = (row["claim"], row.get("why") or "not established")
            failures.append([f"`{row['id']}`", *(text.replace("\n", " ") for text in words)])
    return rows, failures


def guideline(found: dict, page: str) -> list:
    families, subjects = len(found["families"]), len(found["subjects"])
    times = [f"{found['cpu_s']:.0f} s", f"{found['cpu_s'] / subjects:.0f} s"]
    return [f"[{found['document']}]({page})", families, subjects, found["runs"], *times]


def main() -> None:
    gq, root, out = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    rows, failures, missing = suites(gq, root, out / "linux")
    judged = evaluate(gq, out / "aqm", "--aqm", queues(gq), "scorecard.md")
    controls = evaluate(gq, out / "cc", "--cc", CONTROLS, "scorecard-cc.md")
    absent = f"Not run here: {', '.join(missing)}.\n\n" if missing else ""
    why = ""
    if failures:
        shown = table(["suite", "script", "first difference", "Linux", "mechanism"], failures)
        why = f"## What fails, and why\n\n{shown}\n\n"
    chapters, failing = gallery(gq, out / "gallery")
    heads = ["suite", "version", "license", "run", "pass", "fail", "do not apply", "cannot be read", "Linux passes"]
    guidelines = [guideline(judged, "scorecard.md"), guideline(controls, "scorecard-cc.md")]
    page = f"""# Judged by others

This page shows how goodqueue does in test suites and guidelines that other projects wrote.

Made by `make judged` of goodqueue {judged["version"]} ({judged["commit"]}) on {os.cpu_count()} processors ({platform.machine()}). Do not edit.

## Suites

Scripts of packetdrill against goodqueue's sender and receiver ([packetdrill.md](packetdrill.md)). What needs something that is not modeled
does not apply; it is never a pass. The last column has the series of Linux that was asked, scripts that pass or fail here, and how many of them Linux of that series passes: the original
packetdrill runs them in a guest kernel in virtual time (`tools/bench/judged/oracle.sh`).

{table(heads, rows)}

{absent}{why}## Own scripts

{own_scripts(gq, root, out / "linux/own")}

## The BBR draft's test cases

[The BBR draft's test cases](bbr-draft.md) has the verdicts on both versions: the 22 example test cases of draft-ietf-ccwg-bbr (4ce5e87).

## Others' results

Chapters of the gallery ([reproducing.md](reproducing.md)): what others measured or assert about queues and senders, row by row. `gq reproduce NAME` runs one.

{table(["chapter", "rows", "hold", "fail", "only reported"], chapters)}

{table(["row that fails", "what it says", "mechanism"], failing)}

## Guidelines

`gq evaluate` ([evaluate.md](evaluate.md)) in quick mode. Guidelines name tests and no thresholds: nothing passes or fails.

{table(["guideline", "families", "subjects", "runs", "processor time", "each subject"], guidelines)}
"""
    (BASE / "docs/judged.md").write_text(page)


if __name__ == "__main__":
    main()
