#!/usr/bin/env bash
# Checks that the conformance vectors are what their reference models make, and as their schema
# says.
set -euo pipefail
cd "$(dirname "$0")"
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r . "$copy/vectors"
# The vectors of Linux come from recordings that are not kept here.
rm -rf "$copy/vectors/linux"
# Vectors of other programs can only be made where these are installed; the copies stay.
find "$copy"/vectors -mindepth 2 -name '*.json' ! -name 'ns2-*' -delete
for model in "$copy"/vectors/reference/*.py; do
    case "$model" in */vector.py) continue ;; esac
    (cd "$copy/vectors/reference" && python3 -B "$model" >/dev/null)
done
if command -v ns >/dev/null; then
    (cd "$copy/vectors/reference/peers" && python3 -B ns2.py >/dev/null)
else
    echo "skipped: ns-2's vectors (ns is missing)"
fi
if ! diff -r . "$copy/vectors" -x __pycache__ -x linux -x linux-7.3; then
    echo "crates/aqm/vectors: differs from what its reference models make" >&2
    exit 1
fi
echo "vectors: as generated"

if python3 -c 'import jsonschema' 2>/dev/null; then
    python3 -B schema.py
else
    echo "skipped: vectors against their schema (Python's jsonschema is missing)"
fi
