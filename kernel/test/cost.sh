#!/usr/bin/env bash
# Counts instructions per packet of each kind and of the kernel's own queue disciplines, in a Debian
# kernel under qemu: cost.sh. qemu's clock advances by one tick per instruction, so figures repeat
# whatever else the machine does.
set -euo pipefail
cd "$(dirname "$0")/../.."
. kernel/test/qemu.sh

prepare_root kernel/test/cost-init sch_codel sch_pie sch_cake
cp "$out/bench/gq_bench.ko" "$root/modules/"
boot "$out/cost.log" -smp 1 -icount shift=0,sleep=off
echo "Linux $release:"
python3 kernel/test/cost.py "$out/cost.log"
