#!/bin/sh
# Tests the scripts beside it on made-up systems: a PATH that holds only the tools named here, some of them fakes that
# write down how they were called. Nothing is installed. Exit code 0: every test passed.
set -eu
cd "$(dirname "$0")/.."

passed=0
failed=0
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT

# ---- A made-up system

# Starts over with the tools that every system has, and Rust.
new_system() {
    rm -rf "$box"
    mkdir -p "$box/bin" "$box/home"
    : >"$box/calls"
    for tool in awk cat chmod cp cut dirname env grep head install mkdir mktemp rm sed sh sort tail tr; do
        ln -s "$(command -v "$tool")" "$box/bin/$tool"
    done
    fake uname 'echo Linux'
    fake id 'echo 0'
    fake cargo 'echo "cargo 1.95.0 (made up)"'
}

# fake NAME SCRIPT: a tool that writes its call down and then does as the script says.
fake() {
    printf '#!/bin/sh\necho "%s $*" >>"%s/calls"\n%s\n' "$1" "$box" "$2" >"$box/bin/$1"
    chmod +x "$box/bin/$1"
}

# Debian, with the packages $1 installed and the packages $2 to be had.
debian() {
    new_system
    echo "$1" | tr ' ' '\n' >"$box/installed"
    echo "$2" | tr ' ' '\n' >"$box/offered"
    # shellcheck disable=SC2016 # expanded when the fake runs
    fake dpkg-query 'for name; do :; done; grep -qx "$name" "'"$box"'/installed" && echo installed || echo not-installed'
    # shellcheck disable=SC2016
    fake apt-cache 'grep -qx "$2" "'"$box"'/offered"'
    fake apt-get ''
}

everything='build-essential libclang-dev librocksdb-dev libleveldb-dev libdb5.3-dev python3 chromium ffmpeg gstreamer1.0-tools gstreamer1.0-plugins-base zsh fish shellcheck'

# all_but NAME: every package but one.
all_but() {
    echo "$everything" | sed "s/$1//; s/  / /"
}

# ---- What is checked

# run [NAME=VALUE...] COMMAND...: in the made-up system; leaves $output and $status.
run() {
    status=0
    output=$(env -i PATH="$box/bin" HOME="$box/home" "$@" 2>&1 </dev/null) || status=$?
}

# verdict NAME CONDITION...: counts a test.
verdict() {
    name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\n  exit code %s, output:\n%s\n  calls:\n%s\n' "$name" "$status" "$output" "$(cat "$box/calls")"
    fi
}

# said STATUS TEXT: the exit code, and a piece of the output.
said() {
    [ "$status" -eq "$1" ] && printf '%s' "$output" | grep -qF -e "$2"
}

# complained TEXT: exit code 1, and one line that holds the text.
complained() {
    said 1 "$1" && [ "$(printf '%s\n' "$output" | grep -c .)" -eq 1 ]
}

silent() {
    [ "$status" -eq 0 ] && [ -z "$output" ]
}

called() {
    grep -qF -e "$1" "$box/calls"
}

not_called() {
    ! called "$1"
}

# ---- setup.sh on Debian

debian "$everything" "$everything"
run scripts/setup.sh test check
verdict 'all there: nothing is said' silent
verdict 'all there: apt-get is left alone' not_called apt-get

debian "$(all_but librocksdb-dev)" "$everything"
run scripts/setup.sh
verdict 'one missing: it is named, with its reason' said 0 'installing librocksdb-dev: RocksDB'
verdict 'one missing: the lists are refreshed' called 'apt-get -o DPkg::Lock::Timeout=120 update'
verdict 'one missing: it alone is installed' called 'install -y --no-install-recommends librocksdb-dev'

debian "$(all_but python3)" "$everything"
run scripts/setup.sh
verdict 'a package of a group is not asked for without it' silent
run scripts/setup.sh test
verdict 'a group adds its packages' called 'recommends python3'

debian "$(all_but libdb5.3-dev)" "$(all_but libdb5.3-dev) libdb-dev"
run scripts/setup.sh
verdict 'the second name is taken where the first is gone' called 'recommends libdb-dev'

debian 'build-essential' "$everything"
run FEATURES=sqlite,lmdb scripts/setup.sh
verdict 'stores that are left out need nothing' silent
run FEATURES=sqlite,leveldb scripts/setup.sh
verdict 'stores that are chosen need their own package' called 'recommends libleveldb-dev'

debian "$(all_but librocksdb-dev)" "$(all_but librocksdb-dev)"
run scripts/setup.sh
verdict 'no RocksDB to be had: said, and built from source' said 0 'a quarter of an hour'
run ROCKSDB=bundled scripts/setup.sh
verdict 'bundled RocksDB: the package is not missed' silent
fake apt-get 'case "$*" in *install*) echo "E: Unable to locate package librocksdb-dev"; exit 100 ;; esac'
run ROCKSDB=system scripts/setup.sh
verdict 'no RocksDB to be had, but asked for' said 1 'Unable to locate package librocksdb-dev'

debian "$(all_but libleveldb-dev)" "$everything"
fake id 'echo 1000'
run scripts/setup.sh
verdict 'neither root nor sudo' complained 'to install it: ask for'
verdict 'neither root nor sudo: what to ask for' said 1 'apt-get install libleveldb-dev'
fake sudo 'echo "sudo: a password is required"; exit 1'
run scripts/setup.sh
verdict 'sudo refuses' said 1 'sudo: a password is required -- '
# shellcheck disable=SC2016
fake sudo '[ "$1" = -n ] && shift && "$@"'
run scripts/setup.sh
verdict 'sudo is asked without a password where nobody can type one' called 'recommends libleveldb-dev'

debian "$(all_but libleveldb-dev)" ''
run scripts/setup.sh
verdict 'empty package lists' said 1 'could not fill the package lists'

debian "$(all_but libleveldb-dev)" "$everything"
fake apt-get 'case "$*" in *install*) echo "E: Failed to fetch x"; echo "E: later"; exit 100 ;; esac'
run scripts/setup.sh
verdict 'no network: the first error and what to do' said 1 'could not install libleveldb-dev: Failed to fetch x -- '

# ---- setup.sh: Rust, other systems, bad input

debian "$everything" "$everything"
rm "$box/bin/cargo"
run scripts/setup.sh
verdict 'no Rust' complained 'https://sh.rustup.rs'
fake cargo 'echo "cargo 1.63.0"'
run scripts/setup.sh
verdict 'old Rust' complained 'Rust 1.63.0 is too old'
fake cargo 'echo "error: toolchain is not installed" >&2; exit 1'
run scripts/setup.sh
verdict 'Rust without its toolchain' said 1 'rustup toolchain install'
fake cargo 'echo "cargo 2.0.0"'
run scripts/setup.sh
verdict 'a later Rust will do' silent

new_system
run scripts/setup.sh
verdict 'no compiler, no package manager' complained 'cc is missing, and there is neither apt-get nor brew'
fake make ''
fake c++ ''
fake cc 'exit 1'
run scripts/setup.sh
verdict 'no header, no package manager' complained "LevelDB's development files (leveldb/c.h) are missing"
fake cc ''
run ROCKSDB=bundled scripts/setup.sh
verdict 'another system with everything' silent
run ROCKSDB_INCLUDE_DIR=/nowhere scripts/setup.sh
verdict 'another system without RocksDB: built from source' said 0 'a quarter of an hour'
run scripts/setup.sh test
verdict 'another system without a test tool' complained 'python3 is missing'

new_system
fake uname 'echo Darwin'
fake xcode-select ''
# shellcheck disable=SC2016
fake brew '[ "$1" != --prefix ] || echo "'"$box"'"'
mkdir -p "$box/opt/leveldb" "$box/opt/rocksdb"
run scripts/setup.sh
verdict 'macOS: what is missing is installed' called 'brew install --quiet berkeley-db@5'
verdict 'macOS: what is there is left alone' not_called 'install --quiet rocksdb'

debian "$everything" "$everything"
run scripts/setup.sh tset
verdict 'an unknown group' complained "unknown group 'tset'"
run ROCKSDB=own scripts/setup.sh
verdict 'an unknown RocksDB' complained "ROCKSDB is 'own'"

# ---- env.sh

# shellcheck disable=SC2016
show='. scripts/env.sh && echo "<$STOREBENCH_CARGO_FLAGS|${ROCKSDB_COMPILE:-}|${ROCKSDB_INCLUDE_DIR:-}>"'
new_system
run ROCKSDB=system sh -c "$show"
verdict 'system RocksDB: nothing is set' said 0 '<||>'
run ROCKSDB=bundled sh -c "$show"
verdict 'bundled RocksDB' said 0 '< --features rocksdb-bundled|1|rocksdb/include>'
run ROCKSDB=bundled sh -c ". scripts/env.sh; ROCKSDB=system; $show"
verdict 'a decision can be taken back' said 0 '<||>'
run ROCKSDB_INCLUDE_DIR=/nowhere sh -c "$show"
verdict 'no headers: bundled' said 0 'rocksdb-bundled|1|'
run FEATURES=sqlite,lmdb ROCKSDB=bundled sh -c "$show"
verdict 'no RocksDB wanted: none is built' said 0 '<--no-default-features --features sqlite,lmdb||>'

# ---- deny.sh

new_system
fake cargo 'case "$*" in *fetch*) echo "fatal: no such host"; exit 1 ;; esac'
run scripts/deny.sh
verdict 'no advisory database: said' said 0 'ADVISORIES SKIPPED: their database could not be fetched: no such host'
verdict 'no advisory database: the rest is checked' called 'check licenses bans sources'
fake cargo 'case "$*" in *advisories*) echo "error[vulnerability]"; exit 1 ;; esac'
run scripts/deny.sh
verdict 'a bad advisory fails' said 1 'error[vulnerability]'
fake cargo 'case "$*" in *licenses*) exit 4 ;; esac'
run scripts/deny.sh
verdict 'a bad licence fails' test "$status" -eq 4
fake cargo 'case "$*" in "deny --version") exit 101 ;; *install*) echo unreachable; exit 101 ;; esac'
run scripts/deny.sh
verdict 'cargo-deny is missing and not to be had' said 101 'installing cargo-deny'

# ---- install.sh

new_system
fake cargo "echo '{\"target_directory\":\"$box/target\"}'"
run scripts/install.sh "$box/prefix"
verdict 'nothing built' complained 'target/release/storebench is not there'
mkdir -p "$box/target/release"
# shellcheck disable=SC2016
fake storebench 'case "$1" in man) echo page >"$2/storebench.1"; echo page >"$2/storebench-run.1" ;; *) echo "$2" ;; esac'
mv "$box/bin/storebench" "$box/target/release/storebench"
run scripts/install.sh "$box/prefix"
verdict 'installed' said 0 "$box/prefix/bin is not in PATH"
verdict 'the program runs from where it is' test -x "$box/prefix/bin/storebench"
verdict 'completions are written' grep -qx zsh "$box/prefix/share/zsh/site-functions/_storebench"
verdict 'manual pages are written' grep -qx page "$box/prefix/share/man/man1/storebench-run.1"
run scripts/install.sh --remove "$box/prefix"
verdict 'all of it is removed' test -z "$(find "$box/prefix" -type f)"

echo "scripts: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
