#!/usr/bin/env bash
# Every kind packet by packet, in the guest kernel and in the simulator: verdicts.sh [OPERATIONS].
# SERIES=7.3 takes the guest kernel of that series.
set -euo pipefail
cd "$(dirname "$0")/../.."

series=${SERIES:-6.12}
cache="${XDG_CACHE_HOME:-$HOME/.cache}/goodqueue/linux"
[ "$series" = 6.12 ] || cache+="-$series"
if [ ! -x "$cache/queue/vmlinux" ]; then
    echo "kernel: skipped the verdicts in the guest kernel, which is not there: make kernel-guest"
    exit 0
fi
cargo run --quiet --release -p goodqueue-guests --example verdicts -- "${1:-100000}" "$series"
