"""Tail drop: what does not fit is dropped on arrival, all else leaves in its order (RFC 7567 §1, RFC 7928 §3.2)."""

from priority import MS, TailDrop
from vector import CE, ECT0, ECT1, NOT_ECT, Rng, link, play, script, write


def main():
    packets, bytes = link(10_000_000, 10 * MS, 12, 10**9), link(10_000_000, 10 * MS, 10**9, 20_000)
    cases = {
        "packets": (packets, False, {}),
        "bytes": (bytes, False, {"sizes": (0, 40, 1500, 9000)}),
        "both": (link(10_000_000, 10 * MS, 12, 10_000), False, {"sizes": (40, 1500)}),
        "never-marks": (bytes, True, {"codepoints": (NOT_ECT, ECT0, ECT1, CE), "sizes": (64, 65_535)}),
        "no-room": (link(10_000_000, 10 * MS, 0, 10**9), False, {"phases": (0.5,)}),
        "changing-rate": (packets, False, {"rates": (10_000_000, 0, None, 1), "stall": 0.02}),
    }
    for seed, (name, (facts, ecn, load)) in enumerate(cases.items()):
        model = TailDrop(ecn, facts["limit_packets"], facts["limit_bytes"])
        load = {"sizes": (300, 1500), "phases": (1.6, 0.9, 0.2), **load}
        operations = play(model, script(2800 + seed, 400, service=1_200_000, phase=80, **load))
        write(name, "RFC 7928 §3.2 in reference/tail_drop.py", "tail-drop", {}, ecn, facts, Rng(2800 + seed), operations)


if __name__ == "__main__":
    main()
