#!/usr/bin/env bash
# Every kind packet by packet, in the guest kernel and in the simulator: verdicts.sh [OPERATIONS].
set -euo pipefail
cd "$(dirname "$0")/../.."

kernel="${XDG_CACHE_HOME:-$HOME/.cache}/goodqueue/linux/queue/vmlinux"
if [ ! -x "$kernel" ]; then
    echo "kernel: skipped the verdicts in the guest kernel, which is not there: make kernel-guest"
    exit 0
fi
cargo run --quiet --release -p goodqueue-guests --example verdicts -- "${1:-100000}"
