#!/bin/sh
# Fetches the library of RocksDB that its authors build for Java, once a machine, from Maven Central: storebench can load it in place
# of one that is compiled here (docs/building.md). Says nothing when it is there.
#
# usage: scripts/rocksdb-authors.sh            fetches it, unless it is in the cache
#        scripts/rocksdb-authors.sh --where    prints its version and its file; nothing where it is not in the cache
# environment:
#   XDG_CACHE_HOME  it is kept in storebench/rocksdb-authors in it; empty: ~/.cache
# Exit code 0: it is there; 1: it could not be had, and a line says what to do.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/download.sh
. "$root/scripts/download.sh"

version=11.8.1
jar=rocksdbjni-$version.jar
url=https://repo1.maven.org/maven2/org/rocksdb/rocksdbjni/$version/$jar
sha256=628ed387887f4a431df480857954df2a28b4389bfe24858ccdec611cabf65dbf
# The archive and the library in it, which are there together for a moment.
needed_kib=110000

fail() {
    echo "rocksdb-authors: $*" >&2
    exit 1
}

case "$(uname -s) $(uname -m)" in
    'Linux x86_64') library=librocksdbjni-linux64.so ;;
    'Linux aarch64') library=librocksdbjni-linux-aarch64.so ;;
    *) fail "no build of RocksDB's authors is known for this machine ($(uname -s) $(uname -m)): leave ROCKSDB empty" ;;
esac
cache=${XDG_CACHE_HOME:-${HOME:?is needed to find the cache}/.cache}/storebench/rocksdb-authors
file=$cache/$version/$library

case "${1:-}" in
    '') ;;
    --where)
        if [ -e "$file" ]; then printf '%s\n' "$version" "$file"; fi
        exit 0
        ;;
    *) fail "unknown argument '$1': there is only --where" ;;
esac
if [ -e "$file" ]; then exit 0; fi

elsewhere="or name another cache in XDG_CACHE_HOME"
command -v unzip >/dev/null || fail "unzip is missing, which unpacks $jar: install it"
work=
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
if ! { mkdir -p "$cache/$version" && work=$(mktemp -d "$cache/fetching-XXXXXX"); } 2>/dev/null; then
    fail "$cache can't be written: mend its rights, $elsewhere"
fi
free_kib=$(df -Pk "$work" | awk 'NR == 2 { print $4 }')
[ "$free_kib" -ge "$needed_kib" ] ||
    fail "$cache has $((free_kib / 1024)) MiB free, and $((needed_kib / 1024)) are needed: make room, $elsewhere"

cd "$work"
if [ -e "$cache/$jar" ]; then
    from=$cache/$jar
else
    echo "rocksdb-authors: fetching RocksDB $version as its authors build it (88 MiB)" >&2
    # Slow lines take their time.
    download "$url" "$jar" 1800 || fail "$url can't be fetched ($(tail -n 1 download.log)): connect this machine," \
        "or put that file there by hand: $cache/$jar"
    from=$jar
fi
[ "$(sha256sum "$from" | cut -d ' ' -f 1)" = "$sha256" ] ||
    fail "$from is not the file that was pinned (SHA-256 $sha256): try again, or put that of $url there by hand: $cache/$jar"
unzip -q "$from" "$library" 2>unzip.log || fail "$library can't be unpacked: $(tail -n 1 unzip.log)"
# In one step: whoever looks finds all of it or nothing, and another process that fetches it has the same.
mv -f "$library" "$file"
