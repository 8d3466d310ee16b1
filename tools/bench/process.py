"""Whole processes, run to their end and accounted for by the operating system; and what machine they ran on."""

import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Finished:
    """What a process wrote, and what it and its children used: seconds of processor time, and the largest process in MB."""

    out: str
    err: str
    cpu_s: float
    memory_mb: float


def finish(command, folder):
    """Runs a command in a folder to its end; the script ends where it fails."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL, cwd=folder)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        said = err.read().decode()
        if child.returncode != 0:
            raise SystemExit(f"{Path(sys.argv[0]).name}: {' '.join(command)} ended with {child.returncode}:\n{said}")
        return Finished(out.read().decode(), said, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6)


def machine():
    model = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), "unknown processor")
    return f"{model}, {os.cpu_count()} processors, {platform.system()} {platform.release()}"
