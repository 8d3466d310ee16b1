# Debian's cloud kernel under qemu: prepare_root and boot, for run.sh and cost.sh. OUT is the folder
# of what kernel/build.sh has built, SERIES what it was built for.
# shellcheck shell=bash

out=$(realpath "${OUT:-${CARGO_TARGET_DIR:-target}/kernel}")
release=$(OUT="$out" kernel/build.sh release)
# Of a series, what kernel/build.sh fetched.
guest="${XDG_CACHE_HOME:-$HOME/.cache}/goodqueue/kernel/${SERIES:-$release}"
image() { compgen -G "$guest/boot/vmlinuz-$release" || compgen -G "$guest/lib/modules/$release/vmlinuz"; }
if [ -n "${SERIES:-}" ] && ! image >/dev/null; then
    echo "kernel: SERIES: the module in $out is for $release, and not for the kernel in $guest" >&2
    exit 2
elif ! image >/dev/null; then
    echo "kernel: fetching Debian's linux-image-$release"
    rm -rf "$guest" && mkdir -p "$guest"
    (cd "$guest" && apt-get -qq download "linux-image-$release" && dpkg -x linux-image-*.deb . && rm linux-image-*.deb)
fi
root="$out/guest"

# A root file system with programs, our plugin and module, and modules of the kernel.
prepare_root() { # INIT MODULE...
    rm -rf "$root"
    mkdir -p "$root"/{bin,dev,etc,lib/tc,modules,proc,root,run,sys,tmp,var/run}
    cp "$1" "$root/init"
    chmod +x "$root/init"
    cp /bin/busybox "$root/bin/"
    local tool programs
    for tool in sh mount mkdir insmod rmmod ping sleep awk sed grep cat tail head dmesg seq tr wc rm; do ln -s busybox "$root/bin/$tool"; done
    programs=("$(command -v ip)" "$(command -v tc)")
    if command -v iperf3 >/dev/null; then programs+=("$(command -v iperf3)"); fi
    cp "${programs[@]}" "$root/bin/"
    ldd "${programs[@]}" | grep -oE '/[^ ]+\.so[^ ]*' | sort -u | while read -r library; do
        install -D "$library" "$root$library"
    done
    cp "$out/q_goodqueue.so" "$root/lib/tc/"
    cp "$out/sch_goodqueue.ko" "$root/modules/"
    local name
    for name in "${@:2}"; do
        find "$guest/lib/modules/$release" -name "$name.ko*" -exec cp {} "$root/modules/" \;
    done
    find "$root/modules" -name '*.xz' -exec unxz {} +
}

# Runs the guest until its end; what it says goes to LOG.
boot() { # LOG QEMU-OPTION...
    (cd "$root" && find . -print0 | busybox cpio -0 -o -H newc 2>/dev/null) | gzip -1 >"$out/guest.cpio.gz"
    timeout 900 qemu-system-x86_64 -M q35,accel=tcg -cpu max -m 768 -nographic -no-reboot -net none "${@:2}" \
        -kernel "$(image)" -initrd "$out/guest.cpio.gz" -append "console=ttyS0 quiet no_timer_check panic=-1 loglevel=4" \
        </dev/null 2>&1 | tr -d '\r' >"$1" || true
}
