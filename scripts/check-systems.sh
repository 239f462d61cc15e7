#!/bin/sh
# Compiles storebench for systems that nobody tests it on, with warnings denied. Nothing is linked and nothing runs: that it does there
# what it should is not known.
#
# usage: scripts/check-systems.sh [TARGET...]
#   TARGET   as Rust calls it; without one: macOS on both processors, and Android
# The stores are those in Rust: the others' libraries are built with compilers and headers of those systems.
# Exit code 0: it compiles for each; 1: it does not, and the compiler says why.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
. scripts/env.sh
# shellcheck source=scripts/target.sh
. scripts/target.sh
cache=${XDG_CACHE_HOME:-${HOME:?is needed to find the cache}/.cache}/storebench
python=$cache/python

fail() {
    printf 'check-systems: %s\n' "$*" >&2
    exit 1
}

[ $# -gt 0 ] || set -- aarch64-apple-darwin x86_64-apple-darwin aarch64-linux-android
# Zig's compiler brings the headers for what is written in C.
[ -x "$python/bin/cargo-zigbuild" ] || fail "Zig's compilers are missing: \`scripts/setup.sh cross\` installs them from PyPI, in storebench's cache"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for target in "$@"; do
    rust_library "$target" "$log" || fail "rustup could not add $target: $(tail -n 1 "$log")"
    PATH=$python/bin:$PATH cargo-zigbuild clippy --locked --target "$target" --no-default-features --features storebench/redb,storebench/fjall,storebench/sled \
        --package storebench-disk --package storebench-core --package storebench-model --package storebench-host --package storebench-figures --package storebench-report --package storebench-stores --package storebench -- -D warnings ||
        fail "storebench does not compile for $target"
    printf 'check-systems: storebench compiles for %s\n' "$target" >&2
done
