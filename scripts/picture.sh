#!/usr/bin/env bash
# Takes the README's picture: the top of the demo's report in the system's Chromium. Run `make demo` first.
set -euo pipefail
cd "$(dirname "$0")/.."
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
mkdir -p docs/images
"$browser" --headless --no-sandbox --hide-scrollbars --window-size=1280,1365 --virtual-time-budget=4000 \
    --screenshot=docs/images/report.png "file://$PWD/out/demo/home/report.html" >/dev/null 2>&1
echo "docs/images/report.png"
