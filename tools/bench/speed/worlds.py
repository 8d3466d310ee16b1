"""The worlds whose cost docs/speed.md shows, as scenario files or as commands of gq."""

import json
import random
import re
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from process import finish

LINE = """
goodqueue = 1
duration = "60 s"

[link.bottleneck]
rate = "100 Mbit/s"
delay = "20 ms"
buffer = "1 bdp"
queue = {queue}
"""
TAIL_DROP = '"tail-drop"'
# Scalable controls need marks: from 20 waiting packets on, every one.
STEP = '{ kind = "red", min_th = "20 packets", max_th = "20 packets", w_q = 1, gentle = false, ecn = true, use_mark_p = false }'
MARKED = {"dctcp", "prague"}
STARTS = 'start = "uniform 0 s .. 5 s"'

# What each kind of traffic is here: a label and the lines of its group.
TRAFFIC = {
    "bulk": ("16 flows of CUBIC", f'kind = "bulk"\nflows = 16\n{STARTS}'),
    "bulk-with-pauses": ("60 flows", f'kind = "bulk-with-pauses"\nflows = 60\n{STARTS}'),
    "short": ("100 kB, 100 per second", 'kind = "short"\nsize = "100 kB"\ninterval = "10 ms"\narrivals = "poisson"'),
    "flow-list": ("6,000 transfers of 100 kB", 'kind = "flow-list"\nfile = "flows.csv"'),
    "web": ("800 connections per second", 'kind = "web"\nrate = 800'),
    "web-1.1": ("300 connections per second, HTTP/1.1", 'kind = "web"\nrate = 300\nhttp = "1.1"'),
    "page": ("10 flows", f'kind = "page"\nflows = 10\n{STARTS}'),
    "video": ("20 flows", f'kind = "video"\nflows = 20\n{STARTS}'),
    "voip": ("1,000 flows", f'kind = "voip"\nflows = 1000\n{STARTS}'),
    "gaming": ("1,000 flows", f'kind = "gaming"\nflows = 1000\n{STARTS}'),
    "video-frames": ("45 flows", f'kind = "video-frames"\nflows = 45\n{STARTS}'),
    "cbr": ("20 flows of 4 Mbit/s", f'kind = "cbr"\nrate = "4 Mbit/s"\nflows = 20\n{STARTS}'),
    "poisson": ("20 flows of 4 Mbit/s", f'kind = "poisson"\nrate = "4 Mbit/s"\nflows = 20\n{STARTS}'),
    "on-off": ("20 flows of 4 Mbit/s", f'kind = "on-off"\npeak = "20 Mbit/s"\nmean_on = "20 ms"\nmean_off = "80 ms"\nflows = 20\n{STARTS}'),
}

# Lines on which people run `gq compare` and `gq recommend`: what the table calls them, and the
# options. The queues are the two that are recommended there.
DAILY = {
    "evening": "--rate 100/20mbit --aqm fq-codel --traffic evening",
    "evening, CAKE": "--rate 100/20mbit --aqm cake --traffic evening",
    "work": "--rate 50/10mbit --aqm fq-codel --traffic work",
    "backup": "--rate 50/10mbit --aqm fq-codel --traffic backup",
    "office": "--rate 100/40mbit --aqm fq-codel --traffic office",
    "rfc7928": "--rate 50mbit --aqm fq-codel --traffic rfc7928",
    "isp-access": "--rate 1gbit --aqm fq-codel --traffic isp-access",
}
# Seconds of warm-up, and of the two runs whose difference is counted: long enough for the mix to
# repeat itself.
DAILY_S = {"isp-access": (1, 5, 10)}
DAILY_USUAL_S = (1, 10, 40)

FLOWS = (1, 10, 100, 1_000, 10_000)
RATES = (1e6, 1e7, 1e8, 1e9, 1e10)
LINKS = (1, 10, 100, 1_000, 10_000)
SHARED_LINKS = (1, 10, 100, 300)
CIRCUITS = (100, 1_000, 10_000)


@dataclass(frozen=True)
class World:
    """One world: the table it belongs to, its name there, what it is, its scenario file, and what stands next to that."""

    table: str
    name: str
    about: str
    text: str
    files: dict = field(default_factory=dict)


def controls(names):
    """Sixteen flows of each congestion control."""
    for cc in names:
        queue = STEP if cc in MARKED else TAIL_DROP
        traffic = f'[[traffic]]\nkind = "bulk"\ncc = "{cc}"\nflows = 16\n{STARTS}\n'
        yield World("controls", cc, "marks from 20 packets on" if cc in MARKED else "tail drop", LINE.format(queue=queue) + traffic)


def traffic():
    """Each kind of traffic."""
    for name, (about, lines) in TRAFFIC.items():
        files = {"flows.csv": flow_list()} if name == "flow-list" else {}
        yield World("traffic", name, about, LINE.format(queue=TAIL_DROP) + "[[traffic]]\n" + lines + "\n", files)


def flow_list():
    """Transfers of 100 kB that begin as a Poisson process of 100 per second."""
    draws = random.Random(1)
    now, lines = 0.0, ["start, size"]
    for _ in range(6000):
        now += draws.expovariate(100.0)
        lines.append(f"{now:.6f} s, 100 kB")
    return "\n".join(lines) + "\n"


def bulk(rate, flows, seconds, queue="fq-codel"):
    """CUBIC flows on one line of 25 ms one way, with a bandwidth-delay product of buffer."""
    return f"""
goodqueue = 1
duration = "{seconds:g} s"

[link.bottleneck]
rate = "{rate:.0f} bit/s"
delay = "25 ms"
buffer = "1 bdp"
queue = "{queue}"

[[traffic]]
kind = "bulk"
flows = {flows}
start = "uniform 0 s .. 1 s"
"""


def growth_with_flows():
    """A megabit per second for each flow."""
    for flows in FLOWS:
        yield World("flows", f"{flows:,}", "flows", bulk(flows * 1e6, flows, max(5.0, 200 / flows)))


def growth_with_rates():
    """Sixteen flows on lines of every rate, for about as many packets."""
    for rate in RATES:
        yield World("rates", f"{rate / 1e6:,.0f}", "Mbit/s", bulk(rate, 16, min(600.0, max(2.0, 1e10 / rate))))


def growth_with_links(evening):
    """Lines of 100 Mbit/s with a queue and an evening each; `evening` is the mix's scenario of one line."""
    for count in LINKS:
        text = re.sub(r"(?m)^\[link\.(\w+)\]$", rf"[link.\1]\ncount = {count}", evening)
        yield World("links", f"{count:,}", "lines", text)


def growth_behind_one_link():
    """Lines of 100 Mbit/s behind one common link: one world, in which neighboring events hardly ever belong to one line."""
    for count in SHARED_LINKS:
        yield World("shared", f"{count:,}", "lines", f"""goodqueue = 1
warmup = "1 s"
duration = "5 s"

[link]
site = {{ from = "internet", to = "isp", rate = "100 Gbit/s", delay = "5 ms", buffer = "10 ms" }}
home = {{ from = "isp", to = "home", rate = "100 Mbit/s", delay = "5 ms", buffer = "250 ms", queue = "fq-codel", count = {count} }}

[[traffic]]
kind = "video"
path = ["internet", "home"]
flows = 2

[[traffic]]
kind = "page"
pause = "uniform 1 s .. 5 s"
flows = 4
path = ["internet", "home"]

[[traffic]]
kind = "bulk"
path = ["internet", "home"]
""")


def circuits(count):
    """Files of LibreQoS: circuits of three plans behind one site for each ninety, sold twelve times over."""
    draws = random.Random(1)
    plans = [(100, 20), (300, 50), (25, 5)]
    head = "Circuit ID,Circuit Name,Device ID,Device Name,Parent Node,MAC,IPv4,IPv6,Download Min,Upload Min,Download Max,Upload Max,Comment"
    sites, rows = {}, [head]
    for number in range(count):
        site = f"site-{number // 90}"
        down, up = draws.choices(plans, (6, 2, 2))[0]
        sold = sites.setdefault(site, [0, 0])
        sold[0] += down
        sold[1] += up
        address = f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"
        rows.append(f"{number},circuit {number},{number},device {number},{site},,{address},,{down // 10},{max(1, up // 10)},{down},{up},")
    network = {site: {"downloadBandwidthMbps": down // 12, "uploadBandwidthMbps": up // 12} for site, (down, up) in sites.items()}
    return "\n".join(rows) + "\n", network


def say(text):
    print(text, file=sys.stderr, flush=True)


def run(gq, world):
    """One run of a scenario: its summary and what the process used."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "world.toml").write_text(world.text)
        for file, text in world.files.items():
            (folder / file).write_text(text)
        done = finish([str(gq), "run", "world.toml", "--jobs", "1", "--replications", "1", "--no-report", "--record", "nothing", "--out", "out", "--json", "-"], folder)
    (point,) = json.loads(done.out)["points"]
    say(f"{world.table} {world.name}: {done.cpu_s:.2f} s")
    return point, done


def departed(point):
    return sum(link["departed_packets"]["mean"] for link in point["links"].values())
