#!/usr/bin/env bash
# Everything at once in the guest kernel that checks memory and locks and fails allocations, in
# virtual time: torture.sh. OUT=FOLDER is where kernel/build.sh put things; SECONDS_EACH=N is how
# long each kind is under load, in virtual time.
set -euo pipefail
cd "$(dirname "$0")/../.."

out=$(realpath "${OUT:-${CARGO_TARGET_DIR:-target}/kernel}")
kernel="${XDG_CACHE_HOME:-$HOME/.cache}/goodqueue/linux/debug"
for tool in ip tc setarch gcc; do
    command -v "$tool" >/dev/null || { echo "kernel-torture: $tool is missing" >&2; exit 2; }
done
folder="$out/torture"
rm -rf "$folder" && mkdir -p "$folder"
gcc -O2 -Wall -Werror -o "$folder/traffic" kernel/test/traffic.c
cp "$kernel/q_goodqueue.so" "$folder/"
kernel/guest/boot.sh "$kernel/vmlinux" 1G 1800 "$PWD/kernel/test/torture-init" folder="$folder" seconds="${SECONDS_EACH:-2}" loglevel=5 \
    2>&1 | tr -d '\r' >"$folder/console" || true
grep -E '^(ok|not ok) ' "$folder/log" || true
complaints=$(grep -E 'BUG|KASAN|WARNING|Oops|Call Trace|possible circular|inconsistent lock|suspicious|sleeping function|Kernel panic' "$folder/console" "$folder/dmesg" || true)
if [ -n "$complaints" ]; then
    echo "$complaints" | head -20 >&2
    echo "kernel-torture: the kernel complains: $folder/dmesg" >&2
    exit 1
fi
if grep -q '^not ok ' "$folder/log" || ! grep -q '^ok end' "$folder/log"; then
    tail -5 "$folder/log" "$folder/console" >&2
    echo "kernel-torture: failed" >&2
    exit 1
fi
echo "kernel-torture: $(grep -c '^ok ' "$folder/log") passed, none of the kernel's checks complains"
