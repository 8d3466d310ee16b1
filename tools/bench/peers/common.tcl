# What the programs for ns-2 have in common: their arguments, and a simulation with its random numbers.

# Takes `key=value` from the command line into the array `option`, which has a default for each key there is. Complaints begin with the program's name.
proc read_arguments {program} {
    global argv option
    foreach argument $argv {
        if {![regexp {^([a-z_]+)=(.*)$} $argument -> key value] || ![info exists option($key)]} {
            puts stderr "$program: unknown argument `$argument'"
            exit 2
        }
        set option($key) $value
    }
}

# Sets `sim`, and `start_times`, from which flows draw when they start. Both follow from the option `seed`.
proc begin_simulation {} {
    global sim start_times option defaultRNG
    set sim [new Simulator]
    $defaultRNG seed $option(seed)
    set start_times [new RNG]
    $start_times seed [expr {$option(seed) + 7919}]
}

# A node at one end of the core, over a link that is never the bottleneck.
proc host {core} {
    global sim option
    set node [$sim node]
    $sim duplex-link $node $core $option(access_rate) $option(access_delay) DropTail
    $sim queue-limit $node $core 1000000
    $sim queue-limit $core $node 1000000
    return $node
}

# The nodes `left` and `right` with the bottleneck from one to the other; the way back is never the subject.
proc connect_core {kind} {
    global sim option left right
    set left [$sim node]
    set right [$sim node]
    $sim simplex-link $left $right $option(rate) $option(delay) $kind
    $sim simplex-link $right $left $option(rate) $option(delay) DropTail
    # DropTail refuses the packet that would make its length equal to the limit, so it holds one fewer than it is told.
    $sim queue-limit $left $right [expr {$kind eq "DropTail" ? $option(limit) + 1 : $option(limit)}]
    $sim queue-limit $right $left 1000000
}

proc connect_agents {source sender destination receiver} {
    global sim
    $sim attach-agent $source $sender
    $sim attach-agent $destination $receiver
    $sim connect $sender $receiver
}

# Lets an application send with an agent, from a time that is drawn.
proc start_application {application agent} {
    global sim start_times option
    $application attach-agent $agent
    $sim at [$start_times uniform 0 $option(latest_start)] "$application start"
}
