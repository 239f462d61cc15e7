# Parts that the scripts pairs-*.sh share, which hold storebench to another benchmark, in pairs. They source this with $name,
# $storebench and $server set, and $stop where these end in order at another signal than TERM; they define
# by_storebench and by_other.
# shellcheck shell=sh disable=SC2154 # $name, $storebench, $pairs and what plans are made of are theirs

fail() {
    echo "$name: $*" >&2
    exit 2
}

case "$storebench" in /*) ;; *) storebench=$PWD/$storebench ;; esac
[ -x "$storebench" ] || fail "$storebench is not there: cargo build --release, or set STOREBENCH"

# shellcheck disable=SC2317 # finish calls it
finish_server() {
    if [ -n "$server" ]; then
        kill -s "${stop:-TERM}" "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
}

box=$(mktemp -d)
# shellcheck disable=SC2317 # the trap calls it
finish() {
    finish_server
    rm -rf "$box"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# wait_for_server COMMAND...: until it does well.
wait_for_server() {
    for _ in $(seq 300); do
        if "$@" >/dev/null 2>&1; then return 0; fi
        sleep 0.1
    done
    fail "the server did not start: $(tail -n 1 "$box/log")"
}

# updates_and_reads STORE: writes the plan $box/crud.toml, of updates and reads by $clients of $records records of $bytes bytes.
updates_and_reads() {
    cat >"$box/crud.toml" <<END
format = 1
name = "crud"
title = "Updates and reads of records that are there"
workload = "crud"
trials = 1
operations = $operations
order = ["update", "get"]
seed = 1
size_limit = "1GiB"
timeout = "10m"

[axes]
store = ["$1"]
threads = [$clients]
record_size = ["$bytes"]
records = [$records]
data = ["incompressible"]
guarantee = ["default"]
END
}

# rates PLAN OPERATION OPERATION OPTION...: operations per second of the two in the plan's only cell, on one line.
rates() {
    rm -rf "$box/runs"
    plan=$1 one=$2 other=$3
    shift 3
    "$storebench" run "$plan" "$@" --out "$box/runs" >"$box/storebench" 2>&1 ||
        fail "storebench failed: $(tail -n 1 "$box/storebench")"
    "$storebench" report "$box"/runs/* --sqlite "$box/run.db" 2>"$box/storebench" ||
        fail "storebench failed: $(tail -n 1 "$box/storebench")"
    python3 - "$box/run.db" "$one" "$other" <<'END'
import sqlite3, sys

rates = dict(sqlite3.connect(sys.argv[1]).execute("SELECT operation, throughput_per_s FROM operations"))
print(rates[sys.argv[2]], rates[sys.argv[3]])
END
}

# pairs_of KIND KIND: has by_storebench and by_other measure in turn, whose order alternates. Each prints the operations per second of the
# two kinds; so does this, with their ratios.
pairs_of() {
    echo "pair  kind    storebench/s  ${name#pairs-}/s   ratio"
    : >"$box/pairs"
    pair=1
    while [ "$pair" -le "$pairs" ]; do
        if [ $((pair % 2)) -eq 1 ]; then
            ours=$(by_storebench)
            theirs=$(by_other)
        else
            theirs=$(by_other)
            ours=$(by_storebench)
        fi
        echo "$pair $ours $theirs" >>"$box/pairs"
        echo "$pair $ours $theirs" | awk -v one="$1" -v other="$2" '{
            printf "%4d  %-6s %13.0f %13.0f %7.3f\n", $1, one, $2, $4, $2 / $4
            printf "%4d  %-6s %13.0f %13.0f %7.3f\n", $1, other, $3, $5, $3 / $5 }'
        pair=$((pair + 1))
    done
}

# median KIND COLUMN COLUMN LEAST: the median ratio with its interval; does badly where it is less than LEAST.
median() {
    awk -v one="$2" -v other="$3" '{ print $one / $other }' "$box/pairs" | sort -n | awk -v kind="$1" -v least="$4" '
        { ratio[NR] = $1 }
        END {
            middle = NR % 2 ? ratio[(NR + 1) / 2] : (ratio[NR / 2] + ratio[NR / 2 + 1]) / 2
            # By the binomial law: so many pairs may be cut off at either end that the median is between in 95 % of cases.
            chance = 0.5 ^ NR
            for (cut = 1; chance * 2 <= 0.05; cut++) { term = (cut == 1 ? 0.5 ^ NR : term); term *= (NR - cut + 1) / cut; chance += term }
            cut--
            if (cut) printf "%s: median ratio %.3f of %d pairs, 95 %% interval %.3f to %.3f\n", kind, middle, NR, ratio[cut], ratio[NR + 1 - cut]
            else printf "%s: median ratio %.3f of %d pairs, from %.3f to %.3f, too few for an interval\n", kind, middle, NR, ratio[1], ratio[NR]
            exit !(middle >= least) }'
}
