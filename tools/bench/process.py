"""Whole processes, run to their end and accounted for by the operating system; and what machine they ran on."""

import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

# Linux counts the memory of a process before it becomes another as that of the other: a small
# program stands between.
LAUNCHER = """
import json, os, sys
child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
os.write(int(sys.argv[1]), json.dumps([os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss]).encode())
"""


@dataclass(frozen=True)
class Finished:
    """What a process wrote, and what it and its children used: seconds of processor time, and the largest process in MB."""

    out: str
    err: str
    cpu_s: float
    memory_mb: float


def finish(command, folder):
    """Runs a command in a folder to its end; the script ends where it fails."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as used:
        launcher = [sys.executable, "-I", "-S", "-c", LAUNCHER, str(used.fileno()), *map(str, command)]
        subprocess.run(launcher, stdout=out, stderr=err, stdin=subprocess.DEVNULL, cwd=folder, pass_fds=[used.fileno()], check=True)
        used.seek(0)
        code, cpu_s, memory_kib = json.load(used)
        out.seek(0)
        err.seek(0)
        said = err.read().decode()
        if code != 0:
            raise SystemExit(f"{Path(sys.argv[0]).name}: {' '.join(map(str, command))} ended with {code}:\n{said}")
        return Finished(out.read().decode(), said, cpu_s, memory_kib * 1024 / 1e6)


def machine():
    model = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), "unknown processor")
    return f"{model}, {os.cpu_count()} processors, {platform.system()} {platform.release()}"
