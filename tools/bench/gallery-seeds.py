"""Writes gallery/SEEDS.md: verdicts under several seeds. gallery-seeds.py OUT... with a folder of `gq reproduce --out OUT --seed N` for each seed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tables import table

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "gallery/SEEDS.md"
STUDIES = ("cp-aqm", "steering", "codel", "survey", "nfq-codel")
GRADES = ("A", "B", "C", "U")


def verdicts(results: list[dict], grade: str) -> str:
    rows = [row for result in results for row in result["rows"] if row["grade"] == grade]
    counted = [sum(row["verdict"] == verdict for row in rows) for verdict in ("holds", "fails", "not comparable")]
    return " / ".join(str(count) for count in counted)


def seed_of(results: list[dict]) -> int:
    seeds = {experiment["seed"] for result in results for experiment in result["experiments"]}
    if len(seeds) != 1:
        sys.exit(f"{sorted(seeds)}: one folder, one seed")
    return seeds.pop()


def read(folder: Path) -> list[dict]:
    """What a folder has of each study."""
    results = []
    for study in STUDIES:
        result = json.loads((folder / study / "results.json").read_text())
        if not all(experiment["complete"] for experiment in result["experiments"]):
            sys.exit(f"{folder}/{study}: is not complete")
        results.append(result)
    return results


def page(runs: list[list[dict]]) -> str:
    seeds = [seed_of(results) for results in runs]
    first = runs[0][0]
    text = f"""# Verdicts under other seeds

Made by `tools/bench/gallery-seeds.py` from {first["mode"]} runs of goodqueue {first["version"]} ({first["commit"]}) with seeds {", ".join(map(str, seeds))}. Do not edit.

Cells are rows that hold / fail / are only reported or could not be compared, of all five studies together.

"""
    text += table(["seed", *GRADES], [[seed, *(verdicts(results, grade) for grade in GRADES)] for seed, results in zip(seeds, runs, strict=True)])
    flips = []
    for study in zip(*(results for results in runs), strict=True):
        for rows in zip(*(result["rows"] for result in study), strict=True):
            if len({row["verdict"] for row in rows}) > 1:
                cells = [f"{row['text']['measured']}: {row['verdict']}" for row in rows]
                flips.append([*(rows[0][key] for key in ("id", "grade", "metric")), rows[0]["text"]["expected"], *cells])
    if not flips:
        return text + "\n\nNo verdict differs.\n"
    shown = table(["row", "grade", "measure", "expected", *(f"seed {seed}" for seed in seeds)], flips)
    return f"{text}\n\nRows whose verdict differs:\n\n{shown}\n"


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    TARGET.write_text(page([read(Path(folder)) for folder in sys.argv[1:]]))
