#!/bin/sh
# Makes the packages in which storebench is handed on: an archive, a Debian package, and a wheel for Python's pip. The program in
# each is scripts/cross.sh's: engines and C++ runtime are in it, and it needs nothing but a C library that may be old. With
# manual pages, completions, documentation and licences.
#
# usage: scripts/dist.sh FOLDER [TARGET]      makes them in FOLDER; TARGET: those of scripts/target.sh, this machine by default
#        scripts/dist.sh --check FOLDER       installs each that is there and for this machine, and measures with it: in a root with
#                                             nothing but the C library, in ROOTS, in an image, and with pip. Needs to be root
# environment:
#   FEATURES, PROFILE   as for scripts/cross.sh; a check looks for these stores
#   ROOTS               the Debians and Ubuntus in which they are installed, by name; empty: bullseye trixie focal noble (the oldest
#                       and the newest); an Ubuntu that can't be had from its archive is skipped, and said so
#   XDG_CACHE_HOME      a root is unpacked once, into storebench/roots in it; empty: ~/.cache
# Exit code 0: they are there, or work; 1: a line says what is wrong.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/target.sh
. "$root/scripts/target.sh"
# shellcheck source=scripts/download.sh
. "$root/scripts/download.sh"
cache=${XDG_CACHE_HOME:-${HOME:?is needed to find the cache}/.cache}/storebench
stores=${FEATURES:-$(sed -n 's/^default = \[\(.*\)\]$/\1/p' "$root/crates/storebench/Cargo.toml" | tr -d '" ')}

say() {
    printf 'dist: %s\n' "$*" >&2
}

fail() {
    say "$*"
    exit 1
}

# ---- Licences

# The folders of the packages that are linked in, as cargo unpacks them.
packages() {
    cargo metadata --format-version 1 --locked --features storebench-stores/engine-sources | tr ',' '\n' |
        sed -n 's/^"manifest_path":"\(.*\)\/Cargo.toml"$/\1/p' >"$box/folders"
    cargo tree --locked --package storebench --edges normal --prefix none --features storebench-stores/engine-sources |
        awk '!/\(\// && NF >= 2 { print $1 "-" substr($2, 2) }' | sort -u | while read -r package; do
        grep -F "/$package" "$box/folders" | awk -v end="/$package" 'substr($0, length($0) - length(end) + 1) == end' |
            head -n 1
    done
}

# Copies each package's licences to a folder of its own.
licences() {
    packages >"$box/packages"
    [ -s "$box/packages" ] || fail "cargo did not say which packages are linked in"
    while read -r package; do
        into=$1/$(basename "$package")
        mkdir -p "$into"
        (cd "$package" && find . -maxdepth 4 -type f \( -iname 'licen[cs]e*' -o -iname 'copying*' -o -iname 'copyright*' \
            -o -iname 'notice*' -o -iname 'unlicense*' -o -iname '*_license.txt' \)) | grep -v -e /tests/ -e /examples/ \
            -e /programs/ -e /contrib/ -e '\.rs$' -e '\.py$' | while read -r file; do
            cp "$package/$file" "$into/$(echo "$file" | sed 's|^\./||; s|/|-|g')"
        done
        # Some name their licence in Cargo.toml and leave the text to others.
        sed -n 's/^license = /licence: /p; s/^authors = /authors: /p; s/^repository = /repository: /p' "$package/Cargo.toml" \
            >"$into/ABOUT"
    done <"$box/packages"
    mkdir -p "$1/leveldb" "$1/berkeleydb" "$1/c++-runtime"
    archive=$cache/engines/leveldb-1.23.tar.gz
    if [ -e "$archive" ]; then gzip -dc "$archive" | tar xOf - leveldb-1.23/LICENSE >"$1/leveldb/LICENSE"; fi
    if [ -e /usr/share/doc/libdb5.3-dev/copyright ]; then cp /usr/share/doc/libdb5.3-dev/copyright "$1/berkeleydb"; fi
    for part in libcxx libcxxabi libunwind; do
        cp "$("$cache/python/bin/python" -c 'import ziglang; print(ziglang.__path__[0])')/lib/$part/LICENSE.TXT" "$1/c++-runtime/$part"
    done
    cat >"$1/README" <<END
The licences of what is linked into storebench, a folder for each library.

Berkeley DB is under the Sleepycat licence: who passes this program on must offer the source of all of it. storebench's is at
the address in Cargo.toml of its repository; each package's is at the address in its ABOUT.
SQLite is in the public domain.
The C++ runtime is LLVM's, under the Apache License 2.0 with exceptions, which permit linking it into any program.
END
    find "$1" -type d -empty -delete
}

# ---- What all packages hold

readme() {
    cat <<END
storebench $version for Linux on $TARGET_MACHINE

    bin/storebench --help        the program; it can be run from here
    share/                       manual pages, and completions for bash, zsh and fish
    include/                     the header for a store of your own, in any language
    docs/                        the documentation
    licences/                    of all that is linked in

To install it: cp -r bin share include /usr/local

It needs glibc $glibc or newer and no other package.$processor
END
}

# Makes a folder with all of it.
make_stage() {
    # The one in the cache may be another, with other stores.
    scripts/cross.sh "$target" "$box/programs"
    built=$box/programs/storebench-$version-$TARGET_MACHINE
    runner=
    if [ "$TARGET_MACHINE" != "$(uname -m)" ]; then runner="$TARGET_QEMU -L /usr/$TARGET_TRIPLET"; fi
    PROGRAM=$built RUNNER=$runner scripts/install.sh "$stage" >/dev/null
    glibc=$(glibc_of "$built")
    processor=
    if [ "$TARGET_MACHINE" = x86_64 ]; then
        processor=" RocksDB in it needs SSE 4.2, which every such processor has since 2010."
    fi
    readme >"$stage/README"
    cp LICENSE-MIT LICENSE-APACHE CHANGELOG.md "$stage"
    cp -R docs "$stage/docs"
    licences "$stage/licences"
}

# ---- The packages

# size_of FILE...: how long all of them are, in words.
size_of() {
    du -ck --apparent-size "$@" | awk 'END { printf "%.1f MiB\n", $1 / 1024 }'
}

# made FILE FOLDER...: says how large a package is, and what it takes where it is installed.
made() {
    file=$1
    shift
    say "made: ${file##*/}, $(size_of "$file") to fetch, $(size_of "$@") installed"
}

make_archive() {
    (cd "$box" && tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf - "$name") | gzip -n9 >"$folder/$name.tar.gz"
    made "$folder/$name.tar.gz" "$stage"
}

# Debian's own tool packs what lies where it will be installed.
make_deb() {
    command -v dpkg-deb >/dev/null 2>&1 || { say "no .deb: dpkg-deb is missing"; return 0; }
    tree=$box/deb
    mkdir -p "$tree/DEBIAN" "$tree/usr/share/doc/storebench"
    cp -R "$stage/bin" "$stage/share" "$stage/include" "$tree/usr/"
    cp -R "$stage/docs" "$stage/licences" "$stage/CHANGELOG.md" "$tree/usr/share/doc/storebench/"
    cat "$stage/LICENSE-MIT" "$stage/LICENSE-APACHE" >"$tree/usr/share/doc/storebench/copyright"
    find "$tree/usr/share/man" -type f -exec gzip -n9 {} +
    cat >"$tree/DEBIAN/control" <<END
Package: storebench
Version: $version
Architecture: $TARGET_DEBIAN
Maintainer: the storebench authors
Installed-Size: $(du -sk "$tree/usr" | cut -f 1)
Depends: libc6 (>= $glibc)
Section: database
Priority: optional
Description: $about
 It measures files, embedded databases and local servers on your own machine: speed,
 latency, space, memory, and what survives a power cut.
END
    find "$tree" -exec touch -h -d @0 {} +
    deb=$folder/storebench_${version}_$TARGET_DEBIAN.deb
    SOURCE_DATE_EPOCH=0 dpkg-deb --root-owner-group -Zxz --build "$tree" "$deb" >/dev/null
    made "$deb" "$tree/usr"
}

# Python's tool packs a folder that is laid out as a wheel.
make_wheel() {
    tree=$box/wheel tag=py3-none-manylinux_$(echo $oldest_glibc | tr . _)_$TARGET_MACHINE
    mkdir -p "$tree/storebench-$version.data/scripts" "$tree/storebench-$version.dist-info" "$tree/storebench-$version.data/data"
    cp "$stage/bin/storebench" "$tree/storebench-$version.data/scripts/"
    cp -R "$stage/share" "$stage/include" "$tree/storebench-$version.data/data/"
    cp -R "$stage/licences" LICENSE-MIT LICENSE-APACHE "$tree/storebench-$version.dist-info/"
    cat >"$tree/storebench-$version.dist-info/METADATA" <<END
Metadata-Version: 2.1
Name: storebench
Version: $version
Summary: $about
License: MIT OR Apache-2.0
Project-URL: Source, $repository
Description-Content-Type: text/markdown

END
    cat README.md >>"$tree/storebench-$version.dist-info/METADATA"
    cat >"$tree/storebench-$version.dist-info/WHEEL" <<END
Wheel-Version: 1.0
Generator: storebench
Root-Is-Purelib: false
Tag: $tag
END
    SOURCE_DATE_EPOCH=315532800 "$cache/python/bin/python" -m wheel pack --dest-dir "$folder" "$tree" >"$box/wheel.log" 2>&1 ||
        fail "no wheel: $(tail -n 1 "$box/wheel.log")"
    made "$folder/storebench-$version-$tag.whl" "$tree"
}

make_packages() {
    [ "$(uname -s)" = Linux ] || fail "packages are made on Linux only; build from source instead (docs/building.md)"
    target=${2:-$(this_target)}
    [ -n "$target" ] || fail "no package is made for $(uname -m): name a TARGET of scripts/target.sh"
    of_target "$target" || exit 1
    mkdir -p "$1"
    folder=$(cd "$1" && pwd)
    cd "$root"
    version=$(own_version)
    repository=$(sed -n 's/^repository = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
    about=$(sed -n 's/^description = "\(.*\)"$/\1/p' crates/storebench/Cargo.toml | head -n 1)
    name=$(archive_name)
    stage=$box/$name
    make_stage
    make_archive
    make_deb
    make_wheel
    (cd "$folder" && sha256sum "$name.tar.gz" storebench_*"_$TARGET_DEBIAN.deb" storebench-*"_$TARGET_MACHINE.whl" >"$name.sha256")
    say "all for glibc $glibc or newer; their SHA-256 are in $name.sha256"
}

# ---- The check: each where it is to work

# in_root FOLDER PROGRAM [COMMAND]: has the program, there after that command, measure in that root, whose devices and processes go with
# it; deletes the root.
in_root() {
    place=$1 program=$2 first=${3:-}
    mkdir -p "$place/proc" "$place/dev" "$place/work" "$place/tmp"
    written='page.html man/storebench.1' database=
    case ",$stores," in *,sqlite,*) written="$written results.db" database='--sqlite /work/results.db' ;; esac
    export place program first database
    # shellcheck disable=SC2016 # expanded in the shell that is started
    unshare --mount --pid --fork --map-root-user sh -euc '
        mount -t proc proc "$place/proc" 2>/dev/null || mount --rbind /proc "$place/proc"
        for device in null zero urandom; do
            [ -c "$place/dev/$device" ] || : >"$place/dev/$device"
            mount --bind "/dev/$device" "$place/dev/$device"
        done
        chroot=$(command -v chroot)
        [ -z "$first" ] || PATH=/usr/sbin:/usr/bin:/sbin:/bin "$chroot" "$place" sh -c "$first"
        there() { env -i HOME=/work PATH=/usr/local/bin:/usr/bin:/bin "$chroot" "$place" "$program" "$@"; }
        there stores
        there run crud --quick --records 100 --record-size 1KiB --data compressible --operations 20 --trials 2 --at /work \
            --out /work/runs
        there report latest --out /work/runs --html /work/page.html $database
        there man /work/man
    ' >"$box/check.log" 2>&1 || fail "it does not work in $place: $(tail -n 3 "$box/check.log")"
    for store in $(echo "$stores" | tr ',' ' '); do
        if grep -qw "$store is not built" "$box/check.log"; then fail "it lacks the store $store in $place"; fi
    done
    for file in $written; do
        [ -s "$place/work/$file" ] || fail "the program wrote no $file in $place"
    done
    rm -rf "$place"
}

# The archive's program, where nothing but the C library is.
check_archive() {
    bare=$box/bare
    mkdir -p "$bare"
    gzip -dc "$1" | (cd "$bare" && tar xf -)
    program=$(cd "$bare" && echo storebench-*/bin/storebench)
    [ -x "$bare/$program" ] || fail "$1 holds no program"
    ldd "$bare/$program" | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p; s/^[[:space:]]*\(\/[^ ]*\) (.*/\1/p' | while read -r library; do
        mkdir -p "$bare/$(dirname "$library")"
        cp "$library" "$bare/$library"
    done
    in_root "$bare" "/$program"
    say "checked: ${1##*/} runs where nothing but the C library is"
}

# The keys of Ubuntu's archive, as its own package has them.
ubuntu_keyring=ubuntu-keyring_2023.11.28.1_all.deb
ubuntu_keyring_sha256=36de43b15853ccae0028e9a767613770c704833f82586f28eb262f0311adb8a8

# Sets archive, keyring and steps to what debootstrap needs for an Ubuntu; archive is empty where that can't be had, and why is said.
from_ubuntu() {
    archive=http://archive.ubuntu.com/ubuntu keyring=$cache/roots/ubuntu.gpg steps=/usr/share/debootstrap/scripts/gutsy
    [ "$TARGET_DEBIAN" = amd64 ] || archive=http://ports.ubuntu.com/ubuntu-ports
    before=$(pwd)
    cd "$box"
    if ! download "$archive/dists/$suite/Release" release; then
        say "skipped: $suite can't be had from $archive ($(tail -n 1 download.log))"
        archive=
    elif [ ! -e "$keyring" ]; then
        download "$archive/pool/main/u/ubuntu-keyring/$ubuntu_keyring" keys.deb ||
            fail "the keys of $archive can't be had ($(tail -n 1 download.log))"
        [ "$(sha256sum <keys.deb | cut -d ' ' -f 1)" = "$ubuntu_keyring_sha256" ] ||
            fail "$archive has another $ubuntu_keyring than scripts/dist.sh knows"
        dpkg-deb -x keys.deb keys
        cp keys/usr/share/keyrings/ubuntu-archive-keyring.gpg "$keyring.new"
        mv "$keyring.new" "$keyring"
    fi
    cd "$before"
}

# base_of SYSTEM [PACKAGE]: sets base to a system that has nothing but its base, and that package; it is empty where the system is skipped.
base_of() {
    suite=$1 more=${2:-} base=$cache/roots/$1${2:+-with-$2}
    [ ! -e "$base" ] || return 0
    command -v debootstrap >/dev/null 2>&1 || fail "debootstrap is missing: \`scripts/setup.sh cross-test\` installs it"
    mkdir -p "$cache/roots"
    case "$suite" in
        focal | jammy | noble)
            from_ubuntu
            if [ -z "$archive" ]; then base= && return 0; fi
            set -- --keyring="$keyring" "$suite" "$box/new" "$archive" "$steps"
            ;;
        *) set -- "$suite" "$box/new" ;;
    esac
    debootstrap --variant=minbase ${more:+"--include=$more"} "$@" >"$box/debootstrap.log" 2>&1 ||
        fail "no root of $suite: $(tail -n 1 "$box/debootstrap.log")"
    mv "$box/new" "$base"
}

# The .deb, there.
check_deb() {
    for suite in ${ROOTS:-bullseye trixie focal noble}; do
        base_of "$suite"
        if [ -z "$base" ]; then continue; fi
        cp -a "$base" "$box/$suite"
        cp "$1" "$box/$suite/tmp/storebench.deb"
        in_root "$box/$suite" storebench 'dpkg -i /tmp/storebench.deb'
        say "checked: ${1##*/} installs in $suite and runs there"
    done
}

# The image that Dockerfile makes of the .deb. Its base is made here, where docker would fetch it.
check_image() {
    command -v buildah >/dev/null 2>&1 || fail "buildah is missing: \`scripts/setup.sh cross-test\` installs it"
    base_of trixie
    image=$box/image
    mkdir -p "$image/base" "$image/context/dist"
    (cd "$base" && tar cf "$image/base/base.tar" .)
    printf 'FROM scratch\nADD base.tar /\n' >"$image/base/Dockerfile"
    cp "$1" "$image/context/dist"
    cp "$root/Dockerfile" "$root/.dockerignore" "$image/context"
    # In folders, so that nothing is mounted that an interrupt would leave behind.
    images() {
        BUILDAH_ISOLATION=chroot buildah --storage-driver vfs --root "$image/store" --runroot "$image/run" "$@"
    }
    made=docker.io/library/debian:trixie-slim
    {
        images bud --tag "$made" "$image/base" && images bud --pull-never --tag storebench "$image/context" &&
            container=$(images from --pull-never storebench) && place=$(images mount "$container") &&
            images run "$container" storebench stores && images inspect --type image storebench
    } >"$box/image.log" 2>&1 || fail "Dockerfile makes no image that works: $(tail -n 3 "$box/image.log")"
    grep -q '"storebench"' "$box/image.log" || fail "the image does not start storebench"
    in_root "$place" storebench
    say "checked: Dockerfile makes an image of ${1##*/}, and it runs"
}

# The wheel, in the oldest Debian, which has Python beside its base.
check_wheel() {
    base_of bullseye python3-venv
    cp -a "$base" "$box/python"
    cp "$1" "$box/python/tmp"
    in_root "$box/python" /work/venv/bin/storebench \
        "python3 -m venv /work/venv && /work/venv/bin/pip install --quiet --no-index /tmp/${1##*/}"
    say "checked: pip installs ${1##*/} in bullseye, and it runs there"
}

check() {
    [ -d "$1" ] || fail "there is no folder $1"
    of_target "$(this_target)" || exit 1
    (cd "$1" && sha256sum --quiet -c storebench-*"-$TARGET_MACHINE-linux.sha256") >/dev/null 2>&1 ||
        fail "$1 does not hold what \`make dist\` made for this machine"
    unshare --mount --pid --fork --map-root-user true 2>/dev/null ||
        fail "this system lets no process have a root of its own (unshare), in which the packages are checked"
    check_archive "$(echo "$1"/storebench-*"-$TARGET_MACHINE-linux.tar.gz")"
    deb=$(echo "$1"/storebench_*"_$TARGET_DEBIAN.deb")
    check_deb "$deb"
    check_image "$deb"
    check_wheel "$(echo "$1"/storebench-*"_$TARGET_MACHINE.whl")"
}

box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
case "${1:-}" in
    --check) [ $# -eq 2 ] || fail "usage: scripts/dist.sh --check FOLDER" && check "$2" ;;
    '' | -*) fail "usage: scripts/dist.sh FOLDER [TARGET], or scripts/dist.sh --check FOLDER" ;;
    *) make_packages "$@" ;;
esac
