#!/bin/sh
# Builds RocksDB, LevelDB, UnQLite and libmdbx from their authors' sources, as their authors ship them: optimised and without
# assertions. Distributions leave the assertions of the first two in, which makes RocksDB's reads up to twice as slow
# (docs/fairness.md), and Debian has none of the other two. A build is kept in a cache outside the checkout, so that it is
# made once a machine; says nothing when it is there.
#
# usage: scripts/engines.sh [--target TARGET] ENGINE...          builds what is not in the cache yet; ENGINE: rocksdb, leveldb, unqlite,
#                                                                libmdbx
#        scripts/engines.sh [--target TARGET] --where ENGINE     prints the folder of its build; nothing where there is none
#   TARGET    another machine, as Rust calls it: those of scripts/target.sh
# environment:
#   XDG_CACHE_HOME  the cache is storebench/engines in it; empty: ~/.cache
#   CC, CXX, AR     the compilers and the archiver; empty: cc, c++, ar. For another machine TARGET_CC, TARGET_CXX, TARGET_AR;
#                   empty: Zig's (scripts/target.sh)
#   JOBS            how many compilers run at once; empty: one for each processor, fewer where memory is short
# A build's folder is named after the engine's version and a hash of all that went into it. It holds include/, lib/ and
# BUILD, which says what went into it. It appears when it is complete, and never changes.
# Exit code 0: all is there; 1: something could not be built, and a line says what to do; 2: bad usage.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/download.sh
. "$root/scripts/download.sh"

cache=${XDG_CACHE_HOME:-${HOME:?is needed to find the cache}/.cache}/storebench/engines

# LevelDB's last release: its authors' own archive, which Debian mirrors.
leveldb_version=1.23
leveldb_sha256=9a37f8a6174f09bd622bc723b55881dc541cd50747cbd08831c2a82d620f6d76
leveldb_urls="https://deb.debian.org/debian/pool/main/l/leveldb/leveldb_$leveldb_version.orig.tar.gz
http://deb.debian.org/debian/pool/main/l/leveldb/leveldb_$leveldb_version.orig.tar.gz
https://github.com/google/leveldb/archive/refs/tags/$leveldb_version.tar.gz"

# What the sources in the package unqlite call themselves.
unqlite_version=1.1.9

# What those in the package mdbx-sys call themselves.
libmdbx_version=0.14.4

say() {
    printf 'engines: %s\n' "$*" >&2
}

fail() {
    say "$*"
    exit 1
}

have() {
    command -v "$1" >/dev/null 2>&1
}

# ---- What it is built for

# The compilers, and the system and machine that they compile for; $1 is empty for this one.
for_target() {
    if [ -n "$1" ]; then
        # shellcheck source=scripts/target.sh
        . "$root/scripts/target.sh"
        of_target "$1" || exit 2
        CC=$TARGET_CC CXX=$TARGET_CXX AR=$TARGET_AR
        system=Linux machine=$TARGET_MACHINE
    else
        CC=${CC:-cc} CXX=${CXX:-c++} AR=${AR:-ar}
        system=$(uname -s) machine=$(uname -m)
    fi
}

# ---- What goes into a build

# locked NAME FIELD: a field of a package in Cargo.lock: its version, or the checksum of all of its sources.
locked() {
    awk -v name="$1" -v field="$2" '
        $1 == "name" { found = $3 == "\"" name "\"" }
        found && $1 == field { gsub(/"/, "", $3); print $3; exit }' "$root/Cargo.lock"
}

# What the version of the engine $1 is called.
version() {
    case "$1" in
        rocksdb) locked librocksdb-sys version | sed 's/.*+//' ;;
        leveldb) echo "$leveldb_version" ;;
        unqlite) echo "$unqlite_version" ;;
        libmdbx) echo "$libmdbx_version" ;;
    esac
}

title() {
    case "$1" in
        rocksdb) echo "RocksDB $(version rocksdb)" ;;
        leveldb) echo "LevelDB $leveldb_version" ;;
        unqlite) echo "UnQLite $unqlite_version" ;;
        libmdbx) echo "libmdbx $libmdbx_version" ;;
    esac
}

# The flags of each part, as its authors build a release of it. Paths are relative to the folder in which it is built.
flags() {
    case "$1" in
        # RocksDB's Makefile with DEBUG_LEVEL=0.
        rocksdb) echo "-std=c++20 -O2 -DNDEBUG -fno-rtti -fno-omit-frame-pointer$(leaf_frames) -fPIC$(rocksdb_platform)" ;;
        # The rest as by cmake -DCMAKE_BUILD_TYPE=Release, and by make.
        leveldb) echo "-std=c++11 -O3 -DNDEBUG -fno-exceptions -fno-rtti -fPIC$(leveldb_platform)" ;;
        snappy) echo "-std=c++11 -O3 -DNDEBUG -fno-exceptions -fno-rtti -fPIC$(snappy_platform)" ;;
        lz4 | zstd) echo "-O3 -DNDEBUG -fPIC" ;;
        # As its CMakeLists.txt with CMAKE_BUILD_TYPE=Release; without locks of its own.
        unqlite) echo "-O3 -DNDEBUG -fPIC$(long_files)" ;;
        # As its GNUmakefile.
        libmdbx) echo "-std=gnu11 -O2 -DNDEBUG=1 -ffunction-sections -fPIC -fvisibility=hidden -pthread$(long_files)" ;;
    esac
}

leaf_frames() {
    case "$machine" in x86_64 | amd64) printf ' -momit-leaf-frame-pointer' ;; esac
}

# Files of 32-bit systems may be long only where it is asked for.
long_files() {
    case "$machine" in arm*) printf ' -D_FILE_OFFSET_BITS=64' ;; esac
}

rocksdb_platform() {
    printf ' -DROCKSDB_PLATFORM_POSIX -DROCKSDB_LIB_IO_POSIX -DHAVE_ALIGNED_NEW'
    long_files
    # Compilers for 32 bits have no such type.
    case "$machine" in arm*) ;; *) printf ' -DHAVE_UINT128_EXTENSION' ;; esac
    case "$system" in
        Linux)
            printf ' -DOS_LINUX -DROCKSDB_FALLOCATE_PRESENT -DROCKSDB_RANGESYNC_PRESENT -DROCKSDB_SCHED_GETCPU_PRESENT'
            printf ' -DROCKSDB_AUXV_GETAUXVAL_PRESENT -DROCKSDB_MALLOC_USABLE_SIZE'
            if defined __GLIBC__ stdlib.h; then printf ' -DROCKSDB_PTHREAD_ADAPTIVE_MUTEX'; fi
            ;;
        Darwin) printf ' -DOS_MACOSX' ;;
        *) printf ' -DOS_%s' "$(echo "$system" | tr '[:lower:]' '[:upper:]')" ;;
    esac
    # Checksums by the processor's own instructions, which RocksDB decides when it is compiled.
    case "$machine" in
        x86_64 | amd64) if processor_has sse4_2 && processor_has pclmulqdq; then printf ' -msse4.2 -mpclmul'; fi ;;
        aarch64 | arm64) if [ "$system" = Linux ]; then printf ' -march=armv8-a+crc+crypto'; fi ;;
    esac
}

leveldb_platform() {
    printf ' -DLEVELDB_PLATFORM_POSIX=1 -DHAVE_SNAPPY=1 -DHAVE_O_CLOEXEC=1'
    long_files
    case "$system" in
        Darwin) printf ' -DHAVE_FDATASYNC=0 -DHAVE_FULLFSYNC=1' ;;
        *) printf ' -DHAVE_FDATASYNC=1 -DHAVE_FULLFSYNC=0' ;;
    esac
}

snappy_platform() {
    printf ' -DHAVE_BUILTIN_EXPECT=1 -DHAVE_BUILTIN_CTZ=1 -DHAVE_BUILTIN_PREFETCH=1 -DHAVE_ATTRIBUTE_ALWAYS_INLINE=1'
    printf ' -DHAVE_UNISTD_H=1 -DHAVE_SYS_UIO_H=1'
    case "$machine" in aarch64 | arm64) printf ' -DSNAPPY_HAVE_NEON=1' ;; esac
}

# Whether a header ($2) defines a macro.
defined() {
    printf '#include <%s>\n#ifndef %s\n#error\n#endif\n' "$2" "$1" | $CC -E - >/dev/null 2>&1
}

processor_has() {
    case "$system" in
        Linux) grep -m 1 '^flags' /proc/cpuinfo | grep -qw "$1" ;;
        # Every Mac that Rust supports has both.
        Darwin) true ;;
        *) false ;;
    esac
}

# All that decides what a build is, in words. Its first lines are what results tell of it.
recipe() {
    echo "engine: $(title "$1")"
    echo "flags: $(flags "$1")"
    case "$1" in unqlite | libmdbx) compiler=$CC ;; *) compiler=$CXX ;; esac
    echo "compiler: $($compiler --version | head -n 1)"
    echo "system: $system $machine${ZIG_TARGET:+, as Zig has it: $ZIG_TARGET}"
    case "$1" in
        rocksdb)
            echo "sources: librocksdb-sys $(locked librocksdb-sys version), sha256 $(locked librocksdb-sys checksum)"
            echo "LZ4: lz4-sys $(locked lz4-sys version), sha256 $(locked lz4-sys checksum), $(flags lz4)"
            echo "zstd: zstd-sys $(locked zstd-sys version), sha256 $(locked zstd-sys checksum), $(flags zstd)"
            ;;
        leveldb) echo "sources: leveldb $leveldb_version, sha256 $leveldb_sha256" ;;
        unqlite) echo "sources: unqlite $(locked unqlite version), sha256 $(locked unqlite checksum)" ;;
        libmdbx) echo "sources: mdbx-sys $(locked mdbx-sys version), sha256 $(locked mdbx-sys checksum)" ;;
    esac
    case "$1" in
        rocksdb | leveldb) echo "Snappy: librocksdb-sys $(locked librocksdb-sys version), $(flags snappy)" ;;
    esac
    # To be raised when what this script does with all that changes.
    echo "recipe: 1"
}

sha256() {
    if have sha256sum; then sha256sum "$@"; else shasum -a 256 "$@"; fi | cut -d ' ' -f 1
}

# The folder of a build.
folder() {
    echo "$cache/$1-$(version "$1")-$(recipe "$1" | sha256 | cut -c 1-12)"
}

# ---- Sources

# The folders of the packages that hold the sources of RocksDB, of the codecs, of UnQLite and of libmdbx, as cargo unpacks them: links
# named after them, in the current folder.
link_packages() {
    have cargo || fail "cargo is missing, which fetches the sources: https://rustup.rs"
    (
        cd "$root"
        host=$(cargo -vV | sed -n 's/^host: //p')
        cargo metadata --format-version 1 --locked --features storebench/engine-sources --filter-platform "$host"
    ) >metadata.json 2>metadata.log ||
        fail "cargo could not fetch the sources: $(grep . metadata.log | tail -n 1)"
    for package in librocksdb-sys lz4-sys zstd-sys unqlite mdbx-sys; do
        path=$(tr ',' '\n' <metadata.json |
            sed -n "s/^\"manifest_path\":\"\(.*\/$package\(-[0-9][^/]*\)\{0,1\}\)\/Cargo.toml\"\$/\1/p" | head -n 1)
        [ -d "$path" ] || fail "cargo did not say where it keeps the package $package"
        ln -s "$path" "$package"
    done
}

# Fetches LevelDB's archive into the cache, unless it is there, and unpacks it.
unpack_leveldb() {
    archive=$cache/leveldb-$leveldb_version.tar.gz
    if [ ! -e "$archive" ]; then
        say "fetching the sources of LevelDB $leveldb_version"
        fetched=
        for url in $leveldb_urls; do
            if download "$url" leveldb.tar.gz && [ "$(sha256 leveldb.tar.gz)" = "$leveldb_sha256" ]; then
                fetched=yes
                break
            fi
        done
        [ -n "$fetched" ] || fail "the sources of LevelDB could not be fetched ($(tail -n 1 download.log));" \
            "put $url there by hand: $archive (sha256 $leveldb_sha256)," \
            "or take the system's library with LEVELDB=system, which is then shown but not ranked"
        mv leveldb.tar.gz "$archive"
    fi
    [ "$(sha256 "$archive")" = "$leveldb_sha256" ] || fail "$archive is not LevelDB $leveldb_version: delete it"
    gzip -dc "$archive" | tar xf -
}

# ---- Units: what one process compiles. Each is a script that works in the folder of the build.

# unit NAME: makes a unit of the commands on standard input.
unit() {
    { echo 'set -e'; cat; } >"units/$1"
}

# RocksDB's sources, 14 to a unit: that takes a third of the time of one by one.
rocksdb_units() {
    link_packages
    flags="$(flags rocksdb) -w -Ilibrocksdb-sys/rocksdb/include -Ilibrocksdb-sys/rocksdb -Isnappy -Ilz4-sys/liblz4/lib"
    flags="$flags -Izstd-sys/zstd/lib -DSNAPPY -DLZ4 -DZSTD -include cstdint"
    { grep -v '^util/build_version.cc$' librocksdb-sys/rocksdb_lib_sources.txt && echo ../build_version.cc; } |
        awk '{ file = sprintf("rocksdb-%02d.cc", int((NR - 1) / 14) + 1); print "#include \"librocksdb-sys/rocksdb/" $1 "\"" >file }'
    for source in rocksdb-*.cc; do
        echo "$CXX $flags -I. -c $source -o ${source%.cc}.o" | unit "${source%.cc}"
    done
    {
        snappy_commands
        c_commands "$(flags lz4) -w -DXXH_NAMESPACE=LZ4_" lz4-sys/liblz4/lib/lz4.c lz4-sys/liblz4/lib/lz4frame.c lz4-sys/liblz4/lib/lz4hc.c \
            lz4-sys/liblz4/lib/xxhash.c
        c_commands "$(flags zstd) -w -DXXH_NAMESPACE=ZSTD_" zstd-sys/zstd/lib/common/*.c zstd-sys/zstd/lib/compress/*.c \
            zstd-sys/zstd/lib/decompress/*.c zstd-sys/zstd/lib/decompress/*.S zstd-sys/zstd/lib/dictBuilder/*.c
    } | unit codecs
}

leveldb_units() {
    link_packages
    unpack_leveldb
    flags="$(flags leveldb) -w -Ileveldb-$leveldb_version -Ileveldb-$leveldb_version/include -Isnappy"
    for part in db table util helpers/memenv; do
        for source in "leveldb-$leveldb_version/$part"/*.cc; do
            case "$source" in
                *_test.cc | *_bench.cc | */testutil.cc | */leveldbutil.cc | */env_windows.cc) ;;
                *) echo "$CXX $flags -c $source -o leveldb-$(basename "$source" .cc).o" ;;
            esac
        done | unit "leveldb-$(basename "$part")"
    done
    snappy_commands | unit snappy
}

unqlite_units() {
    link_packages
    grep -qF "\"$unqlite_version\"" unqlite/unqlite/unqlite.h || fail "the package unqlite does not hold UnQLite $unqlite_version"
    c_commands "$(flags unqlite) -w" unqlite/unqlite/unqlite.c | unit unqlite
}

libmdbx_units() {
    link_packages
    grep -qF "(v$libmdbx_version-0-" mdbx-sys/libmdbx/mdbx.h || fail "the package mdbx-sys does not hold libmdbx $libmdbx_version"
    c_commands "$(flags libmdbx) -w" mdbx-sys/libmdbx/mdbx.c | unit libmdbx
}

# Snappy, with the header that its authors' cmake would write.
snappy_commands() {
    mkdir snappy
    cp librocksdb-sys/snappy/*.h librocksdb-sys/snappy/*.cc snappy
    snappy=$(sed -n 's/^project(Snappy VERSION \([0-9.]*\).*/\1/p' librocksdb-sys/snappy/CMakeLists.txt)
    # shellcheck disable=SC2016 # cmake expands these, not the shell
    sed -e 's/${HAVE_SYS_UIO_H_01}/1/' -e "s/\${PROJECT_VERSION_MAJOR}/$(echo "$snappy" | cut -d . -f 1)/" \
        -e "s/\${PROJECT_VERSION_MINOR}/$(echo "$snappy" | cut -d . -f 2)/" \
        -e "s/\${PROJECT_VERSION_PATCH}/$(echo "$snappy" | cut -d . -f 3)/" \
        librocksdb-sys/snappy/snappy-stubs-public.h.in >snappy/snappy-stubs-public.h
    for source in snappy snappy-c snappy-sinksource snappy-stubs-internal; do
        echo "$CXX $(flags snappy) -w -Isnappy -c snappy/$source.cc -o $source.o"
    done
}

# c_commands FLAGS SOURCE...
c_commands() {
    flags=$1
    shift
    for source in "$@"; do
        object=$(echo "$source" | cut -d / -f 1)-$(basename "$source" | tr . -).o
        echo "$CC $flags -c $source -o $object"
    done
}

# ---- Compiling

# How many compilers run at once: one takes up to 1 GB for a unit of RocksDB.
jobs() {
    processors=$(getconf _NPROCESSORS_ONLN 2>/dev/null) || processors=1
    free_gb=$(awk '/^MemAvailable:/ { print int($2 / 1100000) }' /proc/meminfo 2>/dev/null) || free_gb=
    if [ -n "$free_gb" ] && [ "$free_gb" -lt "$processors" ]; then processors=$free_gb; fi
    if [ "$processors" -lt 1 ]; then processors=1; fi
    echo "${JOBS:-$processors}"
}

# Runs a unit and tells how far things are; called by xargs, in a process of its own. With 255 xargs starts no others.
compile_unit() {
    : >"started-$1"
    say "compiling $TITLE, file $(count started-) of $TOTAL$(time_left)" 2>&3
    if ! sh "units/$1" >"log-$1" 2>&1; then
        echo "$1" >>failed
        exit 255
    fi
    : >"finished-$1"
}

# How many files there are whose names begin with $1.
count() {
    set -- "$1"*
    if [ -e "$1" ]; then echo $#; else echo 0; fi
}

# What is left, by the pace so far; nothing while little is known.
time_left() {
    finished=$(count finished-)
    took=$(($(date +%s) - BEGAN))
    if [ "$finished" -lt 2 ] || [ "$took" -lt 20 ]; then return 0; fi
    minutes=$(((took * (TOTAL - finished) / finished + 30) / 60))
    case "$minutes" in
        0) printf ', less than a minute left' ;;
        1) printf ', about a minute left' ;;
        *) printf ', about %s minutes left' "$minutes" ;;
    esac
}

# Compiles an engine in the current folder, and makes its include/, lib/ and BUILD there.
compile() {
    mkdir units include lib
    "$1_units"
    TITLE=$(title "$1") TOTAL=$(count units/) BEGAN=$(date +%s)
    export TITLE TOTAL BEGAN
    (cd units && printf '%s\n' *) | xargs -n 1 -P "$(jobs)" "$root/scripts/engines.sh" --compile-unit 3>&2 2>xargs.log || true
    if [ -s failed ]; then compiler_failed "$1"; fi
    [ "$(count finished-)" = "$TOTAL" ] || fail "compiling $TITLE was interrupted"
    archive=lib${1#lib}.a
    $AR crs "lib/$archive" ./*.o >ar.log 2>&1 || fail "$AR could not make $archive: $(tail -n 1 ar.log)"
    case "$1" in
        rocksdb) cp -R librocksdb-sys/rocksdb/include/rocksdb include ;;
        leveldb) cp -R "leveldb-$leveldb_version/include/leveldb" include ;;
        unqlite) cp unqlite/unqlite/unqlite.h include ;;
        libmdbx) cp mdbx-sys/libmdbx/mdbx.h include ;;
    esac
    recipe "$1" >BUILD
}

# Says why the compiler gave up, by its first error, and keeps what it wrote.
compiler_failed() {
    failed=$(head -n 1 failed)
    mv "log-$failed" "$cache/$1.log"
    why=$(grep -m 1 -iE 'error|killed|cannot|not found' "$cache/$1.log") || why=$(tail -n 1 "$cache/$1.log")
    case "$1" in
        unqlite | libmdbx) instead="leave the store out with FEATURES" ;;
        *) instead="$(echo "$1" | tr '[:lower:]' '[:upper:]')=system takes the system's library, which is then shown but not ranked" ;;
    esac
    fail "$TITLE does not compile: $why -- all that was said is in $cache/$1.log. With little memory, JOBS=1 may help; $instead"
}

# ---- The cache

# One build at a time: a folder, which only one process can make, with that process's id in it.
lock() {
    lock=$cache/.lock-$1
    waiting=
    while ! mkdir "$lock" 2>/dev/null; do
        holder=$(cat "$lock/process" 2>/dev/null) || holder=
        if [ -n "$holder" ] && ! kill -0 "$holder" 2>/dev/null; then
            # It died. Whoever renames the folder may remove it.
            mv "$lock" "$lock-of-$holder-$$" 2>/dev/null && rm -rf "$lock-of-$holder-$$"
            continue
        fi
        [ -n "$waiting" ] || say "$(title "$1") is being built by another process ($holder): waiting for it"
        waiting=yes
        sleep 1
    done
    echo $$ >"$lock/process"
    trap 'clean_up' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}

clean_up() {
    cd /
    rm -rf "${work:-}" "$lock"
    trap - EXIT
}

# Builds an engine, unless that was done before.
build() {
    if [ -e "$(folder "$1")/BUILD" ]; then return 0; fi
    mkdir -p "$cache" || fail "cannot make the cache $cache"
    lock "$1"
    # Another process may have built it while this one waited.
    if [ ! -e "$(folder "$1")/BUILD" ]; then
        rm -rf "$cache/.building-$1-"*
        work=$cache/.building-$1-$$
        mkdir "$work"
        cd "$work"
        say "building $(title "$1") from its authors' sources, once on this machine"
        compile "$1"
        mkdir result
        mv include lib BUILD result
        mv result "$(folder "$1")"
        say "$(title "$1") is ready ($(($(date +%s) - BEGAN)) s): $(folder "$1")"
    fi
    clean_up
}

# ---- The whole

if [ "${1:-}" = --compile-unit ]; then
    compile_unit "$2"
    exit 0
fi
target=
if [ "${1:-}" = --target ]; then target=${2:?a target is missing} && shift 2; fi
for_target "$target"
action=build
if [ "${1:-}" = --where ]; then action=where && shift; fi
for engine in "$@"; do
    case "$engine" in
        rocksdb | leveldb | unqlite | libmdbx) ;;
        *)
            say "unknown engine '$engine': rocksdb, leveldb, unqlite and libmdbx are known"
            exit 2
            ;;
    esac
done
for engine in "$@"; do
    case "$action" in
        build) build "$engine" ;;
        where) if [ -e "$(folder "$engine")/BUILD" ]; then folder "$engine"; fi ;;
    esac
done
