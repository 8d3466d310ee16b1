#!/usr/bin/env bash
# Tries the module in a Debian kernel under qemu, which needs no root and no network: run.sh.
# OUT=FOLDER is where kernel/build.sh put module and plugin (target/kernel).
set -euo pipefail
cd "$(dirname "$0")/../.."
. kernel/test/qemu.sh

prepare_root kernel/test/init veth sch_tbf sch_htb sch_prio ifb sch_ingress cls_matchall act_mirred
gcc -O2 -Wall -Werror -static -o "$root/bin/traffic" kernel/test/traffic.c
[ ! -e "$out/provoke/sch_goodqueue.ko" ] || cp "$out/provoke/sch_goodqueue.ko" "$root/modules/provoke.ko"
# The commands of the page, each line that begins with "# tc".
sed -n '/^```console$/,/^```$/p' docs/on-a-router.md | { grep -v '^```' || true; } >"$out/transcript"
grep '^# tc ' "$out/transcript" >"$root/transcript" || true
boot "$out/test.log" -smp 2
python3 kernel/test/judge.py "$out/test.log" "$out/transcript"
