#!/bin/sh
# Builds an archive of the program that runs without the packages it was built with: the engines and the C++ runtime are linked
# into it, and it needs nothing but the system's C library. With manual pages, completions, documentation and licences.
#
# usage: scripts/dist.sh FOLDER            builds FOLDER/storebench-VERSION-MACHINE-linux.tar.gz, and checks it
#        scripts/dist.sh --check ARCHIVE   runs an archive's program where nothing but the C library is
# environment:
#   STOREBENCH_CARGO_FLAGS  for cargo (scripts/env.sh sets it)
#   CC                      the C compiler, which knows where the static libraries are; empty: cc
# Exit code 0: the archive is there and works; 1: a line says what to do.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
CC=${CC:-cc}

# Files that the program may need of the system: the C library's.
allowed='linux-vdso.so linux-gate.so libc.so libm.so libdl.so libpthread.so librt.so ld-linux'

say() {
    printf 'dist: %s\n' "$*" >&2
}

fail() {
    say "$*"
    exit 1
}

# ---- Linking

# static NAME ARCHIVE...: the linker takes the archives wherever it is asked for the shared library NAME.
static() {
    shared=lib$1.so
    shift
    paths=
    for archive in "$@"; do
        path=$($CC -print-file-name="$archive")
        [ -e "$path" ] || fail "$archive is missing, which comes with the packages of docs/building.md"
        paths="$paths $path"
    done
    echo "INPUT($paths )" >"$box/links/$shared"
}

build() {
    mkdir "$box/links"
    static stdc++ libstdc++.a
    static gcc_s libgcc_eh.a libgcc.a
    # The other engines are linked in by every build.
    case ",${FEATURES:-berkeleydb}," in *,berkeleydb,*) static db libdb.a ;; esac
    # shellcheck disable=SC2086 # several words
    cargo rustc --release --locked --package storebench --bin storebench ${STOREBENCH_CARGO_FLAGS:-} -- \
        -L "native=$box/links"
}

# What a program needs of the system beyond the C library, one name a line.
needed() {
    ldd "$1" | awk '{ print $1 }' | sed 's|.*/||' | while read -r library; do
        known=
        for start in $allowed; do
            case "$library" in "$start"*) known=yes ;; esac
        done
        [ -n "$known" ] || echo "$library"
    done
}

# ---- Licences

# The folders of the packages that are linked in, as cargo unpacks them.
packages() {
    cargo metadata --format-version 1 --locked --features storebench/engine-sources | tr ',' '\n' |
        sed -n 's/^"manifest_path":"\(.*\)\/Cargo.toml"$/\1/p' >"$box/folders"
    cargo tree --locked --package storebench --edges normal --prefix none --features engine-sources |
        awk '!/\(\// && NF >= 2 { print $1 "-" substr($2, 2) }' | sort -u | while read -r package; do
        grep -F "/$package" "$box/folders" | awk -v end="/$package" 'substr($0, length($0) - length(end) + 1) == end' |
            head -n 1
    done
}

# Copies each package's licences to a folder of its own.
licences() {
    packages >"$box/packages"
    [ -s "$box/packages" ] || fail "cargo did not say which packages are linked in"
    while read -r package; do
        into=$1/$(basename "$package")
        mkdir -p "$into"
        (cd "$package" && find . -maxdepth 4 -type f \( -iname 'licen[cs]e*' -o -iname 'copying*' -o -iname 'copyright*' \
            -o -iname 'notice*' -o -iname 'unlicense*' -o -iname '*_license.txt' \)) | grep -v -e /tests/ -e /examples/ \
            -e /programs/ -e /contrib/ -e '\.rs$' -e '\.py$' | while read -r file; do
            cp "$package/$file" "$into/$(echo "$file" | sed 's|^\./||; s|/|-|g')"
        done
        # Some name their licence in Cargo.toml and leave the text to others.
        sed -n 's/^license = /licence: /p; s/^authors = /authors: /p; s/^repository = /repository: /p' "$package/Cargo.toml" \
            >"$into/ABOUT"
    done <"$box/packages"
    mkdir -p "$1/leveldb" "$1/berkeleydb" "$1/gcc-runtime"
    archive=${XDG_CACHE_HOME:-$HOME/.cache}/storebench/engines/leveldb-1.23.tar.gz
    if [ -e "$archive" ]; then gzip -dc "$archive" | tar xOf - leveldb-1.23/LICENSE >"$1/leveldb/LICENSE"; fi
    debian libdb5.3-dev "$1/berkeleydb"
    debian libstdc++6 "$1/gcc-runtime"
    cat >"$1/README" <<END
The licences of what is linked into bin/storebench, a folder for each library.

Berkeley DB is under the Sleepycat licence: who passes this program on must offer the source of all of it. storebench's is at
the address in Cargo.toml of its repository; each package's is at the address in its ABOUT.
SQLite is in the public domain.
The C++ runtime is under the GPL with GCC's runtime library exception, which permits linking it into any program.
END
}

# debian PACKAGE FOLDER: the licence that Debian ships with a package, where this is Debian.
debian() {
    file=/usr/share/doc/$1/copyright
    if [ -e "$file" ]; then cp "$file" "$2/copyright"; else rmdir "$2"; fi
}

# ---- The archive

readme() {
    cat <<END
storebench $version for Linux on $machine

    bin/storebench --help        the program; it can be run from here
    share/                       manual pages, and completions for bash, zsh and fish
    docs/                        the documentation
    licences/                    of all that is linked in

To install it: cp -r bin share /usr/local

It needs glibc $glibc or newer and no other package. RocksDB in it needs these processor instructions:$processor.
END
}

make_archive() {
    case ",${FEATURES:-}," in
        *,all,* | *,wiredtiger,*) fail "WiredTiger is under the GPL, and is in no archive: leave it out of FEATURES" ;;
    esac
    [ "$(uname -s)" = Linux ] || fail "archives are made on Linux only; build from source instead (docs/building.md)"
    mkdir -p "$1"
    folder=$(cd "$1" && pwd)
    cd "$root"
    version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
    machine=$(uname -m)
    name=storebench-$version-$machine-linux
    build
    stage=$box/$name
    scripts/install.sh "$stage" >/dev/null
    strip --strip-debug "$stage/bin/storebench"
    unwanted=$(needed "$stage/bin/storebench")
    [ -z "$unwanted" ] || fail "the program needs more of the system than its C library:" "$unwanted"
    glibc=$(objdump -T "$stage/bin/storebench" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1 | sed 's/GLIBC_//')
    processor=
    for flag in sse4_2 pclmulqdq; do
        if grep -qsw "$flag" /proc/cpuinfo; then processor="$processor $flag"; fi
    done
    [ -n "$processor" ] || processor=" none"
    readme >"$stage/README"
    cp LICENSE-MIT LICENSE-APACHE CHANGELOG.md "$stage"
    cp -R docs "$stage/docs"
    licences "$stage/licences"
    (cd "$box" && tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf - "$name") | gzip -n9 >"$folder/$name.tar.gz"
    (cd "$folder" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
    check "$folder/$name.tar.gz"
    say "made $folder/$name.tar.gz"
}

# ---- The check: the program in a root that holds nothing but the C library

check() {
    [ -e "$1" ] || fail "there is no $1"
    bare=$box/bare
    mkdir -p "$bare/tmp" "$bare/proc" "$bare/dev" "$bare/work"
    gzip -dc "$1" | (cd "$bare" && tar xf -)
    program=$(cd "$bare" && echo storebench-*/bin/storebench)
    [ -x "$bare/$program" ] || fail "$1 holds no program"
    ldd "$bare/$program" | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p; s/^[[:space:]]*\(\/[^ ]*\) (.*/\1/p' | while read -r library; do
        mkdir -p "$bare/$(dirname "$library")"
        cp "$library" "$bare/$library"
    done
    # The root's devices and processes are seen by this process and its children alone, and go with them.
    if ! unshare --mount --pid --fork --map-root-user true 2>/dev/null; then
        say "CHECK SKIPPED: this system lets no process have a root of its own (unshare)"
        return 0
    fi
    export bare program
    # shellcheck disable=SC2016 # expanded in the shell that is started
    unshare --mount --pid --fork --map-root-user sh -euc '
        mount -t proc proc "$bare/proc" 2>/dev/null || mount --rbind /proc "$bare/proc"
        : >"$bare/dev/null"
        mount --bind /dev/null "$bare/dev/null"
        chroot=$(command -v chroot)
        in_bare() { env -i "$chroot" "$bare" "/$program" "$@"; }
        in_bare stores
        in_bare run crud --quick --records 100 --record-size 1KiB --data compressible --operations 20 --trials 2 --at /work --out /work/runs
        in_bare report latest --out /work/runs --html /work/page.html --sqlite /work/results.db
        in_bare man /work/man
    ' >"$box/check.log" 2>&1 || fail "the program does not work without the packages it was built with: $(tail -n 3 "$box/check.log")"
    if grep -q 'is not built' "$box/check.log"; then fail "a store is missing: $(grep 'is not built' "$box/check.log")"; fi
    for file in page.html results.db man/storebench.1; do
        [ -s "$bare/work/$file" ] || fail "the program wrote no $file"
    done
    say "checked: it runs where nothing but the C library is"
}

box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
case "${1:-}" in
    --check) [ $# -eq 2 ] || fail "usage: scripts/dist.sh --check ARCHIVE" && check "$2" ;;
    '' | -*) fail "usage: scripts/dist.sh FOLDER, or scripts/dist.sh --check ARCHIVE" ;;
    *) make_archive "$1" ;;
esac
