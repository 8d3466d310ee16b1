"""Sweeps: designs, the bytes of `gq`, kills, and queries."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import qmc

from goodqueue import (
    Bulk,
    Link,
    Queue,
    Range,
    Scenario,
    ScenarioError,
    Sweep,
    SweepError,
    latin_hypercube,
    run,
    sobol,
    sweep,
)

GQ = [sys.executable, "-m", "goodqueue"]
QUERY = Path(__file__).parents[3] / "examples/query.sql"
GRID = {"link.bottleneck.queue": ["tail-drop", Queue("codel", target="10 ms")], "traffic.0.flows": [1, 2, 3]}


def small(**more: object) -> Scenario:
    link = Link(rate="10 Mbit/s", delay="5 ms", buffer="50 packets")
    settings: dict[str, object] = {
        "name": "small",
        "duration": "1 s",
        "replications": 2,
        "link": link,
        "traffic": [Bulk()],
    }
    return Scenario(**(settings | more))  # type: ignore[arg-type]


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "design", [GRID, latin_hypercube({"traffic.0.flows": Range(low=1, high=9, whole=True)}, points=3)]
)
def test_gives_the_summary_of_a_run_and_the_bytes_of_the_command(tmp_path: Path, design: object) -> None:
    scenario = small(sweep=design)
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    assert json.loads(sweep(scenario, ours).summary_json) == run(scenario, record="nothing").summary
    path = tmp_path / "small.toml"
    scenario.save(path)
    subprocess.run([*GQ, "sweep", path, "--out", theirs, "--jobs", "1"], check=True, capture_output=True)
    assert files(theirs) == files(ours)
    assert Scenario.from_toml(scenario.to_toml()) == scenario


def test_a_sweep_that_was_killed_goes_on(tmp_path: Path) -> None:
    link = Link(rate="100 Mbit/s", delay="5 ms", buffer="1 bdp")
    scenario = small(link=link, duration="20 s", sweep={"traffic.0.flows": list(range(1, 13))}, replications=1)
    path = tmp_path / "small.toml"
    scenario.save(path)
    killed = tmp_path / "killed"
    for least in (1, 4):
        process = subprocess.Popen(
            [*GQ, "sweep", path, "--out", killed], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        until = time.monotonic() + 60
        while (
            len(list(killed.glob("points/*.parquet"))) < least and process.poll() is None and time.monotonic() < until
        ):
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    found = len(list(killed.glob("points/*.parquet")))
    assert found >= 4
    sweep(scenario, killed)
    whole = tmp_path / "whole"
    sweep(scenario, whole, jobs=1)
    assert files(killed) == files(whole)


def test_points_that_fail_are_recorded(tmp_path: Path) -> None:
    design = [{"link.bottleneck.buffer": size} for size in ("10 packets", "10 B", "20 packets")]
    done = sweep(small(sweep=design), tmp_path)
    (failure,) = done.failures()
    assert (failure["point"], failure["set"]) == (1, {"link.bottleneck.buffer": "10 B"})
    assert "holds 10 B" in failure["errors"][0]
    assert done.scan().select(pl.col("point").unique().sort()).collect()["point"].to_list() == [0, 2]
    path = tmp_path / "scenario.toml"
    again = subprocess.run([*GQ, "sweep", path, "--out", tmp_path], check=False, capture_output=True, text=True)
    assert again.returncode == 1
    assert "1 point failed" in again.stderr


def test_another_sweep_is_refused(tmp_path: Path) -> None:
    sweep(small(sweep=GRID), tmp_path)
    with pytest.raises(SweepError, match="holds another sweep: its seed is 1, here it is 2"):
        sweep(small(sweep=GRID, seed=2), tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(SweepError, match="is not a directory"):
        sweep(small(), tmp_path / "file")
    with pytest.raises(ScenarioError, match="jobs"):
        sweep(small(), tmp_path, jobs=0)


def test_figures_can_be_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = small(sweep=GRID)
    done = sweep(scenario, tmp_path)
    assert repr(done) == repr(Sweep(tmp_path))
    rows = done.scan().filter(pl.col("metric") == "utilization").sort("point").collect()
    expected = run(scenario, record="nothing").links
    assert rows["mean"].to_list() == expected["utilization"].to_list()
    assert rows["traffic.0.flows"].to_list() == [1.0, 2.0, 3.0] * 2
    monkeypatch.chdir(tmp_path)
    answers = [duckdb.sql(query).fetchall() for query in QUERY.read_text().split(";") if query.strip()]
    assert [len(answer) for answer in answers[1:]] == [6, 6]
    assert any(row[1] == "sojourn_s.p95" and row[3] == 6 for row in answers[0])


def test_sobol_is_sobols_sequence() -> None:
    ranges = {f"traffic.{n}.flows": Range(low=0, high=1) for n in range(10)}
    ours = np.array([list(point.values()) for point in sobol(ranges, points=255)])
    theirs = qmc.Sobol(10, scramble=False).random(256)[1:]
    assert np.allclose(ours, theirs, rtol=0, atol=1e-5)
    with pytest.raises(ValueError, match="allowed up to 10"):
        sobol(ranges | {"seed": Range(low=0, high=1)}, points=1)


@given(st.integers(1, 50), st.integers(0, 2**31))
def test_a_latin_hypercube_has_one_value_in_each_part(points: int, seed: int) -> None:
    design = latin_hypercube({"a": Range(low=0, high=1), "b": Range(low=0, high=1)}, points=points, seed=seed)
    for key in ("a", "b"):
        places = sorted(int(point[key] * points * (1 - 1e-5)) for point in design)
        assert all(abs(place - number) <= 1 for number, place in enumerate(places))
    assert design == latin_hypercube({"a": Range(low=0, high=1), "b": Range(low=0, high=1)}, points=points, seed=seed)


@given(st.floats(0, 1, exclude_max=True))
def test_values_stay_in_their_range_and_are_read_back(part: float) -> None:
    assert 1 <= Range(low=1, high=16, whole=True, log=True).at(part) <= 16  # type: ignore[operator]
    value = str(Range(low="1 bit/s", high="100000000 bit/s", log=True).at(part))
    assert "e" not in value
    assert 1 <= float(value.split()[0]) <= 1e8


@pytest.mark.parametrize(
    "wrong",
    [
        {"low": "1 ms", "high": "2 s"},
        {"low": "x", "high": "y"},
        {"low": 2, "high": 1},
        {"low": 0, "high": 1, "log": True},
        {"low": 0.5, "high": 1, "whole": True},
        {"low": float("nan"), "high": 1},
        {"low": 0, "high": float("inf")},
    ],
)
def test_wrong_ranges_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="Range: "):
        Range(**wrong)  # type: ignore[arg-type]


def test_designs_of_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one key"):
        sobol({}, points=1)
    with pytest.raises(ValueError, match="allowed 1 to 100000"):
        latin_hypercube({"a": Range(low=0, high=1)}, points=0)
