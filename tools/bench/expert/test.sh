#!/usr/bin/env bash
# Tests the rule that holds answers against an expert's, and the stored answers; GQ is a program to
# ask. Skipped by name without Python 3.11.
set -euo pipefail
cd "$(dirname "$0")"
if ! python3 -c 'import tomllib' 2>/dev/null; then
    echo "skipped: answers that an expert would give (Python 3.11 or later is missing)"
    exit 0
fi
python3 -B test.py
