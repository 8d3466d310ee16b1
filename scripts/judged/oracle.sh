#!/usr/bin/env bash
# Lets packetdrill itself judge Linux' own TCP in a guest kernel, in virtual time:
# oracle.sh PACKETDRILL SUITES OUT. PACKETDRILL is a clone of google/packetdrill; paths of scripts
# below SUITES come from standard input. Verdicts go to OUT/verdicts: path, exit code, first line of
# output.
set -euo pipefail
packetdrill=$(realpath "$1")
suites=$(realpath "$2")
out=$(realpath -m "$3")
cd "$(dirname "$0")/../.."

kernel="${XDG_CACHE_HOME:-$HOME/.cache}/goodqueue/linux/oracle"
WITH=scripts/judged/oracle INTO="$kernel" scripts/linux.sh >&2
mkdir -p "$out"
if [ ! -x "$out/packetdrill/packetdrill" ]; then
    rm -rf "$out/packetdrill"
    cp -r "$packetdrill/gtests/net/packetdrill" "$out/packetdrill"
    (cd "$out/packetdrill" && ./configure && make packetdrill) >"$out/build.log" 2>&1 || {
        tail -20 "$out/build.log" >&2
        echo "oracle: packetdrill does not build: $out/build.log" >&2
        exit 1
    }
fi
gcc -O2 -Wall -Wextra -Werror -shared -fPIC -o "$out/preload.so" scripts/judged/preload.c
rm -f "$out/verdicts"
cat >"$out/scripts"
GQ_SEED=1 timeout -k 1 "${TIMEOUT:-1800}" setarch -R "$kernel/vmlinux" mem=512M rootfstype=hostfs rootflags=/ ro \
    init="$PWD/scripts/judged/oracle-init" folder="$out" suites="$suites" time-travel=inf-cpu time-travel-start=1700000000000000000 \
    con=null con0=null,fd:1 ssl=null loglevel=5 </dev/null >"$out/console" 2>&1 || true
if [ "$(tail -1 "$out/verdicts" 2>/dev/null)" != end ]; then
    tail -5 "$out/console" >&2
    echo "oracle: the guest ended early: $out/console" >&2
    exit 1
fi
sed -i '$d' "$out/verdicts"
