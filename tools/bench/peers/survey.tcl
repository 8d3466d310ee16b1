# Nodes at two edges of a core link in ns-2.35: TCP with ECN and on-off UDP. Run by survey.py as: ns survey.tcl key=value …
# Prints one line of JSON. Times in seconds, rates in bit/s, sizes and limits in bytes unless they say packets.

source [file join [file dirname [info script]] common.tcl]

array set option {
    queue tail-drop
    rate 45e6         delay 0.01       limit 100000    packet 1000
    edge_rate 100e6   edge_packets 200 in_delays {}    out_delays {}
    senders 3         initial_window 2 latest_start 1.0   sack 0
    peak 1e6          mean_on 0.02     mean_off 0.08   small 100
    warmup 0.0        duration 20.0    seed 1
    red_min 20000     red_max 80000    red_weight 0.002 red_top 1.0
    pi_a 1.643e-4     pi_b 1.628e-4    pi_samples 160   pi_reference 70000
    rem_phi 1.001     rem_gamma 0.001  rem_packets 20
}
read_arguments survey.tcl
set in_delays [split $option(in_delays) ,]
set out_delays [split $option(out_delays) ,]
if {[llength $in_delays] == 0 || [llength $in_delays] != [llength $out_delays]} {
    puts stderr "survey.tcl: one delay at each edge or more, as many on either side"
    exit 2
}

begin_simulation

Agent/TCP set window_ 100000
Agent/TCP set windowInit_ $option(initial_window)
Agent/TCP set packetSize_ [expr {$option(packet) - 40}]
Agent/TCP set tcpip_base_hdr_size_ 40
Agent/TCP set ecn_ 1

proc settings {class pairs} {
    foreach {name value} $pairs { $class set $name $value }
}

# Sets the class's defaults and returns its name. Lengths count in packets of `packet` bytes.
proc queue_kind {} {
    global option
    set packet $option(packet)
    switch $option(queue) {
        tail-drop {
            settings Queue/DropTail [list queue_in_bytes_ true mean_pktsize_ $packet]
            return DropTail
        }
        red {
            # With use_mark_p_ packets would be dropped, ECN or not, as soon as the probability passed mark_p_.
            settings Queue/RED [list bytes_ true queue_in_bytes_ true mean_pktsize_ $packet \
                thresh_ [expr {double($option(red_min)) / $packet}] maxthresh_ [expr {double($option(red_max)) / $packet}] \
                q_weight_ $option(red_weight) linterm_ [expr {1.0 / $option(red_top)}] gentle_ false \
                setbit_ true use_mark_p_ false adaptive_ 0]
            return RED
        }
        pi {
            settings Queue/PI [list a_ $option(pi_a) b_ $option(pi_b) w_ $option(pi_samples) \
                qref_ [expr {$option(pi_reference) / $packet}] mean_pktsize_ $packet queue_in_bytes_ true bytes_ false setbit_ true]
            return PI
        }
        rem {
            # Its weight of the queue, alpha, is 0.1 and no option.
            settings Queue/REM [list phi_ $option(rem_phi) gamma_ $option(rem_gamma) pbo_ $option(rem_packets) \
                mean_pktsize_ $packet qib_ true markpkts_ true inw_ 1 pupdtime_ 0.002]
            return REM
        }
        jobs {
            # Its packet size is in bits; classes come from markers on the way in.
            settings Queue/JoBS [list drop_front_ false trace_hop_ false adc_resolution_type_ 0 shared_buffer_ 1 \
                mean_pkt_size_ [expr {8 * $packet}]]
            foreach class {1 2 3 4} {
                Queue/Marker set marker_arrvs${class}_ 0
                Queue/Demarker set demarker_arrvs${class}_ 0
            }
            return JoBS
        }
        default { puts stderr "survey.tcl: no queue `$option(queue)'"; exit 2 }
    }
}

Simulator instproc queue_between {from to} {
    $self instvar link_
    return [$link_([$from id]:[$to id]) queue]
}

Simulator instproc wire_between {from to} {
    $self instvar link_
    return [$link_([$from id]:[$to id]) link]
}

# Four classes that are to have equal delays and losses, and no bound on anything.
proc set_up_jobs {from to} {
    global sim
    set queue [$sim queue_between $from $to]
    foreach promise {init-rdcs init-rlcs} { $queue $promise 1 1 1 1 }
    foreach bound {init-alcs init-adcs init-arcs} { $queue $bound -1 -1 -1 -1 }
    $queue trace-file null
    $queue link [$sim wire_between $from $to]
    $queue sampling-period 1
    $queue id 1
    $queue initialize
}

# A link of an edge node, both ways. JoBS finds the class in a header that a marker writes and a demarker removes.
proc connect_edge {node core delay class} {
    global sim option
    set jobs [expr {$option(queue) eq "jobs"}]
    foreach {from to kind} [list $node $core Marker $core $node Demarker] {
        $sim simplex-link $from $to $option(edge_rate) $delay [expr {$jobs ? $kind : "DropTail"}]
        $sim queue-limit $from $to $option(edge_packets)
    }
    if {$jobs} {
        set marker [$sim queue_between $node $core]
        $marker marker_type 1
        $marker marker_class $class
        [$sim queue_between $core $node] id 99
    }
}

proc start_tcp {source destination} {
    global option
    set sender [new Agent/TCP/[expr {$option(sack) ? "Sack1" : "Newreno"}]]
    set receiver [new Agent/TCPSink[expr {$option(sack) ? "/Sack1" : ""}]]
    connect_agents $source $sender $destination $receiver
    start_application [new Application/FTP] $sender
}

proc start_udp {source destination} {
    global option
    set sender [new Agent/UDP]
    $sender set packetSize_ $option(small)
    connect_agents $source $sender $destination [new Agent/Null]
    set application [new Application/Traffic/Exponential]
    settings $application [list packetSize_ $option(small) burst_time_ $option(mean_on) idle_time_ $option(mean_off) rate_ $option(peak)]
    start_application $application $sender
}

set left [$sim node]
set right [$sim node]
set kind [queue_kind]
set limit [expr {$option(limit) / $option(packet)}]
$sim simplex-link $left $right $option(rate) $option(delay) $kind
$sim simplex-link $right $left $option(rate) $option(delay) [expr {$kind eq "JoBS" ? $kind : "DropTail"}]
$sim queue-limit $left $right $limit
$sim queue-limit $right $left [expr {$kind eq "JoBS" ? $limit : 100000}]
if {$kind eq "DropTail"} { [$sim queue_between $right $left] set queue_in_bytes_ false }
if {$kind eq "JoBS"} {
    set_up_jobs $left $right
    set_up_jobs $right $left
}
set class 0
foreach in_delay $in_delays out_delay $out_delays {
    # JoBS has four classes.
    set class [expr {$class % 4 + 1}]
    set source [$sim node]
    set destination [$sim node]
    connect_edge $source $left $in_delay $class
    connect_edge $destination $right $out_delay $class
    if {$kind eq "DropTail"} {
        foreach {from to} [list $source $left $left $source $right $destination $destination $right] {
            [$sim queue_between $from $to] set queue_in_bytes_ false
        }
    }
    for {set i 0} {$i < $option(senders)} {incr i} { start_tcp $source $destination }
    start_udp $source $destination
}

set monitor [$sim monitor-queue $left $right ""]
set delays [new Samples]
$monitor set-delay-samples $delays
set waiting [$monitor get-bytes-integrator]

# Counters at the end of the warm-up and at the end of the run.
proc read_counters {into} {
    global sim monitor delays waiting
    upvar #0 $into counters
    $waiting newpoint [$sim now] [$waiting set lasty_]
    set counters(area) [$waiting set sum_]
    set counters(left) [$delays cnt]
    set counters(delays) [expr {$counters(left) ? [$delays mean] * $counters(left) : 0}]
    foreach name {parrivals_ pdrops_ barrivals_ bdrops_ bdepartures_} { set counters($name) [$monitor set $name] }
    # Only queues that can mark count marks.
    if {[catch { set counters(marks) [$monitor set pmarks_] }]} { set counters(marks) 0 }
}

proc finish {} {
    global option before after
    read_counters after
    foreach name [array names after] { set part($name) [expr {double($after($name)) - $before($name)}] }
    puts [format {{"utilization": %.6f, "delay_s": %.8f, "queue_bytes": %.2f, "loss": %.8f, "loss_bytes": %.8f, "marked": %.8f}} \
        [expr {$part(bdepartures_) * 8 / ($option(duration) * $option(rate))}] [expr {$part(delays) / $part(left)}] \
        [expr {$part(area) / $option(duration)}] [expr {$part(pdrops_) / $part(parrivals_)}] \
        [expr {$part(bdrops_) / $part(barrivals_)}] [expr {$part(marks) / $part(parrivals_)}]]
    exit 0
}
$sim at $option(warmup) "read_counters before"
$sim at [expr {$option(warmup) + $option(duration)}] finish
$sim run
