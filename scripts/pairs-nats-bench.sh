#!/bin/sh
# Holds storebench's updates and reads on NATS to those of NATS's own benchmark, kv put and kv get: the same number of records of the same
# size, as many clients, the same server and the same port, all on one processor, in pairs whose order alternates. Prints the ratio of each
# pair, and the median of each kind with its interval.
#
# usage: scripts/pairs-nats-bench.sh [PAIRS [OPERATIONS [SYNC_INTERVAL [CLIENTS]]]]
#   PAIRS          of runs, each of updates and of reads [20]
#   OPERATIONS     of each kind in a run [20000]
#   SYNC_INTERVAL  of the server: a time, or always [2m]
#   CLIENTS        that work at once [1]
# environment:
#   STOREBENCH  the program [target/release/storebench]
#   NATS        its client, with which its benchmark comes: go install github.com/nats-io/natscli/nats@latest [nats]
# Needs nats-server, curl, unshare and ip: all runs in a network of its own, as user namespaces or root have it. The server is ended with the
# script. Its files lie in TMPDIR.
# Exit code 0: by neither median storebench is more than 5 % slower; 1: it is; 2: something is missing.
set -eu
# Waking another processor takes longer than a call, and varies: client and server take turns on one.
if [ -z "${PINNED:-}" ] && command -v taskset >/dev/null; then
    PINNED=yes exec taskset -c "$(taskset -cp $$ | sed 's/.*[ ,-]//')" sh "$0" "$@"
fi
if [ -z "${APART:-}" ]; then
    APART=yes exec unshare --map-root-user --net sh "$0" "$@"
fi
cd "$(dirname "$0")/.."

pairs=${1:-20}
operations=${2:-20000}
sync_interval=${3:-2m}
clients=${4:-1}
records=1000
bytes=1024
storebench=${STOREBENCH:-target/release/storebench}
nats=${NATS:-nats}
name="pairs-nats-bench"
server=
. scripts/pairs.sh

for program in nats-server "$nats" curl ip; do
    command -v "$program" >/dev/null || fail "$program is missing: see the head of this script"
done

# ---- The server

ip link set lo up
cat >"$box/nats.conf" <<END
listen: "127.0.0.1:4222"
http: "127.0.0.1:8222"
jetstream { store_dir: "$box/data", sync_interval: "$sync_interval" }
END
nats-server -c "$box/nats.conf" >"$box/log" 2>&1 &
server=$!
wait_for_server curl -sf http://127.0.0.1:8222/healthz

# ---- The two

updates_and_reads nats

# nats_bench KIND COUNT: operations per second.
nats_bench() {
    rm -f "$box/bench.csv"
    "$nats" -s nats://127.0.0.1:4222 bench kv "$1" --clients "$clients" --msgs "$2" --size "$bytes" --randomize "$records" \
        --no-progress --csv "$box/bench.csv" >"$box/bench" 2>&1 || fail "$nats bench failed: $(tail -n 1 "$box/bench")"
    awk -F , '!/^#/ { rate += $5 } END { print rate }' "$box/bench.csv"
}

by_other() {
    put=$(nats_bench put "$operations")
    echo "$put $(nats_bench get "$operations")"
}

by_storebench() {
    rates "$box/crud.toml" update get --url nats=nats://127.0.0.1:4222
}

# ---- The pairs

nats_bench put $((10 * records)) >/dev/null
pairs_of put get
within=0
median put 2 4 0.95 || within=1
median get 3 5 0.95 || within=1
exit "$within"
