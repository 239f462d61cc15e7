#!/bin/sh
# Holds storebench's inserts and selects on PostgreSQL to those of pgbench: the same statements, prepared, one client, the same
# server and the same socket, all on one processor, in pairs whose order alternates. Prints the ratio of each pair, and the median
# of each kind with its interval.
#
# usage: scripts/pairs-pgbench.sh [PAIRS [OPERATIONS]]
#   PAIRS       of runs, each of inserts and of selects [20]
#   OPERATIONS  of each kind in a run [10000]
# environment:
#   STOREBENCH  the program [target/release/storebench]
# Needs PostgreSQL's server and pgbench (Debian: postgresql, postgresql-contrib) and about 150 MB in TMPDIR. The server is private
# and is ended with the script. Its syncs are off, so that the disk does not hide what the clients cost.
# Exit code 0: by neither median storebench is more than 3 % slower; 1: it is; 2: something is missing.
set -eu
# Waking another processor takes longer than a statement, and varies: client and server take turns on one.
if [ -z "${PINNED:-}" ] && command -v taskset >/dev/null; then
    PINNED=yes exec taskset -c "$(taskset -cp $$ | sed 's/.*[ ,-]//')" sh "$0" "$@"
fi
cd "$(dirname "$0")/.."

pairs=${1:-20}
operations=${2:-10000}
storebench=${STOREBENCH:-target/release/storebench}
name="pairs-pgbench"
server=
stop=INT
. scripts/pairs.sh

programs=
for folder in $(echo "$PATH" | tr ':' ' ') $(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -rV); do
    if [ -x "$folder/initdb" ] && [ -x "$folder/postgres" ] && [ -x "$folder/psql" ]; then
        programs=$folder
        break
    fi
done
[ -n "$programs" ] || fail "no PostgreSQL server is installed: apt-get install postgresql"
pgbench=$programs/pgbench
[ -x "$pgbench" ] || pgbench=$(command -v pgbench) || fail "pgbench is missing: apt-get install postgresql-contrib"

# ---- The server

# PostgreSQL refuses to run as root.
as=
if [ "$(id -u)" -eq 0 ]; then
    as="setpriv --reuid=postgres --regid=postgres --clear-groups"
    mkdir "$box/server"
    chown postgres "$box/server"
    chmod 711 "$box"
else
    mkdir "$box/server"
fi
(cd "$box/server" && $as "$programs/initdb" -D data -U bench -A trust -E UTF8 --locale=C --no-sync >"$box/initdb" 2>&1) ||
    fail "initdb failed: $(tail -n 1 "$box/initdb")"
(cd "$box/server" && exec $as "$programs/postgres" -D data -c listen_addresses= -c "unix_socket_directories=$box/server" \
    -c fsync=off -c synchronous_commit=on -c full_page_writes=off -c autovacuum=off -c max_wal_size=4GB \
    -c checkpoint_timeout=3600) >"$box/log" 2>&1 &
server=$!
wait_for_server "$programs/psql" -h "$box/server" -U bench -d postgres -qAtc 'SELECT 1'

sql() {
    "$programs/psql" -h "$box/server" -U bench -d postgres -qAtc "$1" >"$box/psql" 2>&1 || fail "$(head -n 1 "$box/psql")"
}

# ---- The two

# The statements, the table and the types are those of storebench's workload batch, with one statement in each transaction. Ids come in
# no order; texts have as many letters as storebench's have on average.
cat >"$box/insert.sql" <<'END'
\set id permute(:number, :count, 7)
\set random random(0, 2147483647)
\set number :number + 1
INSERT INTO tests (id, test_number, test_string) VALUES (:id, :random, :text);
END
cat >"$box/select.sql" <<'END'
\set id random(0, :count - 1)
SELECT test_number, test_string FROM tests WHERE id = :id;
END
text=$(head -c 50 /dev/zero | tr '\0' x)
cat >"$box/batch.toml" <<END
format = 1
name = "batch"
title = "Statements, each a transaction of its own"
workload = "batch"
trials = 1
seed = 1
size_limit = "1GiB"
timeout = "10m"

[axes]
store = ["postgres"]
transactions = [$operations]
statements = [1]
guarantee = ["default"]
END

# What the client computes between two statements is in pgbench's figures and not in storebench's: it is measured by itself.
for kind in insert select; do grep '^.set' "$box/$kind.sql" >"$box/$kind-between.sql"; done

# pgbench_ns SCRIPT COUNT: nanoseconds for one of so many.
pgbench_ns() {
    "$pgbench" -h "$box/server" -U bench -n -M prepared -c 1 -j 1 -t "$2" -f "$box/$1.sql" \
        -D number=0 -D count="$operations" -D text="$text" postgres >"$box/pgbench" 2>&1 ||
        fail "pgbench failed: $(tail -n 1 "$box/pgbench")"
    awk '/^tps = .*without initial connection time/ { printf "%.0f\n", 1e9 / $3 }' "$box/pgbench"
}

# pgbench_rate KIND: operations per second.
pgbench_rate() {
    if [ "$1" = insert ]; then
        sql "DROP TABLE IF EXISTS tests"
        sql "CREATE TABLE tests (id INTEGER PRIMARY KEY, test_number INTEGER NOT NULL, test_string VARCHAR(100) NOT NULL)"
    fi
    whole=$(pgbench_ns "$1" "$operations") between=$(pgbench_ns "$1-between" "$operations")
    echo "$whole $between" | awk '{ printf "%.0f\n", 1e9 / ($1 - $2) }'
}

by_other() {
    insert=$(pgbench_rate insert)
    echo "$insert $(pgbench_rate select)"
}

by_storebench() {
    rates "$box/batch.toml" insert select --url "postgres=postgresql://bench@/postgres?host=$box/server"
}

# ---- The pairs

pairs_of insert select
within=0
median inserts 2 4 0.97 || within=1
median selects 3 5 0.97 || within=1
exit "$within"
