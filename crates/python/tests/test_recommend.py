"""recommend(): the answers of gq recommend."""

import dataclasses
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

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


def test_python_has_every_option_of_the_command() -> None:
    text = subprocess.run([*GQ, "recommend", "--help"], capture_output=True, text=True, check=True).stdout
    options = set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", text, re.MULTILINE))
    files = {"json", "scenario", "help", "color"}
    # Questions about all circuits of a network are the command's; --json has the answer.
    files |= {"circuits", "network", "busy-hour", "simulated"}
    others = {"from": "from_file", "thorough": "effort"}
    named = {others.get(option, option) for option in options - files}
    assert named == set(inspect.signature(recommend).parameters) - {"progress"}


def test_a_line_is_what_options_and_a_file_say(tmp_path: Path) -> None:
    test = tmp_path / "test.json"
    test.write_text('{"base_rtt":20,"dl_throughput":7722666,"ul_throughput":1930667}')
    house = {"line": "docsis", "modem": "pie", "cpu": "3mbit", "hosts": 2, "flows": 2, "cc": "cubic"}
    with pytest.warns(UserWarning, match="does not tell which queue the line has"):
        answer = recommend(from_file=test, **house, mix="call-and-ping")  # type: ignore[arg-type]
    assert answer.line["down_bit_s"] == pytest.approx(8e6, rel=1e-3)
    assert (answer.line["rtt_s"], answer.line["hosts"], answer.line["kind"]) == ([0.02, 0.02], 2, "docsis")
    assert "the router shapes no faster than 3 Mbit/s, and the modem's own PIE keeps" in answer.text


def test_a_former_name_of_a_mix_gets_a_warning() -> None:
    with pytest.warns(UserWarning, match="the mix `home` is called `rfc7928` now"), pytest.raises(ScenarioError):
        recommend(down="4mbit", up="2mbit", mix="home", effort="lots")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "field", "said"),
    [
        ({"down": ""}, "down", "is missing: no file tells the rate toward you"),
        ({"from_file": "nothing.json"}, "from_file", "nothing.json: no such file"),
        ({"line": "wifi"}, "line", "`wifi` is not there yet"),
        ({"overhead": "pppoa"}, "overhead", "`pppoa` is not known: allowed raw"),
        ({"modem": "red"}, "modem", "`red` is not known: allowed fifo, pie"),
        ({"hosts": 0}, "hosts", "`0` is not a number of devices: allowed 1 to 250"),
        ({"cpu": "5"}, "cpu", "`5` has no unit"),
        ({"want": "speed"}, "want", "`speed` is not known: allowed throughput, l4s"),
        ({"unit": "s"}, "unit", "`s`"),
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
