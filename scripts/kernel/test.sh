#!/usr/bin/env bash
# Tries the module in a Debian kernel under qemu, which needs no root and no network: test.sh
#   OUT=FOLDER    where scripts/kernel.sh put module and plugin (target/kernel)
#   PACKETS=600   sent to each kind of queue
set -euo pipefail
cd "$(dirname "$0")/../.."

out=$(realpath "${OUT:-${CARGO_TARGET_DIR:-target}/kernel}")
release=$(OUT="$out" scripts/kernel.sh release)
cache="${XDG_CACHE_HOME:-$HOME/.cache}/goodqueue/kernel"
guest="$cache/$release"
if [ ! -e "$guest/boot/vmlinuz-$release" ]; then
    echo "test-kernel: fetching Debian's linux-image-$release"
    rm -rf "$guest" && mkdir -p "$guest"
    (cd "$guest" && apt-get -qq download "linux-image-$release" && dpkg -x linux-image-*.deb . && rm linux-image-*.deb)
fi

root="$out/guest"
rm -rf "$root"
mkdir -p "$root"/{bin,dev,etc,lib/tc,modules,proc,root,run,sys,tmp,var/run}
cp kernel/test/init "$root/init"
chmod +x "$root/init"
cp /bin/busybox "$root/bin/"
for tool in sh mount mkdir insmod rmmod ping sleep awk sed grep cat tail head dmesg seq tr wc rm; do ln -s busybox "$root/bin/$tool"; done
programs=("$(command -v ip)" "$(command -v tc)")
if command -v iperf3 >/dev/null; then programs+=("$(command -v iperf3)"); fi
cp "${programs[@]}" "$root/bin/"
ldd "${programs[@]}" | grep -oE '/[^ ]+\.so[^ ]*' | sort -u | while read -r library; do
    install -D "$library" "$root$library"
done
gcc -O2 -Wall -Werror -static -o "$root/bin/traffic" kernel/test/traffic.c
cp "$out/q_goodqueue.so" "$root/lib/tc/"
cp "$out/sch_goodqueue.ko" "$root/modules/"
[ ! -e "$out/provoke/sch_goodqueue.ko" ] || cp "$out/provoke/sch_goodqueue.ko" "$root/modules/provoke.ko"
for name in veth sch_tbf sch_htb sch_prio ifb sch_ingress cls_matchall act_mirred; do
    find "$guest/lib/modules/$release" -name "$name.ko" -exec cp {} "$root/modules/" \;
done
# The commands of the page, each line that begins with "# tc".
sed -n '/^```console$/,/^```$/p' docs/on-a-router.md | { grep -v '^```' || true; } >"$out/transcript"
grep '^# tc ' "$out/transcript" >"$root/transcript" || true
(cd "$root" && find . -print0 | busybox cpio -0 -o -H newc 2>/dev/null) | gzip -1 >"$out/guest.cpio.gz"

log="$out/test.log"
timeout "${TIMEOUT:-900}" qemu-system-x86_64 -M q35,accel=tcg -cpu max -smp 2 -m 768 -nographic -no-reboot -net none \
    -kernel "$guest/boot/vmlinuz-$release" -initrd "$out/guest.cpio.gz" -append "console=ttyS0 quiet no_timer_check panic=-1 loglevel=4" \
    </dev/null 2>&1 | tr -d '\r' >"$log" || true
python3 scripts/kernel/judge.py "$log" "$out/transcript"
