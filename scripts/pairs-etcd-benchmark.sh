#!/bin/sh
# Holds storebench's updates and reads on etcd to those of etcd's own benchmark, put and range: the same number of records of the same size,
# as many clients, the same server and the same socket, all on one processor, in pairs whose order alternates. Prints the ratio of each
# pair, and the median of each kind with its interval.
#
# usage: scripts/pairs-etcd-benchmark.sh [PAIRS [OPERATIONS [CLIENTS]]]
#   PAIRS       of runs, each of updates and of reads [20]
#   OPERATIONS  of each kind in a run [5000]
#   CLIENTS     that work at once [1]
# environment:
#   STOREBENCH  the program [target/release/storebench]
#   ETCD        the server [etcd]
#   BENCHMARK   etcd's: tools/benchmark of its repository, built with Go [etcd-benchmark]
# Needs curl and etcdctl (Debian: etcd-client). The server is private and is ended with the script. Its files lie in TMPDIR: its log is synced there for each update.
# Exit code 0: by neither median storebench is more than 5 % slower; 1: it is; 2: something is missing.
set -eu
# Waking another processor takes longer than a call, and varies: client and server take turns on one.
if [ -z "${PINNED:-}" ] && command -v taskset >/dev/null; then
    PINNED=yes exec taskset -c "$(taskset -cp $$ | sed 's/.*[ ,-]//')" sh "$0" "$@"
fi
cd "$(dirname "$0")/.."

pairs=${1:-20}
operations=${2:-5000}
clients=${3:-1}
records=1000
bytes=1024
storebench=${STOREBENCH:-target/release/storebench}
etcd=${ETCD:-etcd}
benchmark=${BENCHMARK:-etcd-benchmark}
name="pairs-etcd-benchmark"
server=
. scripts/pairs.sh

for program in "$etcd" "$benchmark" etcdctl curl; do
    command -v "$program" >/dev/null || fail "$program is missing: see the head of this script"
done

# ---- The server

# It names its socket without a folder, so it and its benchmark work in that folder.
(
    cd "$box"
    exec "$etcd" --name one --data-dir data --listen-client-urls unix://client:0 --listen-peer-urls unix://peers:0 \
        --advertise-client-urls http://one.invalid:1 --initial-advertise-peer-urls http://one.invalid:1 \
        --initial-cluster one=http://one.invalid:1 --quota-backend-bytes 8589934592 --logger zap --log-level error
) >"$box/log" 2>&1 &
server=$!
# shellcheck disable=SC2317 # wait_for_server calls it
is_healthy() {
    curl -s --unix-socket "$box/client:0" http://one/health | grep -q true
}
wait_for_server is_healthy

# ---- The two

updates_and_reads etcd

# etcd_benchmark WORDS...: operations per second.
etcd_benchmark() {
    (cd "$box" && "$benchmark" --endpoints unix://client:0 --clients "$clients" --conns "$clients" "$@") >"$box/benchmark" 2>&1 ||
        fail "etcd's benchmark failed: $(tail -n 1 "$box/benchmark")"
    # Requests/sec:	1234.5678
    awk '/Requests\/sec/ { print $2 }' "$box/benchmark"
}

put() {
    etcd_benchmark put --total "$1" --val-size "$bytes" --key-size 8 --key-space-size "$records"
}

by_other() {
    put=$(put "$operations")
    echo "$put $(etcd_benchmark range READ --total "$operations")"
}

by_storebench() {
    rates "$box/crud.toml" update get --url "etcd=etcd+unix://$box/client:0"
}

# ---- The pairs

put $((2 * records)) >/dev/null
# All its reads are of one record.
(cd "$box" && head -c $((bytes * 3 / 4)) /dev/urandom | base64 -w 0 | ETCDCTL_API=3 etcdctl --endpoints unix://client:0 put READ) >/dev/null
pairs_of put range
within=0
median put 2 4 0.95 || within=1
median range 3 5 0.95 || within=1
exit "$within"
