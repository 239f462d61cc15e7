#!/bin/sh
# Runs a study as an array job of Slurm, a part on each node, and merges the parts (docs/fleet.md).
#
# usage: PARTS=8 sbatch --array=1-8 slurm.sh STUDY [OPTION...]
#        sbatch --nodelist=NODE slurm.sh --whole STUDY [OPTION...]
#        sbatch --dependency=afterany:JOB slurm.sh --merge
#   --whole  the whole study on one node; once for each that is to be compared
#   --merge  what is in RESULTS: the parts to RESULTS/merged, and whole studies to RESULTS/machines
# environment:
#   PARTS    the number of parts, which is that of the array
#   RESULTS  a directory that all nodes share; empty: storebench-fleet, where sbatch was called
#   PLACE    a directory on the disk of a node, for the stores' files; empty: /var/tmp
#SBATCH --job-name=storebench
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --exclusive
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=storebench-%A-%a.txt
set -eu
results=${RESULTS:-storebench-fleet}

# merge OUT RUN...: does nothing where the pattern of the runs found none, or OUT is there.
merge() {
    out=$1
    shift
    [ -d "$1" ] || return 0
    if [ -d "$out" ]; then
        echo "$out is there: delete it to merge again"
        return 0
    fi
    mkdir -p "$(dirname "$out")"
    storebench merge "$@" --out "$out"
}

if [ "${1:-}" = --merge ]; then
    merge "$results/merged" "$results"/part-*/*/
    for whole in "$results"/whole-*/; do
        name=${whole#"$results"/whole-}
        merge "$results/machines/machine-${name%/}" "$whole"*/
    done
    exit
fi

# A machine is called what Slurm calls its node.
node=${SLURMD_NODENAME:-$(hostname)}
if [ "${1:-}" = --whole ]; then
    shift
    # The only part of one is the whole, and is resumed as parts are.
    out=whole-$node shard=1/1
else
    part=${SLURM_ARRAY_TASK_ID:?is not set: submit it with sbatch --array=1-8}
    out=part-$part shard=$part/${PARTS:?is not set: it is the number of parts, as in --array=1-8}
fi
case " $* " in
    *" --hardware"*) ;;
    *) set -- "$@" --hardware "$node" ;;
esac
# A job that is requeued runs this again: what it has measured is kept.
status=0
storebench run "$@" --shard "$shard" --out "$results/$out" --at "${PLACE:-/var/tmp}" || status=$?
# Trials that failed are results, too.
[ "$status" -eq 20 ] || exit "$status"
