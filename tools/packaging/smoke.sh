# Tries packages where nothing of this repository and no network is: sourced by dist.sh. What was
# printed is kept in $dist/smoke.txt.
# shellcheck shell=bash disable=SC2154

# Commands that every gq must manage.
try_gq='
gq --version
gq list aqm | wc -l
cd "$(mktemp -d)"
gq compare --rate 5mbit --rtt 20ms --warmup 1s --duration 2s --replications 2 --aqm tail-drop,codel,fq-codel
test -s results/compare/report.html
'
# Where gq-checks is alongside it: in the archive and in the Debian package.
try_checks='
gq-checks conformance >/dev/null
'
try_python='
import goodqueue
result = goodqueue.compare(rate="5mbit", rtt="20ms", warmup="1s", duration="2s", replications=2, aqm=["tail-drop", "codel"])
print(goodqueue.__version__, result.headline.text)
'

# A minimal Debian of a suite, with packages, made once; prints where it is.
clean_root() { # SUITE [PACKAGE,…]
    local root="$work/root/$1${2:+-$2}"
    if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null || ! unshare --mount true 2>/dev/null; then
        skip "a try in a clean root (needs root, debootstrap and mount namespaces)" >&2
        return 1
    fi
    if [ ! -e "$root/.complete" ]; then
        say "clean root $1 ${2:-}" >&2
        rm -rf "$root"
        if ! debootstrap --variant=minbase ${2:+--include="$2"} "$1" "$root" >"$work/debootstrap.log" 2>&1; then
            skip "a try in a clean root ($1 cannot be installed: $(tail -1 "$work/debootstrap.log"))" >&2
            return 1
        fi
        touch "$root/.complete"
    fi
    echo "$root"
}

# Runs a script in a copy of a root that is thrown away, with a folder at /files and without a
# network.
in_root() { # ROOT FILES SCRIPT
    unshare --mount --net --pid --ipc --uts --fork bash -euc '
        at=$(mktemp -d)
        mount -t tmpfs none "$at"
        mkdir "$at"/{upper,work,root}
        mount -t overlay overlay -o "lowerdir=$1,upperdir=$at/upper,workdir=$at/work" "$at/root"
        mkdir -p "$at/root/files"
        mount --bind -o ro "$2" "$at/root/files"
        mount -t proc proc "$at/root/proc"
        mount -t tmpfs none "$at/root/dev"
        for device in null zero urandom; do touch "$at/root/dev/$device"; mount --bind "/dev/$device" "$at/root/dev/$device"; done
        exec chroot "$at/root" /usr/bin/env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root bash -euc "$3"
    ' in_root "$@"
}

# Prints what a try prints, with its commands, and keeps it.
tried() { # TITLE COMMAND…
    local title="$1"
    shift
    say "try: $title"
    { echo "== $title"; "$@"; echo; } 2>&1 | tee -a "$dist/smoke.txt"
}

smoke_static() { # ARCHIVE
    local root
    root=$(clean_root bookworm) || return 0
    tried "${1##*/} in Debian 12" in_root "$root" "$dist" "tar -xf /files/${1##*/} --strip-components=1 -C /usr/local; $try_gq $try_checks"
}

smoke_deb() { # PACKAGE
    local root suite
    for suite in bookworm bullseye; do
        root=$(clean_root "$suite") || continue
        tried "${1##*/} in Debian $suite" in_root "$root" "$dist" "
            dpkg --install /files/${1##*/}
            test -s /usr/share/man/man1/gq-compare.1.gz || grep -q share/man /etc/dpkg/dpkg.cfg.d/* 2>/dev/null
            test -s /usr/share/bash-completion/completions/gq
            $try_gq
            $try_checks
            dpkg --purge goodqueue
            test ! -e /usr/bin/gq"
    done
}

smoke_wheels() { # GLIBC MUSL
    local root wheels="$work/wheelhouse"
    root=$(clean_root bookworm python3-venv) || return 0
    # What the package depends on; the root has no network.
    rm -rf "$wheels"
    python3 -m pip download --quiet --disable-pip-version-check --only-binary :all: --python-version 3.11 --dest "$wheels" polars
    cp "$1" "$wheels/"
    tried "${1##*/} in Debian 12" in_root "$root" "$wheels" "
        python3 -m venv /env
        /env/bin/pip install --quiet --no-index --find-links /files goodqueue
        PATH=/env/bin:\$PATH
        python -c '$try_python'
        $try_gq"
    smoke_musl "$2"
}

# Debian has musl but no Python for it. The dynamic linker loads the module and names the symbols
# that are missing: all of them must be Python's.
smoke_musl() { # WHEEL
    local root place
    root=$(clean_root bookworm musl) || return 0
    place=$(mktemp -d)
    unzip -q "$1" -d "$place"
    # shellcheck disable=SC2016
    tried "${1##*/}, loaded by musl" in_root "$root" "$place" '
        /lib/ld-musl-*.so.1 --list /files/goodqueue/_core.abi3.so >/tmp/said 2>&1 || true
        grep -v "Error relocating" /tmp/said
        missing() { grep "Error relocating" /tmp/said | grep "$@" ": _\?Py" | wc -l; }
        echo "missing: $(missing -e) symbols of Python, $(missing -v) others"
        test "$(missing -v)" = 0'
    rm -r "$place"
}

smoke_sdist() { # ARCHIVE
    local place
    place=$(mktemp -d)
    python3 -m venv "$place/env"
    # Far from the repository, by pip and the build system that the archive names. Debug, as only
    # that it builds is in question.
    tried "${1##*/}, built by pip in a new venv" bash -euc "
        cd $place
        env/bin/pip install --quiet --disable-pip-version-check --config-settings build-args='--profile dev' $1
        PATH=$place/env/bin:\$PATH
        python -c '$try_python'
        gq --version"
    rm -r "$place"
}

smoke_crates() { # FOLDER
    local place crate patches=()
    place=$(mktemp -d)
    for crate in "$1"/*.crate; do
        tar -xf "$crate" -C "$place"
        crate=${crate##*/}
        crate=${crate%.crate}
        patches+=(--config "patch.crates-io.${crate%-"$version"}.path=\"$place/$crate\"")
    done
    (cd "$place" && cargo install --quiet --debug --path "$place/goodqueue-cli-$version" --root "$place/root" "${patches[@]}")
    tried "cargo install goodqueue-cli from the packages" env PATH="$place/root/bin:$PATH" TMPDIR="$place" bash -euc "$try_gq"
    rm -r "$place"
}

smoke_container() { # IMAGE
    local container folder
    folder=$(mktemp -d)
    container=$(buildah --storage-driver vfs from --pull-never "$1")
    in_image() { buildah --storage-driver vfs run --isolation chroot --volume "$folder:/work" "$container" -- /usr/bin/gq "$@"; }
    try_image() {
        in_image --version
        in_image compare --rate 5mbit --rtt 20ms --warmup 1s --duration 2s --replications 2 --aqm tail-drop,codel
        test -s "$folder/results/compare/report.html"
    }
    tried "image $1" try_image
    buildah --storage-driver vfs rm "$container" >/dev/null
    buildah --storage-driver vfs rmi "$1" >/dev/null
    rm -r "$folder"
}
