#!/bin/sh
# Holds storebench's updates and reads on Cassandra to those of a loop over its authors' driver for Java, which has been at work for as long
# and does one call after the other: as many records of the same size, the same server and the same port, in pairs whose order
# alternates. Prints the ratio of each pair, and the median of each kind with its interval.
#
# usage: scripts/pairs-cassandra-driver.sh [PAIRS [OPERATIONS]]
#   PAIRS       of runs, each of updates and of reads [20]
#   OPERATIONS  of each kind in a run [20000]
# environment:
#   STOREBENCH  the program [target/release/storebench]
#   CASSANDRA   where scripts/cassandra.sh has put it [/usr/local/share/cassandra]
# Needs Java with its compiler, unshare and ip: all runs in a network of its own, as user namespaces or root have it. The server is ended
# with the script. Its files lie in TMPDIR.
# Exit code 0: by neither median storebench is more than 5 % slower; 1: it is; 2: something is missing.
set -eu
if [ -z "${APART:-}" ]; then
    APART=yes exec unshare --map-root-user --net sh "$0" "$@"
fi
cd "$(dirname "$0")/.."

pairs=${1:-20}
operations=${2:-20000}
clients=1
records=1000
bytes=1024
storebench=${STOREBENCH:-target/release/storebench}
cassandra=${CASSANDRA:-/usr/local/share/cassandra}
name="pairs-cassandra-driver"
server=
. scripts/pairs.sh

for program in java javac ip; do
    command -v "$program" >/dev/null || fail "$program is missing: see the head of this script"
done
[ -d "$cassandra/lib" ] || fail "$cassandra/lib is not there: scripts/cassandra.sh brings it"

# ---- The server

ip link set lo up
cat >"$box/cassandra.yaml" <<END
cluster_name: pairs
num_tokens: 16
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: SimpleSnitch
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters: [{seeds: "127.0.0.1:7000"}]
listen_address: 127.0.0.1
rpc_address: 127.0.0.1
data_file_directories: ["$box/data"]
commitlog_directory: "$box/commitlog"
saved_caches_directory: "$box/caches"
hints_directory: "$box/hints"
commitlog_sync: periodic
commitlog_sync_period: 10s
END
echo '<configuration><root level="OFF"/></configuration>' >"$box/logback.xml"
quiet=-Dlogback.configurationFile=$box/logback.xml
"$cassandra/bin/cassandra" -f "$quiet" "-Dcassandra.config=file://$box/cassandra.yaml" "-Dcassandra.storagedir=$box" \
    "-Djava.io.tmpdir=$box" "-Djna.tmpdir=$box" >"$box/log" 2>&1 &
server=$!
wait_for_server sh -c 'ss -ltn | grep -q :9042'

# ---- The two

updates_and_reads cassandra
mkfifo "$box/asked" "$box/told"
java -cp "$cassandra/lib/*" "$quiet" "-Djava.io.tmpdir=$box" scripts/cassandra/Direct.java 9042 "$records" "$bytes" \
    <"$box/asked" >"$box/told" 2>"$box/log" &
exec 3>"$box/asked" 4<"$box/told"
read -r said <&4 || fail "the driver's loop did not start: $(tail -n 1 "$box/log")"
[ "$said" = ready ] || fail "the driver's loop says: $said"

by_other() {
    echo "$operations" >&3
    read -r said <&4 || fail "the driver's loop ended: $(tail -n 1 "$box/log")"
    echo "$said"
}

by_storebench() {
    rates "$box/crud.toml" update get --url cassandra=cassandra://127.0.0.1:9042
}

# ---- The pairs

# Java compiles what it has done often enough.
for _ in 1 2 3; do by_other >/dev/null; done
pairs_of update get
within=0
median update 2 4 0.95 || within=1
median get 3 5 0.95 || within=1
exit "$within"
