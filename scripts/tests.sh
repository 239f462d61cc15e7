#!/bin/sh
# Tests the scripts beside it on made-up systems: a PATH that holds only the tools named here, some of them fakes that
# write down how they were called. Nothing is installed. Exit code 0: every test passed.
set -eu
cd "$(dirname "$0")/.."

passed=0
failed=0
box=$(mktemp -d)
authors=$box/home/.cache/storebench/rocksdb-authors
trap 'rm -rf "$box"' EXIT

# ---- A made-up system

# Starts over with the tools that every system has, and Rust.
new_system() {
    rm -rf "$box"
    mkdir -p "$box/bin" "$box/home"
    : >"$box/calls"
    for tool in awk basename cat chmod cp cut date dirname env grep gzip head install ln mkdir mktemp mv rm sed sh sleep \
        sort tail tar touch tr xargs; do
        ln -s "$(command -v "$tool")" "$box/bin/$tool"
    done
    # shellcheck disable=SC2016
    fake uname 'case "$1" in -m) echo x86_64 ;; *) echo Linux ;; esac'
    fake id 'echo 0'
    fake cargo "$made_up_cargo"
}

# Rust, and where it unpacks the crates that hold sources.
# shellcheck disable=SC2016 # expanded when the fake runs
made_up_cargo='case "$1" in
    -vV) echo "host: made-up" ;;
    metadata) for crate in librocksdb-sys lz4-sys zstd-sys unqlite mdbx-sys; do
        printf "{\"name\":\"%s\",\"manifest_path\":\"%s/crates/%s-1.0+2/Cargo.toml\",\"edition\":\"2021\"}," $crate "$BOX" $crate
    done ;;
    *) echo "cargo 1.95.0 (made up)" ;;
esac'

# Adds compilers, and the sources of engines that are to be fetched, in a system that has none of them yet.
sources() {
    fake cc 'cat >/dev/null'
    fake c++ ''
    fake make ''
    fake getconf 'echo 2'
    # shellcheck disable=SC2016
    fake sha256sum 'case "$*" in *leveldb*) echo "'"$leveldb_sha256"'  $1" ;; *) cat >/dev/null; echo 0123456789abcdef ;; esac'
    for crate in librocksdb-sys lz4-sys zstd-sys unqlite mdbx-sys; do mkdir -p "$box/crates/$crate-1.0+2"; done
    mkdir "$box/leveldb-1.23"
    (cd "$box" && tar cf - leveldb-1.23 | gzip >leveldb.tar.gz)
    # shellcheck disable=SC2016
    fake curl 'for word; do [ "$last" = -o ] && cp "$BOX/leveldb.tar.gz" "$word"; last=$word; done'
}
authors_version=$(sed -n 's/^version=//p' scripts/rocksdb-authors.sh)
authors_sha256=$(sed -n 's/^sha256=//p' scripts/rocksdb-authors.sh)
leveldb_sha256=$(sed -n 's/^leveldb_sha256=//p' scripts/sources.sh)

# Sources that are there, and RocksDB as its authors build it.
fetched() {
    sources
    run scripts/sources.sh
    mkdir -p "$authors/$authors_version"
    : >"$authors/$authors_version/librocksdbjni-linux64.so"
    : >"$box/calls"
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
    fetched
}

everything='build-essential librocksdb-dev libleveldb-dev libdb5.3-dev postgresql mariadb-server mariadb-plugin-rocksdb redis-server etcd-server etcd-client python3 python3-dev python3-lmdb python3-plyvel python3-bsddb3 python3-pymysql python3-redis python3-venv chromium firefox-esr ffmpeg gstreamer1.0-tools gstreamer1.0-plugins-base zsh fish strace openssh-server e2fsprogs xfsprogs btrfs-progs f2fs-tools dosfstools exfatprogs exfat-fuse ntfs-3g fuse2fs fuse3 bindfs unzip parallel slurmctld slurmd slurm-client munge python3-yaml libc6-arm64-cross libc6-armhf-cross buildah debootstrap qemu-user user-mode-linux kmod shellcheck'

# all_but NAME: every package but one.
all_but() {
    echo "$everything" | sed "s/$1//; s/  / /"
}

# ---- What is checked

# run [NAME=VALUE...] COMMAND...: in the made-up system; leaves $output and $status.
run() {
    status=0
    output=$(env -i PATH="$box/bin" HOME="$box/home" BOX="$box" "$@" 2>&1 </dev/null) || status=$?
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

debian "$(all_but libdb5.3-dev)" "$everything"
run scripts/setup.sh
verdict 'one missing: it is named, with its reason' said 0 'installing libdb5.3-dev: Berkeley DB'
verdict 'one missing: the lists are refreshed' called 'apt-get -o DPkg::Lock::Timeout=120 update'
verdict 'one missing: it alone is installed' called 'install -y --no-install-recommends libdb5.3-dev'

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
verdict 'their sources are not fetched' not_called metadata
run FEATURES=sqlite,berkeleydb scripts/setup.sh
verdict 'stores that are chosen need their own package' called 'recommends libdb5.3-dev'

debian "$(echo "$everything" | sed 's/librocksdb-dev libleveldb-dev//; s/ unzip / /')" "$everything"
run scripts/setup.sh
verdict "engines that are built from source need no package" silent
run ROCKSDB=system scripts/setup.sh
verdict "the system's RocksDB is installed where it is asked for" called 'recommends librocksdb-dev'
verdict "the system's LevelDB is not" not_called 'recommends libleveldb-dev'
run ROCKSDB=authors scripts/setup.sh
verdict "the library of RocksDB's authors needs what unpacks it" called 'recommends unzip'
verdict "the library of RocksDB's authors is not fetched twice" not_called rocksdbjni
run ROCKSDB=authors FEATURES=sqlite scripts/setup.sh
verdict 'it is not asked for without the store' silent
run ROCKSDB=system ROCKSDB_DIR=/opt/own scripts/setup.sh
verdict 'a library of the user is neither built nor installed' silent
rm -rf "$box/home/.cache"
run scripts/setup.sh
verdict 'sources that are not there are fetched' said 0 'fetching the sources of engines'
verdict 'sources that are not there: the archive, too' test -d "$box/home/.cache/storebench/engines/sources/leveldb-1.23"
rm -rf "$box/home/.cache"
: >"$box/calls"
run ROCKSDB_DIR=/opt/own LEVELDB=system scripts/setup.sh
verdict 'those of engines that come from elsewhere are not' test -z "$(find "$box/home/.cache/storebench/engines/sources" -name '*rocksdb*')"

debian "$(all_but librocksdb-dev)" "$(all_but librocksdb-dev)"
fake apt-get 'case "$*" in *install*) echo "E: Unable to locate package librocksdb-dev"; exit 100 ;; esac'
run ROCKSDB=system scripts/setup.sh
verdict 'no RocksDB to be had, but asked for' said 1 'Unable to locate package librocksdb-dev'

debian "$(all_but libdb5.3-dev)" "$everything"
fake id 'echo 1000'
run scripts/setup.sh
verdict 'neither root nor sudo' complained 'to install it: ask for'
verdict 'neither root nor sudo: what to ask for' said 1 'apt-get install libdb5.3-dev'
fake sudo 'echo "sudo: a password is required"; exit 1'
run scripts/setup.sh
verdict 'sudo refuses' said 1 'sudo: a password is required -- '
# shellcheck disable=SC2016
fake sudo '[ "$1" = -n ] && shift && "$@"'
run scripts/setup.sh
verdict 'sudo is asked without a password where nobody can type one' called 'recommends libdb5.3-dev'

debian "$(all_but libdb5.3-dev)" ''
run scripts/setup.sh
verdict 'empty package lists' said 1 'could not fill the package lists'

debian "$(all_but libdb5.3-dev)" "$everything"
fake apt-get 'case "$*" in *install*) echo "E: Failed to fetch x"; echo "E: later"; exit 100 ;; esac'
run scripts/setup.sh
verdict 'no network: the first error and what to do' said 1 'could not install libdb5.3-dev: Failed to fetch x -- '

debian "$everything" "$everything"
# shellcheck disable=SC2016
fake python3 '[ "$1" != -m ] || { mkdir -p "$3/bin" && cp "$0" "$3/bin/pip"; }'
run scripts/setup.sh check
verdict 'packages for Python are for the tests' not_called 'python3 -m venv'
run FEATURES=lmdb scripts/setup.sh test
verdict 'packages for Python: those of fleets' said 0 'installing check-jsonschema=='
verdict 'packages for Python of stores that are left out are not installed' not_called 'unqlite=='
verdict 'nor those that compile for other machines' not_called 'ziglang=='
rm -rf "$box/home/.cache/storebench/python"
run scripts/setup.sh test
verdict 'packages for Python have an environment of their own' called "-m venv $box/home/.cache/storebench/python"
verdict 'packages for Python: each is installed' called 'rocksdict=='
verdict 'packages for Python: each is named, with its reason' said 0 'installing unqlite=='
run scripts/setup.sh test
verdict 'packages for Python are installed once' silent
rm -rf "$box/home/.cache/storebench/python"
fake python3 'echo "Error: ensurepip is not available"; exit 1'
run scripts/setup.sh test
verdict 'packages for Python that are not to be had' said 0 'could not install unqlite==1.2.0: Error: ensurepip'

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
fetched
run scripts/setup.sh
verdict 'another system with everything' silent
cp "$box/bin/cc" "$box/bin/working-cc"
fake cc 'exit 1'
run LEVELDB=system scripts/setup.sh
verdict 'no header, no package manager' complained "LevelDB's development files (leveldb/c.h) are missing"
mv "$box/bin/working-cc" "$box/bin/cc"
run scripts/setup.sh test
verdict 'another system without a test tool' complained 'python3 is missing'

new_system
fake uname 'echo Darwin'
fake xcode-select ''
# shellcheck disable=SC2016
fake brew '[ "$1" != --prefix ] || echo "'"$box"'"'
mkdir -p "$box/opt/leveldb"
fetched
run ROCKSDB=system LEVELDB=system scripts/setup.sh
verdict 'macOS: what is missing is installed' called 'brew install --quiet berkeley-db@5'
verdict "macOS: the system's is installed where it is asked for" called 'install --quiet rocksdb'
verdict 'macOS: what is there is left alone' not_called 'install --quiet leveldb'

debian "$everything" "$everything"
run scripts/setup.sh tset
verdict 'an unknown group' complained "unknown group 'tset'"
# shellcheck disable=SC2016 # make's variable
for group in $(sed -n 's/.*@$(setup)//p' Makefile | tr -c 'a-z0-9-' '\n' | grep -E '^(test|check|cross)(-|$)' | sort -u); do
    run scripts/setup.sh "$group"
    verdict "the Makefile's group $group" silent
done
run ROCKSDB=bundled scripts/setup.sh
verdict 'an unknown RocksDB' complained "ROCKSDB is 'bundled'"
run LEVELDB=own scripts/setup.sh
verdict 'an unknown LevelDB' complained "LEVELDB is 'own'"

# ---- rocksdb-authors.sh

# A system in which the library can be fetched: what is fetched is the word "library", and is not packed.
# shellcheck disable=SC2016
reaches_maven() {
    new_system
    fake curl 'for word; do [ "$last" = -o ] && echo library >"$word"; last=$word; done'
    fake sha256sum 'echo "'"$authors_sha256"'  $1"'
    fake unzip 'cat "$2" >"$3"'
    fake df 'printf "Filesystem\nnone 1 1 200000 1%% /\n"'
}
library=$authors/$authors_version/librocksdbjni-linux64.so

reaches_maven
run scripts/rocksdb-authors.sh --where
verdict 'nothing is fetched by asking' silent
run scripts/rocksdb-authors.sh
verdict "RocksDB's authors' build: it says what it does" said 0 'fetching RocksDB'
verdict "RocksDB's authors' build: it is fetched from Maven Central" called "org/rocksdb/rocksdbjni/$authors_version/rocksdbjni-$authors_version.jar"
verdict "RocksDB's authors' build: it is there" grep -q library "$library"
verdict "RocksDB's authors' build: nothing else is" test "$(cd "$authors" && find . -type f)" = "./$authors_version/${library##*/}"
run scripts/rocksdb-authors.sh --where
verdict "RocksDB's authors' build: it is found" said 0 "$library"
: >"$box/calls"
run scripts/rocksdb-authors.sh
verdict "RocksDB's authors' build: a second time nothing is said" silent
verdict "RocksDB's authors' build: a second time nothing is fetched" not_called curl
reaches_maven
fake curl 'echo "curl: (6) Could not resolve host" >&2; exit 6'
run scripts/rocksdb-authors.sh
verdict "RocksDB's authors' build: no network" said 1 "can't be fetched (curl: (6) Could not resolve host): connect this machine"
verdict "RocksDB's authors' build: where to put it without one" said 1 "$authors/rocksdbjni-$authors_version.jar"
echo library >"$authors/rocksdbjni-$authors_version.jar"
run scripts/rocksdb-authors.sh
verdict "RocksDB's authors' build: what was put there is taken" silent
reaches_maven
fake sha256sum 'echo 0123456789abcdef'
run scripts/rocksdb-authors.sh
verdict "RocksDB's authors' build: another file is refused" said 1 'is not the file that was pinned'
verdict "RocksDB's authors' build: nothing of it is left" test ! -e "$library"
reaches_maven
fake df 'printf "Filesystem\nnone 1 1 2048 1%% /\n"'
run scripts/rocksdb-authors.sh
verdict "RocksDB's authors' build: a full cache" complained "has 2 MiB free, and 107 are needed: make room"
: >"$box/no-folder"
run XDG_CACHE_HOME="$box/no-folder" scripts/rocksdb-authors.sh
verdict "RocksDB's authors' build: a cache that can't be written" complained "can't be written: mend its rights"
rm "$box/bin/unzip"
run scripts/rocksdb-authors.sh
verdict "RocksDB's authors' build: without unzip" complained 'unzip is missing'
fake uname 'echo Plan9'
run scripts/rocksdb-authors.sh
verdict "RocksDB's authors' build: none is known for this machine" complained 'no build'
reaches_maven
# shellcheck disable=SC2016
fake curl 'sleep 1; for word; do [ "$last" = -o ] && echo library >"$word"; last=$word; done'
run sh -c 'scripts/rocksdb-authors.sh & scripts/rocksdb-authors.sh && wait $!'
verdict "RocksDB's authors' build: two at once" said 0 'fetching RocksDB'
verdict "RocksDB's authors' build: two at once leave one" test "$(cd "$authors" && find . -type f)" = "./$authors_version/${library##*/}"

# ---- env.sh

# shellcheck disable=SC2016
show='. scripts/env.sh && echo "<$STOREBENCH_CARGO_FLAGS>"'
new_system
run sh -c "$show"
verdict 'all stores: no flags' said 0 '<>'
run FEATURES=sqlite,lmdb sh -c "$show"
verdict 'some stores' said 0 '<--no-default-features --features sqlite,lmdb>'

# ---- sources.sh

new_system
sources
engines=$box/home/.cache/storebench/engines
rocksdb=$(sed -n '/^name = "librocksdb-sys"$/{n;s/^version = "\(.*\)"$/librocksdb-sys-\1/p;}' Cargo.lock)
run scripts/sources.sh rocksdb
verdict 'it is said what is fetched' said 0 'fetching the sources of engines'
verdict 'a package is linked by its version in Cargo.lock' test "$(readlink -f "$engines/sources/$rocksdb")" = "$box/crates/librocksdb-sys-1.0+2"
verdict 'another engine is not asked for' test ! -e "$engines/leveldb-1.23.tar.gz"
run scripts/sources.sh rocksdb
verdict 'a second time nothing is said' silent
rm -r "$box/crates/librocksdb-sys-1.0+2"
run scripts/sources.sh rocksdb
verdict 'cargo is asked again where its folder was cleaned' said 1 'cargo did not say where it keeps the package librocksdb-sys'
mkdir "$box/crates/librocksdb-sys-1.0+2"
run XDG_CACHE_HOME="$box/elsewhere" scripts/sources.sh
verdict 'the cache is where XDG says' test -d "$box/elsewhere/storebench/engines/sources/leveldb-1.23"
verdict 'nothing else is left there' test -z "$(find "$box/elsewhere/storebench/engines" -name '.?*')"
# shellcheck disable=SC2016
fake cargo '[ "$1" = -vV ] || { echo "error: no network" >&2; exit 101; }'
run XDG_CACHE_HOME="$box/third" scripts/sources.sh unqlite
verdict 'cargo has no network' said 1 'cargo could not fetch the sources: error: no network'
run scripts/sources.sh levledb
verdict 'an unknown engine' said 1 "unknown engine 'levledb'"

new_system
sources
(run scripts/sources.sh; echo "$status" >"$box/first") &
run scripts/sources.sh
wait
verdict 'two at once: both succeed' test "$status $(cat "$box/first")" = '0 0'
verdict 'two at once: nothing is left over' test -z "$(find "$engines" -name '.?*')"
verdict 'two at once: nothing is twice' test ! -e "$engines/sources/leveldb-1.23/leveldb-1.23"

new_system
sources
fake sha256sum 'cat >/dev/null; echo wrong'
run scripts/sources.sh leveldb
verdict 'sources that are not the pinned ones are refused' said 1 'the sources of LevelDB could not be fetched'
verdict 'and it is said what to do' said 1 'LEVELDB=system'
fake curl 'echo "curl: (6) no such host" >&2; exit 6'
run scripts/sources.sh leveldb
verdict 'no network' said 1 'no such host'
verdict 'no network: nothing is left' test -z "$(find "$engines" -name '.?*' -o -name 'leveldb*')"

# ---- For other machines

new_system
sources
# Its Python is Zig here, which compiles as the others do.
own=$box/home/.cache/storebench/python/bin
mkdir -p "$own"
# shellcheck disable=SC2016
printf '#!/bin/sh\nshift 2\necho "zig $*" >>"%s"\ntool=$1\nshift\nexec "$tool" "$@"\n' "$box/calls" >"$own/python"
chmod +x "$own/python"
run scripts/zig/cc -march=armv8-a+crc+crypto -c x.c
verdict 'Zig: no target' said 2 'ZIG_TARGET: is set by'
run ZIG_TARGET=aarch64-linux-gnu.2.31 scripts/zig/cc -march=armv8-a+crc+crypto '-DA="b c"' -c x.c
verdict 'Zig: a processor in place of an architecture' called '-mcpu=generic+crc+crypto -DA="b c" -c x.c'
run scripts/cross.sh
verdict 'cross: no target' said 2 'usage: scripts/cross.sh'
run scripts/cross.sh sparc-sun-solaris
verdict 'cross: an unknown target' said 2 'unknown target'
run FEATURES=lmdb scripts/cross.sh armv7-unknown-linux-gnueabihf
verdict 'cross: no compilers' complained 'compilers are missing'
debian "$(all_but qemu-user)" "$everything"
run scripts/setup.sh cross cross-test
verdict 'what another machine needs is installed' said 0 'installing qemu-user: runs what was compiled'
rm -rf "$box/home/.cache"
run scripts/setup.sh cross
verdict 'and the sources of engines, which are the same for all' called 'cargo metadata'

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
verdict 'the header is there' grep -q SB_VERSION "$box/prefix/include/storebench_store.h"
verdict 'manual pages are written' grep -qx page "$box/prefix/share/man/man1/storebench-run.1"
verdict 'no library is needed' test ! -e "$box/prefix/lib"
ln -s "$(command -v rmdir)" "$box/bin/rmdir"
mkdir -p "${library%/*}"
echo library >"$library"
run ROCKSDB=authors scripts/install.sh "$box/prefix"
verdict "RocksDB's authors' build: it is installed with a program that loads it" \
    grep -qx library "$box/prefix/lib/storebench/${library##*/}"
run scripts/install.sh --remove "$box/prefix"
verdict 'all of it is removed' test -z "$(find "$box/prefix" -type f)"

# ---- page-picture.sh

new_system
echo page >"$box/page.html"
run scripts/page-picture.sh "$box/page.html"
verdict 'a picture: no name for it' said 2 'usage: scripts/page-picture.sh'
run scripts/page-picture.sh "$box/nothing.html" "$box/picture.png"
verdict 'a picture: no page' said 2 'there is no page'
run scripts/page-picture.sh "$box/page.html" "$box/picture.png"
verdict 'a picture: no Chromium' said 2 'Chromium is missing'
fake chromium 'echo no display'
run scripts/page-picture.sh "$box/page.html" "$box/picture.png"
verdict 'a picture: none was made' said 1 'no display'
# shellcheck disable=SC2016
fake chromium 'for word; do case "$word" in --screenshot=*) echo picture >"${word#--screenshot=}" ;; esac; done'
run scripts/page-picture.sh "$box/page.html" "$box/picture.png" 800,600
verdict 'a picture: of the page' called "file://$box/page.html"
verdict 'a picture: as large as asked' called '--window-size=800,600'
verdict 'a picture: written' grep -qx picture "$box/picture.png"

# ---- dist.sh

new_system
run scripts/dist.sh
verdict 'dist: no folder' complained 'usage: scripts/dist.sh FOLDER'
run scripts/dist.sh --check "$box/nothing"
verdict 'dist: no folder of packages' complained 'there is no folder'
run scripts/dist.sh "$box/out" sparc-sun-solaris
verdict 'dist: an unknown target' complained 'unknown target'
run FEATURES=lmdb scripts/dist.sh "$box/out"
verdict 'dist: no compilers' complained 'compilers are missing'
mkdir -p "$box/out"
run scripts/dist.sh --check "$box/out"
verdict 'dist: nothing was made' complained 'does not hold what'
fake uname 'echo Darwin'
run scripts/dist.sh "$box/out"
verdict 'dist: not on macOS' complained 'packages are made on Linux only'

# What cargo binstall is told, with the values that it puts in.
binstall() {
    awk -v part="[package.metadata.binstall.overrides.$1]" '$0 == part { found = 1; next } /^\[/ { found = 0 } found' \
        crates/storebench/Cargo.toml | sed -n "s/^$2 = \"\(.*\)\"\$/\1/p" |
        sed "s|{ repo }|$repository|; s|{ version }|$version|g; s|{ bin }|storebench|"
}
repository=$(sed -n 's/^repository = "\(.*\)"$/\1/p' Cargo.toml)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
told=$(sed -n 's/^\[package.metadata.binstall.overrides.\(.*\)\]$/\1/p' crates/storebench/Cargo.toml)
released=$(sed -n 's/^ *target: \[\(.*\)\]$/\1/p' .github/workflows/release.yml | sed 's/, /\n/g')
verdict 'binstall: the targets are those of a release' test "$told" = "$released"
for target in $told; do
    # shellcheck disable=SC2016 # expanded in the shell that is started
    archive=$(root=$PWD sh -euc '. scripts/target.sh && of_target "$1" && archive_name' sh "$target")
    verdict "binstall: the archive for $target" \
        test "$(binstall "$target" pkg-url)" = "$repository/releases/download/v$version/$archive.tar.gz"
    verdict "binstall: the program in it, for $target" test "$(binstall "$target" bin-dir)" = "$archive/bin/storebench"
done

echo "scripts: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
