#!/bin/sh
# Fetches the sources of engines, and puts them where the build looks for them: it compiles them and downloads nothing. Says
# nothing when all are there.
#
# usage: scripts/sources.sh [ENGINE...]   rocksdb, leveldb, unqlite, libmdbx; without one, all four
# environment:
#   XDG_CACHE_HOME  they are in storebench/engines/sources in it; empty: ~/.cache
# Exit code 0: all are there; 1: something could not be fetched, and a line says what to do.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/download.sh
. "$root/scripts/download.sh"

cache=${XDG_CACHE_HOME:-${HOME:?is needed to find the cache}/.cache}/storebench/engines

# LevelDB's last release: its authors' own archive, which Debian mirrors. No crate holds just this one.
leveldb='leveldb-1.23'
leveldb_sha256=9a37f8a6174f09bd622bc723b55881dc541cd50747cbd08831c2a82d620f6d76
leveldb_urls="https://deb.debian.org/debian/pool/main/l/leveldb/leveldb_1.23.orig.tar.gz
http://deb.debian.org/debian/pool/main/l/leveldb/leveldb_1.23.orig.tar.gz
https://github.com/google/leveldb/archive/refs/tags/1.23.tar.gz"

say() {
    printf 'sources: %s\n' "$*" >&2
}

fail() {
    say "$*"
    exit 1
}

# The packages that hold an engine's sources, and those of the codecs that are compiled into it.
packages() {
    case "$1" in
        rocksdb) echo librocksdb-sys lz4-sys zstd-sys ;;
        leveldb) echo librocksdb-sys ;;
        unqlite) echo unqlite ;;
        libmdbx) echo mdbx-sys ;;
        *) fail "unknown engine '$1': rocksdb, leveldb, unqlite and libmdbx are known" ;;
    esac
}

# The package $1 with its version in Cargo.lock.
with_version() {
    awk -v name="$1" '$1 == "name" { found = $3 == "\"" name "\"" }
        found && $1 == "version" { gsub(/"/, "", $3); print name "-" $3; exit }' "$root/Cargo.lock"
}

# Links the folder of each package named here, as cargo unpacks it. Cargo.lock pins what is in it.
link_packages() {
    command -v cargo >/dev/null 2>&1 || fail "cargo is missing, which fetches the sources: https://rustup.rs"
    say "fetching the sources of engines, which the build compiles, once on this machine"
    (
        cd "$root"
        host=$(cargo -vV | sed -n 's/^host: //p')
        cargo metadata --format-version 1 --locked --features storebench-stores/engine-sources --filter-platform "$host"
    ) >"$box/metadata" 2>"$box/log" || fail "cargo could not fetch the sources: $(grep . "$box/log" | tail -n 1)"
    for package; do
        name=${package%%-[0-9]*}
        path=$(tr ',' '\n' <"$box/metadata" |
            sed -n "s/^\"manifest_path\":\"\(.*\/$name\(-[0-9][^/]*\)\{0,1\}\)\/Cargo.toml\"\$/\1/p" | head -n 1)
        [ -d "$path" ] || fail "cargo did not say where it keeps the package $name"
        ln -sfn "$path" "$cache/sources/$package" || fail "cannot write into $cache/sources"
    done
}

sha256() {
    if command -v sha256sum >/dev/null 2>&1; then sha256sum "$@"; else shasum -a 256 "$@"; fi | cut -d ' ' -f 1
}

# Fetches LevelDB's archive into the cache, unless it is there, and unpacks it.
unpack_leveldb() {
    archive=$cache/$leveldb.tar.gz
    if [ ! -e "$archive" ]; then
        say "fetching the sources of LevelDB"
        cd "$box"
        for url in $leveldb_urls; do
            if download "$url" leveldb.tar.gz && [ "$(sha256 leveldb.tar.gz)" = "$leveldb_sha256" ]; then break; fi
            rm -f leveldb.tar.gz
        done
        [ -e leveldb.tar.gz ] || fail "the sources of LevelDB could not be fetched ($(tail -n 1 download.log));" \
            "put $url there by hand: $archive (sha256 $leveldb_sha256)," \
            "or take the system's library with LEVELDB=system, which is then shown but not ranked"
        mv leveldb.tar.gz "$archive" || fail "cannot write into $cache"
    fi
    [ "$(sha256 "$archive")" = "$leveldb_sha256" ] || fail "$archive is not $leveldb: delete it"
    gzip -dc "$archive" | (cd "$box" && tar xf -) || fail "cannot unpack $archive"
    # Another process may have been quicker.
    mv "$box/$leveldb" "$cache/sources/" 2>/dev/null || [ -d "$cache/sources/$leveldb" ] || fail "cannot write into $cache/sources"
}

[ $# -gt 0 ] || set -- rocksdb leveldb unqlite libmdbx
missing=
for engine; do
    names=$(packages "$engine")
    for package in $names; do
        package=$(with_version "$package")
        # A link is stale where cargo's own folder was cleaned.
        [ -d "$cache/sources/$package" ] || missing="$missing $package"
    done
done
mkdir -p "$cache/sources" || fail "cannot make $cache/sources"
box=$(mktemp -d "$cache/.fetching-XXXXXX") || fail "cannot write into $cache"
trap 'rm -rf "$box"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
# shellcheck disable=SC2086 # names
[ -z "$missing" ] || link_packages $missing
case " $* " in *' leveldb '*) [ -d "$cache/sources/$leveldb" ] || unpack_leveldb ;; esac
