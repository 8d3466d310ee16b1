"""recommend(): the answers of gq recommend."""

import dataclasses
import json
import os
import subprocess
import sys

import pytest

from goodqueue import HostError, Recommendation, Scenario, ScenarioError, recommend
from goodqueue.running import GQ

KNOWN = {
    "rtt": "20ms",
    "buffer": "500ms",
    "flows": 2,
    "cc": "cubic",
    "mix": "call-and-ping",
    "hardware": "openwrt",
}


@pytest.fixture(scope="module")
def answer() -> Recommendation:
    return recommend(down="4mbit", up="2mbit", **KNOWN)


def test_the_answer_is_that_of_the_command_byte_for_byte(answer: Recommendation) -> None:
    options = [word for name, value in KNOWN.items() for word in (f"--{name}", str(value))]
    command = [
        sys.executable,
        "-m",
        "goodqueue",
        "recommend",
        "--down",
        "4mbit",
        "--up",
        "2mbit",
        *options,
        "--json",
        "-",
    ]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == answer.to_json()


def test_every_field_of_the_json_is_an_attribute(answer: Recommendation) -> None:
    given = json.loads(answer.to_json())
    assert set(given) == {one.name for one in dataclasses.fields(answer)} - {"_json"}
    assert set(given["choice"]) == {one.name for one in dataclasses.fields(answer.choice)}
    assert answer.choice.rate_down_bit_s == round(4e6 * answer.shape_percent / 100)
    assert answer.without.shape_percent is None
    assert answer.check is None


def test_the_scenario_is_the_line_with_the_choice(answer: Recommendation) -> None:
    scenario = Scenario.from_toml(answer.scenario)
    assert scenario.name == answer.choice.label


@pytest.mark.parametrize(
    ("wrong", "field", "said"),
    [
        ({"down": "4"}, "down", "`4` has no unit"),
        ({"rtt": "50ms..20ms"}, "rtt", "ends below its beginning"),
        ({"mix": "hoem"}, "mix", "`hoem` is not known: allowed evening"),
        ({"effort": "lots"}, "effort", "`lots` is not known: allowed quick, thorough"),
        ({"check": "sim"}, "check", "`sim`: the answer is from the simulator already: allowed linux"),
        ({"check": "live"}, "check", "would take hours: use linux, guest kernels in virtual time"),
        ({"jobs": 0}, "jobs", "`0` is out of range: allowed 1 to 4096"),
    ],
)
def test_a_wrong_argument_is_named_with_what_is_allowed(wrong: dict[str, object], field: str, said: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        recommend(**{"down": "4mbit", "up": "2mbit", **KNOWN, **wrong})
    assert caught.value.faults[0].field == field
    assert said in str(caught.value)


def test_an_exception_of_progress_ends_the_search() -> None:
    def fail(part: float) -> None:
        raise LookupError(str(part))

    with pytest.raises(LookupError):
        recommend(down="4mbit", up="2mbit", **KNOWN, progress=fail)


def test_guests_start_without_the_packages_dependencies() -> None:
    there = subprocess.run([*GQ, "list", "aqm", "codel"], check=True, capture_output=True, text=True)
    here = subprocess.run(
        [sys.executable, "-m", "goodqueue", "list", "aqm", "codel"], check=True, capture_output=True, text=True
    )
    assert there.stdout == here.stdout
    wrong = subprocess.run([*GQ, "list", "nothing"], check=False, capture_output=True)
    assert wrong.returncode == 2
    imported = [GQ[0], "-X", "importtime", *GQ[1:], "--version"]
    assert "polars" not in subprocess.run(imported, check=True, capture_output=True, text=True).stderr


@pytest.mark.skipif(not os.environ.get("GOODQUEUE_GUESTS"), reason="guests take minutes: set GOODQUEUE_GUESTS=1")
def test_kernel_senders_check_an_answer() -> None:
    try:
        answer = recommend(down="4mbit", up="2mbit", **KNOWN, check="linux")
    except HostError as error:
        pytest.skip(str(error))
    assert answer.check is not None
    assert answer.check["candidates"][0] == answer.choice.label
