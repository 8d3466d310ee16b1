#!/usr/bin/env bash
# Builds the guest kernel of `gq run --on linux`, User-Mode Linux, in a folder outside of this one.
# The source is the newest package of one series in Debian's archive, SERIES=6.12 or 7.3. Does
# nothing when the folder already holds a kernel of this recipe. LINUX_VERSION=VERSION takes that
# version of the package; LINUX_SOURCE=FILE takes a linux-source-*.tar.xz that is already here.
# WITH=FOLDER builds a second kernel, with the sources of that folder in net/sched
# and the options of its kernel.config, into the folder INTO; what was compiled is kept there.
set -euo pipefail
with=${WITH:+$(realpath "$WITH")}
into=${INTO:+$(realpath -m "$INTO")}
cd "$(dirname "$0")"

series=${SERIES:-6.12}
cache="${XDG_CACHE_HOME:-$HOME/.cache}/goodqueue/linux"
# suite: that of Debian's archive which has the package, where it is not one of this machine.
case "$series" in
6.12) suite='' ;;
7.3) suite=trixie-backports cache+=-7.3 ;;
*)
    echo "linux: SERIES: no guest kernel of \`$series\`: allowed 6.12 or 7.3" >&2
    exit 2
    ;;
esac
cache=${into:-$cache}
jobs=$(nproc)
digest_of() { cat "$@" | sha256sum | cut -d' ' -f1; }
# What a tree follows from, and what a kernel follows from.
fragments=(base/kernel.config)
[ ! -e "base/$series.config" ] || fragments+=("base/$series.config")
[ -z "$with" ] || fragments+=("$with/kernel.config")
base=$(digest_of build.sh base/*.c base/patch.sh "${fragments[@]}")
recipe=$(echo "$base" | cat - ${with:+"$with"/*} | digest_of)

if [ "$(cat "$cache/recipe" 2>/dev/null)" = "$recipe" ]; then
    echo "linux: $cache/vmlinux is up to date"
    exit 0
fi
if [ "$(uname -sm)" != "Linux x86_64" ]; then
    echo "linux: User-Mode Linux needs Linux on x86-64, this is $(uname -sm)" >&2
    exit 2
fi
missing=()
for tool in gcc make flex bison bc perl xz sha256sum setarch; do
    command -v "$tool" >/dev/null || missing+=("$tool")
done
if [ -z "${LINUX_SOURCE:-}" ]; then
    for tool in apt-get apt-cache dpkg-deb; do
        command -v "$tool" >/dev/null || missing+=("$tool")
    done
fi
if [ ${#missing[@]} -gt 0 ]; then
    echo "linux: missing: ${missing[*]} (Debian: apt-get install build-essential flex bison bc perl xz-utils util-linux; elsewhere give LINUX_SOURCE=linux-source-$series.tar.xz)" >&2
    exit 2
fi
started=$SECONDS
say() { printf '%4d s  %s\n' $((SECONDS - started)) "$*"; }

mkdir -p "$cache"
work="$cache/build"
tree="$work/tree"

# The same from everywhere: no name of a user or machine, no time of its own.
export KBUILD_BUILD_USER=goodqueue KBUILD_BUILD_HOST=goodqueue KBUILD_BUILD_TIMESTAMP=1970-01-01
log="$cache/build.log"
build() { make -C "$tree" ARCH=um "$@" >>"$log" 2>&1 || { tail -30 "$log" >&2; echo "linux: failed, all of it in $log" >&2; exit 1; }; }
: >"$log"

# A list of packages for this alone: of another suite, from where this machine has its own.
lists=()
own_lists() {
    local site keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    site=$(apt-get indextargets --format '$(CREATED_BY) $(COMPONENT) $(ORIGIN) $(REPO_URI)' | awk '$1 == "Packages" && $2 == "main" && $3 == "Debian" && !/security/ { print $4; exit }')
    if [ -z "$site" ] || [ ! -e "$keyring" ]; then
        echo "linux: this machine has no sources of Debian's packages to take $suite from; give LINUX_SOURCE=linux-source-$series.tar.xz" >&2
        exit 2
    fi
    mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial"
    echo "deb [signed-by=$keyring] $site $suite main" >"$work/apt/sources.list"
    lists=(-o "Dir::Etc::SourceList=$work/apt/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$work/apt/lists" -o "Dir::Cache=$work/apt/cache")
    say "reading the list of $suite, for this folder alone"
    apt-get -qq "${lists[@]}" update >>"$log" 2>&1 || true
}

unpack() {
    source="${LINUX_SOURCE:-}"
    if [ -z "$source" ]; then
        package="linux-source-$series"
        [ -z "$suite" ] || own_lists
        version="${LINUX_VERSION:-$(apt-cache "${lists[@]}" madison "$package" | awk -F' *[|] *' '{ print $2 }' | sort -V | tail -1)}"
        if [ -z "$version" ]; then
            echo "linux: Debian's archive does not offer $package${suite:+ in $suite} here (apt-get update may help); or give LINUX_SOURCE=$package.tar.xz" >&2
            exit 2
        fi
        say "fetching $package $version (about 150 MB)"
        if ! (cd "$work" && apt-get -qq "${lists[@]}" download "$package=$version"); then
            echo "linux: $package $version cannot be fetched from Debian's archive; or give LINUX_SOURCE=$package.tar.xz" >&2
            exit 2
        fi
        dpkg-deb --fsys-tarfile "$work"/*.deb | tar -xf - -C "$work" --strip-components=3 "./usr/src/$package.tar.xz"
        rm "$work"/*.deb
        source="$work/$package.tar.xz"
    else
        version="of $(basename "$source")"
    fi
    { echo "version='$version'"; echo "digest=$(digest_of "$source")"; } >"$work/origin"

    say "unpacking"
    mkdir "$tree"
    tar -xf "$source" -C "$tree" --strip-components=1
    [ "$source" != "$work/linux-source-$series.tar.xz" ] || rm "$source"

    base/patch.sh "$tree" "$work"
    if [ -n "$with" ]; then
        echo 'obj-y += with/' >>"$tree/net/sched/Makefile"
    fi
}

configure() {
    say "configuring"
    cat "${fragments[@]}" >"$work/fragment"
    build tinyconfig
    (cd "$tree" && ./scripts/kconfig/merge_config.sh -m .config "$work/fragment" >>"$log" 2>&1)
    build olddefconfig
    # An option that the source does not know is dropped without a word.
    while read -r option; do
        case "$option" in
        # From 6.12.117 on, consoles on file descriptors are not an option but always there.
        CONFIG_FD_CHAN=y) grep -qx 'config FD_CHAN' "$tree/arch/um/drivers/Kconfig" || continue ;;&
        # Newer sources have SYSCTL for both.
        CONFIG_PROC_SYSCTL=y) grep -qx 'config PROC_SYSCTL' "$tree/fs/proc/Kconfig" || continue ;;&
        CONFIG_*) grep -qxF "$option" "$tree/.config" && continue ;;
        '# CONFIG_'*' is not set')
            name=${option#\# }
            grep -q "^${name% is not set}=" "$tree/.config" || continue
            ;;
        *) continue ;;
        esac
        echo "linux: this source has changed: its configuration does not take: $option (kernel/guest: ${fragments[*]})" >&2
        exit 1
    done <"$work/fragment"
}

if [ -z "$with" ] || [ "$(cat "$work/base" 2>/dev/null)" != "$base" ]; then
    rm -rf "$work" && mkdir "$work"
    unpack
    configure
    echo "$base" >"$work/base"
fi
# Says version and digest of the source.
# shellcheck source=/dev/null
. "$work/origin"
if [ -n "$with" ]; then
    mkdir -p "$tree/net/sched/with"
    cp "$with"/* "$tree/net/sched/with/"
fi

say "compiling with $jobs jobs (about 10 minutes of processor time)"
make -C "$tree" ARCH=um -j"$jobs" linux >>"$log" 2>&1 &
compiler=$!
while kill -0 "$compiler" 2>/dev/null; do
    sleep 5
    printf '\r%4d s  %d files' $((SECONDS - started)) "$(grep -c '^  [A-Z]' "$log" || true)"
done
echo
wait "$compiler" || { tail -30 "$log" >&2; echo "linux: failed, all of it in $log" >&2; exit 1; }

say "first boot: an hour of virtual time"
kernel="$work/vmlinux"
strip -o "$kernel" "$tree/linux"
cat >"$work/first-boot" <<'BOOT'
#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
read -r before _ </proc/uptime
sleep 3600
read -r after _ </proc/uptime
echo "slept $before $after"
read -r controls </proc/sys/net/ipv4/tcp_available_congestion_control
echo "controls $controls"
read -r kernel </proc/version
echo "kernel $kernel"
echo o >/proc/sysrq-trigger
sleep 10
BOOT
chmod +x "$work/first-boot"
GQ_SEED=1 timeout -k 1 60 setarch -R "$kernel" mem=64M rootfstype=hostfs rootflags=/ ro init="$work/first-boot" time-travel=inf-cpu \
    time-travel-start=1700000000000000000 con=null con0=fd:0,fd:1 ssl=null quiet </dev/null >"$work/boot.log" 2>&1 || true
tr -d '\r' <"$work/boot.log" | awk '
    /^slept / { hour = $3 - $2 >= 3600 && $3 - $2 < 3601 }
    /^controls / { controls = / cubic / && / bbr/ && / dctcp/ }
    END { exit !(hour && controls) }' || {
    cat "$work/boot.log" >&2
    echo "linux: the kernel was built but its first boot did not do as it should" >&2
    exit 1
}

# What was built, from what: kept next to it and copied into every result.
{
    echo "series = \"$series\""
    echo "package = \"$version\""
    echo "source_sha256 = \"${digest:?}\""
    echo "config_sha256 = \"$(sha256sum "$tree/.config" | cut -d' ' -f1)\""
    echo "compiler = \"$(gcc --version | head -1)\""
    tr -d '\r' <"$work/boot.log" | sed -n 's/^kernel \(.*\)/kernel = "\1"/p; s/^controls \(.*\)/controls = "\1"/p'
} >"$cache/record.toml"
cp "$tree/.config" "$cache/config"
mv "$kernel" "$cache/vmlinux"
[ -n "$with" ] || rm -rf "$work"
echo "$recipe" >"$cache/recipe"
say "done: $cache/vmlinux ($(du -h "$cache/vmlinux" | cut -f1))"
