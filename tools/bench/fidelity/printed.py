"""Printed values of Menth and Veith 2018 for the points that a real kernel runs, too (gallery/cp-aqm/expected.toml)."""

# By queue (tail drop, or CP-AQM with a threshold of five packets and this c_max), control, flows
# and round-trip time in ms.
PRINTED = {
    ("tail-drop", "reno", 1, 10): "queue 20",
    ("tail-drop", "reno", 1, 100): "utilization 92.7 %",
    ("tail-drop", "cubic", 1, 40): "utilization ≥ 99 %",
    ("tail-drop", "reno", 1, 40): "utilization ≥ 99 %",
    ("tail-drop", "reno", 16, 100): "utilization ≥ 99 %",
    ("tail-drop", "cubic", 16, 10): "queue 30, loss about 12 %",
    ("tail-drop", "cubic", 16, 100): "utilization ≥ 99 %, queue 26 at least, loss about 4 %",
    ("cp-aqm 1.05", "reno", 16, 100): "utilization ≥ 98 %",
    ("cp-aqm 1.2", "reno", 16, 100): "utilization 95 %, queue ≤ 12",
    ("cp-aqm 1.5", "reno", 1, 100): "utilization 82 %",
} | {
    ("cp-aqm 1.2", cc, flows, rtt): "queue ≤ 12"
    for cc in ("reno", "cubic")
    for flows in (1, 16)
    for rtt in (10, 100)
    if (cc, flows, rtt) != ("reno", 16, 100)
}
