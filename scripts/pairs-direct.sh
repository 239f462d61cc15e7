#!/bin/sh
# Holds storebench's updates and reads on a store of examples/ to those of a loop that calls the same engine by its own interface, without
# storebench and without the boundary of a library: as many records of the same size, one thread, the clock read around each call, in
# pairs whose order alternates. Prints the ratio of each pair, and the median of each kind with its interval.
#
# usage: scripts/pairs-direct.sh STORE [PAIRS [OPERATIONS]]
#   STORE       bbolt, pebble, badger, c-duckdb or rust-turso: make -C examples STORE builds it, and the loop with it
#   PAIRS       of runs, each of updates and of reads [15]
#   OPERATIONS  of each kind in a run [20000]
# environment:
#   STOREBENCH  the program [target/release/storebench]
# Files are in TMPDIR, in up to 500 MB.
# Exit code 0: by neither median storebench is more than 3 % slower; 1: it is; 2: something is missing.
set -eu
cd "$(dirname "$0")/.."

store=${1:-}
pairs=${2:-15}
operations=${3:-20000}
records=10000
bytes=1024
clients=1
storebench=${STOREBENCH:-target/release/storebench}
name="pairs-direct"
server=
. scripts/pairs.sh

# The name in the table, what the loop is told before all else, and the guarantee that it has.
engine=
guarantee=process
case "$store" in
bbolt | badger) table=$store engine=$store ;;
pebble) table=$store engine=$store guarantee=none ;;
c-duckdb) table=duckdb guarantee=power ;;
rust-turso) table=turso ;;
*) fail "usage: scripts/pairs-direct.sh bbolt|pebble|badger|c-duckdb|rust-turso [PAIRS [OPERATIONS]]" ;;
esac
make --no-print-directory -C examples "$store" "$store-direct" >"$box/make" 2>&1 || fail "make: $(tail -n 1 "$box/make")"

updates_and_reads "$table"
by_storebench() {
    rates "$box/crud.toml" update get --guarantee "$guarantee" --store-library "$PWD/examples/build/lib$store.so"
}

by_other() {
    rm -rf "$box/direct"
    mkdir "$box/direct"
    # shellcheck disable=SC2086 # no engine is no argument
    "examples/build/$store-direct" $engine "$records" "$bytes" "$operations" "$box/direct" >"$box/told" || fail "the loop failed"
    awk '{ rate[$2] = 1e9 / $3 } END { print rate["update"], rate["get"] }' "$box/told"
}

pairs_of update get
within=0
median update 2 4 0.97 || within=1
median get 3 5 0.97 || within=1
exit "$within"
