#!/bin/sh
# Collects what `gq doctor` reads, for a machine that gq does not run on; writes a tar archive:
#   ssh root@192.168.1.1 sh -s eth0 < collect.sh | tar -x -C router
#   gq doctor --root router --dev eth0
# Reads files and asks tc and ethtool; changes nothing but a temporary folder. Needs no more than
# BusyBox and tc.
dev=${1:?usage: collect.sh INTERFACE}
to=$(mktemp -d) || exit 1
trap 'rm -rf "$to"' EXIT
cd "$to" || exit 1
mkdir commands
net=/sys/class/net
clock=/sys/devices/system/clocksource/clocksource0
for file in "$net"/*/flags "$net"/*/mtu "$net/$dev"/speed "$net/$dev"/tx_queue_len "$net/$dev"/device/uevent "$net/$dev"/lower_*/mtu \
    "$net/$dev"/phy80211/name "$net/$dev"/ifindex "$net/$dev"/operstate "$net/$dev"/type \
    "$net/$dev"/statistics/tx_bytes "$net/$dev"/queues/tx-*/tx_timeout "$net/$dev"/queues/tx-*/byte_queue_limits/limit \
    "$net/$dev"/queues/tx-*/byte_queue_limits/limit_min /proc/net/route /proc/sys/net/core/default_qdisc \
    "$clock"/current_clocksource "$clock"/available_clocksource; do
    [ -f "$file" ] || continue
    mkdir -p ".${file%/*}"
    # Some of these cannot be read, such as the speed of an interface that is down.
    cat "$file" >".$file" 2>/dev/null || rm -f ".$file"
done
ask() { "$@" >"commands/$(echo "$*" | tr ' ' _)" 2>/dev/null || rm -f "commands/$(echo "$*" | tr ' ' _)"; }
ask tc -j qdisc show
ask tc -j filter show dev "$dev" ingress
ask ethtool -k "$dev"
for each in "$net"/*; do ask tc class show dev "${each##*/}"; done
tar -cf - .
