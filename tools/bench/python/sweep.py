"""What a sweep costs beside its points: python tools/bench/python/sweep.py [POINTS] [--seconds S] [--dask]

A point simulates S seconds (20 unless given) of one to eight flows on a line of 20 Mbit/s. A hundred points are run
first without a sweep: by one process, and by two processes at once, which shows what the machine itself loses with
two busy processors. Then all points are run by a sweep with two jobs, or by two Dask workers of one thread. All is
told in wall time, which a busy machine spoils, and in processor time, which it spoils less. Of Dask's processes counts
what they use while the sweep runs, not their start.
"""

import argparse
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from goodqueue import Bulk, Link, Range, Scenario, _core, latin_hypercube, sweep

JOBS = 2
SAMPLE = 100


def cpu(children=()):
    """Processor seconds of this process and of running children."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    ticks = [Path(f"/proc/{child.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13] for child in children]
    return used.ru_utime + used.ru_stime + sum(int(part) for pair in ticks for part in pair) / os.sysconf("SC_CLK_TCK")


def resident():
    """Memory of this process, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def start_cluster(folder):
    """A scheduler and two workers of one thread, as processes."""
    file = Path(folder) / "scheduler.json"
    command = [sys.executable, "-m"]
    # The profiler of Dask's workers looks at all threads a hundred times per second, which would be
    # measured too.
    environment = os.environ | {"DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
    where = ["--no-dashboard", "--scheduler-file", str(file), "--host", "127.0.0.1"]
    all_ = [subprocess.Popen([*command, "distributed.cli.dask_scheduler", "--port", "0", *where], **quiet)]
    while not file.exists():
        time.sleep(0.05)
    worker = [
        *command,
        "distributed.cli.dask_worker",
        *where,
        "--nthreads",
        "1",
        "--no-nanny",
        "--local-directory",
        folder,
    ]
    all_ += [subprocess.Popen(worker, **quiet) for _ in range(JOBS)]
    return json.loads(file.read_text())["address"], all_


def run_points(plan, numbers):
    """Wall and processor seconds per point."""
    wall, used = time.perf_counter(), cpu()
    for number in numbers:
        _core.run_point(plan, plan.sha256, number)
    return (time.perf_counter() - wall) / len(numbers), (cpu() - used) / len(numbers)


def run_beside(plan, numbers, start, results):
    """The same in a process of its own, begun together with others."""
    start.wait()
    results.put(run_points(plan, numbers))


def run_side_by_side(plan, numbers):
    """Two processes at once, each with all of `numbers`: the mean of wall and processor seconds per point."""
    context = multiprocessing.get_context("fork")
    start, results = context.Barrier(JOBS), context.Queue()
    processes = [context.Process(target=run_beside, args=(plan, numbers, start, results)) for _ in range(JOBS)]
    for process in processes:
        process.start()
    walls, processor = zip(*(results.get() for _ in processes), strict=True)
    for process in processes:
        process.join()
    return sum(walls) / JOBS, sum(processor) / JOBS


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("points", type=int, nargs="?", default=2000, help="how many (2000)")
    parser.add_argument("--seconds", type=int, default=20, help="simulated seconds per point (20)")
    parser.add_argument("--dask", action="store_true", help="two Dask workers over TCP in place of two threads")
    arguments = parser.parse_args()
    count = arguments.points
    design = latin_hypercube(
        {
            "link.bottleneck.delay": Range(low="2 ms", high="20 ms"),
            "traffic.0.flows": Range(low=1, high=8, whole=True),
        },
        points=count,
    )
    link = Link(rate="20 Mbit/s", delay="5 ms", buffer="100 packets", queue="codel")
    scenario = Scenario(duration=f"{arguments.seconds} s", replications=1, link=link, traffic=[Bulk()], sweep=design)

    sample = range(0, count, max(1, count // SAMPLE))
    alone, alone_cpu = run_points(scenario.plan, sample)
    print(f"alone: {alone * 1e3:.2f} ms per point, {alone_cpu * 1e3:.2f} ms of processor")
    beside, beside_cpu = run_side_by_side(scenario.plan, sample)
    print(f"two processes at once: {beside * 1e3:.2f} ms per point, {beside_cpu * 1e3:.2f} ms of processor")

    memory = []

    def watch(part):
        memory.append((part, resident()))

    with tempfile.TemporaryDirectory() as folder:
        address, processes, client = None, [], None
        if arguments.dask:
            from distributed import Client

            address, processes = start_cluster(folder)
            client = Client(address, set_as_default=False)
            client.wait_for_workers(JOBS)
        wall, used = time.perf_counter(), cpu(processes)
        sweep(scenario, Path(folder) / "out", progress=watch, **({"client": client} if client else {"jobs": JOBS}))
        wall, used = time.perf_counter() - wall, cpu(processes) - used
        if client:
            client.close()
            for process in processes:
                process.terminate()
                process.wait()
    who = "workers" if address else "threads"
    print(f"sweep: {wall:.1f} s, {used:.1f} s of processor, {count} points on {JOBS} {who}")
    share = count / JOBS
    for name, by_wall, by_processor in (("one process", alone, alone_cpu), ("two at once", beside, beside_cpu)):
        efficiency = f"{by_wall * share / wall:.3f} by wall time, {by_processor * count / used:.3f} by processor time"
        print(f"efficiency against {name}: {efficiency}")
    each = used / count
    print(f"overhead: {(each - alone_cpu) * 1e3:.2f} ms of processor a point against one process,", end=" ")
    print(f"{(each - beside_cpu) * 1e3:.2f} against two at once")
    quarter = next(size for part, size in memory if part >= 0.25)
    print(f"memory: {quarter:.1f} MB after a quarter of the points, {memory[-1][1]:.1f} MB after all")


main()
