#!/usr/bin/env python3
"""A table of what queue disciplines cost, from what the guest said: cost.py LOG. Instructions per packet, and their ratio to the kernel's own
queue disciplines on the same guest."""

import re
import sys

OWN = ("codel", "fq_codel", "pie", "cake")


def main():
    cost, said = {}, open(sys.argv[1], errors="replace").read().splitlines()
    for line in said:
        if line.startswith("not ok "):
            sys.exit(f"kernel-cost: {line}")
        # The firmware's last words have no end of line.
        found = re.search(r"cost (\S+) (\d+) (\d+) (\d+) (\d+) (\d+)$", line)
        if found:
            name, packets, into, out, empty, left = found.groups()
            if int(left) == 0:
                sys.exit(f"kernel-cost: nothing left {name}")
            clock = int(empty) / int(packets)
            cost[name] = (int(into) / int(packets) - clock, int(out) / int(left) - clock)
    if "end of the guest" not in said or len(cost) < 30:
        sys.exit("kernel-cost: the guest did not come to its end; its last lines:\n" + "\n".join(said[-8:]))
    whole = {name: sum(both) for name, both in cost.items()}
    print("| queue discipline | enqueue | dequeue | both | " + " | ".join(f"÷ `{name}`" for name in OWN) + " |")
    print("|---|---|---|---|" + "---|" * len(OWN))
    for name, both in cost.items():
        ratios = (f"{whole[name] / whole['linux:' + own]:.2f}" for own in OWN)
        shown = f"`{name.removeprefix('linux:')}` of the kernel" if name.startswith("linux:") else f"`{name}`"
        print(f"| {shown} | {both[0]:.0f} | {both[1]:.0f} | {whole[name]:.0f} | " + " | ".join(ratios) + " |")


main()
