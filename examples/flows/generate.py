"""Writes office.csv: transfers of a small office, as a list of flows. Usage: generate.py [FLOWS] > FILE."""

import random
import sys

SECONDS = 60


def main() -> None:
    flows = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    draw = random.Random(1)
    print("# A minute of a small office: mail and pages, documents, a backup that leaves room for others.")
    print(f"# Made by examples/flows/generate.py {flows}")
    print("start,size,control,path")
    starts = sorted(draw.uniform(0, SECONDS) for _ in range(flows))
    for start in starts:
        kind = draw.random()
        if kind < 0.8:
            size, control, path = draw.lognormvariate(9.5, 1.2), "", "internet > router > office"
        elif kind < 0.98:
            size, control, path = draw.lognormvariate(12.5, 1.0), "bbr", "internet > router > office"
        else:
            size, control, path = draw.lognormvariate(14.5, 0.5), "ledbat", "internet > router > cellar"
        print(f"{start * 1000:.3f} ms,{size:.0f} B,{control},{path}")


if __name__ == "__main__":
    main()
