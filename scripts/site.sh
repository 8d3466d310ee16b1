#!/usr/bin/env bash
# Builds the site into site/. Fails on a broken link or anchor, and on a page that docs/README.md
# does not name.
set -euo pipefail
cd "$(dirname "$0")/.."
work="${CARGO_TARGET_DIR:-target}/site"
python3 -B scripts/site/stage.py "$work"
# With --quiet, mkdocs would count no warnings, and --strict would fail on none.
if ! NO_MKDOCS_2_WARNING=1 "$work/venv/bin/mkdocs" build --strict --clean --config-file "$work/mkdocs.yml" >"$work/log" 2>&1; then
    grep -v '^INFO\|^  - ' "$work/log" >&2
    exit 1
fi
echo "site: $(find site -name '*.html' | wc -l) pages, $(du -sh site | cut -f1): file://$PWD/site/index.html"
