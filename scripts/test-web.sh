#!/usr/bin/env bash
# The front end's checks: types, unit tests, and the built report in a real browser. What cannot run here is skipped by name.
set -euo pipefail
cd "$(dirname "$0")/../web"
if ! command -v npm >/dev/null || [ ! -d node_modules ]; then
    echo "skipped: the front end's tests (Node or its packages are missing; scripts/setup.sh test)"
    exit 0
fi
npm run --silent check
npm run --silent test
if command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || [ -n "${CHROMIUM:-}" ]; then
    npm run --silent build
    npm run --silent e2e
else
    echo "skipped: the front end's browser tests (no Chromium)"
fi
