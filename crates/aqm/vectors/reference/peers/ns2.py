"""Runs ns-2.35's RED, PI and REM under fixed packets and writes what they did as vectors: `python3 ns2.py`, which needs `ns`.

Everything is open loop: arrivals are fixed beforehand, the link's rate is constant, and ns-2's trace says which packet was dropped, marked or
sent when. ns-2 draws from its own generator, MRG32k3a; the numbers it drew go into the vector, in the order of the draws. All times are
multiples of 10 us, arrivals lie beside the grid of departures and updates, so that nothing happens at the same instant by chance.

Left out on purpose, as the two are known to differ there (see *Deviations* in algo/red.rs): queues that run empty or full under RED, byte
mode with packets that are no multiple of the mean size, and averages above twice `max_th` with `use_mark_p` off.
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
VECTORS = HERE.parent.parent
STEP = 10_000  # ns


class Mrg32k3a:
    """L'Ecuyer 1999, as ns-2 seeds it, all six words 1, and rounds it to 31 bits."""

    def __init__(self):
        self.x, self.y = [1, 1, 1], [1, 1, 1]

    def uniform(self):
        m1, m2 = 4294967087, 4294944443
        x = (1403580 * self.x[1] - 810728 * self.x[0]) % m1
        y = (527612 * self.y[2] - 1370589 * self.y[0]) % m2
        self.x, self.y = [*self.x[1:], x], [*self.y[1:], y]
        number = ((x - y) % m1 or m1) * 2.328306549295727688e-10
        return int(number * 2**31) / (2**31 - 1)


def as_word(number):
    """The 64-bit number whose upper 53 bits are the greatest fraction not above `number`."""
    return int(number * 2**53) << 11


def arrivals(seed, count, sizes, ect, rate, loads):
    """(time in ns, size, 1 if ECN-capable) of packets at these multiples of the link's rate in turn. The first lies on the link's grid
    and the others 30 us beside it."""
    chance = random.Random(seed)
    grid = 100_000
    now, plan = 10_010_000, []
    for number in range(count):
        size = chance.choice(sizes)
        plan.append((now + (30_000 if number else 0), size, chance.choice(ect)))
        load = loads[number * len(loads) // count] if number > 8 else 20
        gap = size * 8e9 / rate / load * chance.uniform(0.5, 1.5)
        now += max(1, round(gap / grid)) * grid
    return plan


def run(kind, settings, rate, limit, plan, end):
    """The trace of a run as (sign, time in ns, packet, marked)."""
    with tempfile.TemporaryDirectory() as folder:
        given, trace = pathlib.Path(folder, "arrivals"), pathlib.Path(folder, "trace")
        given.write_text("".join(f"{at / 1e9:.8f} {size} {ect}\n" for at, size, ect in plan))
        words = {"type": kind, "rate": rate, "limit": limit, "end": end / 1e9} | settings
        arguments = " ".join(f"{name} {str(value).lower()}" if name != "type" else f"type {value}" for name, value in words.items())
        done = subprocess.run(["ns", HERE / "ns2.tcl", arguments, given, trace], capture_output=True, text=True, check=True)
        own = Mrg32k3a()
        for line in done.stdout.splitlines():
            assert abs(float(line.removeprefix("random ")) - own.uniform()) < 1e-15, "another generator than MRG32k3a"
        events = []
        for line in trace.read_text().splitlines():
            sign, at, _, _, _, _, flags, packet, *_ = line.split()
            if sign != "r":
                at = round(float(at) * 1e9 / STEP) * STEP
                events.append((sign, at, int(packet), flags[4] == "E"))
        return events


def operations(events, plan, rate, marks_on_departure):
    """Operations with their events: the link asks whenever it is free, once in vain when nothing waits."""
    played, marked, free, place = [], {}, 0, {}
    for sign, at, packet, is_marked in events:
        if sign == "+":
            while free is not None and free < at and place:
                played.append(["dequeue", free, []])
                free = None
            played.append(["enqueue", at, plan[packet][1], 0, 2 if plan[packet][2] else 0, []])
            place[packet] = played[-1]
            assert at != free, "an arrival at the end of a transmission"
        elif sign == "d":
            place[packet][-1].append(["drop", packet])
        else:
            assert free is None or at in (free, place[packet][1]), "a departure while the link is busy"
            mark = [["mark", packet]] if is_marked else []
            if not marks_on_departure:
                place[packet][-1].extend(mark)
                mark = []
            played.append(["dequeue", at, [*mark, ["depart", packet]]])
            free = at + round(plan[packet][1] * 8e9 / rate)
    played.append(["dequeue", free, []])
    return sorted(played, key=lambda operation: operation[1])


def with_ticks(played, period):
    """Updates put in at whole periods from time 0, from the first arrival to the last departure."""
    first, last = played[0][1], played[-2][1]
    ticks = [["timer", at, []] for at in range((first // period + 1) * period, last, period)]
    merged = sorted(played + ticks, key=lambda operation: operation[1])
    times = [operation[1] for operation in ticks]
    assert not set(times) & {operation[1] for operation in played}, "an update at the time of something else"
    return merged[: merged.index(played[-2]) + 1], (times[0] - first) / period


def write(name, kind, params, ecn, link, numbers, played):
    head = {"vector": 1, "origin": "ns-2.35 run, reference/peers/ns2.py", "kind": kind, "params": params, "ecn": ecn, "link": link,
            "generator": "listed", "seed": 0, "random": [f"{as_word(number):#018x}" for number in numbers]}
    body = ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items())
    lines = ",\n".join("  " + json.dumps(operation, separators=(",", ":")) for operation in played)
    (VECTORS / kind).mkdir(exist_ok=True)
    (VECTORS / kind / f"ns2-{name}.json").write_text("{\n" + body + ',\n "operations": [\n' + lines + "\n ]\n}\n")
    seen = {}
    for operation in played:
        for event in operation[-1]:
            seen[event[0]] = seen.get(event[0], 0) + 1
    print(f"{kind}/ns2-{name}: {len(played)} operations, {seen}")


def facts(rate, limit_packets=10**9, limit_bytes=10**12):
    return {"rate": rate, "delay": 10_000_000, "mtu": 1500, "overhead": 0, "limit_packets": limit_packets, "limit_bytes": limit_bytes}


def red(name, seed, own, theirs, *, ect=(0,), sizes=(1000,), loads=(1.3,), count=700, rate=8_000_000, kind="red"):
    plan = arrivals(seed, count, sizes, ect, rate, loads)
    theirs = {"thresh_": 5, "maxthresh_": 15, "q_weight_": 0.02, "linterm_": 10, "gentle_": False, "wait_": False, "bytes_": False,
              "queue_in_bytes_": False, "mean_pktsize_": 500, "setbit_": any(ect), "use_mark_p_": True} | theirs
    own = {"min_th": {"packets": 5}, "max_th": {"packets": 15}, "w_q": 0.02, "max_p": 0.1, "gentle": False, "wait": False} | own
    own = {key: value for key, value in own.items() if value is not None}
    events = run("RED", theirs, rate, 100_000, plan, plan[-1][0] + 2_000_000_000)
    numbers = Mrg32k3a()
    write(name, kind, own, any(ect), facts(rate), [numbers.uniform() for _ in plan], operations(events, plan, rate, False))


def reds():
    red("original", 1, {}, {})
    red("wait", 2, {"wait": True}, {"wait_": True}, loads=(1.5, 1.1, 1.4))
    red("gentle", 3, {"gentle": True, "wait": True}, {"gentle_": True, "wait_": True}, loads=(3, 1.5, 2))
    red("marks", 4, {"wait": True, "max_p": 1.0, "mark_p": 0.3}, {"wait_": True, "linterm_": 1, "mark_p_": 0.3}, ect=(0, 1, 1), loads=(1.15, 1.4, 1.1))
    red("bytes", 5, {"bytes": True, "min_th": {"packets": 8}, "max_th": {"packets": 24}}, {"bytes_": True, "thresh_": 8, "maxthresh_": 24},
        sizes=(500, 1000, 1500))
    red("queue-in-bytes", 6,
        {"queue_in_bytes": True, "bytes": True, "wait": True, "min_th": {"bytes": 10_000}, "max_th": {"bytes": 30_000}},
        {"queue_in_bytes_": True, "bytes_": True, "wait_": True, "thresh_": 20, "maxthresh_": 60}, sizes=(500, 1000, 1500))
    automatic = {"q_weight_": -2, "thresh_": 0, "maxthresh_": 0}
    red("automatic", 7, {"min_th": None, "max_th": None, "w_q": None, "auto_w_q": "tenth", "gentle": True, "wait": True},
        automatic | {"gentle_": True, "wait_": True}, loads=(2, 1.2, 1.5), count=1200)
    # ns-2 asks for more than an interval between adaptations, ours for as much: none is exactly
    # that long here.
    high, theirs_high = {"min_th": {"packets": 15}, "max_th": {"packets": 45}}, {"thresh_": 15, "maxthresh_": 45}
    red("adaptive", 8, high | {"alpha": 0.02, "interval": 49_950_000},
        theirs_high | {"adaptive_": 1, "alpha_": 0.02, "beta_": 0.9, "interval_": 0.04995}, kind="ared", loads=(1.6, 1.1, 1.3), count=1200)
    red("feng", 9, high | {"adaptive": "feng"}, theirs_high | {"adaptive_": 1, "feng_adaptive_": 1, "alpha_": 3.0, "beta_": 2.0},
        loads=(2.0, 1.4, 1.0), count=1200)


def pi(name, seed, own, theirs, *, ect=(0,), sizes=(1000,), loads=(1.4, 1.05, 1.3), count=900, rate=8_000_000, limit=200):
    plan = arrivals(seed, count, sizes, ect, rate, loads)
    theirs = {"a_": 2e-3, "b_": 1.9e-3, "w_": 160, "qref_": 20, "mean_pktsize_": 500, "setbit_": any(ect), "bytes_": False,
              "queue_in_bytes_": False} | theirs
    own = {"a": 2e-3, "b": 1.9e-3, "w": 160, "q_ref": {"packets": 20}} | own
    events = run("PI", theirs, rate, limit, plan, plan[-1][0] + 2_000_000_000)
    played, phase = with_ticks(operations(events, plan, rate, False), 6_250_000)
    numbers = Mrg32k3a()
    write(name, "pi", own, any(ect), facts(rate, limit), [phase, *(numbers.uniform() for _ in plan)], played)


def pis():
    pi("drops", 21, {}, {})
    pi("marks", 22, {}, {}, ect=(0, 1, 1))
    pi("bytes", 23, {"bytes": True, "queue_in_bytes": True, "q_ref": {"bytes": 15_000}, "mean_pktsize": 500},
       {"bytes_": True, "queue_in_bytes_": True, "qref_": 30}, sizes=(500, 1000, 1500), limit=10**6)
    # Gains too small to act: overflows, which must not draw.
    pi("overflow", 24, {"a": 1e-4, "b": 0.9e-4}, {"a_": 1e-4, "b_": 0.9e-4}, limit=30)


def rem(name, seed, own, theirs, *, marks=False, ect=(0,), sizes=(1000,), loads=(1.4, 1.05, 1.3), count=900, rate=8_000_000, limit=200):
    plan = arrivals(seed, count, sizes, ect, rate, loads)
    theirs = {"gamma_": 0.05, "phi_": 1.001, "inw_": 1.0, "mean_pktsize_": 1000, "pupdtime_": 0.002, "pbo_": 20, "markpkts_": marks,
              "qib_": False} | theirs
    own = {"gamma": 0.05} | own
    events = run("REM", theirs, rate, limit + 1, plan, plan[-1][0] + 2_000_000_000)
    played, phase = with_ticks(operations(events, plan, rate, marks), 2_000_000)
    numbers = Mrg32k3a()
    if marks:
        # ns-2 draws at each departure, ours only for packets that it may mark.
        drawn = [(numbers.uniform(), plan[packet][2]) for sign, _, packet, _ in events if sign == "-"]
        drawn = [number for number, is_ect in drawn if is_ect]
    else:
        drawn = [numbers.uniform() for _ in plan]
    write(name, "rem", own, any(ect), facts(rate, limit), [phase, *drawn], played)


def rems():
    rem("drops", 31, {}, {})
    rem("marks", 32, {"legacy": True}, {}, marks=True, ect=(0, 1, 1))
    rem("smoothed", 33, {"inw": 0.1, "b_star": {"packets": 30}, "phi": 1.002}, {"inw_": 0.1, "pbo_": 30, "phi_": 1.002})
    rem("overflow", 34, {"gamma": 0.005}, {"gamma_": 0.005}, limit=40)


if __name__ == "__main__":
    reds()
    pis()
    rems()
    sys.exit(0)
