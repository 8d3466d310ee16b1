#!/usr/bin/env bash
# Records the queue disciplines of the guest kernel (`make linux`) packet by packet and converts the
# recordings to crates/aqm/vectors/linux. record.sh [NAME…] makes only these recordings, each
# twice, and compares the two; it writes no vectors. KEEP=FOLDER keeps the recordings.
set -euo pipefail
cd "$(dirname "$0")"

series=${SERIES:-6.12}
cache="${XDG_CACHE_HOME:-$HOME/.cache}/goodqueue/linux"
make="make linux"
[ "$series" = 6.12 ] || { cache+="-$series"; make+="-$series"; }
kernel="$cache/vmlinux"
[ -x "$kernel" ] || { echo "linux-vectors: the guest kernel is missing: $make" >&2; exit 2; }
for tool in gcc python3 ip tc setarch; do
    command -v "$tool" >/dev/null || { echo "linux-vectors: $tool is missing" >&2; exit 2; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for program in drive shared; do
    gcc -O2 -Wall -Wextra -Werror -o "$work/$program" "$program.c"
done
mkdir "$work/recordings"

class() { echo " ; tc class add dev in0 parent 3:$1 classid 3:$2 htb ${*:3}"; }
leaf() { echo " ; tc qdisc add dev in0 parent 3:$1 ${*:2}"; }

# Name, codepoints (0: not ECN-capable, 2: ECT(0)), flows, discipline; behind semicolons commands of
# tc for its classes: packets of flow 16 ask for 3:10.
eight=0,1,2,3,4,5,6,7
red='limit 400000 min 15000 max 45000 avpkt 1000 burst 20 bandwidth 10mbit probability 0.1'
choke='limit 4000 min 30 max 90 burst 40 avpkt 1000 bandwidth 10mbit probability 0.02'
list="
codel-drops      0 0      codel limit 1000
codel-marks      2 0      codel limit 1000 ecn
fq-codel-1-flow  0 0      fq_codel flows 1
fq-codel-8-flows 0 $eight fq_codel
pie-drops        0 0      pie
pie-marks        2 0      pie ecn
fq-pie-1-flow    0 0      fq_pie flows 1
fq-pie-8-flows   0 0x6,$eight fq_pie
fq-pie-marks     2 0x6,$eight fq_pie ecn
red-drops        0 0      red $red
red-marks        2 0      red $red ecn
choke-drops      0 0x6,$eight choke $choke
choke-marks      2 0x6,$eight choke $choke ecn
sfb-drops        0 0x6,$eight sfb limit 1000
sfb-marks        2 0x6,$eight sfb limit 1000
sfb-rehash       0 0x3,1  sfb limit 1000 rehash 5000 db 2000
cake-flows       0 0x6,$eight cake unlimited besteffort flows
cake-hosts       0 0x4,8x2,16x2,64,72,128,136,0,64,16 cake unlimited besteffort triple-isolate
cake-tins        0 0x4,8x2,17x2,68,77,133,140,1,67,20 cake unlimited diffserv3 triple-isolate
cake-marks       2 0x4,8x2,17x2,68,77,133,140,1,67,20 cake unlimited diffserv4 dual-srchost
cake-rate        0 0x4,8x2,17x2,68,77,133,140,1,67,20 cake bandwidth 20mbit besteffort triple-isolate
cake-shaped      0 0x4,8x2,17x2,68,77,133,140,1,67,20 cake bandwidth 8mbit diffserv4 triple-isolate
cake-framing     0 0x4,8x2,17x2,68,77,133,140,1,67,20 cake bandwidth 8mbit besteffort triple-isolate pppoe-ptm
cake-ingress     0 0x4,8x2,17x2,68,77,133,140,1,67,20 cake bandwidth 8mbit besteffort triple-isolate ingress
cake-limit       0 0/1000 cake unlimited besteffort flowblind memlimit 345600b
cake-acks        0 acks   cake unlimited besteffort flows ack-filter
cake-acks-aggressive 0 acks cake unlimited besteffort flows ack-filter-aggressive
tail-drop        0 0      pfifo limit 100
htb-borrowing    0 16x3,17 htb$(class '' 1 rate 6mbit)$(class 1 10 rate 2mbit ceil 6mbit)$(class 1 11 rate 4mbit ceil 6mbit)
htb-priorities   0 16,17x2,18x2 htb$(class '' 1 rate 6mbit)$(class 1 10 rate 1mbit ceil 6mbit prio 0)$(
    class 1 11 rate 1mbit ceil 6mbit prio 1)$(class 1 12 rate 1mbit ceil 5mbit prio 2)
htb-tree         0 16x2,17,32,33x2 htb$(class '' 1 rate 7mbit)$(class 1 30 rate 4mbit ceil 7mbit)$(class 1 3 rate 2mbit ceil 3mbit)$(
    class 30 10 rate 1mbit ceil 7mbit prio 1)$(class 30 11 rate 3mbit ceil 4mbit prio 2)$(
    class 3 20 rate 1mbit ceil 2mbit prio 1)$(class 3 21 rate 1mbit ceil 3mbit prio 1)
htb-quantum      0 16,17,18,19 htb r2q 100$(class '' 1 rate 6mbit)$(class 1 10 rate 1mbit ceil 6mbit)$(
    class 1 11 rate 2mbit ceil 6mbit)$(class 1 12 rate 1mbit ceil 6mbit quantum 500)$(class 1 13 rate 100kbit ceil 6mbit quantum 6000)
htb-bursts       0 bursts/0,16,17,18,32 htb direct_qlen 5$(class '' 1 rate 9mbit burst 40k cburst 20k)$(
    class 1 10 rate 3mbit ceil 12mbit burst 30k cburst 15k)$(class 1 11 rate 500kbit ceil 9mbit burst 6k)$(
    class '' 20 rate 1mbit ceil 2mbit)
htb-limits       2 bursts/16,17,18,19 htb default 13$(class '' 1 rate 5mbit)$(
    class 1 10 rate 3mbit ceil 5mbit)$(leaf 10 pfifo limit 20)$(class 1 11 rate 1mbit ceil 5mbit prio 1)$(
    leaf 11 codel ecn)$(class 1 13 rate 1mbit ceil 2mbit prio 2)$(leaf 13 pfifo limit 10)
"
# The disciplines that only this kernel has.
[ "$series" = 6.12 ] || list+="
dualpi2-classic  0,2 $eight dualpi2
dualpi2-l4s      1 $eight dualpi2
dualpi2-both     1,0,1,2,3,0,1,2 $eight dualpi2
cake-mq-flows    0 0x4,$eight cake_mq 1000000 3
cake-mq-tins     2 0x4,8,17x2,68,77,133,140,1,67,20 cake_mq 750000 1
cake-mq-bursts   0 bursts/$eight cake_mq 500000 3
"

record() {
    local folder="$work/$1.$5"
    mkdir "$folder"
    cp "$work/drive" "$work/shared" "$folder/"
    python3 -B schedule.py "$2" "$3" >"$folder/schedule"
    tr ';' '\n' <<<"$4" >"$folder/discipline"
    ../boot.sh "$kernel" 256M 600 "$PWD/init.sh" gq_draws=1 folder="$folder" quiet >"$folder/console" 2>&1 || true
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
    cp "$work/$name.a/recording" "$work/recordings/$name.rec"
    cp "$work/$name.a/discipline" "$work/recordings/$name.tc"
    [ -z "${KEEP:-}" ] || cp "$work/recordings/$name".* "$KEEP/"
    echo "$name: $(awk '{ n[$1]++ } END { print n["+"] + 0, "packets,", n["-"] + 0, "dropped,", n["!"] + 0, "marked" }' "$work/recordings/$name.rec")"
    grep ' 3: ' "$work/$name.a/log" | head -1
done <<<"$list"
[ $# -gt 0 ] || python3 -B ../../../crates/aqm/vectors/linux/convert.py "$work/recordings" "$series"
