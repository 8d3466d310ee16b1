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

connect_core [dict get $queues $option(queue)]
set wire [[$sim link $left $right] link]
foreach step [split $option(steps) ,] {
    lassign [split $step :] at rate
    $sim at $at "$wire set bandwidth_ $rate"
}

set senders {}
for {set i 0} {$i < $option(flows)} {incr i} {
    set sender [new Agent/TCP/Linux]
    connect_agents [host $left] $sender [host $right] [new Agent/TCPSink/Sack1]
    $sim at 0 "$sender select_ca $option(cc)"
    start_application [new Application/FTP] $sender
    lappend senders $sender
}
set counter [new Agent/LossMonitor]
if {$option(udp_rate) > 0} {
    set load [new Agent/UDP]
    $load set packetSize_ $option(packet)
    connect_agents [host $left] $load [host $right] $counter
    set application [new Application/Traffic/CBR]
    $application set packetSize_ $option(packet)
    $application set rate_ $option(udp_rate)
    start_application $application $load
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
