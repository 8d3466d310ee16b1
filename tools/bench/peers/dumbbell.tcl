# A dumbbell in ns-2.35 that counts what leaves the bottleneck. Run by dumbbells.py as: ns dumbbell.tcl key=value …
# Prints one line of JSON. All times in seconds, rates in bit/s, sizes in bytes, limits in packets.

source [file join [file dirname [info script]] common.tcl]

array set option {
    rate 10e6   delay 0.005   limit 30   queue tail-drop
    cc cubic    flows 16      latest_start 5.0
    access_rate 1e9   access_delay 0.0001   packet 1500
    warmup 10.0   duration 100.0   seed 1
    initial_window 2   ack_delay 0.1   trace {}
}
read_arguments dumbbell.tcl

begin_simulation

# A window that never limits; the default of 20 packets would.
Agent/TCP set window_ 1000000
Agent/TCP set windowInit_ $option(initial_window)
Agent/TCPSink/DelAck set interval_ $option(ack_delay)

proc queue_kind {name} {
    global option
    switch $name {
        tail-drop { return DropTail }
        ared {
            # Zero thresholds and a negative weight ask for the automatic settings of adaptive RED, here in packets.
            Queue/RED set adaptive_ 1
            Queue/RED set bytes_ false
            Queue/RED set queue_in_bytes_ false
            Queue/RED set mean_pktsize_ $option(packet)
            Queue/RED set thresh_ 0
            Queue/RED set maxthresh_ 0
            Queue/RED set q_weight_ -1
            return RED
        }
        default { puts stderr "dumbbell.tcl: no queue `$name'"; exit 2 }
    }
}

set senders {}

proc connect_flow {source destination} {
    global sim option senders
    if {$option(cc) eq "reno"} {
        set sender [new Agent/TCP/Newreno]
        set receiver [new Agent/TCPSink/DelAck]
        set header 40
    } else {
        # The senders taken from Linux, with SACK and timestamps.
        set sender [new Agent/TCP/Linux]
        set receiver [new Agent/TCPSink/Sack1/DelAck]
        $sender set timestamps_ true
        $receiver set ts_echo_rfc1323_ true
        # `linux-reno` is Reno as Linux has it; plain `reno` above is ns-2's own.
        $sim at 0 "$sender select_ca [regsub {^linux-} $option(cc) {}]"
        set header 52
    }
    $sender set packetSize_ [expr {$option(packet) - $header}]
    $sender set tcpip_base_hdr_size_ 40
    if {$header > 40} { $sender set ts_option_size_ [expr {$header - 40}] }
    connect_agents $source $sender $destination $receiver
    start_application [new Application/FTP] $sender
    lappend senders $sender
}

connect_core [queue_kind $option(queue)]
for {set i 0} {$i < $option(flows)} {incr i} { connect_flow [host $left] [host $right] }

set monitor [$sim monitor-queue $left $right ""]
set waiting [$monitor get-pkts-integrator]

# Counters at the end of the warm-up and at the end of the run.
proc read_counters {into} {
    global sim monitor waiting senders
    upvar #0 $into counters
    $waiting newpoint [$sim now] [$waiting set lasty_]
    set counters(area) [$waiting set sum_]
    foreach name {arrivals departures drops} { set counters($name) [$monitor set p${name}_] }
    set counters(bytes) [$monitor set bdepartures_]
    set counters(sent) 0
    set counters(again) 0
    foreach sender $senders {
        incr counters(sent) [$sender set ndatapack_]
        incr counters(again) [$sender set nrexmitpack_]
    }
}

# Window and waiting packets of the first flow, a line every 10 ms: to see why figures differ.
proc write_trace {} {
    global sim option senders monitor trace_file
    set sender [lindex $senders 0]
    puts $trace_file "[format %.2f [$sim now]] [$sender set cwnd_] [$monitor set pkts_]"
    $sim at [expr {[$sim now] + 0.01}] write_trace
}
if {$option(trace) ne ""} {
    set trace_file [open $option(trace) w]
    $sim at 0.01 write_trace
}

proc finish {} {
    global option before after
    read_counters after
    foreach name [array names after] { set part($name) [expr {double($after($name)) - $before($name)}] }
    set utilization [expr {$part(departures) * $option(packet) * 8 / ($option(duration) * $option(rate))}]
    puts [format {{"packets": %.0f, "utilization": %.6f, "queue_packets": %.4f, "loss": %.8f, "retransmitted": %.8f}} \
        $after(departures) $utilization [expr {$part(area) / $option(duration)}] \
        [expr {$part(drops) / max(1.0, $part(arrivals))}] [expr {$part(again) / max(1.0, $part(sent))}]]
    exit 0
}

$sim at $option(warmup) "read_counters before"
$sim at [expr {$option(warmup) + $option(duration)}] finish
$sim run
