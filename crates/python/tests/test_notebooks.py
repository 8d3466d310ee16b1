"""The notebooks run from start to end and give what they talk about."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import matplotlib
import pytest

pytest.importorskip("marimo")

NOTEBOOKS = Path(__file__).parents[3] / "examples/notebooks"


def executed(name: str) -> dict[str, Any]:
    matplotlib.use("Agg")
    spec = importlib.util.spec_from_file_location(name, NOTEBOOKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    _, defined = module.app.run()
    return dict(defined)


# Libraries of notebooks have warnings of their own.
@pytest.mark.filterwarnings("default")
class TestNotebooks:
    def test_all_are_here(self) -> None:
        assert {path.stem for path in NOTEBOOKS.glob("*.py")} == {"which_aqm", "reproduce_figure", "own_aqm"}

    def test_which_aqm(self) -> None:
        defined = executed("which_aqm")
        assert defined["table"].height == 6
        assert defined["result"].headline.best not in (None, "tail-drop")

    def test_reproduce_figure(self) -> None:
        defined = executed("reproduce_figure")
        assert defined["figures"].height == 50
        assert defined["figures"].null_count().select("load", "delay_ms", "queue_packets").row(0) == (0, 0, 0)
        # The longer the way, the less of it a single Reno flow fills with a buffer of 30 packets.
        assert defined["one"]["utilization"][-1] < 0.95 < defined["one"]["utilization"][0]

    def test_own_aqm(self) -> None:
        defined = executed("own_aqm")
        assert 0.1 < defined["lost"] < 0.25
        assert defined["sampled"].height > 1000
