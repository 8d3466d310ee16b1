#!/usr/bin/env bash
# Applies our changes to an unpacked kernel source: patch.sh TREE WORK. WORK is a folder for
# intermediate files. A change that finds no place in the source is named and ends the script.
set -euo pipefail
ours=$(dirname "$0")
tree=$1
work=$2

fail() { # FILE CHANGE
    echo "linux: this source has changed: no place in $1 for: $2" >&2
    exit 1
}

# Runs sed on a file of the tree and fails when it changes nothing.
edit() { # FILE CHANGE SCRIPT
    [ -f "$tree/$1" ] || fail "$1" "$2"
    sed "$3" "$tree/$1" >"$work/edited"
    ! cmp -s "$tree/$1" "$work/edited" || fail "$1" "$2"
    cat "$work/edited" >"$tree/$1"
}

# Puts lines before those of a file.
prepend() { # FILE
    cat - "$tree/$1" >"$work/edited"
    cat "$work/edited" >"$tree/$1"
}

# Ticks of 1 ms: User-Mode Linux offers no choice of HZ.
edit arch/um/Kconfig 'a tick of 1 ms' '/^config HZ$/,/default/s/default 100/default 1000/'

# Random numbers that follow from a seed alone: not from the host, not from the command line (which
# names a run's folder), and not from the times of interrupts.
edit arch/um/os-Linux/util.c 'random numbers from the seed' 's/\bgetrandom(/gq_getrandom(/'
{ echo '#include <stdlib.h>'; echo '#include <sys/random.h>'; cat "$ours/seed.c"; } | prepend arch/um/os-Linux/util.c
edit drivers/char/random.c 'no randomness from interrupts' \
    's/^void add_interrupt_randomness(int irq)$/static void __maybe_unused gq_unused_interrupt_randomness(int irq)/'
edit drivers/char/random.c 'no randomness from the command line' '/^\t_mix_pool_bytes(command_line, strlen(command_line));$/d'
echo 'void add_interrupt_randomness(int irq) { }' >>"$tree/drivers/char/random.c"

# Processors with more state than User-Mode Linux knows; newer ones ask the host for its size.
if ! grep -q host_fp_size "$tree/arch/x86/um/os-Linux/registers.c"; then
    edit arch/x86/um/os-Linux/registers.c 'processor state of any size' \
        's/ptrace(PTRACE_SETREGSET, pid, NT_X86_XSTATE, /gq_set_xstate(pid, /'
    prepend arch/x86/um/os-Linux/registers.c <"$ours/xstate.c"
fi

# A discipline that records what another one does, and a generator for the disciplines' random
# numbers whose draws it can record.
cp "$ours/draws.c" "$tree/net/sched/gq_draws.c"
cp "$ours/record.c" "$tree/net/sched/gq_record.c"
echo 'obj-y += gq_draws.o gq_record.o' >>"$tree/net/sched/Makefile"
for discipline in pie fq_pie red choke sfb cake sfq gred netem fq_codel dualpi2; do
    file=net/sched/sch_$discipline.c
    [ -f "$tree/$file" ] || [ "$discipline" != dualpi2 ] || continue # not before 6.17
    [ -f "$tree/$file" ] || fail "$file" 'its random numbers from a recorded generator'
    {
        printf 'CFLAGS_sch_%s.o +=' "$discipline"
        for draw in u8 u16 u32 u64 bytes; do
            printf ' -Dget_random_%s=gq_random_%s' "$draw" "$draw"
        done
        printf ' -D__get_random_u32_below=gq_random_u32_below\n'
    } >>"$tree/net/sched/Makefile"
    # These disciplines draw in their own file; the others may draw in a header.
    case "$discipline" in cake | choke | dualpi2 | netem | pie | sfb)
        grep -Eq 'get_random_(u8|u16|u32|u64|bytes|u32_below)\(' "$tree/$file" || fail "$file" 'its random numbers from a recorded generator' ;;
    esac
done
for discipline in pie fq_pie; do
    grep -q 'mod_timer(' "$tree/net/sched/sch_$discipline.c" || fail "net/sched/sch_$discipline.c" 'its timer in the recording'
    echo "CFLAGS_sch_$discipline.o += -Dmod_timer=gq_mod_timer" >>"$tree/net/sched/Makefile"
done
if [ -f "$tree/net/sched/sch_dualpi2.c" ]; then
    edit net/sched/sch_dualpi2.c 'its timer in the recording' 's/^\tWRITE_ONCE(q->pi2_prob, calculate_probability(sch));$/\tgq_note_timer();\n&/'
    echo 'void gq_note_timer(void);' | prepend net/sched/sch_dualpi2.c
fi
rm -f "$work/edited"
