#!/usr/bin/env bash
# Installs missing tools, and only those:
# setup.sh build | python | test | linux | kernel | test-kernel | playground | site | dist
#   build   a C linker and Rust, enough for `make demo`
#   python  also a venv, .venv, with what the Python package is built and tested with
#   test    also Node's packages for the front end, a Chromium for its browser tests, and Rust's
#           library for WebAssembly
#   kernel  what the queue discipline is built with; test-kernel: and tried with
#   dist    a venv, target/dist/venv, and the tools that packages are made and tried with
#   playground  Node's packages and Rust's library for WebAssembly
#   site    the same and a venv, target/site/venv, with what the site is built with
#   linux   what the guest kernel is built and its queue disciplines are recorded with
# System packages come from apt-get where it exists and we are root; elsewhere a message lists them.
set -euo pipefail
cd "$(dirname "$0")/.."

apt_updated=no
update_packages() { # true when the list of packages is up to date
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    [ "$apt_updated" = yes ] || { apt-get update -qq && apt_updated=yes; }
}

system_package() { # PACKAGE: true when it was installed
    update_packages || return 1
    echo "setup: installing $1"
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$1" >/dev/null
}

need() { # COMMAND PACKAGE: the work cannot go on without it
    command -v "$1" >/dev/null && return
    system_package "$2" && return
    echo "setup: \`$1\` is missing; please install it (Debian's package: $2)" >&2
    exit 1
}

want() { # COMMAND PACKAGE WHAT: without it, WHAT is skipped
    command -v "$1" >/dev/null && return
    system_package "$2" && return
    echo "setup: \`$1\` is missing, so $3 will be skipped (Debian's package: $2)" >&2
}

setup_build() {
    need cc build-essential
    # cargo reads rust-toolchain.toml and fetches that toolchain by itself where rustup is at work.
    if ! command -v cargo >/dev/null; then
        echo "setup: Rust is missing; please install rustup (Debian's own Rust is too old)" >&2
        exit 1
    fi
}

setup_python() {
    setup_build
    want python3 python3 "the Python package"
    if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        echo "setup: Python 3.11 or later is missing, so the Python package will be skipped" >&2
        return 0
    fi
    venv .venv crates/python/requirements.txt "the Python package is" ||
        echo "setup: the Python package's tools cannot be installed, so its tests will be skipped" >&2
}

node_packages() {
    # npm writes this file when it is done; it is older than the lock file after a change of
    # packages.
    if [ ! -e crates/web/node_modules/.package-lock.json ] || [ crates/web/package-lock.json -nt crates/web/node_modules/.package-lock.json ]; then
        echo "setup: installing the front end's packages"
        npm --prefix crates/web ci --no-audit --no-fund --loglevel=error
    fi
}

setup_test() {
    setup_python
    want node nodejs "the front end's tests"
    want python3 python3 "the checks written in Python"
    if command -v npm >/dev/null; then
        node_packages
        site_venv || echo "setup: what the site is built with cannot be installed, so building it will be skipped" >&2
        command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || want chromium chromium "browser tests"
    fi
    # Building for a target without std proves that the core crates need none; CI builds them for
    # this machine where the target is missing.
    if command -v rustup >/dev/null && ! rustup target list --installed | grep -q '^thumbv7em-none-eabi$'; then
        timeout 60 rustup target add thumbv7em-none-eabi >/dev/null 2>&1 || true
    fi
    wasm_library || echo "setup: Rust's library for wasm32-unknown-unknown is missing, so the playground without a server will be skipped" >&2
}

setup_linux() {
    need gcc build-essential
    need make build-essential
    need flex flex
    need bison bison
    need bc bc
    need perl perl
    need setarch util-linux
    need python3 python3
    need ip iproute2
    # The newest source package of the kernel is looked up in this list.
    update_packages || echo "setup: the list of Debian's packages is taken as it is (updating it needs root)" >&2
}

file() { # FILE PACKAGE...: as `need`, for what is no command
    compgen -G "$1" >/dev/null && return
    local package
    for package in "${@:2}"; do system_package "$package" || break; done
    compgen -G "$1" >/dev/null && return
    echo "setup: $1 is missing; please install it (Debian's packages: ${*:2})" >&2
    exit 1
}

setup_kernel() {
    setup_build
    need python3 python3
    need make build-essential
    need objdump binutils
    # The compiler must come with the source of its library.
    file "/usr/lib/rustlib/src/rust/library" rustc-web rust-web-src
    # For the running kernel, or else for the one that the test boots.
    local headers
    headers="linux-headers-$(uname -r)"
    if [ ! -e "/lib/modules/$(uname -r)/build" ]; then
        apt-cache show "$headers" >/dev/null 2>&1 || headers=linux-headers-cloud-amd64
        file "/lib/modules/*/build" "$headers"
    fi
}

setup_test_kernel() {
    setup_kernel
    need qemu-system-x86_64 qemu-system-x86
    need busybox busybox-static
    need tc iproute2
    want iperf3 iperf3 "TCP through the queue discipline"
    file "/lib/modules/*-cloud-amd64/build" linux-headers-cloud-amd64
}

# The playground without a server is a WebAssembly module in a page.
wasm_library() { # true when Rust can build one
    [ -d "$(rustc --print target-libdir --target wasm32-unknown-unknown)" ] && return
    command -v rustup >/dev/null || return 1
    echo "setup: installing Rust's library for WebAssembly"
    timeout 120 rustup target add wasm32-unknown-unknown >/dev/null 2>&1
}

setup_playground() {
    setup_build
    need node nodejs
    need npm npm
    node_packages
    if ! wasm_library; then
        echo "setup: Rust's library for wasm32-unknown-unknown is missing; please install it with rustup" >&2
        exit 1
    fi
}

venv() { # FOLDER LIST WHAT: a venv with the packages of a list
    need python3 python3
    # The copy of the list is written when everything in it is there.
    cmp -s "$2" "$1/.goodqueue-requirements" && return 0
    rm -f "$1/.goodqueue-requirements"
    python3 -c 'import ensurepip' 2>/dev/null || system_package python3-venv || true
    echo "setup: installing what $3 built with"
    python3 -m venv "$1" && "$1/bin/python" -m pip install --quiet --disable-pip-version-check -r "$2" && cp "$2" "$1/.goodqueue-requirements"
}

site_venv() {
    venv "${CARGO_TARGET_DIR:-target}/site/venv" tools/site/requirements.txt "the site is"
}

setup_site() {
    setup_playground
    site_venv
}

setup_dist() {
    setup_build
    need readelf binutils
    need unzip unzip
    venv "${CARGO_TARGET_DIR:-target}/dist/venv" tools/packaging/requirements.txt "packages are"
    if ! rustup target list --installed | grep -q "^$(uname -m)-unknown-linux-musl$"; then
        rustup target add "$(uname -m)-unknown-linux-musl" >/dev/null
    fi
    want dpkg-deb dpkg "the Debian package"
    want lintian lintian "the check of the Debian package"
    want debootstrap debootstrap "trying packages in a clean root"
    want buildah buildah "the container image"
}

case "${1:-}" in
build) setup_build ;;
python) setup_python ;;
test) setup_test ;;
linux) setup_linux ;;
kernel) setup_kernel ;;
test-kernel) setup_test_kernel ;;
playground) setup_playground ;;
site) setup_site ;;
dist) setup_dist ;;
*)
    echo "usage: setup.sh build | python | test | linux | kernel | test-kernel | playground | site | dist" >&2
    exit 2
    ;;
esac
