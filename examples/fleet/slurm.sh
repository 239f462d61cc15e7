#!/bin/sh
# Runs a study as an array job of Slurm, a part on each node, and merges the parts (docs/fleet.md).
#
# usage: PARTS=8 sbatch --array=1-8 slurm.sh STUDY [OPTION...]
#        sbatch --dependency=afterany:JOB slurm.sh --merge
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

if [ "${1:-}" = --merge ]; then
    exec storebench merge "$results"/part-*/*/ --out "$results/merged"
fi

# A machine is called what Slurm calls its node.
case " $* " in
    *" --hardware"*) ;;
    *) set -- "$@" --hardware "${SLURMD_NODENAME:-$(hostname)}" ;;
esac
part=${SLURM_ARRAY_TASK_ID:?is not set: submit it with sbatch --array=1-8}
# A job that is requeued runs this again: what it has measured is kept.
status=0
storebench run "$@" --shard "$part/${PARTS:?is not set: it is the number of parts, as in --array=1-8}" \
    --out "$results/part-$part" --at "${PLACE:-/var/tmp}" || status=$?
# Trials that failed are results, too.
[ "$status" -eq 20 ] || exit "$status"
