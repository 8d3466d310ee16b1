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
