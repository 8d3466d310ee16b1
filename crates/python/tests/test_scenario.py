"""Building scenarios: the same reader, the same words, there and back."""

from __future__ import annotations

import copy
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodqueue import Access, Bulk, Cbr, Control, Link, OnOff, Poisson, Queue, Scenario, ScenarioError

EXAMPLES = sorted((Path(__file__).parents[3] / "examples/scenarios").glob("*.toml"))
LINK = Link(rate="10 Mbit/s", delay="5 ms", buffer="50 packets")


def small(**more: object) -> Scenario:
    settings: dict[str, object] = {"duration": "1 s", "link": LINK, "traffic": [Bulk()]}
    return Scenario(**(settings | more))  # type: ignore[arg-type]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_goes_there_and_back(path: Path) -> None:
    read = Scenario.load(path)
    again = Scenario.from_toml(read.to_toml(), base_dir=path.parent)
    assert again.plan.sha256 == read.plan.sha256
    assert again.to_dict() == read.to_dict()


def test_there_are_examples() -> None:
    assert len(EXAMPLES) > 3


def test_faults_have_the_words_and_places_of_the_file_reader() -> None:
    with pytest.raises(ScenarioError) as caught:
        small(link=Link(rate="10 parsecs", delay=5, buffer="50 packets"))
    rate, delay = caught.value.faults
    assert (rate.file, rate.line, rate.column, rate.field) == ("scenario", 5, 8, "link.bottleneck.rate")
    assert "parsecs" in rate.message
    assert (delay.line, delay.field) == (6, "link.bottleneck.delay")
    assert str(caught.value).count("\n") == 1
    with pytest.raises(ScenarioError) as from_text:
        Scenario.from_toml(small().to_toml().replace("10 Mbit/s", "10 parsecs"))
    assert from_text.value.faults[0] == rate


def test_an_unknown_key_is_answered_with_a_suggestion() -> None:
    with pytest.raises(ScenarioError, match="did you mean `buffer`"):
        small(link=Link(rate="1 Mbit/s", delay="5 ms", more={"bufer": "5 packets"}))


def test_a_missing_file_is_a_fault() -> None:
    with pytest.raises(ScenarioError, match=r"nowhere\.toml: no such file"):
        Scenario.load("nowhere.toml")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "not a list|is missing|expected"),
        (math.nan, "NaN|nan"),
        (math.inf, "inf"),
        (-1, "-1"),
        (10**30, "1000000000000000000000000000000"),
        (10**100, "256 bits"),
        ("\ud800", "surrogate"),
        (object(), "an object"),
        ({1, 2}, "a set"),
        (np.zeros(3), "a ndarray"),
        (np.zeros((2, 2)), "a ndarray"),
        (b"5", "a bytes"),
        ([0] * 200_000, "200000 items"),
        (1 + 2j, "a complex"),
        ("x" * 100_000, "…"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value[:10],
)
def test_odd_values_are_refused_by_name(value: object, words: str) -> None:
    with pytest.raises((ScenarioError), match=words):
        small(traffic=[Bulk(flows=value)]) if value is not None else small(traffic=None)  # type: ignore[arg-type]


def test_a_value_within_itself_is_refused() -> None:
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises((ScenarioError, RecursionError)):
        small(traffic=[Bulk(flows=endless)])  # type: ignore[arg-type]


def test_numbers_of_numpy_are_numbers() -> None:
    assert small(traffic=[Bulk(flows=np.int64(3))]) == small(traffic=[Bulk(flows=3)])  # type: ignore[arg-type]


def test_all_parts_together() -> None:
    scenario = Scenario(
        name="all",
        description='with "quotes", a \\ and a line\nfeed',
        warmup="1 s",
        duration="2 s",
        replications=2,
        seed=7,
        access=Access(delay="1 ms"),
        link=Link(
            rate={"steps": [["0 s", "10 Mbit/s"], ["1 s", "5 Mbit/s"]]},
            delay="5 ms",
            buffer="1 bdp",
            queue=Queue("fair", of=Queue("pie", target="5 ms"), flows=64, ecn=True),
        ),
        traffic=[
            Bulk(cc=Control("cubic", beta=0.8), flows=2, ecn=True),
            Cbr(rate="1 Mbit/s", class_=5),
            Poisson(rate="1 Mbit/s"),
            OnOff(peak="1 Mbit/s", mean_on="20 ms", mean_off="80 ms"),
        ],
        sweep={"link.bottleneck.delay": ["5 ms", "10 ms"], "traffic.0.flows": [1, 2, 4]},
    )
    assert scenario.point_count == 6
    again = Scenario.from_toml(scenario.to_toml())
    assert again == scenario
    assert hash(again) == hash(scenario)
    assert again != small()
    assert isinstance(again.traffic[0], Bulk)
    assert again.to_dict() == scenario.to_dict()


def test_a_network() -> None:
    links = {
        "first": Link(from_="a", to="b", rate="10 Mbit/s", delay="5 ms", buffer="1 bdp"),
        "second": Link(from_="b", to="c", rate="10 Mbit/s", delay="5 ms", buffer="1 bdp"),
    }
    scenario = small(link=links, traffic=[Bulk(path=["a", "c"])])
    assert Scenario.from_toml(scenario.to_toml()) == scenario


def test_copies_and_pickles() -> None:
    scenario = small()
    assert copy.deepcopy(scenario) == scenario
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    with pytest.raises(ScenarioError) as caught:
        small(duration="no")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.faults) == (str(caught.value), caught.value.faults)


def test_odd_settings_are_warned_of() -> None:
    assert any(
        "ECN" in text or "ecn" in text
        for text in small(
            link=Link(rate="10 Mbit/s", delay="5 ms", buffer="50 packets", queue=Queue("codel", ecn=True))
        ).warnings()
    )


scalars = st.one_of(
    st.text(max_size=20).filter(lambda text: text.isprintable()),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)),
    max_leaves=8,
)


@given(values)
def test_any_value_is_written_as_toml_means_it(value: object) -> None:
    import tomllib

    from goodqueue import _toml

    assert tomllib.loads("x = " + _toml.value(value, "x"))["x"] == value  # type: ignore[arg-type]


@given(st.text())
def test_any_text_survives(text: str) -> None:
    import tomllib

    from goodqueue import _toml

    try:
        written = _toml.value(text, "x")
    except ScenarioError:
        assert any(0xD800 <= ord(letter) < 0xE000 for letter in text)
    else:
        assert tomllib.loads("x = " + written)["x"] == text


@given(values)
def test_no_value_ends_the_interpreter(value: object) -> None:
    for wrong in ({"flows": value}, {"cc": value}, {"start": value}, {"ecn": value}):
        try:
            small(traffic=[Bulk(**wrong)])  # type: ignore[arg-type]
        except ScenarioError as error:
            assert error.faults


sizes = st.integers(1, 10_000)


@given(
    rate=sizes.map(lambda n: f"{n} kbit/s"),
    delay=st.integers(0, 500).map(lambda n: f"{n} ms"),
    buffer=sizes.map(lambda n: f"{n} packets"),
    queue=st.sampled_from(
        ["tail-drop", "codel", "pie", "fq-codel", Queue("codel", target="20 ms"), Queue("fair", of="pie")]
    ),
    flows=st.integers(1, 100),
    name=st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"]), max_size=20)),
    seed=st.integers(0, 2**63 - 1),
)
def test_scenarios_go_there_and_back(
    rate: str, delay: str, buffer: str, queue: object, flows: int, name: str | None, seed: int
) -> None:
    link = Link(rate=rate, delay=delay, buffer=buffer, queue=queue)  # type: ignore[arg-type]
    scenario = small(name=name, seed=seed, link=link, traffic=[Bulk(flows=flows), Cbr(rate=rate)])
    again = Scenario.from_toml(scenario.to_toml())
    assert again == scenario
    assert again.to_toml() == scenario.to_toml()
