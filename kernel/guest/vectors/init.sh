#!/bin/sh
# The first process of the guest that records: a line of 10 Mbit/s from in0 to out0, with the
# recorder and the discipline under it.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
word() { tr ' ' '\n' </proc/cmdline | sed -n "s/^$1=//p"; }
folder=$(word folder)
mount -t tmpfs tmpfs /run
mkdir /run/out
mount -t hostfs -o "$folder" none /run/out
links_up() {
    for device in in0 out0; do
        ip link set "$device" arp off up
    done
}
{
    read -r discipline </run/out/discipline
    # shellcheck disable=SC2086 # words of a command line
    case "$discipline" in
    # It is the root of a device with several transmit queues, which it shapes itself.
    cake_mq*)
        ip link add in0 numtxqueues 4 numrxqueues 4 type veth peer name out0 numtxqueues 4 numrxqueues 4
        links_up
        /run/out/shared in0 ${discipline#cake_mq} || exit
        echo in0 >/proc/gq_record
        ;;
    *)
        ip link add in0 type veth peer name out0
        links_up
        tc qdisc add dev in0 root handle 1: tbf rate 10mbit burst 1600 limit 100000000
        tc qdisc replace dev in0 parent 1:1 handle 2: record
        tc qdisc replace dev in0 parent 2:1 handle 3: $discipline
        ;;
    esac
    # Classes and their queues.
    classes=$(sed 1d /run/out/discipline)
    [ -z "$classes" ] || echo "$classes" | sh -e || exit
    tc -d qdisc show dev in0
    tc class show dev in0
    /run/out/drive /run/out/schedule /run/out/recording ${classes:+3}
    tc -s qdisc show dev in0
} >/run/out/log 2>&1
echo o >/proc/sysrq-trigger
sleep 10
