#!/usr/bin/env bash
# Rewrites the generated pages of docs/. Each is made by an ignored test, next to the test that
# fails when the page is stale.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo test --quiet -p goodqueue-lab --test bad_input --test results_page --test scenario_page -- --ignored
cargo test --quiet -p goodqueue-figure --test algorithm_pages --test families --test front_picture -- --ignored
cargo test --quiet -p goodqueue-cli --lib reference -- --ignored
cargo test --quiet -p goodqueue-checks --test page -- --ignored
cargo test --quiet -p goodqueue-tcp --test bbr_draft -- --ignored
cargo test --quiet -p goodqueue-capi --test header -- --ignored
cargo test --quiet -p goodqueue-kernel --test header -- --ignored
cargo build --quiet --release --bin gq
"${CARGO_TARGET_DIR:-target}/release/gq" cite --release --format cff >CITATION.cff
python3 -B crates/python/generate/classes.py "${CARGO_TARGET_DIR:-target}/release/gq"
if [ -x .venv/bin/python ] && .venv/bin/python -c 'import goodqueue' 2>/dev/null; then
    .venv/bin/python -B crates/python/generate/reference.py
else
    echo "skipped: docs/python-reference.md (make python makes the package first)"
fi
