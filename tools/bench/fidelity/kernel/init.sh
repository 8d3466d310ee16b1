#!/bin/sh
# First program of the guest of ../reference.py. The kernel's working directory holds this file, the
# tool and the job.
# A - R - N - B: the link is R's way to N, N adds the delay in each direction.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /run
mount -t tmpfs tmp /var
mount -t hostfs -o /proc/self/cwd none /mnt
tool=/mnt/tool
. /mnt/job

for space in A R N B; do
    ip netns add $space
    ip -n $space link set lo up
done
pair() {
    ip link add "$2" netns "$1" type veth peer name "$4" netns "$3"
    for end in "$1 $2" "$3 $4"; do
        set -- $end
        ip netns exec "$1" $tool plain "$2"
        ip -n "$1" link set "$2" gso_max_segs 1 txqueuelen 1000 up
    done
}
pair A a0 R r1
pair R r2 N n1
pair N n2 B b0
ip -n A addr add 10.0.1.1/24 dev a0
ip -n R addr add 10.0.1.2/24 dev r1
ip -n R addr add 10.0.2.1/24 dev r2
ip -n N addr add 10.0.2.2/24 dev n1
ip -n N addr add 10.0.3.1/24 dev n2
ip -n B addr add 10.0.3.2/24 dev b0
for space in R N; do
    ip netns exec $space sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
done
ip -n A route add default via 10.0.1.2
ip -n R route add 10.0.3.0/24 via 10.0.2.2
ip -n N route add 10.0.1.0/24 via 10.0.2.1
ip -n B route add default via 10.0.3.1
for device in n2 n1; do
    tc -n N qdisc add dev $device root netem delay "$DELAY" limit 100000
done
tc -n R qdisc add dev r2 root handle 1: tbf rate 10mbit burst 1600 limit 10000000
tc -n R qdisc replace dev r2 parent 1:1 handle 2: $QDISC

# Addresses are resolved before anything is measured.
ip netns exec A ping -c 2 -i 0.2 10.0.3.2 | tail -2
ip netns exec B $tool serve 5001 &
sleep 0.5
ip netns exec R $tool queue r2 10000 $((LASTS * 100)) /mnt/queue &
ip netns exec A $tool send 10.0.3.2 5001 "$CC" "$LASTS" $STARTS
sync
echo o >/proc/sysrq-trigger
sleep 10
