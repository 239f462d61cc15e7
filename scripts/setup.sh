#!/bin/sh
# Installs what storebench needs to be built and is not there yet, and fetches the sources of the engines that cargo compiles;
# says nothing when all is there.
#
# usage: scripts/setup.sh [GROUP...]
#   GROUP     test: what only the tests need; check: what only `make check` needs; cross: compilers for programs that are
#             taken elsewhere; cross-test: what runs its programs here; test-vfat: what `make test-vfat` needs
# environment:
#   ROCKSDB, LEVELDB  system: the system's library; empty: a build of its authors' sources; authors: RocksDB as its authors build it
#   ROCKSDB_DIR, LEVELDB_DIR, UNQLITE_DIR, LIBMDBX_DIR  where a library of the user's own is: then there is nothing to build or to install
#   FEATURES  the stores that are to be built, separated by commas; empty: all
#   XDG_CACHE_HOME  packages for Python, for the tests, are in storebench/python in it; empty: ~/.cache
# Exit code 0: all is there; 1: something is missing and could not be installed, and a line says what to do.
set -eu
cd "$(dirname "$0")/.."

# Packages: what needs it, Debian's name, Homebrew's name, and why. Debian's may be alternatives, best first; a dash
# where the system has it anyway. What needs it: a cargo feature, a group, or `all`; a feature with -system or -authors: its store, where
# that library is asked for.
packages() {
    cat <<'END'
all         build-essential         -               C and C++ compilers, and make
rocksdb-system  librocksdb-dev      rocksdb         RocksDB
leveldb-system  libleveldb-dev      leveldb         LevelDB
rocksdb-authors unzip               -               unpacks the build of RocksDB's authors
test        unzip                   -               unpacks the build of RocksDB's authors
berkeleydb  libdb5.3-dev|libdb-dev  berkeley-db@5   Berkeley DB
test        postgresql              postgresql      the server that the store postgres starts
test        mariadb-server          mariadb         the server that the store mariadb starts
test        mariadb-plugin-rocksdb  -               MyRocks, for that server
test        redis-server            redis           the server that the store redis starts
test        etcd-server             etcd            the server that the store etcd starts
test        etcd-client             -               looks at what is on a running one
test        python3                 -               runs the paper's own script on our output
test        python3-dev             -               builds the example of a store in Python
test        python3-lmdb            -               runs the code in Python that advise shows for LMDB
test        python3-plyvel          -               runs the code in Python that advise shows for LevelDB
test        python3-bsddb3|python3-berkeleydb  -    runs the code in Python that advise shows for Berkeley DB
test        python3-pymysql         -               runs the code in Python that advise shows for MariaDB
test        python3-redis           -               runs the code in Python that advise shows for Redis
test        python3-venv            -               keeps packages for Python that Debian does not have
test        chromium|chromium-browser|google-chrome-stable  -  opens the HTML report
test        firefox-esr|firefox     -               opens the site of results
test        ffmpeg                  ffmpeg          decodes the video of a background load
test        gstreamer1.0-tools      gstreamer       decodes it where there is no ffmpeg
test        gstreamer1.0-plugins-base  gstreamer    decodes it where there is no ffmpeg
test        zsh                     -               reads the completions for it
test        fish                    fish            reads the completions for it
test        strace                  -               kills runs at chosen system calls
test        openssh-server          -               stands in for the other machine of a remote run
test        e2fsprogs               -               formats ext2, ext3 and ext4 in images
test        xfsprogs                -               formats XFS in images
test        btrfs-progs             -               formats Btrfs in images
test        f2fs-tools              -               formats F2FS in images
test        dosfstools              -               formats FAT in images
test        exfatprogs              -               formats exFAT in images
test        exfat-fuse              -               mounts exFAT where the kernel can't
test        ntfs-3g                 -               formats NTFS in images, and mounts it where the kernel can't
test        fuse2fs                 -               is a file system without root, also on a simulated disk
test        fuse3                   -               mounts by FUSE without root
test        bindfs                  -               keeps what is deleted while it is open, as NFS does
test        parallel                parallel        runs parts of a plan
test        slurmctld               -               runs parts of a plan, on a node of its own
test        slurmd                  -               the node
test        slurm-client            -               submits them
test        munge                   -               lets the two trust each other
test        python3-yaml            -               reads the files for Kubernetes and GitHub Actions
cross       python3-venv            -               keeps Zig's compilers, which come from PyPI
cross-test  libc6-arm64-cross       -               the C library for 64-bit ARM
cross-test  libc6-armhf-cross       -               the C library for 32-bit ARM
cross-test  buildah                 -               makes the image of Dockerfile
cross-test  debootstrap             -               makes clean systems that packages are installed on
cross-test  qemu-user               -               runs what was compiled for ARM
cross-test  python3                 -               checks what it measured
test-vfat   user-mode-linux         -               a kernel with FAT32 where this machine's has none
test-vfat   kmod                    -               loads its modules
test-vfat   dosfstools              -               formats FAT in images
test-vfat   postgresql              postgresql      the server that the store postgres starts
test-vfat   mariadb-server          mariadb         the server that the store mariadb starts
test-vfat   python3                 -               checks what was measured
check       shellcheck              shellcheck      checks these scripts
END
}

say() {
    printf 'setup: %s\n' "$*" >&2
}

fail() {
    say "$*"
    exit 1
}

have() {
    command -v "$1" >/dev/null 2>&1
}

# Whether a line of the table is asked for.
wanted() {
    case "$1" in
        all) return 0 ;;
        test | test-vfat | check | cross | cross-*) case " $groups " in *" $1 "*) return 0 ;; *) return 1 ;; esac ;;
        *-system | *-authors) wanted "${1%-*}" && [ "$(choice "${1%-*}")" = "${1##*-}" ] ;;
        *)
            case ",${FEATURES:-}," in
                ,, | *",$1,"*) return 0 ;;
                *) return 1 ;;
            esac
            ;;
    esac
}

# Where a store's library is to come from: system, authors, own (a folder that the user names), or build.
choice() {
    case "$1" in
        rocksdb) asked=${ROCKSDB:-} own=${ROCKSDB_DIR:-} ;;
        leveldb) asked=${LEVELDB:-} own=${LEVELDB_DIR:-} ;;
        unqlite) asked="" own=${UNQLITE_DIR:-} ;;
        libmdbx) asked="" own=${LIBMDBX_DIR:-} ;;
    esac
    if [ -n "$own" ]; then echo own; else echo "${asked:-build}"; fi
}

# The table's lines that this call asks for.
wanted_packages() {
    packages | while read -r needs debian brew why; do
        if wanted "$needs"; then echo "$debian $brew $why"; fi
    done
}

# ---- Rust

check_rust() {
    have cargo || fail "Rust is missing: install it with" \
        "\`curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh\`, then run this again"
    # Under rustup this installs the toolchain that rust-toolchain.toml names, if need be.
    found=$(cargo --version) || fail "cargo does not run (see above): \`rustup toolchain install\` in this folder" \
        "installs the toolchain that rust-toolchain.toml names, and needs the network"
    found=$(echo "$found" | cut -d ' ' -f 2)
    needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    if ! at_least "$found" "$needed"; then
        fail "Rust $found is too old, $needed is needed: install it with rustup (https://rustup.rs)," \
            "or put rustup's cargo first in PATH"
    fi
}

# Whether version $1 (major.minor...) is $2 or newer.
at_least() {
    major=${1%%.*} rest=${1#*.} minor=${rest%%.*}
    needed_major=${2%%.*} rest=${2#*.} needed_minor=${rest%%.*}
    [ "$major" -gt "$needed_major" ] || { [ "$major" -eq "$needed_major" ] && [ "$minor" -ge "$needed_minor" ]; }
}

# ---- Debian, Ubuntu and their like

apt_has() {
    # One line for each architecture.
    dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

# Whether one of the alternatives (a|b) is installed.
apt_has_one() {
    for name in $(echo "$1" | tr '|' ' '); do
        if apt_has "$name"; then return 0; fi
    done
    # These may have come some other way.
    [ "$1" = build-essential ] && have cc && have c++ && have make
}

# The wanted lines whose package is missing, each package once.
apt_missing() {
    wanted_packages | sort -u | while read -r debian _ why; do
        apt_has_one "$debian" || echo "$debian $why"
    done
}

# The first of the alternatives (a|b) that the package lists offer, or nothing.
apt_offered() {
    for name in $(echo "$1" | tr '|' ' '); do
        if apt-cache show "$name" >/dev/null 2>&1; then
            echo "$name"
            return
        fi
    done
}

# Runs a command as root with its output in $log.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        env DEBIAN_FRONTEND=noninteractive "$@" >"$log" 2>&1 </dev/null
        return
    fi
    # Where nobody can type a password, sudo must not wait for one.
    ask=-n
    if [ -t 0 ]; then ask=; fi
    # shellcheck disable=SC2024,SC2086 # the log is the caller's; $ask is one flag or none
    sudo $ask env DEBIAN_FRONTEND=noninteractive "$@" >"$log" 2>&1
}

# Says why apt-get (or sudo) failed, in one line: its own first error, and what to do by hand.
apt_failed() {
    reason=$(sed -n 's/^E: //p' "$log" | head -n 1)
    [ -n "$reason" ] || reason=$(grep . "$log" | tail -n 1) || reason="it gave no reason"
    fail "could not $1: $reason -- check the network and your rights, or install by hand: apt-get install $2"
}

setup_apt() {
    missing=$(apt_missing)
    [ -n "$missing" ] || return 0
    names=$(echo "$missing" | sed 's/[| ].*//' | tr '\n' ' ')
    names=${names% }
    if [ "$(id -u)" -ne 0 ] && ! have sudo; then
        fail "missing, and neither root nor sudo is here to install it: ask for \`apt-get install $names\`"
    fi

    log=$(mktemp)
    trap '[ -z "$rule" ] || as_root rm -f "$rule"; rm -f "$log"' EXIT
    say "refreshing the package lists (apt-get update)"
    as_root apt-get -o DPkg::Lock::Timeout=120 update || apt_failed "refresh the package lists" "$names"
    apt-cache show build-essential >/dev/null 2>&1 || apt_failed "fill the package lists" "$names"
    to_install=$(apt_choose "$missing")
    [ -n "$to_install" ] || return 0
    to_install=${to_install% }
    case " $to_install " in *" postgresql "*) without_a_cluster ;; esac
    case " $to_install " in *" mariadb-server "*) not_started="$not_started mariadb" ;; esac
    case " $to_install " in *" redis-server "*) not_started="$not_started redis-server" ;; esac
    case " $to_install " in *" etcd-server "*) not_started="$not_started etcd" ;; esac
    [ -z "$not_started" ] || without_a_start
    # shellcheck disable=SC2086 # a list of names
    as_root apt-get -o DPkg::Lock::Timeout=120 install -y --no-install-recommends $to_install ||
        apt_failed "install $to_install" "$to_install"
    for service in $not_started; do
        as_root update-rc.d "$service" disable || fail "could not keep $service from starting with the machine"
    done
}

# The services of packages that are being installed for their programs alone, and the rule that keeps them from being started.
not_started=
rule=

# Debian's packages start servers of their own, at once and with the machine, unless this rule, which goes when all is installed,
# says no. Where there is a rule already, it decides. A server that was there before is left alone.
without_a_start() {
    [ ! -e /usr/sbin/policy-rc.d ] || return 0
    rule=/usr/sbin/policy-rc.d
    # shellcheck disable=SC2016,SC2086 # for the other shells; a list of names
    as_root sh -c 'file=$1 && shift && echo "#!/bin/sh" >"$file" && chmod 755 "$file" &&
        for service; do echo "case \"\$1\" in $service*) exit 101 ;; esac"; done >>"$file"' \
        sh "$rule" $not_started || fail "could not write $rule"
}

# Debian's package makes a server of its own and starts it, unless this file, which is there before it, says no. One that is
# there already stays as it is.
without_a_cluster() {
    file=/etc/postgresql-common/createcluster.conf
    [ ! -e "$file" ] || return 0
    # shellcheck disable=SC2016 # for the other shell
    as_root sh -c 'mkdir -p "${1%/*}" && echo "create_main_cluster = false" >"$1"' sh "$file" ||
        fail "could not write $file"
}

# Of the missing lines ($1) the packages to install; says each with its reason.
apt_choose() {
    echo "$1" | while read -r debian why; do
        name=$(apt_offered "$debian")
        # Unknown to the lists: apt-get says so by its name.
        name=${name:-${debian%%|*}}
        say "installing $name: $why"
        printf '%s ' "$name"
    done
}

# ---- macOS

setup_brew() {
    xcode-select -p >/dev/null 2>&1 || fail "the C compiler is missing: run \`xcode-select --install\`, then this again"
    cellar=$(brew --prefix)/opt
    wanted_packages | sort -u | while read -r _ name why; do
        if [ "$name" = - ] || [ -d "$cellar/$name" ]; then continue; fi
        say "installing $name with brew: $why"
        brew install --quiet "$name" >&2 </dev/null || fail "brew could not install $name (see above)"
    done
}

# ---- Any other system: nothing is installed, but what is missing is named

setup_elsewhere() {
    for tool in cc c++ make; do
        have "$tool" || fail "$tool is missing, and there is neither apt-get nor brew: install C and C++ compilers and make"
    done
    need_header rocksdb-system rocksdb/c.h RocksDB
    need_header leveldb-system leveldb/c.h LevelDB
    need_header berkeleydb db.h "Berkeley DB 5.3"
    case " $groups " in *" test "*) for tool in python3 ffmpeg gst-launch-1.0; do need_tool "$tool"; done ;; esac
    case " $groups " in *" check "*) need_tool shellcheck ;; esac
}

need_tool() {
    have "$1" || fail "$1 is missing, and there is neither apt-get nor brew: install it"
}

# need_header FEATURE HEADER NAME
need_header() {
    if wanted "$1" && ! echo "#include <$2>" | cc -E - >/dev/null 2>&1; then
        fail "$3's development files ($2) are missing, and there is neither apt-get nor brew: install them," \
            "or leave the store out with FEATURES (docs/building.md)"
    fi
}

# ---- Packages from PyPI that no system has: in an environment of their own in the cache

# What needs it, the package, and why. Tests need those of stores, whose code in Python advise shows, and of fleets.
python_packages() {
    cat <<'END'
libmdbx  libmdbx==0.3.2            runs the code in Python that advise shows
postgres psycopg==3.3.9            runs the code in Python that advise shows
rocksdb  rocksdict==0.3.29         runs the code in Python that advise shows
unqlite  unqlite==1.2.0            runs the code in Python that advise shows
fleet    check-jsonschema==0.39.0  has the schema of GitHub's workflows
fleet    kubernetes-validate==1.37.0  has the schema of Kubernetes's jobs
cross    ziglang==0.17.1           compiles for other machines and older systems
cross    cargo-zigbuild==0.24.1    has cargo use it
cross    wheel==0.48.0             makes packages for pip
END
}

# python_wanted NEED: whether a line of that table is asked for.
python_wanted() {
    case "$1: $groups " in
        'cross:'*' cross '*) return 0 ;;
        'cross:'*) return 1 ;;
        'fleet:'*' test '*) return 0 ;;
        *' test '*) wanted "$1" ;;
        *) return 1 ;;
    esac
}

# A file for each says that it is there. Without those of stores, tests say what they lack: the rest needs no network.
setup_python() {
    have python3 || return 0
    own=${XDG_CACHE_HOME:-${HOME:?is needed to find the cache}/.cache}/storebench/python
    python_packages | while read -r need package why; do
        if ! python_wanted "$need" || [ -e "$own/$package" ]; then continue; fi
        say "installing $package from PyPI: $why"
        if said=$({ [ -x "$own/bin/pip" ] || python3 -m venv "$own"; } 2>&1 &&
            "$own/bin/pip" install --quiet --disable-pip-version-check "$package" 2>&1 </dev/null); then
            : >"$own/$package"
        else
            said="could not install $package: $(printf '%s\n' "$said" | grep . | tail -n 1)"
            if [ "$need" = cross ]; then fail "$said"; else say "$said"; fi
        fi
    done
}

# ---- The whole

groups=$*
for group in "$@"; do
    case "$group" in
        test | test-vfat | check | cross | cross-test) ;;
        *) fail "unknown group '$group': test, test-vfat, check, cross and cross-test are known" ;;
    esac
done
case "${ROCKSDB:-}" in
    '' | system | authors) ;;
    *) fail "ROCKSDB is '$ROCKSDB': it can be system, authors, or empty for a build of its authors' sources" ;;
esac
case "${LEVELDB:-}" in
    '' | system) ;;
    *) fail "LEVELDB is '$LEVELDB': it can be system, or empty for a build of its authors' sources" ;;
esac

. scripts/env.sh
check_rust
if have apt-get && have dpkg-query; then
    setup_apt
elif [ "$(uname -s)" = Darwin ] && have brew; then
    setup_brew
else
    setup_elsewhere
fi
setup_python
for engine in leveldb rocksdb unqlite libmdbx; do
    if wanted "$engine" && [ "$(choice "$engine")" = build ]; then scripts/sources.sh "$engine"; fi
done
if wanted rocksdb-authors; then
    scripts/rocksdb-authors.sh
elif wanted test && wanted rocksdb; then
    scripts/rocksdb-authors.sh || say "the tests of the build of RocksDB's authors need it"
fi
