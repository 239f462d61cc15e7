#!/bin/sh
# Builds the program to be taken to another machine: all engines and the C++ runtime are linked into it, and it needs nothing there but
# a C library that may be old (scripts/target.sh). `storebench run --remote` finds it where this puts it.
#
# usage: scripts/cross.sh TARGET [FOLDER]  builds it; TARGET: those of scripts/target.sh; without FOLDER, it is kept in the cache
#        scripts/cross.sh --test TARGET    builds it, and measures every store with it under qemu-user; keeps nothing of it
# environment:
#   FEATURES         the stores to build in, separated by commas; empty: all
#   PROFILE          cargo's profile; empty: release, and with --test the one that compiles fastest
#   XDG_CACHE_HOME   the program is storebench/programs/storebench-VERSION-MACHINE in it; empty: ~/.cache
# Exit code 0: it is there (and works); 1: something failed, and a line says what to do; 2: bad usage.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
. scripts/env.sh
# shellcheck source=scripts/target.sh
. scripts/target.sh
# shellcheck source=scripts/download.sh
. scripts/download.sh
cache=${XDG_CACHE_HOME:-${HOME:?is needed to find the cache}/.cache}/storebench
python=$cache/python

# Berkeley DB as Debian builds it: its package for the other machine, unpacked into the cache. So no architecture is added to
# this machine's package lists.
berkeleydb_version=5.3.28+dfsg2-1
berkeleydb_sha256() {
    case "$1" in
        amd64) echo f792f095deecb4f990f695e0d33f75f70b92491eab649adf91ea8574885d157c ;;
        arm64) echo 22f36efc670979be84a676bf6cf833811a95f46e9b5a1b2fc6e21ea20cee8581 ;;
        armhf) echo aad562ea13272d1537aed2e09c95e99f6db37ac2518457ce92e0f5e14b687b35 ;;
    esac
}

say() {
    printf 'cross: %s\n' "$*" >&2
}

fail() {
    say "$*"
    exit 1
}

# ---- Stores

all_stores=$(sed -n 's/^default = \[\(.*\)\]$/\1/p' crates/storebench/Cargo.toml | tr -d '" ')
stores=${FEATURES:-$all_stores}

builds() {
    case ",$stores," in *",$1,"*) return 0 ;; *) return 1 ;; esac
}

# ---- What the build needs

check_tools() {
    if [ ! -x "$python/bin/cargo-zigbuild" ] || ! "$TARGET_CC" --version >/dev/null 2>&1; then
        fail "Zig's compilers are missing: \`scripts/setup.sh cross\` installs them from PyPI, in storebench's cache"
    fi
    rust_library "$1" "$box/rustup.log" || fail "rustup could not add $1: $(tail -n 1 "$box/rustup.log")"
}

# Unpacks Berkeley DB into the cache, unless it is there; prints its folder.
berkeleydb() {
    sha256=$(berkeleydb_sha256 "$TARGET_DEBIAN")
    folder=$cache/engines/berkeleydb-$berkeleydb_version-$TARGET_DEBIAN
    if [ ! -e "$folder/lib/libdb.a" ]; then
        name=libdb5.3-dev_${berkeleydb_version}_$TARGET_DEBIAN.deb
        mkdir -p "$cache/engines"
        archive=$cache/engines/$name
        [ -e "$archive" ] || fetch "$name" "$archive" "$sha256"
        has_sha256 "$archive" "$sha256" || fail "$archive is not Debian's: delete it"
        # A .deb is an archive of archives.
        (cd "$box" && ar x "$archive" && mkdir unpacked && tar -C unpacked -xf data.tar.*)
        mkdir -p "$box/berkeleydb/lib" "$box/berkeleydb/include"
        cp "$box/unpacked/usr/lib/$TARGET_TRIPLET/libdb-5.3.a" "$box/berkeleydb/lib/libdb.a"
        cp "$box/unpacked/usr/include/db.h" "$box/berkeleydb/include"
        rm -rf "$folder"
        mv "$box/berkeleydb" "$folder"
    fi
    echo "$folder"
}

# fetch NAME FILE SHA256: one of Debian's packages of Berkeley DB.
fetch() {
    say "fetching Berkeley DB for $TARGET_DEBIAN from Debian"
    for mirror in https://deb.debian.org/debian http://deb.debian.org/debian; do
        if (cd "$box" && download "$mirror/pool/main/d/db5.3/$1" deb) && has_sha256 "$box/deb" "$3"; then
            mv "$box/deb" "$2"
            return 0
        fi
    done
    fail "$1 could not be fetched ($(tail -n 1 "$box/download.log")): put it there by hand: $2 (sha256 $3)," \
        "or leave the store out with FEATURES"
}

has_sha256() {
    [ "$(sha256sum <"$1" | cut -d ' ' -f 1)" = "$2" ]
}

# ---- Building

# Prints the program's file. Its engines are compiled by the compilers that of_target names.
build() {
    if builds berkeleydb; then
        BERKELEYDB_DIR=$(berkeleydb)
        export BERKELEYDB_DIR
    fi
    # The linker takes the archive where it is asked for the shared library.
    mkdir "$box/links"
    if builds berkeleydb; then echo "INPUT( $BERKELEYDB_DIR/lib/libdb.a )" >"$box/links/libdb.so"; fi
    PATH=$python/bin:$PATH CARGO_PROFILE_RELEASE_STRIP=debuginfo CARGO_PROFILE_DEV_STRIP=debuginfo \
        cargo-zigbuild rustc --profile "${PROFILE:-release}" --locked --package storebench --bin storebench \
        --target "$TARGET_BUILD" --no-default-features --features "$stores" --message-format json-render-diagnostics -- \
        -L "native=$box/links" >"$box/messages.json"
    sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' "$box/messages.json" | tail -n 1
}

# What a program needs of the system beyond the C library.
needed() {
    readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' |
        grep -v -e '^libc\.so' -e '^libm\.so' -e '^libdl\.so' -e '^libpthread\.so' -e '^librt\.so' -e '^ld-linux'
}

# make_program TARGET FOLDER: builds the program; it is FOLDER/storebench-VERSION-MACHINE.
make_program() {
    of_target "$1" || exit 2
    if [ -n "$TARGET_KIND" ] && builds berkeleydb; then
        # Debian's is for glibc.
        [ -z "${FEATURES:-}" ] || fail "Berkeley DB can't be in a static program: leave it out of FEATURES"
        stores=$(echo "$stores" | tr ',' '\n' | grep -vx berkeleydb | paste -sd , -)
    fi
    check_tools "$1"
    built=$(build "$1")
    [ -n "$built" ] || fail "cargo did not say where the program is"
    unwanted=$(needed "$built") || true
    [ -z "$unwanted" ] || fail "the program needs more of the system than its C library:" "$unwanted"
    if [ -n "$TARGET_KIND" ] && readelf -l "$built" | grep -q INTERP; then fail "the program needs a loader, and is to be static"; fi
    program=$2/storebench-$(own_version)-$TARGET_MACHINE$TARGET_KIND
    mkdir -p "$2"
    cp "$built" "$program.$$"
    mv "$program.$$" "$program"
    needs="glibc $(glibc_of "$program") or newer"
    if [ -n "$TARGET_KIND" ]; then needs='no C library'; fi
    say "made ${program##*/} ($stores), which needs $needs"
}

# ---- The test: the quick study, as small as it can be, under qemu. Times mean nothing there, and none is looked at.

test_program() {
    command -v "$TARGET_QEMU" >/dev/null 2>&1 ||
        fail "$TARGET_QEMU is missing: \`scripts/setup.sh cross-test\` installs it on Debian and Ubuntu"
    qemu="$TARGET_QEMU -L /usr/$TARGET_TRIPLET"
    cp "$program" "$box/storebench"
    cp "$program" "$box/again"
    # The program starts itself for every trial, and the kernel knows nothing of qemu: once it is loaded, what stands under its
    # name is a script that starts qemu again.
    printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$qemu" "$box/again" >"$box/script"
    chmod +x "$box/script"
    list=flat-folder,nested-folder,$stores
    if [ -n "$TARGET_KIND" ]; then
        # musl asks the kernel for robust mutexes, which qemu-user has none of: those engines run on real machines alone.
        list=$(echo "$list" | tr ',' '\n' | grep -vx -e lmdb -e libmdbx | paste -sd , -)
    fi
    # qemu keeps an account of each page of a map: that of a 64-bit LMDB, of 1 TiB, is more than it can.
    set=
    case ",$list," in *,lmdb,*) set='--set lmdb.map_size=1GiB' ;; esac
    case ",$list," in *,libmdbx,*) set="$set --set libmdbx.size_upper=1GiB" ;; esac
    # shellcheck disable=SC2086 # some words, or none
    STOREBENCH_TEST_HOOKS=memory-keeps $qemu "$box/storebench" run crud --quick $set --store "$list" --records 20 --record-size 1B..1KiB --operations 5 \
        --guarantee process,power --trials 1 --timeout 10m --at "$box" --out "$box/runs" >"$box/run.log" 2>&1 &
    running=$!
    until grep -qs "$box/storebench" "/proc/$running/maps"; do
        kill -0 "$running" 2>/dev/null || fail "it does not start: $(tail -n 1 "$box/run.log")"
        sleep 0.05
    done
    mv "$box/script" "$box/storebench"
    wait "$running" || fail "the run under qemu failed: $(tail -n 5 "$box/run.log")"
    scripts/check-run.py "$box"/runs/crud-*/ "$list"
    # Every text and table is made there too.
    $qemu "$box/again" report "$box"/runs/crud-*/ --table >"$box/table" || fail "the report under qemu failed"
    say "tested under $TARGET_QEMU: every trial of $list is complete, verified and audited"
    untested=$(for store in $(echo "$all_stores" | tr ',' ' '); do builds "$store" || printf ' %s' "$store"; done)
    [ -z "$untested" ] || say "not tested, as not built:$untested"
    if [ -n "$TARGET_KIND" ]; then say "not tested, as qemu has no robust mutexes: lmdb libmdbx"; fi
}

box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
case "${1:-} $#" in
    "--test 2")
        PROFILE=${PROFILE:-tried}
        make_program "$2" "$box/programs"
        test_program
        ;;
    -* | *' 0' | *' 3')
        say "usage: scripts/cross.sh TARGET [FOLDER], or scripts/cross.sh --test TARGET"
        exit 2
        ;;
    *)
        make_program "$1" "${2:-$cache/programs}"
        [ $# -eq 2 ] || say "it is $program"
        ;;
esac
