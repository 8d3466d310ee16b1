"""Points of a sweep on many machines: Dask hands them out, this process keeps what comes back."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from distributed import Client, Future, KilledWorker, Worker, WorkerPlugin, as_completed

from goodqueue import _core
from goodqueue._store import Folder
from goodqueue.exceptions import GoodqueueError, SweepError

AHEAD = 4
"""Tasks that are handed out for each thread of a worker: enough that none waits for the scheduler, few enough that
neither it nor this process has to remember many."""
TASK_S = 2.0
"""How long the points of one task should take together: Dask takes ten to twenty milliseconds for a task, whatever is
in it."""
MOST_POINTS = 250
"""Points of one task at most, however short they are."""
TRIES = 4
"""How often a point may lose its worker before it counts as the one to blame; Dask itself gives each try some more."""
PATIENCE_S = 60.0
"""How long a scheduler that is gone may take to come back, where it is known by its address."""
_LOOK_EVERY_S = 2.0

_PLANS: dict[str, _core.Plan] = {}
_REFUSED: dict[str, str] = {}


class LostScheduler(SweepError):
    """The scheduler forgot what it was asked for, or is gone."""


def here() -> tuple[str, str]:
    """Version and commit of the package on this machine."""
    return _core.version()


class Prepare(WorkerPlugin):
    """Reads the scenario once on each worker, those that join later included, and checks that it is the same there."""

    def __init__(self, plan: _core.Plan) -> None:
        self.parts = plan.parts()
        self.sha256 = plan.sha256
        self.version = here()
        self.name = f"goodqueue-{self.sha256[:16]}"

    def setup(self, worker: Worker) -> None:
        """Run by Dask when the worker hears of it."""
        try:
            _PLANS[self.sha256] = self._read()
        except GoodqueueError as error:
            _REFUSED[self.sha256] = f"worker {worker.address}: {error}"
            raise SweepError(_REFUSED[self.sha256]) from error

    def _read(self) -> _core.Plan:
        if here() != self.version:
            theirs, ours = (f"{version} ({commit})" for version, commit in (here(), self.version))
            raise SweepError(f"goodqueue is {theirs} there, {ours} here; install the same on all machines")
        name, text, base_dir, overrides = self.parts
        plan = _core.Plan(name, text, base_dir, overrides)
        if plan.sha256 != self.sha256:
            raise SweepError("the scenario is another there: its recordings differ")
        return plan

    def teardown(self, worker: Worker) -> None:
        """Run by Dask when the sweep is over."""
        _PLANS.pop(self.sha256, None)
        _REFUSED.pop(self.sha256, None)


def points(sha256: str, numbers: list[int]) -> tuple[list[tuple[bool, bytes]], float]:
    """Run some points on a worker: of each, did it finish, and the bytes of its file; and the seconds that all took."""
    plan = _PLANS.get(sha256)
    if plan is None:
        raise SweepError(_REFUSED.get(sha256, "a worker has not heard of the scenario"))
    began = time.perf_counter()
    ran = [_core.run_point(plan, sha256, number) for number in numbers]
    return ran, time.perf_counter() - began


def run(
    client: Client | str, plan: _core.Plan, folder: Folder, progress: Callable[[float], object] | None
) -> tuple[int, int]:
    """Run the missing points: how many are finished in the end, and how many failed."""
    if not isinstance(client, str):
        return _Handout(client, plan, folder, progress).run()
    until, missing = time.monotonic() + PATIENCE_S, plan.point_count + 1
    while True:
        try:
            with Client(client, timeout=PATIENCE_S, set_as_default=False) as own:
                return _Handout(own, plan, folder, progress).run()
        except (LostScheduler, OSError) as error:
            # One under which points were finished has as long again to come back.
            before, missing = missing, len(folder.missing())
            if missing < before:
                until = time.monotonic() + PATIENCE_S
            elif time.monotonic() > until:
                raise SweepError(f"{client}: no scheduler: {error}; the same call resumes") from error
            time.sleep(0.5)


class _Handout:
    """The points of one sweep that workers have, and those that wait."""

    def __init__(
        self, client: Client, plan: _core.Plan, folder: Folder, progress: Callable[[float], object] | None
    ) -> None:
        self.client = client
        self.plan = plan
        self.sha256 = plan.sha256
        self.folder = folder
        self.progress = progress
        self.waiting = deque(folder.missing())
        self.out: dict[Future[Any], list[int]] = {}
        self.done = as_completed(loop=client.loop, with_results=True, raise_errors=False)
        self.tries: dict[int, int] = {}
        self.finished = plan.point_count - len(self.waiting)
        self.failed = 0
        self.threads = 2
        self.each = 1
        self.looked = -_LOOK_EVERY_S

    def run(self) -> tuple[int, int]:
        if not self.waiting:
            return self.finished, self.failed
        plugin = Prepare(self.plan)
        try:
            self.client.register_plugin(plugin)
        except (OSError, TimeoutError) as error:
            raise LostScheduler(f"the scheduler does not answer: {error}") from error
        try:
            self._hand_out()
            # It ends when nothing is out any more, and everything that waits is handed out before
            # that.
            for future, result in self.done:
                self._take(self.out.pop(future), result)
                self._hand_out()
        finally:
            self._give_up()
            self._forget(plugin)
        return self.finished, self.failed

    def _hand_out(self) -> None:
        try:
            self._fill_window()
        except (OSError, TimeoutError) as error:
            raise LostScheduler(f"the scheduler is gone: {error}; the same call resumes") from error

    def _fill_window(self) -> None:
        if time.monotonic() - self.looked > _LOOK_EVERY_S:
            self.looked = time.monotonic()
            self.threads = max(2, sum(self.client.nthreads().values()))
        room = self.threads * AHEAD - len(self.out)
        # Handing out many at once costs the scheduler less than as many times one.
        if room < self.threads and self.out and len(self.waiting) > room:
            return
        tasks: list[list[int]] = []
        while room > len(tasks) and self.waiting:
            tasks.append([self.waiting.popleft() for _ in range(self._next_size())])
        if not tasks:
            return
        futures: Iterable[Future[Any]] = self.client.map(
            points, [self.sha256] * len(tasks), tasks, pure=False, batch_size=None
        )
        self.out.update(zip(futures, tasks, strict=True))
        self.done.update(futures)

    def _next_size(self) -> int:
        """Points of the next task: what took a worker down goes alone, and toward the end tasks become short."""
        if self.waiting[0] in self.tries:
            return 1
        most = max(1, min(self.each, len(self.waiting) // (self.threads * AHEAD)))
        return next((i for i, number in enumerate(islice(self.waiting, most)) if number in self.tries), most)

    def _take(self, numbers: list[int], result: Any) -> None:
        # What came counts, not the future's status: that changes when the worker that had the
        # result dies in between.
        match result:
            case (list() as ran, float() as seconds):
                for number, (finished, data) in zip(numbers, ran, strict=True):
                    self.folder.keep(number, finished, data)
                    self.finished += finished
                    self.failed += not finished
                self.each = max(1, min(MOST_POINTS, int(TASK_S * len(numbers) / max(seconds, 1e-6))))
            case (_, BaseException() as error, _):
                self._mishap(numbers, error)
            case _:
                raise LostScheduler("the scheduler is gone or dropped the sweep; the same call resumes")
        if self.progress is not None:
            self.progress((self.finished + self.failed) / self.plan.point_count)

    def _mishap(self, numbers: list[int], error: BaseException) -> None:
        if isinstance(error, GoodqueueError):
            raise error
        for number in numbers:
            self.tries[number] = self.tries.get(number, 0) + 1
            # Any of several may be the one to blame; alone they show which.
            if len(numbers) > 1 or (isinstance(error, KilledWorker) and self.tries[number] < TRIES):
                self.waiting.append(number)
                continue
            words = f"given up after {self.tries[number]} tries: {type(error).__name__}: {error}"
            data = _core.failed_point(self.plan, self.sha256, number, words)
            self.folder.keep(number, False, data)  # noqa: FBT003
            self.failed += 1

    def _give_up(self) -> None:
        if self.out and self.client.status == "running":
            self.client.cancel(list(self.out))

    def _forget(self, plugin: Prepare) -> None:
        if self.client.status == "running":
            try:
                self.client.unregister_worker_plugin(plugin.name)
            except (OSError, TimeoutError, ValueError):
                # The scheduler is on its way out, and forgets by itself.
                return
