#!/bin/sh
# Asks `storebench advise` ten real questions, then measures every store for each directly, five times, and says whether the
# recommended store is the best or too close to call with it. Takes about an hour; for an idle machine.
#
#     scripts/judge-advice.sh PROGRAM [FOLDER]
set -eu

program=$(realpath "$1")
folder=${2:-$(mktemp -d)}
cd "$folder"
wrong=0

# judge NAME RECORDS SIZE MIX GUARANTEE BUDGET [OPTION...]: the options are for advise.
judge() {
    name=$1 records=$2 size=$3 mix=$4 guarantee=$5 budget=$6
    shift 6
    asked="--records $records --size $size --mix $mix --guarantee $guarantee"
    # Words are to be split.
    # shellcheck disable=SC2086
    "$program" advise $asked "$@" --budget "$budget" --out "$name" >"$name.answer" 2>"$name.log"
    best=$(sed -n 's/^Recommended: *\([^ ]*\).*/\1/p' "$name.answer")
    "$program" run crud --record-size "$size" --records "$records" --mix "$mix" --guarantee "$guarantee" \
        --data incompressible --operations 2000 --trials 5 --out "$name.direct" >>"$name.log" 2>&1
    # shellcheck disable=SC2086
    "$program" advise $asked "$@" --out "$name.direct" --from latest >"$name.direct.answer" 2>>"$name.log"
    direct=$(sed -n 's/^Recommended: *\([^ ]*\).*/\1/p' "$name.direct.answer")
    row=$(grep -E "^$best( \([a-z]+\))?( \*)? .*(best|\(tie\))$" "$name.direct.answer" || true)
    if [ "$best" = "$direct" ] || [ -n "$row" ]; then
        echo "right: $name: $best"
    else
        echo "wrong: $name: $best, measured directly $direct"
        wrong=$((wrong + 1))
    fi
}

judge tiny 100 100B get=80,update=20 process 2m
judge thumbnails 50k 5KiB..40KiB get=80,update=15,insert=5 process 4m
judge read-only 100k 1KiB get=1 process 2m
judge writes 100k 1KiB insert=50,update=50 process 2m
judge synced 10k 1KiB get=50,update=50 power 2m
judge unsafe 100k 100B get=50,update=50 none 2m
judge large 500 1MiB..4MiB get=90,insert=10 process 2m
judge space 100k 1KiB get=80,update=20 process 2m --optimize space
judge memory 50k 4KiB get=80,update=20 process 2m --optimize memory
judge balance 20k 10KiB get=60,update=40 process 2m --optimize balance

echo "answers and figures: $folder"
[ "$wrong" -eq 0 ]
