"""What a sweep costs beside its points: python bench/python/sweep.py [POINTS] [--dask]

Points are run one after the other without a sweep first; then all of them by a sweep with two jobs, or by two Dask
workers of one thread. Both are told in wall time, which a busy machine spoils, and in processor time, which it spoils
less.
"""

import json
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


def cpu():
    """Processor seconds of this process and of the children it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def resident():
    """Memory of this process, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def start_cluster(folder):
    """A scheduler and two workers of one thread, as processes."""
    file = Path(folder) / "scheduler.json"
    command = [sys.executable, "-m"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
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


def main():
    numbers = [int(each) for each in sys.argv[1:] if each.isdigit()]
    count = numbers[0] if numbers else 2000
    design = latin_hypercube(
        {
            "link.bottleneck.delay": Range(low="2 ms", high="20 ms"),
            "traffic.0.flows": Range(low=1, high=8, whole=True),
        },
        points=count,
    )
    link = Link(rate="20 Mbit/s", delay="5 ms", buffer="100 packets", queue="codel")
    scenario = Scenario(duration="20 s", replications=1, link=link, traffic=[Bulk()], sweep=design)
    sha256 = scenario.plan.sha256

    sample = range(0, count, max(1, count // SAMPLE))
    wall, used = time.perf_counter(), cpu()
    for number in sample:
        _core.run_point(scenario.plan, sha256, number)
    alone, alone_cpu = (time.perf_counter() - wall) / len(sample), (cpu() - used) / len(sample)
    print(f"alone: {alone * 1e3:.2f} ms a point, {alone_cpu * 1e3:.2f} ms of processor")

    memory = []

    def watch(part):
        memory.append((part, resident()))

    with tempfile.TemporaryDirectory() as folder:
        address, processes, client = None, [], None
        if "--dask" in sys.argv:
            from distributed import Client

            address, processes = start_cluster(folder)
            client = Client(address, set_as_default=False)
            client.wait_for_workers(JOBS)
        wall, used = time.perf_counter(), cpu()
        sweep(scenario, Path(folder) / "out", progress=watch, **({"client": client} if client else {"jobs": JOBS}))
        wall, used = time.perf_counter() - wall, cpu() - used
        if client:
            client.close()
            before = cpu()
            for process in processes:
                process.terminate()
                process.wait()
            used += cpu() - before
    who = "workers" if address else "threads"
    print(f"sweep: {wall:.1f} s, {used:.1f} s of processor, {count} points on {JOBS} {who}")
    by_wall, by_processor = alone * count / JOBS / wall, alone_cpu * count / used
    print(f"efficiency: {by_wall:.3f} by wall time, {by_processor:.3f} by processor time")
    print(f"overhead: {(used / count - alone_cpu) * 1e3:.2f} ms of processor a point")
    quarter = next(size for part, size in memory if part >= 0.25)
    print(f"memory: {quarter:.1f} MB after a quarter of the points, {memory[-1][1]:.1f} MB after all")


main()
