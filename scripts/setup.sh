#!/usr/bin/env bash
# Installs what is missing, and only that: setup.sh build | test
#   build   a C linker and Rust, enough for `make demo`
#   test    also Node's packages for the front end and a Chromium for its browser tests
# System packages come from apt-get where it exists and we are root; elsewhere a message says what to install.
set -euo pipefail
cd "$(dirname "$0")/.."

apt_updated=no
system_package() { # PACKAGE: true when it was installed
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    if [ "$apt_updated" = no ]; then
        apt-get update -qq || return 1
        apt_updated=yes
    fi
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

setup_test() {
    setup_build
    want node nodejs "the front end's tests"
    want python3 python3 "the checks written in Python"
    if command -v npm >/dev/null; then
        # npm writes this file when it is done; it is older than the lock file after a change of packages.
        if [ ! -e web/node_modules/.package-lock.json ] || [ web/package-lock.json -nt web/node_modules/.package-lock.json ]; then
            echo "setup: installing the front end's packages"
            npm --prefix web ci --no-audit --no-fund --loglevel=error
        fi
        command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || want chromium chromium "browser tests"
    fi
    # A target without std makes the proof that the core crates need none stronger; CI builds for this machine otherwise.
    if command -v rustup >/dev/null && ! rustup target list --installed | grep -q '^thumbv7em-none-eabi$'; then
        timeout 60 rustup target add thumbv7em-none-eabi >/dev/null 2>&1 || true
    fi
}

case "${1:-}" in
build) setup_build ;;
test) setup_test ;;
*)
    echo "usage: setup.sh build | test" >&2
    exit 2
    ;;
esac
