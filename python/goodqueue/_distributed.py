"""Points of a sweep on many machines: Dask hands them out, this process keeps what comes back."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from distributed import Client, Future, KilledWorker, Worker, WorkerPlugin, as_completed

from goodqueue import _core
from goodqueue._store import Folder
from goodqueue.exceptions import GoodqueueError, SweepError

AHEAD = 4
"""Points that are handed out for each thread of a worker: enough that none waits for the scheduler, few enough that
neither it nor this process has to remember many."""
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


def point(sha256: str, number: int) -> tuple[bool, bytes]:
    """Run one point on a worker: did it finish, and the bytes of its file."""
    plan = _PLANS.get(sha256)
    if plan is None:
        raise SweepError(_REFUSED.get(sha256, "a worker has not heard of the scenario"))
    return _core.run_point(plan, sha256, number)


def run(
    client: Client | str, plan: _core.Plan, folder: Folder, progress: Callable[[float], object] | None
) -> tuple[int, int]:
    """Run what is missing: how many points are finished in the end, and how many failed."""
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
                raise SweepError(f"{client}: no scheduler: {error}; the same call goes on from here") from error
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
        self.out: dict[Future[Any], int] = {}
        self.done = as_completed(loop=client.loop, with_results=True, raise_errors=False)
        self.tries: dict[int, int] = {}
        self.finished = plan.point_count - len(self.waiting)
        self.failed = 0
        self.window = 2 * AHEAD
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
            # It ends when nothing is out any more, and everything that waits is handed out before that.
            for future, result in self.done:
                self._take(self.out.pop(future), future, result)
                self._hand_out()
        finally:
            self._give_up()
            self._forget(plugin)
        return self.finished, self.failed

    def _hand_out(self) -> None:
        try:
            self._fill_window()
        except (OSError, TimeoutError) as error:
            raise LostScheduler(f"the scheduler is gone: {error}; the same call goes on from here") from error

    def _fill_window(self) -> None:
        if time.monotonic() - self.looked > _LOOK_EVERY_S:
            self.looked = time.monotonic()
            threads = sum(self.client.nthreads().values())
            self.window = max(2, threads) * AHEAD
        room = self.window - len(self.out)
        # Handing out many at once costs the scheduler less than as many times one.
        if room < self.window // AHEAD and len(self.out) > 0 and len(self.waiting) > room:
            return
        numbers = [self.waiting.popleft() for _ in range(min(room, len(self.waiting)))]
        if not numbers:
            return
        futures: Iterable[Future[Any]] = self.client.map(
            point, [self.sha256] * len(numbers), numbers, pure=False, batch_size=None
        )
        self.out.update(zip(futures, numbers, strict=True))
        self.done.update(futures)

    def _take(self, number: int, future: Future[Any], result: Any) -> None:
        if future.status == "finished":
            finished, data = result
            self.folder.keep(number, finished, data)
            self.finished += finished
            self.failed += not finished
        elif future.status == "error":
            self._mishap(number, future.exception())
        else:
            raise LostScheduler("the scheduler is gone or dropped the sweep; the same call goes on from here")
        if self.progress is not None:
            self.progress((self.finished + self.failed) / self.plan.point_count)

    def _mishap(self, number: int, error: BaseException | None) -> None:
        if isinstance(error, GoodqueueError):
            raise error
        self.tries[number] = self.tries.get(number, 0) + 1
        if isinstance(error, KilledWorker) and self.tries[number] < TRIES:
            self.waiting.append(number)
            return
        words = f"given up after {self.tries[number]} tries: {type(error).__name__}: {error}"
        self.folder.keep(number, False, _core.failed_point(self.plan, self.sha256, number, words))  # noqa: FBT003
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
