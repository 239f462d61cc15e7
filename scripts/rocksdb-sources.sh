#!/bin/sh
# Finds the sources of RocksDB that crates/stores/native/rocksdb.cc needs: compiles each by itself and asks the linker which of
# them it takes. For whoever changes that file or RocksDB's version: it takes ten minutes of two processors.
#
# usage: scripts/rocksdb-sources.sh           writes crates/stores/build/rocksdb-sources.txt
#        scripts/rocksdb-sources.sh --check   says which of the sources in it are not needed. One that is missing fails the build.
# environment: XDG_CACHE_HOME, CXX, JOBS (how many compilers run at once; empty: 2)
# Exit code 0: the list is written, or right; 1: it is not.
set -eu
cd "$(dirname "$0")/.."
scripts/sources.sh rocksdb
list=crates/stores/build/rocksdb-sources.txt
sources=${XDG_CACHE_HOME:-$HOME/.cache}/storebench/engines/sources
version=$(sed -n '/^name = "librocksdb-sys"$/{n;s/^version = "\(.*\)"$/\1/p;}' Cargo.lock)
package=$sources/librocksdb-sys-$version
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
cp "$package"/snappy/*.h "$box"
# Some number for each name that their cmake would fill in.
sed 's/\${[A-Z_0-9]*}/1/' "$package/snappy/snappy-stubs-public.h.in" >"$box/snappy-stubs-public.h"

# Nothing is optimised: the linker asks for no fewer sources then.
compile="${CXX:-c++} -std=c++20 -O0 -DNDEBUG -fno-rtti -w -DROCKSDB_PLATFORM_POSIX -DROCKSDB_LIB_IO_POSIX -DHAVE_ALIGNED_NEW -DOS_LINUX
-DROCKSDB_FALLOCATE_PRESENT -DROCKSDB_RANGESYNC_PRESENT -DROCKSDB_SCHED_GETCPU_PRESENT -DSNAPPY -DLZ4 -DZSTD -include cstdint
-I$package/rocksdb/include -I$package/rocksdb -I$box $(printf -- '-I%s ' "$sources"/lz4-sys-*/liblz4/lib "$sources"/zstd-sys-*/zstd/lib)"
if [ "${1:-}" = --check ]; then
    grep -v '^#' "$list"
else
    grep -v '^util/build_version.cc$' "$package/rocksdb_lib_sources.txt"
fi >"$box/all"
# shellcheck disable=SC2016,SC2086 # for the other shells; several words
xargs -P "${JOBS:-2}" -I FILE sh -c 'object=$2/$(echo "$1" | tr / :).o && folder=$3 && shift 3 && exec "$@" -c "$folder/FILE" -o "$object"' \
    sh FILE "$box" "$package/rocksdb" $compile <"$box/all"
# shellcheck disable=SC2086
$compile -c crates/stores/native/rocksdb.cc -o "$box/shim"
ar crs "$box/all.a" "$box"/*.o
"${CXX:-c++}" -nostartfiles "$box/shim" "$box/all.a" -o "$box/linked" -Wl,-Map="$box/map" -Wl,--unresolved-symbols=ignore-all
# The map names the members that it took, and no others.
sed -n 's/^.*all\.a(\([^)]*\)\.o).*/\1/p' "$box/map" | tr : / | sort -u >"$box/taken"
# It is empty but for one processor.
echo util/crc32c_arm64.cc >>"$box/taken"
if [ "${1:-}" = --check ]; then
    if ! grep -vxFf "$box/taken" "$box/all"; then exit 0; fi
    echo "rocksdb-sources: these are not needed" >&2
    exit 1
fi
{
    echo "# The sources of RocksDB ${version#*+} that native/rocksdb.cc needs, as scripts/rocksdb-sources.sh finds them."
    grep -xFf "$box/taken" "$box/all"
} >"$list"
