"""Writes gallery/VERDICTS.md: verdicts under several seeds and in full mode.

gallery-verdicts.py OUT... with a folder of `gq reproduce all --out OUT` for each seed (`--seed N`) and one for full mode (`--full`).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tables import table

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "gallery/VERDICTS.md"
STUDIES = ("cp-aqm", "steering", "codel", "survey", "nfq-codel")
GRADES = ("A", "B", "C", "U")
VERDICTS = ("holds", "fails", "not comparable")


def verdicts(rows: list[dict]) -> str:
    return " / ".join(str(sum(row["verdict"] == verdict for row in rows)) for verdict in VERDICTS)


def read(folder: Path) -> dict[str, dict]:
    """What a folder has of each study, without studies that were not run to their end."""
    results = {}
    for study in STUDIES:
        path = folder / study / "results.json"
        result = json.loads(path.read_text()) if path.exists() else {"experiments": []}
        if result["experiments"] and all(experiment["complete"] for experiment in result["experiments"]):
            results[study] = result
        else:
            print(f"{folder}/{study}: not complete, so left out", file=sys.stderr)
    return results


def label(results: dict[str, dict]) -> str:
    """The name of a run on the page."""
    seeds = {experiment["seed"] for result in results.values() for experiment in result["experiments"]}
    modes = {result["mode"] for result in results.values()}
    if len(seeds) != 1 or len(modes) != 1:
        sys.exit(f"seeds {sorted(seeds)}, modes {sorted(modes)}: one folder, one seed, one mode")
    (seed,), (mode,) = seeds, modes
    return f"{mode} mode, seed {seed}"


def page(runs: list[dict[str, dict]]) -> str:
    labels = [label(results) for results in runs]
    first = next(iter(runs[0].values()))
    text = f"""# Verdicts under other seeds and in full mode

Made by `tools/bench/gallery-verdicts.py` from runs of goodqueue {first["version"]} ({first["commit"]}). Do not edit.

Cells are rows that hold / fail / could not be compared.

"""
    counts = []
    for study in STUDIES:
        for name, results in zip(labels, runs, strict=True):
            rows = results[study]["rows"] if study in results else None
            cells = ["not run"] * len(GRADES) if rows is None else [verdicts([row for row in rows if row["grade"] == grade]) for grade in GRADES]
            counts.append([study, name, *cells, "not run" if rows is None else verdicts(rows)])
    text += table(["study", "run", *GRADES, "all"], counts)
    flips = []
    for study in STUDIES:
        tables = [{row["id"]: row for row in results[study]["rows"]} if study in results else {} for results in runs]
        for row in max(tables, key=len).values():
            found = [rows.get(row["id"]) for rows in tables]
            if len({other["verdict"] for other in found if other}) > 1:
                cells = [f"{other['text']['measured']}: {other['verdict']}" if other else "not run" for other in found]
                flips.append([*(row[key] for key in ("id", "grade", "metric")), row["text"]["expected"], *cells])
    if not flips:
        return text + "\n\nNo verdict differs.\n"
    shown = table(["row", "grade", "measure", "expected", *labels], flips)
    return f"{text}\n\nRows whose verdict differs:\n\n{shown}\n"


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    TARGET.write_text(page([read(Path(folder)) for folder in sys.argv[1:]]))
