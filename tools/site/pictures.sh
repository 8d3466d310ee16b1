#!/usr/bin/env bash
# Takes the pictures of docs/report.md and docs/serve.md in the system's Chromium: the top of the
# report of docs/first-comparison.md, the playground and the packet view of `gq serve`.
set -euo pipefail
cd "$(dirname "$0")/../.."
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
GQ=${GQ:-$(realpath "${CARGO_TARGET_DIR:-target}")/release/gq}
mkdir -p docs/images out/picture
"$GQ" compare --rate 50/10mbit --rtt 30ms --aqm tail-drop,codel,pie,fq-codel,cake --out out/picture --force >/dev/null
"$browser" --headless --no-sandbox --hide-scrollbars --window-size=1280,1365 --virtual-time-budget=4000 \
    --screenshot=docs/images/report.png "file://$PWD/out/picture/report.html" >/dev/null 2>&1
echo "docs/images/report.png"
GQ="$GQ" PICTURES="$PWD/docs/images" npm --prefix crates/web run --silent e2e -- test/pictures.e2e.test.ts >/dev/null
echo "docs/images/playground.png docs/images/packets.png"
