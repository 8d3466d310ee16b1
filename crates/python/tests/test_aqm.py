"""Queues driven packet by packet and in arrays, and algorithms written in Python."""

from __future__ import annotations

import datetime
import functools
import time
from array import array
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodqueue import (
    ArrivalError,
    Bulk,
    GoodqueueError,
    Link,
    Poisson,
    Queue,
    Scenario,
    ScenarioError,
    _core,
    run,
    sweep,
)
from goodqueue.aqm import Algorithm, Packet, Qdisc, QueueState, Verdict

KINDS = [kind for kind in _core.kinds() if kind != "fair"]


class AtMost(Algorithm):
    """Drops on arrival above so many packets."""

    most = 20

    def on_arrival(self, packet: Packet, queue: QueueState) -> Verdict | None:
        return Verdict.DROP if queue.packets >= self.most else None


class SameAsTailDrop(Algorithm):
    """Overrides both hooks and lets everything pass."""

    def on_arrival(self, packet: Packet, queue: QueueState) -> None:
        # A full segment, an acknowledgement, or one that opens a connection.
        assert packet.size in (1500, 52, 60)
        assert packet.sojourn_s == 0

    def on_departure(self, packet: Packet, queue: QueueState) -> Verdict:
        assert packet.arrived_s + packet.sojourn_s == pytest.approx(queue.now_s, abs=1e-9)
        return Verdict.PASS


class CoDel(Algorithm):
    """RFC 8289 in seconds, by its pseudocode."""

    target, interval = 0.005, 0.1

    def __init__(self) -> None:
        self.first_above: float | None = None
        self.dropping = False
        # A drop reschedules if the head behind it may be dropped, too.
        self.reschedule = False
        self.drop_next = 0.0
        self.count = self.last_count = 0

    def _above(self, packet: Packet, queue: QueueState) -> bool:
        if packet.sojourn_s < self.target or queue.backlog <= 1500:
            self.first_above = None
        elif self.first_above is None:
            self.first_above = queue.now_s + self.interval
        else:
            return queue.now_s >= self.first_above
        return False

    def on_departure(self, packet: Packet, queue: QueueState) -> Verdict | None:
        above, now = self._above(packet, queue), queue.now_s
        if not above:
            self.dropping = self.reschedule = False
        elif self.dropping:
            if self.reschedule:
                self.reschedule = False
                self.drop_next += self.interval / self.count**0.5
            if now >= self.drop_next:
                self.count += 1
                self.reschedule = True
                return Verdict.SIGNAL
        else:
            self.dropping = True
            delta = self.count - self.last_count
            self.count = delta if delta > 1 and now - self.drop_next < 16 * self.interval else 1
            self.drop_next = now + self.interval / self.count**0.5
            self.last_count = self.count
            return Verdict.SIGNAL
        return None

    def on_idle(self, now_s: float) -> None:
        self.first_above = None


def arrivals(count: int, load: float, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).exponential(1500 * 8 / 10e6 / load, count).cumsum()


def test_a_queue_is_driven_packet_by_packet() -> None:
    queue = Qdisc("tail-drop", rate="10 Mbit/s", limit="2 packets")
    (first,) = queue.enqueue(0.0, 1000, flow=5, ecn="ect0")
    assert (first.event, first.number, first.flow, first.size, first.ecn) == ("enqueued", 0, 5, 1000, "ect0")
    queue.enqueue(0.001, 1500)
    (dropped,) = queue.enqueue(0.002, 1500)
    assert (dropped.event, dropped.number, dropped.reason) == ("dropped", 2, "overflow")
    assert (queue.packets, queue.backlog, queue.now_s) == (2, 2500, 0.002)
    (left,) = queue.dequeue(0.003)
    assert (left.event, left.number, left.sojourn_s) == ("departed", 0, 0.003)
    assert queue.counters() == {
        "arrived": (3, 4000),
        "departed": (1, 1000),
        "marked": (0, 0),
        "dropped.overflow": (1, 1500),
    }
    queue.dequeue(0.003)
    assert queue.dequeue(1.0) == []


def test_marks_are_told() -> None:
    queue = Qdisc(Queue("codel", ecn=True), rate="10 Mbit/s")
    for _ in range(60):
        queue.enqueue(0.0, 1500, ecn="ect0")
    events = [queue.dequeue(0.01 * n) for n in range(1, 60)]
    marked = [group for group in events if group[0].event == "marked"]
    assert 2 < len(marked) == queue.counters()["marked"][0]
    for mark, departed in marked:
        assert (mark.ecn, mark.reason) == ("ce", "head")
        assert (departed.event, departed.number, departed.ecn) == ("departed", mark.number, "ce")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_accounts_for_every_arrival(kind: str) -> None:
    count = 3000
    queue = Qdisc(kind, rate="10 Mbit/s", limit="100 packets")
    rng = np.random.default_rng(2)
    given = {"flow": rng.integers(0, 9, count), "ecn": rng.integers(0, 4, count), "class_": rng.integers(0, 8, count)}
    table = queue.drive(arrivals(count, 1.3), rng.integers(40, 1501, count), **given)
    assert table["number"].to_list() == list(range(count))
    verdicts = dict(table["verdict"].value_counts().rows())
    counters = queue.counters()
    dropped = sum(packets for name, (packets, _) in counters.items() if name.startswith("dropped."))
    assert verdicts.get("dropped", 0) == dropped
    assert counters["departed"][0] + dropped == count == counters["arrived"][0]
    assert verdicts.get("waiting", 0) == 0 == queue.packets
    assert table["left_s"].null_count() == 0
    assert all(isinstance(value, float) for value in queue.gauges().values())


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(["tail-drop", "codel", "red", "pie", "fq-codel"]), st.floats(0.3, 2), st.integers(0, 2**32))
def test_arrays_decide_as_single_calls_do(kind: str, load: float, seed: int) -> None:
    times, rate = arrivals(300, load, seed), 10e6
    queues = [Qdisc(kind, rate="10 Mbit/s", limit="20 packets", seed=seed) for _ in range(2)]
    asked = np.arange(1, 400) * (1500 * 8 / rate)
    table = queues[0].drive(times, 1500, serve=asked)
    events = []
    calls = [(at, 0) for at in asked] + [(at, 1) for at in times]
    for at, what in sorted(calls):
        events += queues[1].enqueue(at, 1500) if what else queues[1].dequeue(at)
    assert queues[0].counters() == queues[1].counters()
    sojourns = {event.number: event.sojourn_s for event in events if event.event == "departed"}
    passed = table.filter(pl.col("verdict") == "passed")
    assert dict(passed.select("number", "sojourn_s").rows()) == pytest.approx(sojourns)


def test_columns_may_be_of_many_kinds() -> None:
    seconds = [0.0, 0.001, 0.0015]
    nanoseconds = np.array([0, 1_000_000, 1_500_000])
    spans = [datetime.timedelta(microseconds=us) for us in (0, 1000, 1500)]
    same = [
        seconds,
        array("d", seconds),
        np.array(seconds, dtype="float32").astype("float64").round(6),
        pl.Series(seconds),
        pl.Series(seconds).to_pandas(),
        nanoseconds.astype("timedelta64[ns]"),
        pl.Series(spans),
        np.array([seconds, seconds]).T[:, 0],
    ]
    tables = [Qdisc("codel", rate="10 Mbit/s").drive(given, [1500, 100, 1500]) for given in same]
    assert all(table.equals(tables[0]) for table in tables)
    assert Qdisc("codel", rate="10 Mbit/s").drive([], []).height == 0


WRONG: list[tuple[str, dict[str, object]]] = [
    (r"time: has shape \(2, 2\)", {"time": np.zeros((2, 2))}),
    (r"time: has shape \(\)", {"time": np.float64(1)}),
    ("time: is a float: expected an array", {"time": 1.0}),
    ("time: is a str", {"time": "12"}),
    ("time: is of <U1", {"time": np.array(["1", "2"])}),
    ("time: is of complex128", {"time": np.zeros(2, dtype=complex)}),
    (r"time\[1\]: NaN is not a number", {"time": [0.0, float("nan")]}),
    (r"time\[1\]: inf is out of range", {"time": [0.0, float("inf")]}),
    (r"time\[0\]: -1 is out of range", {"time": [-1.0, 0.0]}),
    (r"time\[1\]: 0.5 s is before 1 s: time must not run backwards", {"time": [1.0, 0.5]}),
    (r"time\[1\]: is a str", {"time": [0.0, "1"]}),
    (r"time\[0\]: is missing", {"time": pl.Series([None, 1.0])}),
    (r"time\[0\]: is missing", {"time": np.array(["NaT", 1], dtype="timedelta64[s]")}),
    ("time: is of String", {"time": pl.Series(["a", "b"])}),
    ("size: is of float64: expected whole numbers", {"size": np.ones(2)}),
    (r"size\[1\]: 0 is out of range: allowed 1 to 65535", {"size": [1, 0]}),
    ("size: 70000 is out of range", {"size": 70000}),
    ("size: has 3 values, but time has 2", {"size": [1, 1, 1]}),
    (r"size\[0\]: is a bool", {"size": [True, 1]}),
    ("size: a number does not fit", {"size": [2**70, 1]}),
    (r"flow\[0\]: -1 is out of range: allowed 0 to 4294967295", {"flow": [-1, 0]}),
    (r"flow\[0\]: .* is out of range", {"flow": np.array([2**63, 0], dtype="uint64")}),
    (r"ecn\[1\]: 4 is out of range: allowed 0 to 3", {"ecn": [0, 4]}),
    (r"class_\[1\]: 8 is out of range", {"class_": [0, 8]}),
    (r"serve\[1\]: 1 s is before 2 s", {"serve": [2.0, 1.0]}),
]


@pytest.mark.parametrize(("words", "wrong"), WRONG)
def test_wrong_columns_are_refused(words: str, wrong: dict[str, object]) -> None:
    queue = Qdisc("codel", rate="10 Mbit/s")
    with pytest.raises(ArrivalError, match=words):
        queue.drive(**({"time": [0.0, 1.0], "size": 1500} | wrong))  # type: ignore[arg-type]
    assert queue.counters()["arrived"] == (0, 0)


def test_wrong_calls_are_refused_and_change_nothing() -> None:
    queue = Qdisc("codel", rate="10 Mbit/s")
    queue.enqueue(1.0, 1500)
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: queue.enqueue(0.5, 1500), "0.5 s is before 1 s"),
        (lambda: queue.dequeue(float("nan")), "NaN is not a number"),
        (lambda: queue.advance(-1), "out of range"),
        (lambda: queue.enqueue(2, 0), "size: 0 is out of range"),
        (lambda: queue.enqueue(2, 1500, flow=-1), "flow: -1"),
        (lambda: queue.enqueue(2, 1500, ecn="yes"), "ecn: `yes` is not known"),
        (lambda: queue.enqueue(2, 1500, class_=8), "class_: 8"),
        (lambda: queue.set_rate(2, "10 parsecs"), "rate: "),
    ]
    for call, words in calls:
        with pytest.raises(ArrivalError, match=words):
            call()
    assert (queue.now_s, queue.packets) == (1.0, 1)
    with pytest.raises(TypeError):
        queue.enqueue("1", 1500)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        queue.enqueue(2, 1500.5)  # type: ignore[arg-type]
    too_large: list[dict[str, int]] = [{"size": 2**80}, {"size": 1, "flow": 2**64}, {"size": 1, "class_": -(2**64)}]
    for wrong in too_large:
        with pytest.raises(ArrivalError, match="a whole number of more than 64 bits"):
            queue.enqueue(2, **wrong)
    for call_at in (queue.dequeue, queue.advance):
        with pytest.raises(ArrivalError, match="time: is out of range"):
            call_at(10**400)


@pytest.mark.parametrize(
    ("words", "queue", "more"),
    [
        ("queue.kind: `codle` is not a queue algorithm", "codle", {}),
        (r"queue\.target", Queue("codel", target="-1 s"), {}),
        ("rate: is a int", "codel", {"rate": 10}),
        ("rate: ", "codel", {"rate": "10 parsecs"}),
        ("limit: ", "codel", {"limit": "0 packets"}),
        ("queue: is a int", 7, {}),
        ("seed: `-1`", "codel", {"seed": -1}),
    ],
)
def test_wrong_queues_are_refused(words: str, queue: object, more: dict[str, object]) -> None:
    with pytest.raises(ScenarioError, match=r"Qdisc\(\): " + words):
        Qdisc(queue, **({"rate": "10 Mbit/s"} | more))  # type: ignore[arg-type]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.one_of(st.floats(), st.integers(), st.none(), st.text(max_size=2)), max_size=5),
    st.lists(st.one_of(st.integers(), st.floats(), st.booleans()), max_size=5),
)
def test_the_boundary_gives_tables_or_clear_exceptions(times: list[object], sizes: list[object]) -> None:
    queue = Qdisc("pie", rate="10 Mbit/s")
    try:
        assert queue.drive(times, sizes, serve=[0.0]).height == len(times)
    except ArrivalError:
        assert queue.packets == 0


def line(**more: object) -> Scenario:
    link = Link(rate="10 Mbit/s", delay="5 ms", buffer="50 packets")
    settings: dict[str, object] = {"name": "line", "duration": "5 s", "link": link, "traffic": [Bulk(flows=4)]}
    return Scenario(**(settings | more))  # type: ignore[arg-type]


def test_an_algorithm_that_lets_pass_is_tail_drop() -> None:
    ours = run(line(), set={"link.bottleneck.queue": "mine"}, algorithms={"mine": SameAsTailDrop}, replications=2)
    theirs = run(line(), set={"link.bottleneck.queue": "tail-drop"}, replications=2)
    assert ours.links.drop("label").equals(theirs.links.drop("label"))


def test_codel_in_python_is_codel() -> None:
    scenario = line(
        traffic=[Bulk(flows=4), Poisson(rate="2 Mbit/s")],
        sweep={"link.bottleneck.queue": ["codel", "mine"]},
        algorithms={"mine": CoDel},
        replications=2,
    )
    result = run(scenario)
    assert result.links["label"].to_list() == ["codel", "mine"]
    codel, mine = result.links.drop("label", "point").rows()
    assert mine == codel


def test_own_algorithms_decide_beside_built_in_ones() -> None:
    scenario = line(sweep={"link.bottleneck.queue": ["tail-drop", "short", "shorter"]}, algorithms=_two())
    result = run(scenario, jobs=2)
    queue = result.links["queue_packets"].to_list()
    assert queue[0] > queue[1] > queue[2]
    assert scenario.plan.sha256 != line(sweep=scenario.sweep, algorithms=_two(most=11)).plan.sha256
    with pytest.raises(ScenarioError, match="takes no algorithms"):
        sweep(scenario, "nowhere")


def _two(most: int = 5) -> dict[str, Callable[[], Algorithm]]:
    def shorter() -> Algorithm:
        made = AtMost()
        made.most = most
        return made

    return (
        {"short": AtMost, "shorter": functools.partial(shorter)} if most == 5 else {"short": AtMost, "shorter": shorter}
    )


class Random(Algorithm):
    """Drops by chance, has a timer and gauges, and hears of everything."""

    def __init__(self) -> None:
        self.due, self.updates, self.heard = 0.1, 0, set[str]()

    def on_arrival(self, packet: Packet, queue: QueueState) -> Verdict | None:
        assert queue.rate == 10_000_000
        assert queue.delay_s == pytest.approx(queue.backlog * 8 / 10e6)
        return Verdict.DROP if queue.random() < 0.02 else None

    def on_overflow(self, packet: Packet, queue: QueueState) -> None:
        self.heard.add("overflow")

    def on_idle(self, now_s: float) -> None:
        self.heard.add("idle")

    def next_update(self) -> float:
        return self.due

    def on_update(self, queue: QueueState) -> None:
        assert queue.now_s == pytest.approx(self.due)
        self.due += 0.1
        self.updates += 1

    def gauges(self) -> dict[str, float]:
        return {"updates": self.updates, "heard": len(self.heard)}


def test_timers_gauges_and_random_numbers_repeat() -> None:
    results = [
        run(line(), set={"link.bottleneck.queue": "mine"}, algorithms={"mine": Random}, sample="100 ms")
        for _ in range(2)
    ]
    assert results[0].to_json() == results[1].to_json()
    assert 0.01 < results[0].links["drop_ratio"][0] < 0.05
    series = results[0].series.filter(pl.col("name") == "gauge:updates")
    assert series["value"].max() == pytest.approx(50, abs=2)


def test_gauges_that_are_none_are_refused_by_name() -> None:
    def refusal(shown: object) -> str:
        class Odd(Algorithm):
            def gauges(self) -> dict[str, float]:
                return shown  # type: ignore[return-value]

        with pytest.raises(TypeError) as caught:
            run(line(), set={"link.bottleneck.queue": "mine"}, algorithms={"mine": Odd})
        return str(caught.value)

    assert "Odd.gauges() gave 5: expected names that are texts" in refusal({5: 1.0})
    assert "Odd.gauges() gave much: expected values that are numbers" in refusal({"level": "much"})
    assert "Odd.gauges() gave 65: expected a dict of at most 64 names" in refusal({str(n): 0.0 for n in range(65)})
    assert "expected a dict of names and numbers" in refusal(7)


class Boom(Algorithm):
    def on_departure(self, packet: Packet, queue: QueueState) -> None:
        if queue.now_s > 1:
            raise LookupError("boom")


class Stuck(Algorithm):
    def next_update(self) -> float:
        return 1.0


class StuckUpdate(Stuck):
    def on_update(self, queue: QueueState) -> None:
        pass


class Unmade(Algorithm):
    def __init__(self) -> None:
        raise RuntimeError("not today")


class Words(Algorithm):
    def on_arrival(self, packet: Packet, queue: QueueState) -> Verdict:
        return "drop"  # type: ignore[return-value]


class NaN(Algorithm):
    def next_update(self) -> float:
        return float("nan")


@pytest.mark.parametrize(
    ("algorithm", "kind", "words"),
    [
        (Boom, LookupError, "boom"),
        (StuckUpdate, ValueError, "does not name a later time"),
        (Unmade, RuntimeError, "not today"),
        (Words, TypeError, "on_arrival gave drop: expected a Verdict or None"),
        (NaN, ValueError, r"next_update\(\) gave NaN: is not a number"),
        (dict, TypeError, "a dict is not a goodqueue.aqm.Algorithm"),
    ],
)
def test_exceptions_come_out_with_their_traceback(
    algorithm: type[Algorithm], kind: type[Exception], words: str
) -> None:
    for jobs in (1, 2):
        with pytest.raises(kind, match=words) as caught:
            run(line(replications=4), set={"link.bottleneck.queue": "mine"}, algorithms={"mine": algorithm}, jobs=jobs)
        assert not isinstance(caught.value, GoodqueueError)
    if algorithm is Boom:
        frames = [frame.name for frame in caught.traceback]
        assert frames[-1] == "on_departure"
        queue = Qdisc(Boom, rate="10 Mbit/s")
        queue.enqueue(0.0, 1500)
        with pytest.raises(LookupError, match="boom"):
            queue.dequeue(2.0)
        with pytest.raises(LookupError, match="boom"):
            Qdisc(Boom, rate="10 Mbit/s").drive(arrivals(5000, 1.0), 1500)


def test_a_timer_nobody_handles_comes_once() -> None:
    queue = Qdisc(Stuck, rate="10 Mbit/s")
    queue.advance(100.0)
    assert queue.next_timer_s is None


@pytest.mark.parametrize(
    ("words", "algorithms"),
    [("listed kind", {"codel": CoDel}), ("not a name", {"a b": CoDel}), ("expected a subclass", {"mine": 7})],
)
def test_wrong_names_are_refused(words: str, algorithms: dict[str, Callable[[], Algorithm]]) -> None:
    with pytest.raises(ScenarioError, match=words):
        run(line(), algorithms=algorithms)
    with pytest.raises(ScenarioError, match="is not a queue algorithm"):
        line(link=Link(rate="10 Mbit/s", delay="5 ms", buffer="50 packets", queue="mine"))


def test_a_million_packets_take_no_time() -> None:
    # A wide margin: an unoptimised build on a busy machine; docs/python.md has figures.
    times = arrivals(200_000, 0.9)
    queue = Qdisc("codel", rate="10 Mbit/s")
    began = time.monotonic()
    assert queue.drive(times, 1500).height == len(times)
    assert time.monotonic() - began < 10
