# Linux's senders over one line in ns-2.35, beside a constant UDP load if there is one. Run by rows.py as: ns line.tcl key=value …
# Prints one line of JSON. Times in seconds, rates in bit/s, limits and windows in packets.

source [file join [file dirname [info script]] common.tcl]

array set option {
    rate 100e6        steps {}         delay 0.05      limit 830       queue tail-drop
    access_rate 1e9   access_delay 1e-5
    flows 4           cc cubic         packet 1500     initial_window 4
    udp_rate 0        latest_start 1.0 duration 300.0  seed 1
}
read_arguments line.tcl
set queues {tail-drop DropTail red RED}
if {![dict exists $queues $option(queue)]} {
    puts stderr "line.tcl: no queue `$option(queue)'"
    exit 2
}

begin_simulation

Agent/TCP set window_ 1000000
Agent/TCP set windowInit_ $option(initial_window)
Agent/TCP set packetSize_ [expr {$option(packet) - 40}]

set left [$sim node]
set right [$sim node]
$sim simplex-link $left $right $option(rate) $option(delay) [dict get $queues $option(queue)]
$sim simplex-link $right $left $option(rate) $option(delay) DropTail
# Tail drop here holds one packet fewer than its limit.
$sim queue-limit $left $right [expr {$option(limit) + ($option(queue) eq "tail-drop")}]
$sim queue-limit $right $left 1000000
set wire [[$sim link $left $right] link]
foreach step [split $option(steps) ,] {
    lassign [split $step :] at rate
    $sim at $at "$wire set bandwidth_ $rate"
}

proc host {core} {
    global sim option
    set node [$sim node]
    $sim duplex-link $node $core $option(access_rate) $option(access_delay) DropTail
    $sim queue-limit $node $core 1000000
    $sim queue-limit $core $node 1000000
    return $node
}

set senders {}
for {set i 0} {$i < $option(flows)} {incr i} {
    set sender [new Agent/TCP/Linux]
    set receiver [new Agent/TCPSink/Sack1]
    $sim attach-agent [host $left] $sender
    $sim attach-agent [host $right] $receiver
    $sim connect $sender $receiver
    $sim at 0 "$sender select_ca $option(cc)"
    set application [new Application/FTP]
    $application attach-agent $sender
    $sim at [$start_times uniform 0 $option(latest_start)] "$application start"
    lappend senders $sender
}
set counter [new Agent/LossMonitor]
if {$option(udp_rate) > 0} {
    set load [new Agent/UDP]
    $load set packetSize_ $option(packet)
    $sim attach-agent [host $left] $load
    $sim attach-agent [host $right] $counter
    $sim connect $load $counter
    set application [new Application/Traffic/CBR]
    $application set packetSize_ $option(packet)
    $application set rate_ $option(udp_rate)
    $application attach-agent $load
    $sim at [$start_times uniform 0 $option(latest_start)] "$application start"
}

set monitor [$sim monitor-queue $left $right ""]

proc finish {} {
    global option monitor counter senders
    set acknowledged 0
    foreach sender $senders { incr acknowledged [$sender set ack_] }
    set seconds [expr {double($option(duration))}]
    # Counters of bytes have 32 bits.
    set udp [expr {$option(udp_rate) > 0 ? [$counter set npkts_] * $option(packet) * 8 / $seconds : 0}]
    set all [expr {[$monitor set pdepartures_] * $option(packet) * 8 / $seconds}]
    puts [format {{"goodput_bit_s": %.0f, "throughput_bit_s": %.0f, "udp_bit_s": %.0f, "drops": %d}} \
        [expr {$acknowledged * $option(packet) * 8 / $seconds}] $all $udp [$monitor set pdrops_]]
    exit 0
}
$sim at $option(duration) finish
$sim run
