#!/usr/bin/env bash
# The Python package's checks: built into the venv, then generated classes, style, types, tests and examples. What cannot run
# here is skipped by name.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=.venv/bin
if [ ! -e .venv/.goodqueue-requirements ]; then
    echo "skipped: the Python package's tests (no venv; scripts/setup.sh test says why)"
    exit 0
fi
# Unoptimised as the other tests are, so that what they have built is used again.
VIRTUAL_ENV="$PWD/.venv" PATH="$PWD/$venv:$PATH" "$venv/maturin" develop --quiet >/dev/null
"$venv/python" -B scripts/python-classes.py "$venv/gq" --check
"$venv/python" -B scripts/python-reference.py --check
checked=(python scripts/python-classes.py scripts/python-reference.py examples/notebooks bench/python)
"$venv/ruff" check --quiet "${checked[@]}"
"$venv/ruff" format --quiet --check "${checked[@]}"
"$venv/mypy"
"$venv/pytest" python/tests
"$venv/pytest" --doctest-modules python/goodqueue docs/python.md
