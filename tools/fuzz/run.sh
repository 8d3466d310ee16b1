#!/usr/bin/env bash
# Feeds arbitrary input to every reader: each cargo-fuzz target for MINUTES (default 1), with our
# own scenarios as the corpus.
set -euo pipefail
cd "$(dirname "$0")"
minutes="${MINUTES:-1}"
if ! cargo +nightly fuzz --version >/dev/null 2>&1; then
    echo "fuzz: cargo-fuzz with a nightly toolchain is missing; please run: rustup toolchain install nightly && cargo install cargo-fuzz" >&2
    exit 1
fi
mkdir -p corpus/{baseline,flows,import,orders,packetdrill,plan,qlog,record,trace}
cp ../../crates/checks/scripts/*.pkt corpus/packetdrill/
cp ../../examples/scenarios/*.toml ../../gallery/*/*.toml corpus/plan/
head -n 200 ../../examples/traces/cellular.up >corpus/trace/cellular
head -n 50 ../../examples/flows/office.csv >corpus/flows/office
printf 'stats\nrate down 20mbit\ndelay up 5ms\naqm down codel:target=10ms\npolicy down delay<=30ms\n' >corpus/orders/all
printf 'goodqueue.live-events/1\n{}\n' >corpus/record/empty
for target in fuzz_targets/*.rs; do
    cargo +nightly fuzz run --fuzz-dir . "$(basename "$target" .rs)" -- -max_total_time=$((60 * minutes))
done
