# What commands in the cases may call next to the system's programs.
# shellcheck shell=sh disable=SC2153 # the test sets STOREBENCH, FAULTY, TINY and CASES

storebench() { "$STOREBENCH" "$@"; }

# The folder of the latest run, for redirections, in which sh expands no patterns.
latest() { dirname "$(find storebench-runs -maxdepth 2 -name run.json | sort | tail -n 1)"; }

# storebench with the stores of tests/faulty.
faulty() { "$FAULTY" "$@"; }

# tiny [OPTION VALUE]...: the arguments of the smallest study, with these in place of its own; an empty value leaves the option out.
tiny() {
    all=" $TINY"
    while [ $# -gt 0 ]; do
        all=$(echo "$all" | sed "s, $1 [^ ]*,,")
        # A number of operations and a duration exclude each other.
        [ "$1" != --duration ] || all=$(echo "$all" | sed "s, --operations [^ ]*,,")
        [ -z "$2" ] || all="$all $1 $2"
        shift 2
    done
    echo "$all"
}

# Whether a store is built in.
built() { "$STOREBENCH" stores | grep -q "^$1 .*[0-9]"; }

is_root() { [ "$(id -u)" -eq 0 ]; }

# with_disk SIZE SCRIPT: a script with a disk in memory at ./disk, of this size and other options of tmpfs. Nobody else sees the disk.
with_disk() {
    as=
    is_root || as="--user --map-root-user"
    # shellcheck disable=SC2086,SC2016 # no option is none; the other sh expands them
    size=$1 script=$2 exec unshare --mount $as sh -euc '
        . "$CASES/helpers.sh"
        mkdir -p disk
        mount -t tmpfs -o "size=$size" tmpfs disk
        eval "$script"'
}

# unprivileged PROGRAM ARGUMENT...: permissions apply to it, whoever runs the tests.
unprivileged() {
    if is_root; then setpriv --bounding-set=-all --inh-caps=-all "$@"; else "$@"; fi
}

# change FILE SED-SCRIPT: changes a file in place, or fails where that changes nothing.
change() {
    sed "$2" "$1" >"$1.changed"
    if cmp -s "$1" "$1.changed"; then
        echo "$2 changes nothing in $1" >&2
        return 1
    fi
    cat "$1.changed" >"$1"
    rm "$1.changed"
}

# json EXPRESSION: what Python makes of it, where d is the JSON on standard input.
json() {
    python3 -c 'import json, sys; d = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"
}

# trials EXPRESSION: the same for each trial of the only run, which is t, in the order in which they ran.
trials() {
    python3 -c 'import json, sys
for line in sys.stdin: t = json.loads(line); print(eval(sys.argv[1]))' "$1" <"$(latest)/results.jsonl"
}

# changed FILE SED-SCRIPT: the same of a new copy of a file that lies next to the cases.
changed() {
    cp "$CASES/$1" "$1"
    change "$1" "$2"
}

# library FAULT...: builds the library of examples/c-log with each of these faults here, as lib<fault>.so in small letters.
library() {
    for fault; do
        cc -std=gnu11 -O1 -Wall -fPIC -fvisibility=hidden -shared -pthread -I"$CASES/../../../../../include" -DFAULT=FAULT_"$fault" \
            -o "lib$(echo "$fault" | tr '[:upper:]' '[:lower:]').so" "$CASES/../store_library/faulty.c"
    done
}

# in_a_group BYTES COMMAND...: in a control group with a limit of memory, of version 2 or 1.
in_a_group() {
    # A group that has processes can't have limited groups below it, so the root's are used.
    group=/sys/fs/cgroup
    [ -e "$group/cgroup.controllers" ] || group=$group/memory$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
    group=$group/storebench-test-$$
    mkdir "$group"
    # Memory that may be swapped out has no bound.
    for limit in memory.max="$1" memory.limit_in_bytes="$1" memory.swap.max=0 memory.memsw.limit_in_bytes="$1"; do
        [ ! -e "$group/${limit%=*}" ] || echo "${limit#*=}" >"$group/${limit%=*}"
    done
    shift
    code=0
    # shellcheck disable=SC2016 # sh expands them
    sh -c 'echo $$ >"$0" && exec "$@"' "$group/cgroup.procs" "$@" || code=$?
    rmdir "$group"
    return "$code"
}
