#!/usr/bin/env bash
# Checks the front end: types, unit tests, whether the committed pages are what the sources make,
# and in a real browser the report, the app and `gq serve`. What cannot run here is skipped by name.
set -euo pipefail
cd "$(dirname "$0")"
if ! command -v npm >/dev/null || [ ! -d node_modules ]; then
    echo "skipped: the front end's tests (Node or its packages are missing; tools/setup.sh test)"
    exit 0
fi
npm run --silent check
npm run --silent test
# gq embeds the pages as committed in crates/, so these must be what the sources make.
pages() { (cd .. && find serve/assets lab/assets -type f -exec cksum {} + | sort); }
before=$(pages)
npm run --silent build
if [ "$before" != "$(pages)" ]; then
    echo "crates/serve/assets, crates/lab/assets: were not what crates/web makes; they are now (make web)" >&2
    exit 1
fi
if command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || [ -n "${CHROMIUM:-}" ]; then
    if [ -z "${GQ:-}" ] && command -v cargo >/dev/null; then
        (cd ../.. && cargo build --quiet --bin gq)
        GQ=$(cd ../.. && realpath "${CARGO_TARGET_DIR:-target}")/debug/gq
        export GQ
    fi
    # The page without a server: its size, its results and its experiments.
    if command -v cargo >/dev/null && [ -d "$(rustc --print target-libdir --target wasm32-unknown-unknown)" ]; then
        ./playground.sh
        GQ_MODULE=$(cd ../.. && realpath "${CARGO_TARGET_DIR:-target}")/wasm32-unknown-unknown/wasm/optimized.wasm
        export GQ_MODULE
    fi
    npm run --silent e2e
else
    echo "skipped: the front end's browser tests (no Chromium)"
fi
