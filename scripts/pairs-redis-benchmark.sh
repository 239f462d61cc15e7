#!/bin/sh
# Holds storebench's updates and reads on Redis to those of redis-benchmark, Redis's own: SET and GET of the same number of records of the
# same size, as many clients, the same server and the same socket, all on one processor, in pairs whose order alternates. Prints the ratio
# of each pair, and the median of each kind with its interval.
#
# usage: scripts/pairs-redis-benchmark.sh [PAIRS [OPERATIONS [APPENDFSYNC [CLIENTS]]]]
#   PAIRS        of runs, each of updates and of reads [20]
#   OPERATIONS   of each kind in a run [100000]
#   APPENDFSYNC  of the server: no, everysec or always [no]
#   CLIENTS      that work at once [1]
# environment:
#   STOREBENCH  the program [target/release/storebench]
# Needs Redis's server and redis-benchmark (Debian: redis-server, redis-tools) and about 500 MB in TMPDIR. The server is private and is
# ended with the script.
# Exit code 0: by neither median storebench is more than 5 % slower; 1: it is; 2: something is missing.
set -eu
# Waking another processor takes longer than a command, and varies: client and server take turns on one.
if [ -z "${PINNED:-}" ] && command -v taskset >/dev/null; then
    PINNED=yes exec taskset -c "$(taskset -cp $$ | sed 's/.*[ ,-]//')" sh "$0" "$@"
fi
cd "$(dirname "$0")/.."

pairs=${1:-20}
operations=${2:-100000}
appendfsync=${3:-no}
clients=${4:-1}
records=10000
bytes=1024
storebench=${STOREBENCH:-target/release/storebench}
name="pairs-redis-benchmark"
server=
. scripts/pairs.sh

for program in redis-server redis-benchmark redis-cli; do
    command -v "$program" >/dev/null || fail "$program is missing: apt-get install redis-server redis-tools"
done

# ---- The server

socket=$box/socket
redis-server --port 0 --unixsocket "$socket" --dir "$box" --save '' --appendonly yes --appendfsync "$appendfsync" >"$box/log" 2>&1 &
server=$!
wait_for_server redis-cli -s "$socket" ping

# ---- The two

updates_and_reads redis

# redis_benchmark KIND COUNT: operations per second. Its records are all there: each has been set some ten times on average.
redis_benchmark() {
    redis-benchmark -s "$socket" -c "$clients" -d "$bytes" -r "$records" -n "$2" -t "$1" --csv >"$box/redis-benchmark" 2>&1 ||
        fail "redis-benchmark failed: $(tail -n 1 "$box/redis-benchmark")"
    # "SET","99601.60","0.007",...
    awk -F '","' 'END { print $2 }' "$box/redis-benchmark"
}

by_other() {
    set=$(redis_benchmark set "$operations")
    echo "$set $(redis_benchmark get "$operations")"
}

by_storebench() {
    rates "$box/crud.toml" update get --url "redis=redis+unix://$socket"
}

# ---- The pairs

redis_benchmark set $((10 * records)) >/dev/null
pairs_of SET GET
within=0
median SET 2 4 0.95 || within=1
median GET 3 5 0.95 || within=1
exit "$within"
