#!/usr/bin/env bash
# Checks the pages: words, spelling, links, navigation, and the code on them. What cannot run here
# is skipped by name.
set -euo pipefail
cd "$(dirname "$0")/../.."
if ! python3 -c 'import tomllib' 2>/dev/null; then
    echo "skipped: the checks of the pages (Python 3.11 or later is missing)"
    exit 0
fi
python3 -B tools/site/words.py
python3 -B tools/site/stage.py --check
if [ -x .venv/bin/codespell ]; then
    git ls-files '*.md' | xargs .venv/bin/codespell --ignore-words tools/site/names.txt
    echo "codespell: no misspelled word"
else
    echo "skipped: misspelled words (codespell is missing; tools/setup.sh test installs it)"
fi
work="${CARGO_TARGET_DIR:-target}/site"
if [ -x "$work/venv/bin/mkdocs" ] && [ -d crates/web/node_modules ]; then
    site=$(mktemp -d)
    trap 'rm -rf "$site"' EXIT
    python3 -B tools/site/stage.py "$work/draft" --draft
    if ! NO_MKDOCS_2_WARNING=1 "$work/venv/bin/mkdocs" build --strict --config-file "$work/draft/mkdocs.yml" --site-dir "$site" >"$work/draft/log" 2>&1; then
        grep -v '^INFO\|^  - ' "$work/draft/log" >&2
        exit 1
    fi
    echo "site: $(find "$site" -name '*.html' | wc -l) pages built"
else
    echo "skipped: building the site (tools/setup.sh test installs what it needs)"
fi
gq="${GQ:-${CARGO_TARGET_DIR:-target}/debug/gq}"
python=()
if [ -x .venv/bin/python ] && .venv/bin/python -c 'import goodqueue' 2>/dev/null; then python=("$PWD/.venv/bin/python"); fi
if [ -x "$gq" ]; then
    python3 -B tools/site/blocks.py "$gq" "${python[@]}"
else
    echo "skipped: the code on the pages ($gq is missing; cargo build --bin gq makes it)"
fi
