"""The class of the tutorial docs/own-algorithm.md has the events of its file in Rust, crates/lab/tests/tutorial.rs."""

import re
from pathlib import Path
from typing import Any

from goodqueue import run

ROOT = Path(__file__).resolve().parents[3]
SCENARIO = ROOT / "crates/lab/tests/tutorial/ramp.toml"


def test_the_class_has_the_events_of_the_version_in_rust() -> None:
    page = (ROOT / "docs/own-algorithm.md").read_text()
    first = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    expected = re.search(r"^# fingerprint ([0-9a-f]{16})$", SCENARIO.read_text(), re.MULTILINE)
    assert first is not None
    assert expected is not None
    names: dict[str, Any] = {}
    exec(first[1], names)
    result = run(SCENARIO, algorithms={"ramp": names["Ramp"]})
    assert result.summary["provenance"]["fingerprint"] == expected[1]
