#!/bin/sh
# Holds the study device to fio (https://github.com/axboe/fio): the same file size, blocks and ways of opening it, one operation at a time,
# in pairs whose order alternates. Prints the operations per second of each pair and their ratio, and so of the calls alone, without what
# lies between them.
#
# usage: scripts/pairs-fio.sh [PAIRS [CASE]]
#   PAIRS  of each case [8]
#   CASE   the cases whose names hold this [all]
# environment:
#   STOREBENCH  the program [target/release/storebench]
# Needs fio, and 512 MB in TMPDIR, whose disk is measured.
# Exit code 0: each case was measured; 2: something is missing.
set -eu
cd "$(dirname "$0")/.."

pairs=${1:-8}
wanted=${2:-}
storebench=${STOREBENCH:-target/release/storebench}
name="pairs-fio"
# shellcheck disable=SC2034 # pairs.sh reads it
server=
. scripts/pairs.sh
command -v fio >/dev/null || fail "fio is missing: apt-get install fio"

# shellcheck disable=SC2317 # pairs_of calls both
by_storebench() {
    rm -rf "$box/runs"
    # shellcheck disable=SC2086 # words
    "$storebench" run device $ours --file-size 256MiB --trials 1 --at "$box" --out "$box/runs" >"$box/storebench" 2>&1 ||
        fail "storebench failed: $(tail -n 1 "$box/storebench")"
    cat "$box"/runs/*/results.jsonl | python3 -c '
import json, sys

measured = json.loads(sys.stdin.readline())["measured"]
one, *syncs = measured["operations"]
at_the_end = measured.get("settle_ns") or 0 if sys.argv[1] == "end" else 0
# A write that is synced takes until it is.
calls_ns = one["sum_ns"] - sum(sync["sum_ns"] for sync in syncs)
print(1e9 * one["count"] / (one["sum_ns"] + at_the_end), 1e9 * one["count"] / calls_ns)' "$until"
}

# shellcheck disable=SC2317
by_other() {
    # Else fio drops the file from the page cache after its clock has started.
    [ "$until" = time ] || dd if="$box/file" iflag=nocache count=0 2>/dev/null
    # shellcheck disable=SC2086 # words
    fio --name=device --output-format=json --ioengine=psync --iodepth=1 --numjobs=1 --size=256M --filename="$box/file" --overwrite=1 \
        --randrepeat=0 $theirs >"$box/fio" || fail "fio failed"
    # Notes may stand before the figures.
    sed -n '/^{/,$p' "$box/fio" | python3 -c '
import json, sys

job = json.load(sys.stdin)["jobs"][0]
way = job["read"] if job["read"]["total_ios"] else job["write"]
print(way["iops"], 1e9 / way["clat_ns"]["mean"])'
}

# case_of NAME UNTIL STOREBENCH'S-WORDS FIO'S-WORDS: until the file is done (end), or for two seconds (time).
case_of() {
    case "$1" in *"$wanted"*) ;; *) return 0 ;; esac
    until=$2 ours=$3 theirs=$4
    [ "$until" = end ] || ours="$ours --duration 2s" theirs="$theirs --time_based=1 --runtime=2"
    echo "$1"
    pairs_of all calls
    median all 2 4 0
    median calls 3 5 0
}

head -c 268435456 /dev/urandom >"$box/file"
warm="--invalidate=0 --pre_read=1"
read4="--pattern rand-read --block-size 4KiB" write4="--pattern rand-write --block-size 4KiB"
case_of "seq write 1 MiB, fsync at the end" end "--pattern seq-write --block-size 1MiB --io buffered --sync none --cache cold --operations 256" \
    "--rw=write --bs=1M --invalidate=0 --end_fsync=1"
case_of "seq read 128 KiB, direct" time "--pattern seq-read --block-size 128KiB --io direct --cache warm" "--rw=read --bs=128k --direct=1"
case_of "rand read 512 B, warm" time "--pattern rand-read --block-size 512B --io buffered --cache warm" "--rw=randread --bs=512 $warm"
case_of "rand read 4 KiB, warm" time "$read4 --io buffered --cache warm" "--rw=randread --bs=4k $warm"
case_of "rand read 4 KiB, direct" time "$read4 --io direct --cache warm" "--rw=randread --bs=4k --direct=1"
case_of "rand write 4 KiB, fsync at the end" end "$write4 --io buffered --sync none --cache warm --operations 65536" \
    "--rw=randwrite --bs=4k $warm --end_fsync=1"
case_of "rand write 4 KiB, direct" time "$write4 --io direct --sync none --cache warm" "--rw=randwrite --bs=4k --direct=1"
case_of "rand write 4 KiB, fdatasync each" time "$write4 --io buffered --sync fdatasync --cache warm" "--rw=randwrite --bs=4k $warm --fdatasync=1"
case_of "rand write 4 KiB, O_DSYNC" time "$write4 --io dsync --sync none --cache warm" "--rw=randwrite --bs=4k $warm --sync=dsync"
