#!/usr/bin/env bash
# Checks the Python package: builds it into the venv, then checks generated classes, style, types,
# tests and examples. What cannot run here is skipped by name.
set -euo pipefail
cd "$(dirname "$0")/../.."
venv=.venv/bin
if [ ! -e .venv/.goodqueue-requirements ]; then
    echo "skipped: the Python package's tests (no venv; tools/setup.sh test says why)"
    exit 0
fi
# The profile of the other tests, so that what they have built is reused.
VIRTUAL_ENV="$PWD/.venv" PATH="$PWD/$venv:$PATH" "$venv/maturin" develop --quiet >/dev/null
"$venv/python" -B crates/python/generate/classes.py "$venv/gq" --check
"$venv/python" -B crates/python/generate/reference.py --check
checked=(crates/python examples/notebooks tools/bench/python tools/bench/expert tools/site)
"$venv/ruff" check --quiet "${checked[@]}"
"$venv/ruff" format --quiet --check "${checked[@]}"
"$venv/mypy"
"$venv/pytest" crates/python/tests
"$venv/pytest" --doctest-modules crates/python/goodqueue docs/python.md
