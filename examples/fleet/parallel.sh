#!/bin/sh
# Runs a study on several machines by GNU parallel over ssh, a part on each, and merges the parts (docs/fleet.md).
#
# usage: parallel.sh [--whole] FOLDER HOST,HOST,... STUDY [OPTION...]
#   --whole the whole study on each machine, to compare machines: a run of each, in FOLDER/machines
#   FOLDER  for the results, here; with the same again, what was interrupted is resumed
#   HOST    as ssh knows it, with storebench in its PATH; a colon is this machine. It is the machine's name, too,
#           unless --hardware gives another
set -eu

# The words as a shell on another machine reads them.
quoted() {
    for word; do printf "'%s' " "$(printf '%s' "$word" | sed "s/'/'\\\\''/g")"; done
}

# one FOLDER OUT SHARD HOST WORD...: a part on its machine, which is the same each time. Its results come here.
one() {
    folder=$1 out=$2 shard=$3 host=$4
    shift 4
    name=${host#*@}
    if [ "$host" = : ]; then name=$(hostname); fi
    case " $* " in
        *" --hardware"*) ;;
        *) set -- "$@" --hardware "$name" ;;
    esac
    status=0
    if [ "$host" = : ]; then
        storebench run "$@" --shard "$shard" --out "$folder/$out" || status=$?
    else
        there=storebench-fleet/$(basename "$folder")
        # shellcheck disable=SC2029 # it is to be read here
        ssh -n "$host" "mkdir -p $(quoted "$there") && cd $(quoted "$there") &&
            storebench run $(quoted "$@" --shard "$shard" --out "$out")" || status=$?
        scp -qr "$host:$there/$out" "$folder/"
    fi
    # Trials that failed are results, too.
    [ "$status" -eq 20 ] || return "$status"
}

if [ "${1:-}" = --one ]; then
    shift
    one "$@"
    exit
fi
whole=
if [ "${1:-}" = --whole ]; then whole=yes && shift; fi
if [ $# -lt 3 ]; then
    sed -n 's/^# \{0,1\}//; 2,8p' "$0" >&2
    exit 2
fi
folder=$1
hosts=$(printf '%s\n' "$2" | tr ',' '\n')
shift 2
out='part-{#}' shard='{#}'/$(printf '%s\n' "$hosts" | wc -l)
# The only part of one is the whole, and is resumed as parts are.
if [ -n "$whole" ]; then out='whole-{#}' shard=1/1; fi
mkdir -p "$folder"
printf '%s\n' "$hosts" |
    parallel --jobs 0 --tag --line-buffer "$(quoted "$0" --one "$folder") $out $shard {} $(quoted "$@")"
if [ -z "$whole" ]; then exec storebench merge "$folder"/part-*/*/ --out "$folder/merged"; fi
mkdir -p "$folder/machines"
for one in "$folder"/whole-*/; do
    name=${one#"$folder"/whole-}
    out=$folder/machines/machine-${name%/}
    if [ -d "$out" ]; then
        echo "$out is there: delete it to merge again"
    else
        storebench merge "$one"*/ --out "$out"
    fi
done
