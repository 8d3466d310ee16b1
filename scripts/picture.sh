#!/usr/bin/env bash
# Takes the pictures of docs/report.md and docs/serve.md in the system's Chromium: the top of the demo's
# report (run `make demo` first), the playground and the packet view of `gq serve`.
set -euo pipefail
cd "$(dirname "$0")/.."
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
mkdir -p docs/images
"$browser" --headless --no-sandbox --hide-scrollbars --window-size=1280,1365 --virtual-time-budget=4000 \
    --screenshot=docs/images/report.png "file://$PWD/out/demo/home/report.html" >/dev/null 2>&1
echo "docs/images/report.png"
GQ=${GQ:-$(realpath "${CARGO_TARGET_DIR:-target}")/release/gq} PICTURES="$PWD/docs/images" \
    npm --prefix web run --silent e2e -- test/pictures.e2e.test.ts >/dev/null
echo "docs/images/playground.png docs/images/packets.png"
