#!/usr/bin/env bash
# Makes what people install, into dist/, and tries each in a clean root: dist.sh [PART]...
#   static     archive with a static gq, its manual pages and completions: for any Linux
#   deb        Debian package: the same, documentation, and a systemd unit for the bridge
#   wheels     the Python package with gq, for glibc and for musl
#   sdist      the Python package as source
#   crates     the public crates, as `cargo publish` would upload them
#   container  image with the static gq (needs buildah and root)
# Without a part: all of them, then SHA256SUMS. What a machine cannot do is skipped with the reason.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tools/packaging/smoke.sh
. tools/packaging/smoke.sh

target="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
export CARGO_TARGET_DIR="$target" PATH="$target/dist/venv/bin:$PATH"
work="$target/dist"
dist="$PWD/dist"
machine=$(uname -m)
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
name="goodqueue-$version"
# Times within packages are those of the commit.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
# The oldest glibc that Rust's standard library works with.
glibc=2.17

# Builds that only show that a package can be built: quick to compile.
export CARGO_PROFILE_DEV_OPT_LEVEL=0 CARGO_PROFILE_DEV_DEBUG=false

say() { echo "── dist: $*"; }
skip() { echo "skipped: $*"; }

# gq and gq-checks for a C library, gnu or musl, into $work/LIBC. The Python package is named for
# its features alone: this gq draws PDF and PNG, as the one in the wheel does.
binary() { # LIBC
    local triple="$machine-unknown-linux-$1" linker="$machine-unknown-linux-$1"
    [ "$1" = gnu ] && linker="$triple.$glibc"
    say "gq for $1"
    cargo zigbuild --quiet --release --locked --target "$linker" -p goodqueue-cli -p goodqueue-python --features goodqueue-python/print --bin gq --bin gq-checks
    mkdir -p "$work/$1"
    for program in gq gq-checks; do
        strip --remove-section=.comment --remove-section=.note -o "$work/$1/$program" "$target/$triple/release/$program"
    done
}

# What belongs to gq, below a folder that is laid out like /usr.
shared() { # GQ FOLDER
    local share="$2/share"
    mkdir -p "$share"/{bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d,doc/goodqueue/examples,man/man1}
    "$1" man --out "$share/man/man1"
    gzip -9n "$share"/man/man1/*.1
    "$1" completions bash >"$share/bash-completion/completions/gq"
    "$1" completions zsh >"$share/zsh/vendor-completions/_gq"
    "$1" completions fish >"$share/fish/vendor_completions.d/gq.fish"
    cp -r docs "$share/doc/goodqueue/docs"
    cp examples/scenarios/*.toml examples/router/collect.sh "$share/doc/goodqueue/examples/"
    python3 -B tools/packaging/licenses.py goodqueue-cli "$machine-unknown-linux-gnu" | gzip -9n >"$share/doc/goodqueue/third-party.txt.gz"
}

make_static() {
    binary musl
    local tree="$work/static/$name-$machine-linux"
    rm -rf "$work/static"
    mkdir -p "$tree/bin"
    cp "$work/musl/gq" "$work/musl/gq-checks" "$tree/bin/"
    shared "$work/musl/gq" "$tree"
    cp LICENSE-MIT LICENSE-APACHE "$tree/share/doc/goodqueue/"
    tar -C "$work/static" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -czf "$dist/$name-$machine-linux-static.tar.gz" "$name-$machine-linux"
    smoke_static "$dist/$name-$machine-linux-static.tar.gz"
}

make_deb() {
    if ! command -v dpkg-deb >/dev/null; then
        skip "the Debian package (dpkg-deb is missing)"
        return
    fi
    binary gnu
    local tree="$work/deb" doc="$work/deb/usr/share/doc/goodqueue" architecture maintainer package
    maintainer="${DEBFULLNAME:-goodqueue maintainers} <${DEBEMAIL:-$(git log -1 --format=%ae)}>"
    architecture=$(dpkg --print-architecture)
    rm -rf "$tree"
    mkdir -p "$tree"/{DEBIAN,usr/bin,usr/lib/systemd/system,usr/share/lintian/overrides}
    echo "goodqueue: initial-upload-closes-no-bugs" >"$tree/usr/share/lintian/overrides/goodqueue"
    cp "$work/gnu/gq" "$work/gnu/gq-checks" "$tree/usr/bin/"
    shared "$work/gnu/gq" "$tree/usr"
    cp tools/packaging/systemd/goodqueue-bridge@.service "$tree/usr/lib/systemd/system/"
    cp tools/packaging/systemd/bridge.toml "$doc/examples/"
    { cat tools/packaging/debian/copyright; echo; licence MIT LICENSE-MIT; echo; licence OFL-1.1 tools/packaging/debian/OFL-1.1; } >"$doc/copyright"
    gzip -9n <CHANGELOG.md >"$doc/changelog.gz"
    gzip -9n >"$doc/changelog.Debian.gz" <<CHANGES
goodqueue ($version-1) unstable; urgency=medium

  * Made by \`make deb\` from commit $(git rev-parse --short=12 HEAD).
    The changes are in changelog.gz.

 -- $maintainer  $(date --utc -R --date="@$SOURCE_DATE_EPOCH")
CHANGES
    find "$tree/usr" -type d -exec chmod 755 {} + -o -type f -exec chmod 644 {} +
    chmod 755 "$tree/usr/bin/"*
    # Symbols' versions say how old a C library may be.
    local oldest
    oldest=$(readelf -V "$tree/usr/bin/gq" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1)
    cat >"$tree/DEBIAN/control" <<CONTROL
Package: goodqueue
Version: $version-1
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size "$tree/usr" | cut -f1)
Depends: libc6 (>= ${oldest#GLIBC_})
Suggests: ethtool, iproute2
Section: net
Priority: optional
Description: active queue management, compared, simulated and applied
 gq compares queue algorithms (CoDel, PIE, FQ-CoDel, CAKE and others) on a
 line in a packet-level simulator with Linux-like TCP, finds a queue and its
 settings for a line, writes them for a router, and puts the same queues
 between two network interfaces.
CONTROL
    (cd "$tree" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
    package="$dist/goodqueue_$version-1_$architecture.deb"
    dpkg-deb --root-owner-group -Zxz --build "$tree" "$package" >/dev/null
    if command -v lintian >/dev/null; then
        say "lintian"
        lintian --fail-on error "$package"
    else
        skip "lintian is missing"
    fi
    smoke_deb "$package"
}

# A license's text as a paragraph of debian/copyright.
licence() { # NAME FILE
    echo "License: $1"
    sed -e '/./!s/^/./' -e 's/^/ /' "$2"
}

make_wheels() {
    local libc
    for libc in gnu musl; do
        say "wheel for $libc"
        local tag=musllinux_1_2
        [ "$libc" = gnu ] && tag="manylinux_${glibc/./_}"
        maturin build --quiet --release --locked --strip --zig --target "$machine-unknown-linux-$libc" --compatibility "$tag" --out "$dist"
    done
    smoke_wheels "$dist"/"$name"-*manylinux*.whl "$dist"/"$name"-*musllinux*.whl
}

make_sdist() {
    say "sdist"
    # Outside of a repository the crate learns its commit from this file, as in a package of cargo.
    local commit=crates/lab/.cargo_vcs_info.json
    printf '{"git":{"sha1":"%s"}}\n' "$(git rev-parse HEAD)" >"$commit"
    maturin sdist --out "$dist" 2>"$work/sdist.log" || { cat "$work/sdist.log" >&2; rm "$commit"; return 1; }
    rm "$commit"
    smoke_sdist "$dist/$name.tar.gz"
}

make_crates() {
    say "crates"
    # Cargo keeps what it has unpacked and built of packages by version, whatever they contain.
    rm -rf "${CARGO_HOME:-$HOME/.cargo}"/registry/src/-*/goodqueue-* "$work"/crates/package "$work"/crates/debug/.fingerprint/goodqueue-*
    # Builds every package as it would be uploaded, against the packages of the others.
    cargo publish --workspace --dry-run --locked --target-dir "$work/crates"
    rm -rf "$dist/crates"
    mkdir -p "$dist/crates"
    find "$work/crates/package" -name "goodqueue-*-$version.crate" -exec cp {} "$dist/crates/" \;
    smoke_crates "$dist/crates"
}

make_container() {
    if ! command -v buildah >/dev/null || [ "$(id -u)" != 0 ]; then
        skip "the container image (needs buildah and root)"
        return
    fi
    local tree="$work/static/$name-$machine-linux" image="goodqueue:$version"
    [ -d "$tree" ] || make_static
    say "container image"
    if ! buildah --storage-driver vfs bud --quiet --isolation chroot --tag "$image" --file tools/packaging/Containerfile "$tree"; then
        skip "the container image (buildah cannot work here)"
        return
    fi
    rm -f "$dist/$name-$machine.oci.tar"
    buildah --storage-driver vfs push --quiet "$image" "oci-archive:$dist/$name-$machine.oci.tar:$image"
    smoke_container "$image"
}

parts=(static deb wheels sdist crates container)
for part in "$@"; do
    [[ " ${parts[*]} " == *" $part "* ]] || { echo "dist: \`$part\` is no part: allowed ${parts[*]}" >&2; exit 2; }
done
tools/setup.sh dist
if [ $# = 0 ]; then
    rm -rf "$dist"
    set -- "${parts[@]}"
fi
mkdir -p "$dist"
for part in "$@"; do
    "make_$part"
done
(cd "$dist" && find . -type f ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort | xargs sha256sum) >"$work/SHA256SUMS"
mv "$work/SHA256SUMS" "$dist/"
say "dist/SHA256SUMS"
find "$dist" -maxdepth 1 -type f -printf '%12s %f\n' | sort -k 2
