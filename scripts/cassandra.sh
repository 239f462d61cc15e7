#!/bin/sh
# Brings Cassandra from Maven Central, with all that it needs but Java (11 or 17), and checks each file.
#
# usage: scripts/cassandra.sh [DIR]
#   DIR  where it is put, in lib and bin [/usr/local/share/cassandra, with a link in /usr/local/bin]; the user as whom it
#        runs must be able to read it
# environment:
#   MAVEN_CENTRAL  where the files are [https://repo1.maven.org/maven2]
# Exit code 0: it is there; 1: it could not be had, and a line says why.
set -eu
cd "$(dirname "$0")/cassandra"
central=${MAVEN_CENTRAL:-https://repo1.maven.org/maven2}
shared=/usr/local/share/cassandra
directory=${1:-$shared}

fail() {
    echo "cassandra: $*" >&2
    exit 1
}

command -v curl >/dev/null || fail "curl is needed"
# Where it was brought before, it is replaced whole; nothing else is ever deleted.
if [ -n "$(ls -A "$directory" 2>/dev/null)" ] && [ ! -e "$directory/jars" ]; then
    fail "$directory is not empty: name a folder of its own"
fi
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
mkdir -p "$box/lib" "$box/bin"

grep -v '^#' jars | while read -r _ path; do
    printf 'url = "%s/%s"\noutput = "%s/lib/%s"\n' "$central" "$path" "$box" "${path##*/}"
done >"$box/files"
curl --fail --no-progress-meter --show-error --location --retry 3 --parallel --parallel-max 8 --config "$box/files" ||
    fail "not all files could be had from $central"
grep -v '^#' jars | while read -r sum path; do echo "$sum  lib/${path##*/}"; done >"$box/sums"
(cd "$box" && sha256sum --check --quiet sums >&2) || fail "a file is not the one that was pinned"

install -m 755 cassandra "$box/bin/cassandra"
chmod 755 "$box/lib" "$box/bin"
chmod 644 "$box"/lib/*
cp jars "$box/"
mkdir -p "$directory" || fail "$directory can't be made: name another folder, or run this as root"
rm -rf "${directory:?}/lib" "${directory:?}/bin"
cp -R "$box/lib" "$box/bin" "$box/jars" "$directory/"
if [ "$directory" = "$shared" ]; then ln -sfn "$directory/bin/cassandra" /usr/local/bin/cassandra; fi
