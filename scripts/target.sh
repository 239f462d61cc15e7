# shellcheck shell=sh
# The machines that storebench is cross-compiled for, and Debian's compilers for them. To be sourced.
#
# of_target TARGET   sets, for a machine as Rust calls it:
#   TARGET_MACHINE   as the machine itself says it (uname -m), TARGET_DEBIAN as Debian's packages do
#   TARGET_TRIPLET   as its compilers are called: $TARGET_TRIPLET-gcc
#   TARGET_QEMU      what runs its programs here
#   TARGET_CC, TARGET_CXX, TARGET_AR   the compilers and the archiver, unless they are set

# Every machine: Rust's name, its own, Debian's, the compilers', and qemu's.
targets() {
    cat <<'END'
aarch64-unknown-linux-gnu      aarch64  arm64  aarch64-linux-gnu    qemu-aarch64
armv7-unknown-linux-gnueabihf  armv7l   armhf  arm-linux-gnueabihf  qemu-arm
END
}

# shellcheck disable=SC2034 # for whoever sources this
of_target() {
    target_line=$(targets | awk -v target="$1" '$1 == target { $1 = ""; print }')
    if [ -z "$target_line" ]; then
        printf "unknown target '%s': %s are known\n" "$1" "$(targets | awk '{ print $1 }' | tr '\n' ' ' | sed 's/ $//; s/ / and /')" >&2
        return 1
    fi
    # shellcheck disable=SC2086 # several words
    set -- $target_line
    TARGET_MACHINE=$1 TARGET_DEBIAN=$2 TARGET_TRIPLET=$3 TARGET_QEMU=$4
    TARGET_CC=${TARGET_CC:-$3-gcc} TARGET_CXX=${TARGET_CXX:-$3-g++} TARGET_AR=${TARGET_AR:-$3-ar}
}
