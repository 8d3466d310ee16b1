# One queue of ns-2 under packets at given times: ns ns2.tcl SETTINGS ARRIVALS TRACE
#
# SETTINGS is a Tcl list of names and values: type (RED, PI, REM), rate (bit/s), limit (packets) and the queue's own variables.
# ARRIVALS has a line a packet: time in seconds, size in bytes, 1 if ECN-capable.

lassign $argv settings arrivals trace
array set own $settings
set type $own(type)
set rate $own(rate)
set limit $own(limit)
array unset own type
array unset own rate
array unset own limit
set end $own(end)
array unset own end
foreach {name value} [array get own] {
    Queue/$type set $name $value
}

# The first numbers that the queue will draw, to check the model of the generator against.
set check [new RNG]
$check seed 1
for {set i 0} {$i < 3} {incr i} { puts "random [$check uniform 0 1]" }

set ns [new Simulator]
set file [open $trace w]
$ns trace-all $file
set from [$ns node]
set to [$ns node]
$ns simplex-link $from $to $rate 10ms $type
$ns simplex-link $to $from $rate 10ms DropTail
$ns queue-limit $from $to $limit
set sink [new Agent/Null]
$ns attach-agent $to $sink

# Each packet has a sender of its own, the only kind of ns-2 that sets ECT. It sends one segment and hears nothing.
set input [open $arrivals]
set number 0
while {[gets $input line] >= 0} {
    lassign $line at size ecn
    set sender [new Agent/TCP]
    $sender set packetSize_ $size
    $sender set useHeaders_ false
    $sender set ecn_ $ecn
    $sender set syn_ false
    $sender set windowInit_ 4
    $sender set fid_ $number
    $sender set minrto_ 1000
    $sender set rtxcur_init_ 1000
    $ns attach-agent $from $sender
    $ns connect $sender $sink
    $ns at $at "$sender set t_seqno_ 1; $sender advance 2"
    incr number
}
$ns at $end "$ns flush-trace; close $file; exit 0"
# Making the senders has drawn numbers; the queue is to draw from the beginning.
$ns at 0.005 "$defaultRNG seed 1"
$ns run
