#!/usr/bin/env bash
# Records the queue disciplines of the guest kernel (`make linux`) packet by packet and makes crates/aqm/vectors/linux of it.
# linux-vectors.sh [NAME…] makes only these recordings, twice, and says whether both are the same; vectors need all of them. KEEP=FOLDER keeps recordings.
set -euo pipefail
cd "$(dirname "$0")"

kernel="${XDG_CACHE_HOME:-$HOME/.cache}/goodqueue/linux/vmlinux"
[ -x "$kernel" ] || { echo "linux-vectors: the guest kernel is missing: make linux" >&2; exit 2; }
for tool in gcc python3 ip tc setarch; do
    command -v "$tool" >/dev/null || { echo "linux-vectors: $tool is missing" >&2; exit 2; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gcc -O2 -Wall -Wextra -Werror -pthread -o "$work/drive" linux-vectors/drive.c
mkdir "$work/recordings"

# Name, codepoint (0: not ECN-capable, 2: ECT(0)), flows, discipline.
list='
codel-1          0 1 codel limit 1000
codel-ecn-1      2 1 codel limit 1000 ecn
fq_codel-1flow-1 0 1 fq_codel flows 1
pie-1            0 1 pie
pie-ecn-1        2 1 pie ecn
red-1            0 1 red limit 400000 min 15000 max 45000 avpkt 1000 burst 20 bandwidth 10mbit probability 0.1
red-ecn-1        2 1 red limit 400000 min 15000 max 45000 avpkt 1000 burst 20 bandwidth 10mbit probability 0.1 ecn
pfifo-1          0 1 pfifo limit 100
'

record() {
    local folder="$work/$1.$5"
    mkdir "$folder"
    cp "$work/drive" "$folder/"
    python3 -B linux-vectors/schedule.py "$2" "$3" >"$folder/schedule"
    echo "$4" >"$folder/discipline"
    GQ_SEED=1 timeout -k 1 600 setarch -R "$kernel" mem=256M rootfstype=hostfs rootflags=/ ro init="$PWD/linux-vectors/init.sh" \
        gq_draws=1 folder="$folder" time-travel=inf-cpu time-travel-start=1700000000000000000 \
        con=null con0=null,fd:1 ssl=null quiet </dev/null >"$folder/console" 2>&1 || true
    if [ ! -s "$folder/recording" ]; then
        cat "$folder/log" "$folder/console" >&2
        echo "linux-vectors: no recording of $1" >&2
        exit 1
    fi
}

while read -r name codepoint flows discipline; do
    [ -n "$name" ] || continue
    [ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
    record "$name" "$codepoint" "$flows" "$discipline" a
    if [ $# -gt 0 ]; then
        record "$name" "$codepoint" "$flows" "$discipline" b
        cmp "$work/$name.a/recording" "$work/$name.b/recording" && echo "$name: both the same"
    fi
    cp "$work/$name.a/recording" "$work/recordings/$name.vec"
    [ -z "${KEEP:-}" ] || cp "$work/$name.a/recording" "$KEEP/$name.vec"
    echo "$name: $(awk '!/^#/ { n++; d += $4 < 0; m += $4 >= 0 && $8 % 4 == 3 } END { print n, "packets,", d, "dropped,", m, "marked" }' "$work/recordings/$name.vec")"
    sed -n 2p "$work/$name.a/log"
done <<<"$list"
[ $# -gt 0 ] || python3 -B ../crates/aqm/vectors/linux/convert.py "$work/recordings"
