"""Sweeps on workers: a scheduler and its workers are processes of their own, over TCP on the loopback interface."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from goodqueue import Bulk, Link, Scenario, ScenarioError, Sweep, SweepError, run, sweep

distributed = pytest.importorskip("distributed")

GQ = [sys.executable, "-m", "goodqueue"]
QUIET = {**os.environ, "DASK_DISTRIBUTED__SCHEDULER__WORK_STEALING": "True", "PYTHONWARNINGS": "ignore"}
# What waits for processes that start, on a busy machine.
LONGEST_S = 60.0


def small(**more: object) -> Scenario:
    settings: dict[str, object] = {
        "name": "small",
        "duration": "1 s",
        "replications": 2,
        "link": Link(rate="10 Mbit/s", delay="5 ms", buffer="50 packets"),
        "traffic": [Bulk()],
        "sweep": {"link.bottleneck.queue": ["tail-drop", "codel"], "traffic.0.flows": [1, 2, 3]},
    }
    return Scenario(**(settings | more))  # type: ignore[arg-type]


def slow(points: int = 16) -> Scenario:
    """Points of some hundredths of a second each."""
    link = Link(rate="100 Mbit/s", delay="5 ms", buffer="1 bdp")
    grid = {"link.bottleneck.delay": [f"{n} ms" for n in range(1, points + 1)]}
    return small(link=link, duration="5 s", replications=1, sweep=grid)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def until(done: Callable[[], object], what: str) -> None:
    end = time.monotonic() + LONGEST_S
    while not done():
        assert time.monotonic() < end, what
        time.sleep(0.01)


class Cluster:
    """A scheduler and workers that a test may kill."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        self.processes: list[subprocess.Popen[bytes]] = []
        self.scheduler = self.start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(self.file)
        )
        until(lambda: self.file.exists() and self.file.stat().st_size, "no scheduler")
        self.address: str = json.loads(self.file.read_text())["address"]

    def start(self, what: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--no-dashboard", *arguments]
        process = subprocess.Popen(command, env=QUIET, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.processes.append(process)
        return process

    def worker(self, *arguments: str) -> subprocess.Popen[bytes]:
        return self.start(
            "worker", self.address, "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--local-directory",
            str(self.file.parent), *arguments,
        )  # fmt: skip

    def close(self) -> None:
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler with two workers."""
    made = Cluster(tmp_path_factory.mktemp("dask"))
    try:
        made.worker()
        made.worker()
        with distributed.Client(made.address, timeout=LONGEST_S, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=LONGEST_S)
        yield made
    finally:
        made.close()


@pytest.fixture
def client(cluster: Cluster) -> Iterator[object]:
    with distributed.Client(cluster.address, timeout=LONGEST_S, set_as_default=False) as client:
        yield client


def test_ends_with_the_bytes_of_one_machine(tmp_path: Path, cluster: Cluster, client: object) -> None:
    scenario, told = small(), list[float]()
    here, there, again = tmp_path / "here", tmp_path / "there", tmp_path / "again"
    sweep(scenario, here)
    done = sweep(scenario, there, client=client, progress=told.append)
    assert files(there) == files(here)
    of_run = {**run(scenario, record="nothing").summary}
    assert json.loads(done.summary_json) == of_run
    assert told[-1] == 1.0
    path = tmp_path / "small.toml"
    scenario.save(path)
    command = [*GQ, "sweep", str(path), "--dask", cluster.address, "--out"]
    ended = subprocess.run([*command, str(again)], env=QUIET, check=True, capture_output=True, text=True)
    assert ended.stdout.startswith("6 of 6 points finished\n\n")
    assert files(again) == files(here)
    (again / "points/000003.parquet").write_bytes(b"PAR1 not")
    ended = subprocess.run([*command, str(again)], env=QUIET, check=True, capture_output=True, text=True)
    assert ended.stdout.startswith("6 of 6 points finished, 5 of them from before\n")
    assert files(again) == files(here)
    other = subprocess.run(
        [*command, str(again), "--seed", "7"], env=QUIET, check=False, capture_output=True, text=True
    )
    assert other.returncode == 1
    assert "holds another sweep" in other.stderr


def test_circuits_are_asked_in_parts(tmp_path: Path, cluster: Cluster) -> None:
    rows = "\n".join(f"{number},1,1,16,3" for number in range(20))
    path = tmp_path / "devices.csv"
    path.write_text(f"Circuit ID,Download Min Mbps,Upload Min Mbps,Download Max Mbps,Upload Max Mbps\n{rows}\n")
    example = Path(__file__).parents[3] / "examples/circuits/cluster.py"
    command = [sys.executable, str(example), str(path), "--parts", "2", "--simulated", "10", "--gq", " ".join(GQ)]
    ended = subprocess.run(
        [*command, "--scheduler", cluster.address], env=QUIET, check=True, capture_output=True, text=True
    )
    assert ended.stdout.startswith("tail-drop: poor, %: calls ")
    assert "\n2 parts, " in ended.stdout


@pytest.mark.parametrize("workers", [True, False])
def test_any_store_holds_the_same(tmp_path: Path, client: object, workers: bool) -> None:  # noqa: FBT001
    scenario = small()
    sweep(scenario, tmp_path / "here")
    there = f"file://{tmp_path}/there"
    done = sweep(scenario, there, client=client if workers else None)
    assert files(tmp_path / "there") == files(tmp_path / "here")
    assert done.scan().collect().equals(Sweep(tmp_path / "here").scan().collect())
    memory = f"memory://{tmp_path}/sweep"
    stored = sweep(scenario, memory, client=client if workers else None)
    assert stored.summary_json == done.summary_json
    assert stored.scan().collect().equals(done.scan().collect())
    assert sweep(scenario, memory).summary_json == done.summary_json
    with pytest.raises(SweepError, match="holds another sweep: its seed is 1, here it is 2"):
        sweep(small(seed=2), memory)
    with pytest.raises(SweepError, match="nowhere://"):
        sweep(scenario, "nowhere://place")


def test_points_that_fail_are_recorded(tmp_path: Path, client: object) -> None:
    scenario = small(sweep=[{"link.bottleneck.buffer": size} for size in ("10 packets", "10 B", "20 packets")])
    sweep(scenario, tmp_path / "here")
    done = sweep(scenario, tmp_path / "there", client=client)
    assert [failure["point"] for failure in done.failures()] == [1]
    assert files(tmp_path / "there") == files(tmp_path / "here")
    memory = f"memory://{tmp_path}/failed"
    assert sweep(scenario, memory, client=client).failures() == done.failures()


def test_a_killed_worker_loses_nothing(tmp_path: Path, cluster: Cluster, client: object) -> None:
    scenario, there = slow(), tmp_path / "there"
    victim = cluster.worker("--name", "victim")
    until(lambda: len(client.nthreads()) == 3, "no third worker")  # type: ignore[attr-defined]

    def kill(part: float) -> None:
        if part > 0.2 and victim.poll() is None:
            victim.kill()
            victim.wait()

    sweep(scenario, there, client=client, progress=kill)
    assert victim.poll() is not None
    sweep(scenario, tmp_path / "here")
    assert files(there) == files(tmp_path / "here")


def test_a_killed_client_loses_nothing(tmp_path: Path, cluster: Cluster, client: object) -> None:
    scenario, there, path = slow(), tmp_path / "there", tmp_path / "slow.toml"
    scenario.save(path)
    command = [*GQ, "sweep", str(path), "--dask", cluster.address, "--out", str(there)]
    process = subprocess.Popen(command, env=QUIET, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: len(list(there.glob("points/*.parquet"))) > 2 or process.poll() is not None, "no point")
    process.send_signal(signal.SIGKILL)
    process.wait()
    # What it was writing when it was killed has no name yet.
    before = {name: data for name, data in files(there).items() if not name.endswith(".tmp")}
    assert "summary.json" not in before
    sweep(Scenario.load(path), there, client=client)
    assert {name: data for name, data in files(there).items() if name in before} == before
    sweep(Scenario.load(path), tmp_path / "here")
    assert files(there) == files(tmp_path / "here")


def test_a_restarted_scheduler_is_found_again(tmp_path: Path) -> None:
    scenario, there = slow(), tmp_path / "there"
    first = Cluster(tmp_path)
    port = first.address.rsplit(":", 1)[1]
    try:
        first.worker("--death-timeout", "60")
        restarted: list[subprocess.Popen[bytes]] = []

        def restart(part: float) -> None:
            if part > 0.2 and not restarted:
                first.scheduler.kill()
                first.scheduler.wait()
                restarted.append(first.start("scheduler", "--host", "127.0.0.1", "--port", port))
                first.worker()

        sweep(scenario, there, client=first.address, progress=restart)
        assert restarted
    finally:
        first.close()
    sweep(scenario, tmp_path / "here")
    assert files(there) == files(tmp_path / "here")


def test_a_lost_scheduler_is_told(tmp_path: Path) -> None:
    made = Cluster(tmp_path)
    try:
        made.worker()
        with distributed.Client(made.address, timeout=LONGEST_S, set_as_default=False) as client:

            def kill(_: float) -> None:
                made.scheduler.kill()

            with pytest.raises(SweepError, match="the same call resumes"):
                sweep(slow(), tmp_path / "there", client=client, progress=kill)
    finally:
        made.close()
    assert list((tmp_path / "there/points").glob("*.parquet"))


def test_another_version_is_refused(tmp_path: Path) -> None:
    preload = tmp_path / "older.py"
    preload.write_text("import goodqueue._distributed as d\nd.here = lambda: ('0.0.9', 'abc')\n")
    made = Cluster(tmp_path)
    try:
        made.worker("--preload", str(preload))
        with distributed.Client(made.address, timeout=LONGEST_S, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=LONGEST_S)
            with pytest.raises(SweepError, match=r"worker tcp://.*: goodqueue is 0\.0\.9 \(abc\) there"):
                sweep(small(), tmp_path / "there", client=client)
        assert not list((tmp_path / "there").rglob("*.parquet"))
    finally:
        made.close()


def test_wrong_calls_are_refused(tmp_path: Path, client: object) -> None:
    with pytest.raises(ScenarioError, match="jobs: is given with a client"):
        sweep(small(), tmp_path, jobs=2, client=client)
