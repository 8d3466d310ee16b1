#!/usr/bin/env bash
# Builds the site into site/ and opens some pages in a browser; LOOK=all opens all. Fails on a
# broken link or anchor, on a page that docs/README.md does not name, and on what
# tools/site/look.mjs finds.
# The playground is a page of it, and tested first.
set -euo pipefail
cd "$(dirname "$0")/../.."
work="${CARGO_TARGET_DIR:-target}/site"
crates/web/playground.sh test
python3 -B tools/site/stage.py "$work"
# With --quiet, mkdocs would count no warnings, and --strict would fail on none.
if ! NO_MKDOCS_2_WARNING=1 "$work/venv/bin/mkdocs" build --strict --clean --config-file "$work/mkdocs.yml" >"$work/log" 2>&1; then
    grep -v '^INFO\|^  - ' "$work/log" >&2
    exit 1
fi
python3 -B tools/site/finish.py site
if [ -d crates/web/node_modules/playwright-core ] && command -v node >/dev/null; then
    # A page of each kind; `make look` opens all.
    read -ra pages <<<"${LOOK:-index.html docs/index.html docs/first-comparison.html docs/cli.html docs/results.html docs/algorithms/codel.html docs/fidelity-grid.html}"
    [ "${LOOK:-}" = all ] && pages=()
    node tools/site/look.mjs site "$work/pictures" "${pages[@]}"
else
    echo "skipped: the site in a browser (tools/setup.sh test installs what it needs)"
fi
echo "site: $(find site -name '*.html' | wc -l) pages, $(du -sh site | cut -f1): file://$PWD/site/index.html"
