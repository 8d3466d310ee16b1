"""Packets per second through `goodqueue.aqm.Qdisc.drive`: python tools/bench/python/drive.py"""

import time

import numpy as np

from goodqueue.aqm import Qdisc

COUNT = 2_000_000

rng = np.random.default_rng(1)
times = rng.exponential(1500 * 8 / 10e6, COUNT).cumsum()
flows, codepoints = rng.integers(0, 8, COUNT), rng.integers(0, 3, COUNT)
for kind in ("tail-drop", "codel", "pie", "fq-codel"):
    queue = Qdisc(kind, rate="10 Mbit/s")
    began = time.perf_counter()
    queue.drive(times, 1500, flow=flows, ecn=codepoints)
    print(f"{kind:10} {COUNT / (time.perf_counter() - began) / 1e6:.2f} million packets per second")
