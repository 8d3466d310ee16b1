#!/usr/bin/env bash
# Long random tests: the property tests with many more cases, then each cargo-fuzz target for MINUTES (default 1).
set -euo pipefail
cd "$(dirname "$0")/.."
minutes="${MINUTES:-1}"
PROPTEST_CASES="${CASES:-20000}" cargo test --release --workspace --tests --lib -- propert random
if ! cargo +nightly fuzz --version >/dev/null 2>&1; then
    echo "skipped: fuzz targets (cargo-fuzz with a nightly toolchain is not installed)"
    exit 0
fi
for target in fuzz/fuzz_targets/*.rs; do
    [ -e "$target" ] || continue
    cargo +nightly fuzz run "$(basename "$target" .rs)" -- -max_total_time=$((60 * minutes))
done
