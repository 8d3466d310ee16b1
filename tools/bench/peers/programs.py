"""The compared programs: installation, invocation, output."""

import argparse
import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parent))

from process import finish  # noqa: E402

ACCESS_DELAY_S = 0.0001  # each of the four access links; goodqueue's default, and the peers' programs'
PACKET_BYTES = 1500
# The programs that are built here.
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "goodqueue" / "peers"
NS3_MODULES = ["core", "network", "internet", "point-to-point", "point-to-point-layout", "traffic-control", "applications"]
UNITS = {
    "time": {"us": 1e-6, "ms": 1e-3, "s": 1.0},
    "rate": {"Mbit/s": 1e6, "Gbit/s": 1e9},
    "size": {"B": 1.0, "kB": 1e3},
}


@dataclass(frozen=True)
class Sample:
    """One run of one program on a dumbbell. Loss is of arrived, retransmissions are of sent data packets."""

    packets: float
    cpu_s: float
    utilization: float
    queue_packets: float
    loss: float
    retransmitted: float

    @classmethod
    def of_point(cls, point, cpu_s):
        """goodqueue's figures at the bottleneck of one point."""
        link, (group,) = point["links"]["bottleneck"], point["groups"].values()
        return cls(
            packets=link["departed_packets"]["mean"],
            cpu_s=cpu_s,
            utilization=link["utilization"]["mean"],
            queue_packets=link["queue_packets"]["mean"],
            loss=link["drop_ratio"]["mean"],
            retransmitted=group["retransmitted_ratio"]["mean"],
        )


def quantity(text, units):
    """A number with one of these units, in the unit whose factor is one."""
    number, unit = text.split()
    if unit not in units:
        raise SystemExit(f"{Path(sys.argv[0]).name}: unit `{unit}` in `{text}` is not one of {', '.join(units)}")
    return float(number) * units[unit]


@functools.cache
def digest(file):
    """Hash of a file's content; for an ns-2 script together with the procedures that all scripts load."""
    file = Path(file)
    held = file.read_bytes()
    if file.suffix == ".tcl":
        held += (HERE / "common.tcl").read_bytes()
    return f"{file.name} {hashlib.sha256(held).hexdigest()[:16]}"


class Kept:
    """Cache of finished runs with their times, so that an interrupted comparison resumes."""

    folder = None

    @classmethod
    def lookup(cls, command, run):
        """Output and CPU seconds of the command, from the cache if present."""
        if cls.folder is None:
            return run()
        # Files are identified by content, as the folder of the results differs each time.
        words = [digest(word) if Path(word).is_file() else word for word in command if not Path(word).is_dir()]
        file = cls.folder / f"{hashlib.sha256(json.dumps(words).encode()).hexdigest()[:24]}.json"
        if not file.is_file():
            text, cpu_s = run()
            cls.folder.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps({"command": words, "text": text, "cpu_s": cpu_s}))
        kept = json.loads(file.read_text())
        return kept["text"], kept["cpu_s"]


def run_measured(command):
    """Runs a command to its end; returns what it printed and its CPU seconds, those of its own children included."""

    def run():
        done = finish(command, ROOT)
        return done.out, done.cpu_s

    return Kept.lookup(command, run)


class GoodQueue:
    name = "goodqueue"

    def __init__(self, binary):
        self.binary = binary

    def available(self):
        return self.binary.is_file()

    def install(self):
        subprocess.run(["cargo", "build", "--release", "--bin", "gq"], cwd=ROOT, check=True)

    def version(self):
        return subprocess.run([str(self.binary), "--version"], capture_output=True, text=True, check=True).stdout.strip()

    def points(self, file, seed, settings, *, on=()):
        """All points of a scenario with one seed, and the CPU seconds."""
        with tempfile.TemporaryDirectory() as folder:
            command = [str(self.binary), "run", *on, str(file), "--seed", str(seed), "--replications", "1", "--jobs", "1"]
            for key, value in settings.items():
                command += ["--set", f"{key}={value}"]
            command += ["--no-report", "--record", "nothing", "--out", folder, "--json", "-"]
            text, cpu_s = run_measured(command)
        return json.loads(text)["points"], cpu_s


class Peer:
    """A simulator whose program here prints one line of JSON."""

    binary = None

    def command(self, arguments):
        return [str(self.binary), *[f"--{key}={value}" for key, value in arguments.items()]]

    def figures(self, arguments):
        """What the program printed, and its CPU seconds."""
        text, cpu_s = run_measured(self.command(arguments))
        return json.loads(next(line for line in text.splitlines() if line.startswith("{"))), cpu_s

    def run(self, arguments):
        figures, cpu_s = self.figures(arguments)
        return Sample(cpu_s=cpu_s, **figures)


class Ns2(Peer):
    name = "ns-2.35"

    def __init__(self, program):
        self.program = HERE / f"{program}.tcl"

    def available(self):
        return shutil.which("ns") is not None

    def install(self):
        if os.geteuid() != 0:
            print("ns-2 is missing; install it with: apt-get install ns2", file=sys.stderr)
            return
        subprocess.run(["apt-get", "install", "-y", "-qq", "ns2"], check=True, stdout=subprocess.DEVNULL)

    def version(self):
        return "ns-2.35, Debian's package"

    def command(self, arguments):
        return ["ns", str(self.program), *[f"{key}={value}" for key, value in arguments.items()]]


class Ns3(Peer):
    """ns-3 of one version, which its own class installs into the cache."""

    release = name = ""
    # The libraries are built with these, and their headers must be read with the same ones.
    switches = ()

    def __init__(self, program):
        self.folder = CACHE / f"ns3-{self.release}"
        self.sources = [HERE / f"{program}.cc", HERE / "watch.h"]
        self.binary = CACHE / f"ns3-{self.release}-{program}"

    def available(self):
        return self.binary.is_file() and self.binary.stat().st_mtime >= max(source.stat().st_mtime for source in self.sources)

    def compile(self, headers, libraries, prefix, *options):
        """Builds the program with the libraries `prefix`MODULE."""
        switches = ["-std=c++23", "-O2", "-DNS3_BUILD_PROFILE_RELEASE", *(f"-D{switch}" for switch in self.switches)]
        linking = [f"-L{libraries}", "-Wl,--no-as-needed", f"-Wl,-rpath,{libraries}", *options, *(f"-l{prefix}{module}" for module in NS3_MODULES)]
        subprocess.run(["g++", *switches, f"-I{headers}", str(self.sources[0]), "-o", str(self.binary), *linking], check=True)


class Ns3Wheel(Ns3):
    """The newest ns-3 that is a Python wheel."""

    release = "3.44"
    name = f"ns-{release}"
    switches = ("NS3_LOG_ENABLE", "NS3_ASSERT_ENABLE")

    def install(self):
        if not list(self.folder.glob("lib/python*/site-packages/ns3")):
            subprocess.run([sys.executable, "-m", "venv", str(self.folder)], check=True)
            subprocess.run([str(self.folder / "bin/pip"), "install", "-q", f"ns3=={self.release}.post0"], check=True)
        (package,) = self.folder.glob("lib/python*/site-packages/ns3")
        self.compile(package / "include", package / "lib64", f"ns{self.release}-")

    def version(self):
        return f"{self.name}, the Python wheel (built with logs and asserts)"


class Ns3Package(Ns3):
    """The newest ns-3 in Debian's unstable suite, unpacked with the C library that it needs, whatever this machine has."""

    release = "3.48"
    name = f"ns-{release}"
    switches = ("NS3_LOG_ENABLE",)

    def install(self):
        packages = [f"libns{self.release}", "--", "libns3-dev"]
        if subprocess.run([str(ROOT / "tools/debian.sh"), str(self.folder), "sid", *packages], check=False).returncode != 0:
            return
        (libraries,) = (file.parent for file in self.folder.glob("usr/lib/*/libns3-core.so"))
        (loader,) = libraries.glob("ld-linux*.so.*")
        # The libraries must find each other, too, and need a newer C library than this machine's.
        options = ["-Wl,--disable-new-dtags", "-Wl,--allow-shlib-undefined", f"-Wl,--dynamic-linker={loader}"]
        self.compile(self.folder / "usr/include", libraries, "ns3-", *options)

    def version(self):
        return f"{self.name}, Debian's package (built with logs)"


NS3 = (Ns3Wheel, Ns3Package)


def prepare(programs, options):
    """The available programs, after installing them if requested, without the excluded ones."""
    Kept.folder = options.keep
    left_out = [word for word in options.without.split(",") if word]
    unknown = [word for word in left_out if not any(program.name.startswith(word) for program in programs)]
    if unknown:
        known = ", ".join(program.name for program in programs)
        raise SystemExit(f"{Path(sys.argv[0]).name}: --without: no program's name begins with `{unknown[0]}`: {known}")
    programs = [program for program in programs if not any(program.name.startswith(word) for word in left_out)]
    for program in programs:
        if options.install and not program.available():
            print(f"installing {program.name}", file=sys.stderr, flush=True)
            program.install()
        if not program.available():
            print(f"skipped: {program.name} is not installed ({Path(sys.argv[0]).name} --install)", file=sys.stderr)
    programs = [program for program in programs if program.available()]
    if not programs:
        raise SystemExit(f"{Path(sys.argv[0]).name}: nothing to run")
    return programs


def versions(programs):
    """A list of the programs."""
    return "\n".join(f"- {program.version()}" for program in programs)


def add_common_options(parser, *, seeds, out):
    """Options of every script here."""
    parser.add_argument("--install", action="store_true", help="build goodqueue and install the peers first, where missing")
    parser.add_argument("--quick", action="store_true", help=f"one seed and short runs; does not write {out}")
    parser.add_argument("--seeds", type=int, default=seeds, metavar="N", help=f"runs of each program in each case (default {seeds})")
    parser.add_argument("--gq", type=Path, default=ROOT / "target/release/gq", metavar="FILE", help="the gq program")
    parser.add_argument("--without", default="", metavar="LIST", help="leave out, by the beginnings of their names: ns-2, ns-3, ns-3.44")
    parser.add_argument("--out", type=Path, default=HERE / out, metavar="FILE")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep runs there, and take those that are there already")


def read_common_options(description, *, seeds, out):
    """Parses the options of a script without options of its own."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_common_options(parser, seeds=seeds, out=out)
    options = parser.parse_args()
    if options.seeds < 1:
        parser.error("--seeds is at least 1")
    if options.quick:
        options.seeds = 1
    return options


def publish(shown, options, document):
    """Prints a table, and writes the document of the whole run unless it was a quick one."""
    print(shown)
    if not options.quick:
        options.out.write_text(document())
        print(f"\nwritten to {options.out}", file=sys.stderr)
