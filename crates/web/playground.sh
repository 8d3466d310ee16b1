#!/usr/bin/env bash
# Builds the playground that needs no server, crates/web/dist/playground/playground.html:
# playground.sh [test | speed]
#   test    also compares the module's results with those of gq, and tries the page in browsers
#   speed   also measures the module against its session as machine code and against `gq run`
set -euo pipefail
cd "$(dirname "$0")/../.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
cargo rustc --quiet -p goodqueue-serve --no-default-features --lib --crate-type cdylib --profile wasm --target wasm32-unknown-unknown
built="$target/wasm32-unknown-unknown/wasm/goodqueue_serve.wasm"
export GQ_MODULE="$target/wasm32-unknown-unknown/wasm/optimized.wasm"
# With what the module is built with (.cargo/config.toml): the page has a limit of size.
crates/web/node_modules/.bin/wasm-opt -Oz --strip-producers --strip-target-features --enable-bulk-memory --enable-multivalue --enable-mutable-globals --enable-nontrapping-float-to-int \
    --enable-reference-types --enable-sign-ext --enable-simd "$built" -o "$GQ_MODULE"
npm --prefix crates/web run --silent playground
case "${1:-}" in
test) profile=dev folder=debug ;;
speed)
    profile=release folder=release NATIVE="$target/release/examples/native" && export NATIVE
    cargo build --quiet --release --package goodqueue-serve --example native
    ;;
*) exit 0 ;;
esac
cargo build --quiet --profile $profile --bin gq
GQ="$target/$folder/gq" npm --prefix crates/web run --silent e2e -- test/local.e2e.test.ts
