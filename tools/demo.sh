#!/usr/bin/env bash
# Compares queue algorithms on two lines, a home line and a phone. Each comparison prints a table
# and writes a report for the browser.
set -euo pipefail
cd "$(dirname "$0")/.."
gq="${CARGO_TARGET_DIR:-target}/release/gq"
algorithms=tail-drop,red,ared,pie,codel,cp-aqm,fq-codel

echo
echo "── A home line: 10 Mbit/s, 20 ms away, a buffer of 200 ms, 16 CUBIC flows, a call and a ping"
"$gq" compare --rate 10mbit --rtt 20ms --buffer 200ms --flows 16 --cc cubic --aqm "$algorithms" --out out/demo/home --force

echo
echo "── A phone in a moving car: a synthetic cellular trace (0 to 20 Mbit/s, with outages), 50 ms away, 4 CUBIC flows, a call and a ping"
"$gq" compare --trace examples/traces/cellular.down --rtt 50ms --buffer 500packets \
    --flows 4 --cc cubic --warmup 5s --duration 115s --aqm "$algorithms" --out out/demo/phone --force
