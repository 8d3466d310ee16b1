#!/usr/bin/env bash
# Lets packetdrill itself judge Linux' own TCP in a guest kernel, in virtual time:
# oracle.sh PACKETDRILL SUITES OUT. PACKETDRILL is a clone of google/packetdrill; paths of scripts
# below SUITES come from standard input. Verdicts go to OUT/verdicts: path, exit code, first line of
# output. SERIES=7.3 asks Linux 7.3.
set -euo pipefail
packetdrill=$(realpath "$1")
suites=$(realpath "$2")
out=$(realpath -m "$3")
cd "$(dirname "$0")/../../.."

series=${SERIES:-6.12}
cache="${XDG_CACHE_HOME:-$HOME/.cache}/goodqueue/linux"
[ "$series" = 6.12 ] || cache+="-$series"
kernel="$cache/oracle"
WITH=tools/bench/judged/oracle INTO="$kernel" kernel/guest/build.sh >&2
mkdir -p "$out"
# In the kernel's folder, so that it is compiled once, and again when the clone has changed.
program="$kernel/packetdrill"
cp -ru "$packetdrill/gtests/net/packetdrill" "$kernel/"
(cd "$program" && ./configure && make packetdrill) >"$kernel/packetdrill.log" 2>&1 || {
    tail -20 "$kernel/packetdrill.log" >&2
    echo "oracle: packetdrill does not build: $kernel/packetdrill.log" >&2
    exit 1
}
gcc -O2 -Wall -Wextra -Werror -shared -fPIC -o "$out/preload.so" tools/bench/judged/preload.c
rm -f "$out/verdicts"
cat >"$out/scripts"
kernel/guest/boot.sh "$kernel/vmlinux" 512M 1800 "$PWD/tools/bench/judged/oracle-init" folder="$out" program="$program" suites="$suites" loglevel=5 \
    >"$out/console" 2>&1 || true
if [ "$(tail -1 "$out/verdicts" 2>/dev/null)" != end ]; then
    tail -5 "$out/console" >&2
    echo "oracle: the guest ended early: $out/console" >&2
    exit 1
fi
sed -i '$d' "$out/verdicts"
