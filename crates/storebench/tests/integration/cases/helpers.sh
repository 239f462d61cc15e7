# What commands in the cases may call next to the system's programs.
# shellcheck shell=sh disable=SC2153,SC2034 # the test sets STOREBENCH, FAULTY, TINY and CASES; cases read what is set here

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

# not COMMAND...: fails where the command does well, also in the middle of a line.
not() { if "$@"; then return 1; fi; }

# start ARGUMENT...: starts storebench behind the case's back; its number is in `pid`, and what it says in `out` and `err`.
start() {
    rm -f pid code
    # shellcheck disable=SC2016 # the other sh expands them
    {
        code=0
        sh -c 'echo $$ >pid; exec env --default-signal=INT "$STOREBENCH" "$@"' sh "$@" >out 2>err </dev/null || code=$?
        echo "$code" >code
    } >/dev/null 2>&1 &
    until [ -s pid ]; do sleep 0.01; done
}

# ended: waits until that has ended, and ends likewise.
ended() {
    sooner_or_later [ -s code ] || exit 99
    return "$(cat code)"
}

# here WORD: the numbers of processes at work here, or with this place among their words, whose command line holds a word.
here() {
    python3 -c '
import os, sys
word, place = sys.argv[1:]
for number in filter(str.isdigit, os.listdir("/proc")):
    try:
        line = open(f"/proc/{number}/cmdline").read().replace("\0", " ")
        is_here = place in line or os.readlink(f"/proc/{number}/cwd").startswith(place)
    except OSError:
        continue
    if line and word in line and is_here and not line.startswith("sh ") and number != str(os.getpid()):
        print(number)
' "$1" "$(pwd -P)"
}

# browser OPTION... ADDRESS: has Chromium do something with a page, and end.
browser() {
    for program in chromium chromium-browser google-chrome; do
        command -v "$program" >/dev/null || continue
        "$program" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-background-networking --disable-component-update \
            --disable-sync --no-first-run --user-data-dir="$PWD/profile" --window-size=1280,2500 "$@" </dev/null
        return
    done
    return 1
}

# Whether there can be a user here who has no rights and may use FUSE. Where nothing may lack, the case shows what does.
has_users() {
    is_root && [ -e /dev/fuse ] || return 1
    for program in mke2fs fuse2fs fusermount3 setpriv; do
        command -v "$program" || [ "${STOREBENCH_TEST_STRICT-}" ] || return 1
    done
}

# for_user PROGRAM: has a program and a folder for that user's disk here: where the tests are built, that user may not look.
for_user() {
    cp "$1" storebench
    mkdir disk
    chmod 777 . disk
}

# as_user SCRIPT: runs a script as that user, for whom the device of FUSE is open as on most machines: in a mount namespace of its own, as
# this machine may keep it for root.
as_user() {
    # shellcheck disable=SC2016 # the other sh expands it
    unshare --mount sh -c '{ [ -e fuse ] || mknod -m 666 fuse c 10 229; } && mount --bind fuse /dev/fuse &&
        exec timeout 120 setpriv --reuid=65534 --regid=65534 --clear-groups sh -c "$0"' "$1"
}

# storebench with little memory: each thread's heap takes its part of the address space.
# shellcheck disable=SC3045 # every sh of these systems has it
little() { (ulimit -v 524288 && RAYON_NUM_THREADS=1 exec "$STOREBENCH" "$@"); }

# Whether this is so of the newest run: look.py.
look() { python3 "$CASES/look.py" "$1"; }

# sooner_or_later COMMAND...: tries it until it does well, for ten minutes at most.
sooner_or_later() {
    tries=0
    until "$@" 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 12000 ] || return 1
        sleep 0.05
    done
}

# mounted PLACE TRIALS [OPTION...]: starts a run with slow trials in an image, $run, and waits until that is mounted: $at.
mounted() {
    place=$1 number=$2
    shift 2
    # A shell has INT ignored by what it starts in the background.
    # shellcheck disable=SC2046 # the arguments are words
    env --default-signal=INT "$FAULTY" run crud --store dawdles --place "$place" "$@" \
        $(tiny --operations 120 --trials "$number" --guarantee default) --at disk >out 2>err &
    run=$!
    until at=$(json 'd["directory"]' <"$(latest)/trial.json"); do kill -0 "$run"; sleep 0.05; done 2>/dev/null
    at=$(dirname "$at")
    at=$(cd "$(dirname "$at")" && pwd -P)/$(basename "$at")
}

# unmounted: waits until what is mounted at $at is used by nobody, and unmounts it.
unmounted() { sooner_or_later umount "$at"; }

# The mounts and loop devices of what is here.
left() {
    grep -F "$(pwd -P)/" /proc/self/mountinfo || :
    grep -sF "$(pwd -P)/" /sys/block/loop*/loop/backing_file || :
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
