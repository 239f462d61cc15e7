#!/bin/sh
# Asks `storebench advise` ten real questions, and judges each answer by a direct measurement: every store once, with the question's
# own records; then the best three of these, and the recommended store, seven more times side by side. So a store that `advise`
# gave up too early is seen. Says whether the recommended store is the best or too close to call with it, and where it is not, its
# row of the direct answer: by how much it is behind. Takes about 35 minutes; for an idle machine.
#
#     scripts/judge-advice.sh PROGRAM [FOLDER]
set -eu

program=$(realpath "$1")
studies=$(realpath "$(dirname "$0")/../studies")
folder=${2:-$(mktemp -d)}
cd "$folder"
wrong=0
start=$(date +%s)

# Stores that promise more than a question asks take part in its answer, and so here.
plan=$folder/judge.toml
{ echo 'at_least = true'; cat "$studies/crud.toml"; } >"$plan"

# direct OUT TRIALS [OPTION...]: measures the question of judge, and answers it from that.
direct() {
    out=$1 trials=$2
    shift 2
    "$program" run "$plan" --record-size "$size" --records "$records" --mix "$mix" --guarantee "$guarantee" \
        --data incompressible --operations 2000 --trials "$trials" --out "$out" "$@" >>"$name.log" 2>&1 || true
    # Words are to be split.
    # shellcheck disable=SC2086
    "$program" advise $asked $goal --out "$out" --from latest >"$out.answer" 2>>"$name.log"
}

recommended() { sed -n 's/^\(Recommended\|Candidate\|Not judged, looked best\): *\([^ ]*\).*/\2/p' "$1"; }

# The stores of an answer's table, the best first.
ranking() { awk '/^Stores, best first/ { on = 1 } /^\*/ { on = 0 } on && /^[a-z]/ { print $1 }' "$1"; }

# judge NAME RECORDS SIZE MIX GUARANTEE BUDGET [OPTION...]: the options are for advise.
judge() {
    name=$1 records=$2 size=$3 mix=$4 guarantee=$5 budget=$6
    shift 6
    goal=$*
    asked="--records $records --size $size --mix $mix --guarantee $guarantee"
    # shellcheck disable=SC2086
    "$program" advise $asked $goal --budget "$budget" --out "$name" >"$name.answer" 2>"$name.log"
    best=$(recommended "$name.answer")
    direct "$name.all" 1
    field=$({ echo "$best"; ranking "$name.all.answer" | head -n 3; } | sort -u | paste -sd, -)
    direct "$name.direct" 7 --store "$field"
    first=$(recommended "$name.direct.answer")
    row=$(grep -E "^$best( \([a-z]+\))?( \*)? .*(best|\(tie\))$" "$name.direct.answer" || true)
    if [ "$best" = "$first" ] || [ -n "$row" ]; then
        echo "right: $name: $best (of $field)"
    else
        echo "wrong: $name: $best, measured directly $first (of $field)"
        grep -E "^($best|$first) " "$name.direct.answer" || true
        wrong=$((wrong + 1))
    fi
}

judge tiny 100 100B get=80,update=20 process 1m
judge thumbnails 50k 5KiB..40KiB get=80,update=15,insert=5 process 2m
judge read-only 100k 1KiB get=1 process 1m
judge writes 100k 1KiB insert=50,update=50 process 1m
judge synced 10k 1KiB get=50,update=50 power 1m
judge unsafe 100k 100B get=50,update=50 none 1m
judge large 500 1MiB..4MiB get=90,insert=10 process 1m
judge space 100k 1KiB get=80,update=20 process 1m --optimize space
judge memory 50k 4KiB get=80,update=20 process 1m --optimize memory
judge balance 20k 10KiB get=60,update=40 process 1m --optimize balance

echo "answers and figures: $folder ($((($(date +%s) - start) / 60)) minutes)"
[ "$wrong" -eq 0 ]
