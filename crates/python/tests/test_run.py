"""Running: the bytes of `gq`, tables, failures, interrupts."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

from goodqueue import Bulk, HostError, Link, Page, Queue, Result, RunError, Scenario, ScenarioError, compare, run

ROOT = Path(__file__).parents[3]
GQ = [sys.executable, "-m", "goodqueue"]


def small(**more: object) -> Scenario:
    link = Link(rate="10 Mbit/s", delay="5 ms", buffer="50 packets")
    settings: dict[str, object] = {"name": "small", "duration": "2 s", "link": link, "traffic": [Bulk(flows=2)]}
    return Scenario(**(settings | more))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def swept() -> Result:
    sweep = {"link.bottleneck.queue": ["tail-drop", Queue("codel", target="10 ms")], "traffic.0.flows": [1, 3]}
    return run(small(sweep=sweep, replications=2), packets=True)


def gq(*arguments: str, folder: Path) -> str:
    command = [*GQ, *arguments, "--json", "-", "--no-report", "--out", str(folder)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_summaries_have_the_bytes_of_the_command(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    # Without a name: it is called after its file.
    scenario = small(name=None, sweep={"link.bottleneck.queue": ["codel", "pie"]}, replications=2)
    scenario.save(path)
    expected = gq("run", str(path), "--set", "traffic.0.flows=3", folder=tmp_path / "out")
    assert run(path, set={"traffic.0.flows": 3}).to_json() == expected
    assert run(Scenario.load(path), set={"traffic.0.flows": 3}, jobs=1, record="nothing").to_json() == expected
    assert (tmp_path / "out/summary.json").read_text() == expected


def test_comparisons_have_the_bytes_of_the_command(tmp_path: Path) -> None:
    options = ["--rate", "10mbit", "--aqm", "codel,fair:pie", "--duration", "2s", "--replications", "2", "--ecn"]
    expected = gq("compare", *options, folder=tmp_path)
    result = compare(rate="10mbit", aqm=["codel", "fair:pie"], duration="2s", replications=2, ecn=True)
    assert result.to_json() == expected


def test_answer_equals_the_commands_and_names_the_arguments() -> None:
    result = compare(
        rate="20/5mbit", rtt="20ms", aqm=["tail-drop", "fq-codel"], duration="4s", replications=2, record="nothing"
    )
    headline = result.headline
    assert headline.text == result.summary["headline"]["text"]
    assert headline.best == "fq-codel"
    assert headline.text.startswith("Use fq-codel"), headline.text
    mos = result.experience.filter((pl.col("group") == "call") & (pl.col("figure") == "mos")).sort("mean")
    assert mos["label"].to_list()[-1] == "fq-codel"
    assert set(result.groups["group"]) == {"uploads", "call", "call video", "call video up", "ping", "pages"}


def test_the_verdict_is_the_stored_one() -> None:
    folder = Path(__file__).parents[3] / "crates/lab/tests/verdict"
    queues = '[sweep]\n"link.bottleneck.queue" = ["tail-drop", "pie", "fq-codel"]\n'
    result = run(Scenario.from_toml((folder / "line.toml").read_text() + queues))
    assert json.dumps(result.summary["headline"]) == json.dumps(json.loads((folder / "headline.json").read_text()))


def test_traffic_is_a_mix_or_a_file(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('[[traffic]]\nname = "mine"\nkind = "video"\n')
    quick = {"aqm": "codel", "duration": "1s", "replications": 1, "record": "nothing"}
    assert set(compare(rate="10mbit", traffic=own, **quick).groups["group"]) == {"mine"}  # type: ignore[arg-type]
    assert set(compare(rate="10mbit", traffic="bulk", **quick).groups["group"]) == {"bulk"}  # type: ignore[arg-type]
    with pytest.warns(UserWarning, match="this line carries no call"):
        compare(rate="100kbit", traffic="call-and-ping", **quick)  # type: ignore[arg-type]


def test_tables_say_what_the_summary_says(swept: Result) -> None:
    summary = swept.summary
    assert swept.complete
    assert summary["schema"] == "goodqueue.summary/1"
    assert swept.points["label"].to_list() == [
        "tail-drop, flows=1",
        "tail-drop, flows=3",
        "codel, flows=1",
        "codel, flows=3",
    ]
    assert swept.points["traffic.0.flows"].to_list() == [1, 3, 1, 3]
    assert json.loads(swept.points["link.bottleneck.queue"][2]) == {"kind": "codel", "target": "10 ms"}
    for number, point in enumerate(summary["points"]):
        link = swept.links.row(number, named=True)
        assert link["utilization"] == point["links"]["bottleneck"]["utilization"]["mean"]
        assert link["sojourn_s.p95_ci95"] == point["links"]["bottleneck"]["sojourn_s"]["p95"]["ci95"]
        assert link["n"] == 2
        assert swept.fairness["goodput"][number] == point["jain"]["goodput"]["mean"]
        group = swept.groups.row(number, named=True)
        assert (group["group"], group["flows"]) == ("bulk", point["groups"]["bulk"]["flows"])
    assert [flow["goodput_bit_s"]["mean"] for p in summary["points"] for flow in p["flows"]] == swept.flows[
        "goodput_bit_s"
    ].to_list()


def test_series_and_packets_are_recorded(swept: Result) -> None:
    sampled = swept.series.filter(pl.col("subject") == "link:bottleneck", pl.col("name") == "queue_packets")
    assert sampled["point"].unique().sort().to_list() == [0, 1, 2, 3]
    assert sampled["replication"].unique().to_list() == [0]
    assert sampled["time_s"].max() == pytest.approx(2.0, abs=0.01)
    departed = swept.packets.filter(pl.col("event") == "departed", pl.col("point") == 0)
    assert departed["sojourn_s"].null_count() == 0
    assert departed["link"].unique().to_list() == ["bottleneck"]
    shares = swept.cdf.filter(pl.col("point") == 0)["share"]
    assert shares.is_sorted()
    assert shares[-1] == 1.0


def test_what_is_recorded_can_be_chosen() -> None:
    assert run(small(), record="nothing").series.height == 0
    every = run(small(replications=2), record="all", sample="100 ms").series
    assert every["replication"].unique().sort().to_list() == [0, 1]
    assert every["time_s"].n_unique() in (20, 21)


def test_tables_are_shared_and_not_copied(swept: Result) -> None:
    table = swept.table("links")
    assert len(table) == 4
    assert table.columns[:3] == ["point", "label", "link"]
    one, two = pa.table(table), pa.table(table)
    address = one["utilization"].chunk(0).buffers()[1].address
    assert address == two["utilization"].chunk(0).buffers()[1].address
    del table
    assert swept.to_pandas("links")["utilization"].iloc[0] == one["utilization"][0].as_py()
    frame = pl.DataFrame(swept.table("series"))
    assert frame.height == len(swept.table("series"))
    with pytest.raises(KeyError, match="no such table"):
        swept.table("nothing")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"record": "some"}, "record: `some` is not known: allowed nothing, first, all"),
        ({"sample": "1 fortnight"}, "sample: "),
        ({"sample": "1 h"}, "sample: `1 h` is out of range"),
        ({"record": "nothing", "packets": True}, "packets: "),
        ({"jobs": 0}, "jobs: `0` is out of range"),
        ({"jobs": "x"}, "jobs: `'x'` is not a whole number"),
        ({"set": 5}, "set: is a `int`: expected a mapping of keys to values"),
        ({"set": {"link.bottleneck.rate": "5 parsecs"}}, "parsecs"),
        ({"set": {"link.bottleneck.rate": object()}}, "an object"),
        ({"seed": -1}, "seed"),
        ({"replications": 0}, "replications"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        run(small(), **arguments)  # type: ignore[arg-type]


def test_a_value_that_holds_itself_is_refused() -> None:
    table: dict[str, object] = {"kind": "codel"}
    table["of"] = table
    with pytest.raises(ScenarioError, match="nested deeper than"):
        run(small(), set={"link.bottleneck.queue": table})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "rate"),
        ({"rate": "fast"}, "rate"),
        ({"rate": "10mbit", "aqm": ["nonesuch"]}, "aqm"),
        ({"rate": "10mbit", "rtt": "5"}, "rtt"),
        ({"rate": "10mbit", "buffer": "much"}, "buffer"),
        ({"rate": "10mbit", "trace": "x"}, "rate"),
        ({"trace": "nowhere"}, "trace"),
        ({"rate": "10mbit", "rate_up": "fast"}, "rate_up"),
        ({"rate": "10mbit", "aqm_up": ["codel"]}, "aqm_up"),
        ({"rate": "10mbit", "traffic": "nonesuch"}, "traffic"),
    ],
)
def test_wrong_comparisons_name_the_argument(arguments: dict[str, object], field: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        compare(**arguments)  # type: ignore[arg-type]
    assert {fault.field for fault in caught.value.faults} == {field}
    assert {fault.file for fault in caught.value.faults} == {"compare()"}


def test_wrong_types_are_type_errors() -> None:
    with pytest.raises(TypeError):
        compare(rate=10)  # type: ignore[arg-type]
    with pytest.raises((TypeError, OverflowError)):
        compare(rate="10mbit", flows=-1)


def test_progress_rises_to_one_and_its_errors_end_the_run() -> None:
    told: list[float] = []
    run(small(duration="200 s"), progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0

    def refuse(part: float) -> None:
        raise LookupError(part)

    with pytest.raises(LookupError):
        run(small(duration="1000 s"), progress=refuse)


def test_other_threads_go_on_meanwhile() -> None:
    counted = 0
    done = threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    run(small(duration="2000 s"), record="nothing")
    done.set()
    thread.join()
    assert counted > 5


def test_an_interrupt_ends_the_run() -> None:
    code = (
        "import _thread, threading, goodqueue as gq\n"
        "link = gq.Link(rate='1 Gbit/s', delay='5 ms', buffer='1 bdp')\n"
        "scenario = gq.Scenario(duration='100000 s', link=link, traffic=[gq.Bulk()])\n"
        "threading.Timer(0.5, _thread.interrupt_main).start()\n"
        "try:\n    gq.run(scenario)\nexcept KeyboardInterrupt:\n    print('interrupted')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout == "interrupted\n"


def test_a_bar_is_shown_where_it_is_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    run(small(), progress=True)
    shown = capfd.readouterr().err
    assert "100%" in shown
    assert shown.endswith("\r\x1b[K")
    run(small())
    assert capfd.readouterr().err == ""


def test_the_command_is_the_same_command(tmp_path: Path) -> None:
    script = Path(sys.executable).with_name("gq")
    listed = subprocess.run([script, "list", "aqm", "codel"], check=True, capture_output=True, text=True)
    assert "codel" in listed.stdout
    wrong = subprocess.run([script, "run", "nowhere.toml"], check=False, capture_output=True, text=True, cwd=tmp_path)
    assert wrong.returncode == 2
    assert "nowhere.toml: no such file" in wrong.stderr


def test_backend_refuses_by_key_at_every_point() -> None:
    with pytest.raises(ScenarioError) as caught:
        run(small(), on="moon")  # type: ignore[arg-type]
    assert caught.value.faults[0].field == "on"
    assert "allowed sim, linux, linux-7.3, kernel, live" in str(caught.value)
    if sys.platform != "linux":
        with pytest.raises(HostError):
            run(small(), on="live")
        return
    scenario = small(sweep={"link.bottleneck.loss": [0.0, 0.01]})
    with pytest.raises(ScenarioError) as caught:
        run(scenario, on="live")
    assert caught.value.faults[0].field == "link.bottleneck.loss"
    assert "(at link.bottleneck.loss = 0.01)" in str(caught.value)
    with pytest.raises(ScenarioError, match="packets"):
        run(small(), on="live", packets=True)
    with pytest.raises(ScenarioError, match="kind"):
        run(small(traffic=[Page()]), on="live")


def test_results_name_their_backend_without_attempts(swept: Result) -> None:
    assert (swept.host, len(swept.validity)) == ("sim", 0)
    assert {"void", "counted", "down_late_p99_s", "up_lost_outside"} <= set(swept.validity.columns)


def test_kernel_senders_in_real_time_report_their_accuracy() -> None:
    try:
        result = run(small(duration="1 s"), on="live")
    except HostError as error:
        pytest.skip(f"no runs in real time here: {error}")
    except RunError as error:
        # A busy machine: every attempt is void, and each says why.
        assert "void in 3 attempts" in str(error) and error.result is not None
        result = error.result
    assert result.host == result.summary["host"] == "live"
    assert len(result.validity) >= 1
    assert result.validity["counted"].sum() == (1 if result.complete else 0)


def test_kernel_senders_in_virtual_time_repeat_themselves() -> None:
    try:
        first = run(small(), on="linux")
    except HostError as error:
        pytest.skip(f"no guest kernel here: {error}")
    assert first.host == "linux" and first.to_json() == run(small(), on="linux").to_json()
