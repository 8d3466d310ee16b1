#!/usr/bin/env python3
"""A question about all circuits of a network on a Dask cluster: many small samples in place of one large one.

    python3 examples/circuits/cluster.py ShapedDevices.csv network.json --parts 32 --scheduler tcp://scheduler:8786

Each part is `gq compare --circuits` with another seed, one task of a worker. Without a scheduler the parts run on
workers of this machine. Prints the mean of the parts' shares, the lowest and highest of them, and the processor time
that Dask took in addition.
"""

import argparse
import json
import os
import resource
import shlex
import statistics
import subprocess
import tempfile
import time
from pathlib import Path


def part(command, files, seed, simulated):
    """The answer with one seed, and its processor seconds; the worker needs no shared folder."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            Path(folder, name).write_bytes(content)
        words = ["compare", "--circuits", "circuits.csv", "--seed", str(seed), "--simulated", str(simulated)]
        words += ["--network", "network.json"] if "network.json" in files else []
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [*command, *words, "--jobs", "1", "--json", "-"], cwd=folder, capture_output=True, text=True
        )
        if done.returncode:
            raise RuntimeError(done.stderr)
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return json.loads(done.stdout), now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime


def beside(client):
    """Processor seconds of this process and of the workers, without those of `gq`."""
    return time.process_time() + sum(client.run(time.process_time).values())


def main():
    """Ask, and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("circuits", type=Path)
    parser.add_argument("network", type=Path, nargs="?")
    parser.add_argument("--parts", type=int, default=8, help="seeds, each a task (8)")
    parser.add_argument("--simulated", type=int, default=60, help="circuits of a part in packets (60)")
    parser.add_argument("--scheduler", help="address of a Dask scheduler")
    parser.add_argument("--workers", type=int, default=2, help="workers on this machine without a scheduler (2)")
    parser.add_argument("--gq", default="gq", help="the command on workers")
    asked = parser.parse_args()

    # Samples of all threads and of the event loop, a hundred a second, are of no use here.
    os.environ.setdefault("DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED", "False")
    os.environ.setdefault("DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL", "1s")
    from distributed import Client, LocalCluster

    files = {"circuits.csv": asked.circuits.read_bytes()}
    if asked.network:
        files["network.json"] = asked.network.read_bytes()
    here = None
    if not asked.scheduler:
        here = LocalCluster(n_workers=asked.workers, threads_per_worker=1, dashboard_address=None)
    with Client(asked.scheduler or here) as client:
        wall, used = time.perf_counter(), beside(client)
        seeds = range(1, asked.parts + 1)
        answers = client.gather(
            [client.submit(part, shlex.split(asked.gq), files, seed, asked.simulated) for seed in seeds]
        )
        wall, used = time.perf_counter() - wall, beside(client) - used
    if here:
        here.close()

    for queue in range(len(answers[0][0]["queues"])):
        rows = [answer["queues"][queue] for answer, _ in answers]
        said = []
        for place, (activity, _) in enumerate(rows[0]["activities"]):
            shares = [100 * row["activities"][place][1]["share"] for row in rows]
            said.append(f"{activity}s {statistics.mean(shares):.1f} ({min(shares):.1f} to {max(shares):.1f})")
        print(f"{rows[0]['queue']}: poor, %: {', '.join(said)}")
    alone = sum(seconds for _, seconds in answers)
    print(f"{asked.parts} parts, {alone:.1f} s of processor, in {wall:.1f} s")
    print(f"Dask took {used:.2f} s of processor in addition: efficiency {alone / (alone + used):.3f}")


if __name__ == "__main__":
    main()
