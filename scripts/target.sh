# shellcheck shell=sh
# The machines that programs are built for to be taken there, and the compilers for them: Zig's, with which a program needs no newer
# glibc than the oldest of these systems has: Debian 11, Ubuntu 20.04, Fedora 32. One with musl in it needs none: it is for systems with
# another C library, such as Android. To be sourced, with `root` set to the checkout.
#
# of_target TARGET   sets, for a machine as Rust calls it:
#   TARGET_MACHINE   as the machine itself says it (uname -m), TARGET_DEBIAN as Debian's packages do
#   TARGET_TRIPLET   as Debian's folders of its libraries are called
#   TARGET_KIND      empty, or -static of a program that needs no C library
#   TARGET_BUILD     as cargo-zigbuild wants it: with the glibc
#   TARGET_QEMU      what runs its programs here
#   TARGET_CC, TARGET_CXX, TARGET_AR   the compilers and the archiver, unless they are set
#   ZIG_TARGET       what scripts/zig/tool needs to know
# this_target        prints the one that is this machine; nothing where it is none of them
# glibc_of FILE      prints the glibc that a program needs
# own_version        prints storebench's version
# rust_library TARGET LOG   has rustup add Rust's library for a machine or system, unless it is there; fails where it can't, and LOG says why.
#                    Where the toolchain does not come from rustup, that is the user's affair.

oldest_glibc=2.31

# Every machine: Rust's name, its own, Debian's, the libraries', qemu's, and the kind of the program.
targets() {
    cat <<'END'
x86_64-unknown-linux-gnu       x86_64   amd64  x86_64-linux-gnu     qemu-x86_64
aarch64-unknown-linux-gnu      aarch64  arm64  aarch64-linux-gnu    qemu-aarch64
armv7-unknown-linux-gnueabihf  armv7l   armhf  arm-linux-gnueabihf  qemu-arm
x86_64-unknown-linux-musl      x86_64   amd64  x86_64-linux-musl    qemu-x86_64   -static
aarch64-unknown-linux-musl     aarch64  arm64  aarch64-linux-musl   qemu-aarch64  -static
END
}

# shellcheck disable=SC2034,SC2154 # for whoever sources this, and of it
of_target() {
    target=$1
    target_line=$(targets | awk -v target="$1" '$1 == target { $1 = ""; print }')
    if [ -z "$target_line" ]; then
        printf "unknown target '%s': %s are known\n" "$target" "$(targets | awk '{ print $1 }' | tr '\n' ' ' | sed 's/ $//; s/ /, /g; s/, \([^ ]*\)$/ and \1/')" >&2
        return 1
    fi
    # shellcheck disable=SC2086 # several words
    set -- $target_line
    TARGET_MACHINE=$1 TARGET_DEBIAN=$2 TARGET_TRIPLET=$3 TARGET_QEMU=$4 TARGET_KIND=${5:-}
    TARGET_CC=${TARGET_CC:-$root/scripts/zig/cc} TARGET_CXX=${TARGET_CXX:-$root/scripts/zig/c++} TARGET_AR=${TARGET_AR:-$root/scripts/zig/ar}
    ZIG_TARGET=$TARGET_TRIPLET.$oldest_glibc TARGET_BUILD=$target.$oldest_glibc
    if [ -n "$TARGET_KIND" ]; then ZIG_TARGET=$TARGET_TRIPLET TARGET_BUILD=$target; fi
    # Rust's armv7 has no NEON.
    case "$TARGET_MACHINE" in armv7*) ZIG_TARGET="$ZIG_TARGET -mcpu=generic+v7a+vfp3-d32+thumb2-neon" ;; esac
    export TARGET_CC TARGET_CXX TARGET_AR ZIG_TARGET
}

this_target() {
    targets | awk -v machine="$(uname -m)" '$2 == machine && $6 == "" { print $1 }'
}

glibc_of() {
    readelf -V "$1" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1 | sed 's/GLIBC_//'
}

# shellcheck disable=SC2154 # of whoever sources this
own_version() {
    sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1
}

archive_name() {
    echo "storebench-$(own_version)-$TARGET_MACHINE-linux"
}

rust_library() {
    command -v rustup >/dev/null 2>&1 || return 0
    if rustup target list --installed | grep -qx "$1"; then return 0; fi
    printf "adding Rust's library for %s (rustup target add)\n" "$1" >&2
    rustup target add "$1" >"$2" 2>&1
}
