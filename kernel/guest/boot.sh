#!/usr/bin/env bash
# Boots a guest kernel in virtual time, so that it does the same each time on any machine, and
# prints its console: boot.sh KERNEL MEMORY SECONDS INIT [WORD]... The guest sees the files of
# this machine. WORDs go on the kernel's command line. After SECONDS of real time it is ended.
set -euo pipefail
kernel=$1 memory=$2 patience=$3 init=$4
shift 4
GQ_SEED=1 exec timeout -k 1 "$patience" setarch -R "$kernel" mem="$memory" rootfstype=hostfs rootflags=/ ro init="$init" "$@" \
    time-travel=inf-cpu time-travel-start=1700000000000000000 con=null con0=null,fd:1 ssl=null </dev/null
