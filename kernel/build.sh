#!/usr/bin/env bash
# Builds the queue discipline, and tries it: build.sh COMMAND
#   build      the library, the module and tc's plugin, into the folder $OUT (target/kernel)
#   test       the same and a module that can be made to panic; tries both in a kernel under qemu
#   guest      the guest kernel of `gq run --on linux` with the queue discipline in it
#   cost       what each kind costs, in a kernel under qemu
#   torture    all at once, in a guest kernel that checks itself
#   release    the release of the kernel that the built module is for
#   stack      the library, and the sums of its stack frames
#   install    puts module and plugin where modprobe and tc look for them (root)
#   uninstall  takes them away
# KDIR=FOLDER is the build folder of the kernel that the module is for: that of the running kernel,
# or else the newest whose headers are installed. SERIES=7.3 takes Debian's kernel of that series
# instead, with its compiler, in a folder of their own. PROVOKE=1 makes a module for tests, which
# panics on DSCP 62. KERNEL_RUSTC=FILE is the compiler, /usr/bin/rustc.
set -euo pipefail
cd "$(dirname "$0")/.."

out="${OUT:-${CARGO_TARGET_DIR:-target}/kernel}"
mkdir -p "$out"
out=$(realpath "$out")
# The toolchain must come with its library's source; rustup's does not have to.
rustc="${KERNEL_RUSTC:-/usr/bin/rustc}"
target=x86_64-unknown-none

# A Debian with the kernel of the series and what modules for it are built with.
series="${SERIES:-}" stock="${XDG_CACHE_HOME:-$HOME/.cache}/goodqueue/kernel/${SERIES:-}"
case "$series" in
'' | 6.12) suites=trixie image=("linux-image-$series*-cloud-amd64") ;;
7.3) suites=trixie,trixie-backports image=("linux-binary-$series*-cloud-amd64" "linux-modules-$series*-cloud-amd64") ;;
*)
    echo "kernel: SERIES: no kernel of \`$series\`: allowed 6.12 or 7.3" >&2
    exit 2
    ;;
esac

release() { # of the kernel that the module is for
    objcopy -O binary -j .modinfo "$out/sch_goodqueue.ko" /dev/stdout | tr '\0' '\n' | sed -n 's/^vermagic=\([^ ]*\).*/\1/p'
}

# The modules of a folder, against the headers of the kernel that they are for.
modules() { # FOLDER
    local kdir mapped=()
    if [ -n "$series" ]; then
        [ -d "$stock" ] || echo "kernel: fetching Debian's kernel $series with its compiler (90 MB)"
        tools/debian.sh "$stock" "$suites" "linux-headers-$series*-cloud-amd64" base-files bash coreutils dash findutils gcc-14 grep libelf1t64 make mawk sed -- "${image[@]}"
        [ -e "$stock/usr/bin/awk" ] || ln -s mawk "$stock/usr/bin/awk"
        mkdir -p "$stock"/{dev,mnt,proc,tmp}
        [ "$(id -u)" = 0 ] || mapped=(--map-root-user)
        kdir=$(cd "$stock" && echo usr/lib/modules/*/build)
        unshare --mount "${mapped[@]}" bash -ec 'mount --rbind /dev "$1/dev"; mount --rbind /proc "$1/proc"; mount --bind "$2" "$1/mnt"
            exec env -i PATH=/usr/bin:/usr/sbin chroot "$1" make -s -C "/$3" M=/mnt modules' build "$stock" "$1" "$kdir"
        return
    fi
    if [ -n "${KDIR:-}" ]; then
        kdir=$KDIR
    elif [ -e "/lib/modules/$(uname -r)/build/Makefile" ]; then
        kdir="/lib/modules/$(uname -r)/build"
    else
        kdir=$(ls -d /lib/modules/*/build 2>/dev/null | sort -V | tail -1)
    fi
    if [ -z "$kdir" ] || [ ! -e "$kdir/Makefile" ]; then
        echo "kernel: no headers of a kernel are installed (Debian: apt-get install linux-headers-$(uname -r), or linux-headers-cloud-amd64)" >&2
        exit 2
    fi
    make -s -C "$kdir" M="$1" modules
}

# Code for a kernel: no relocation that the module loader refuses, calls through pointers and
# returns by the kernel's thunks, marks where calls through pointers may land, no unwind tables.
flags=(
    -Crelocation-model=static -Ccode-model=kernel -Cforce-unwind-tables=no
    -Zplt=yes -Zfunction-sections=no -Zdirect-access-external-data=yes
    -Zretpoline -Zretpoline-external-thunk -Zfunction-return=thunk-extern
    -Zcf-protection=branch
    -Zemit-stack-sizes
)

library() {
    if [ "$(uname -m)" != x86_64 ]; then
        echo "kernel: the library is built for x86-64 only, this is $(uname -m)" >&2
        exit 2
    fi
    if [ ! -d "$("$rustc" --print sysroot 2>/dev/null)/lib/rustlib/src/rust/library" ]; then
        echo "kernel: $rustc has no source of its library (Debian: apt-get install rustc-web rust-web-src)" >&2
        exit 2
    fi
    local features=()
    [ -z "${PROVOKE:-}" ] || features=(--features provoke)
    # Stabilization is a matter of the compiler's version, and this one is given.
    env -u CARGO_ENCODED_RUSTFLAGS RUSTC="$rustc" RUSTC_BOOTSTRAP=1 RUSTFLAGS="${flags[*]}" CARGO_TARGET_DIR="$out/rust" \
        CARGO_PROFILE_RELEASE_PANIC=abort CARGO_PROFILE_RELEASE_LTO=fat CARGO_PROFILE_RELEASE_OPT_LEVEL=2 \
        cargo rustc --quiet --release -p goodqueue-kernel --lib --crate-type staticlib --target $target \
        -Zbuild-std=core,alloc "${features[@]}"
    ld -r -u gqk_work -u gqk_arena_new -u gqk_arena_used "$out/rust/$target/release/libgoodqueue_kernel.a" -o "$out/library.o"
    # What the module calls is all that others see; what the kernel has is not brought along, nor is
    # the compiler's probe of stacks, which nothing calls and whose return is no thunk.
    objcopy --wildcard --keep-global-symbol='gqk_*' -R .eh_frame -R .rela.eh_frame -R .stack_sizes -R .rela.stack_sizes \
        -R .llvmbc -R .llvmcmd -R .comment -R .note.gnu.property -R '.text.*rust_probestack' "$out/library.o" "$out/rust.o_shipped"
    local wrong
    wrong=$(readelf -W --relocs "$out/rust.o_shipped" | grep -oE 'R_X86_64_[A-Z0-9_]+' | sort -u |
        grep -vxE 'R_X86_64_(64|32|32S|PC32|PLT32|PC64)' || true)
    if [ -n "$wrong" ]; then
        echo "kernel: relocations that no module may have: $wrong" >&2
        exit 1
    fi
}

stack() {
    python3 kernel/test/stack.py "$out/library.o"
}

plugin() {
    gcc -O2 -Wall -Wextra -Werror -fPIC -shared -Ikernel/module -o "$out/q_goodqueue.so" kernel/tc/q_goodqueue.c
}

module() {
    mkdir -p "$out/module"
    # The same folder is a package of DKMS.
    cp kernel/module/Kbuild kernel/module/*.[chS] "$out/rust.o_shipped" "$out/module/"
    sed "s/@VERSION@/$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)/" kernel/module/dkms.conf.in >"$out/module/dkms.conf"
    modules "$out/module" 2>&1 | tee "$out/module.log" >&2
    # The processor ends such a call where the kernel makes it check them.
    if grep -q '!ENDBR' "$out/module.log"; then
        echo "kernel: calls through pointers land where no mark for them is" >&2
        exit 1
    fi
    cp "$out/module/sch_goodqueue.ko" "$out/"
    echo "kernel: $out/sch_goodqueue.ko for $(release), $out/q_goodqueue.so for tc"
    if [ "$(release)" != "$(uname -r)" ]; then
        echo "kernel: this is not the running kernel, $(uname -r): install its headers and build again, or KDIR=FOLDER make kernel"
    fi
}

bench() {
    mkdir -p "$out/bench"
    cp kernel/test/gq_bench.c "$out/bench/"
    echo "obj-m := gq_bench.o" >"$out/bench/Kbuild"
    modules "$out/bench"
}

# The guest kernel of `gq run --on linux` with the queue discipline in it, a second one.
guest() { # NAME FILE-WITH-MORE-OPTIONS...
    local cache="${XDG_CACHE_HOME:-$HOME/.cache}/goodqueue/linux"
    [ "${series:-6.12}" = 6.12 ] || cache+="-$series"
    local with="$out/with-$1"
    rm -rf "$with" && mkdir -p "$with"
    cp kernel/module/Kbuild kernel/module/*.[chS] kernel/guest/queue/*.[cS] "$out/rust.o_shipped" "$with/"
    cat kernel/guest/queue/kernel.config "${@:2}" >"$with/kernel.config"
    WITH="$with" INTO="$cache/$1" kernel/guest/build.sh
    install -m 644 "$out/q_goodqueue.so" "$cache/$1/"
}

# Each on its own line: a failure ends the script.
case "${1:-build}" in
build)
    library
    stack
    plugin
    module
    ;;
test)
    PROVOKE=1 library
    module >/dev/null
    mkdir -p "$out/provoke"
    mv "$out/sch_goodqueue.ko" "$out/provoke/"
    library
    stack
    plugin
    module
    OUT="$out" kernel/test/run.sh
    ;;
guest)
    library
    plugin
    guest queue
    ;;
cost)
    library
    plugin
    module
    bench
    OUT="$out" kernel/test/cost.sh
    ;;
torture)
    library
    plugin
    guest debug kernel/guest/queue/debug.config
    OUT="$out" kernel/test/torture.sh
    ;;
release) release ;;
stack)
    library
    stack
    ;;
install)
    install -D -m 644 "$out/sch_goodqueue.ko" "/lib/modules/$(release)/updates/sch_goodqueue.ko"
    install -D -m 644 "$out/q_goodqueue.so" /usr/lib/tc/q_goodqueue.so
    depmod "$(release)"
    ;;
uninstall)
    rm -f /lib/modules/*/updates/sch_goodqueue.ko /usr/lib/tc/q_goodqueue.so
    depmod
    ;;
*)
    echo "usage: build.sh build | test | guest | cost | torture | release | stack | install | uninstall" >&2
    exit 2
    ;;
esac
