"""What a packet costs under an algorithm written in Python: python tools/bench/python/own.py"""

import time

from goodqueue import Bulk, Link, Scenario, run
from goodqueue.aqm import Algorithm, Verdict


class OneHook(Algorithm):
    """Tail drop by another name."""

    def on_arrival(self, packet, queue):
        """Judge an arriving packet."""
        return Verdict.DROP if queue.packets >= 100 else None


class TwoHooks(OneHook):
    """The same, asked at departures too."""

    def on_departure(self, packet, queue):
        """Judge the head."""
        return


link = Link(rate="50 Mbit/s", delay="5 ms", buffer="100 packets")
scenario = Scenario(duration="60 s", link=link, traffic=[Bulk(flows=4)])
algorithms = {"one-hook": OneHook, "two-hooks": TwoHooks}
for kind in ("tail-drop", "codel", *algorithms):
    best, packets = float("inf"), 1.0
    for _ in range(3):
        began = time.perf_counter()
        result = run(scenario, set={"link.bottleneck.queue": kind}, algorithms=algorithms, record="nothing")
        best = min(best, time.perf_counter() - began)
        packets = result.links["departed_packets"][0]
    print(f"{kind:10} {best / packets * 1e6:.2f} microseconds per packet")
