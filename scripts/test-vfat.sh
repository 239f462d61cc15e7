#!/bin/sh
# FAT32 where this machine's kernel has no driver for it: storebench makes, mounts and measures its images in user-mode Linux,
# whose kernel has one. Its times mean nothing beside native ones; what is tested is that every store works there.
#
# usage: scripts/test-vfat.sh PROGRAM [CLUSTER...]
#   PROGRAM   storebench, built
#   CLUSTER   sizes of clusters in bytes; without one: all that FAT32 has
# environment:
#   STORES    the stores to measure, separated by commas; empty: every one that the program has
# Exit code 0: each store ran on every cluster size, and what it kept there was read back and found right; 1: one did not, and
# the output says which.
set -eu

fail() {
    printf 'test-vfat: %s\n' "$*" >&2
    exit 1
}

[ $# -ge 1 ] || fail "usage: scripts/test-vfat.sh PROGRAM [CLUSTER...]"
cd "$(dirname "$0")/.."
program=$(realpath "$1")
shift
[ -x "$program" ] || fail "$program is no program: build storebench first"
kernel=$(command -v linux.uml) || fail "user-mode Linux is missing: apt-get install user-mode-linux"
command -v mkfs.vfat >/dev/null || [ -x /usr/sbin/mkfs.vfat ] || fail "mkfs.vfat is missing: apt-get install dosfstools"
PATH=$PATH:/usr/sbin:/sbin command -v insmod >/dev/null || fail "insmod is missing: apt-get install kmod"
command -v cc >/dev/null || fail "cc is missing: apt-get install gcc libc6-dev"
modules=$(find /usr/lib/uml/modules -type d -path '*/kernel/fs' | sort | tail -n 1)
modules=${modules%/fs}
[ -n "$modules" ] || fail "the modules of user-mode Linux are missing"

places=
[ $# -gt 0 ] || set -- 512 1024 2048 4096 8192 16384 32768
for cluster in "$@"; do
    places=${places:+$places,}vfat:$cluster
done
stores=${STORES:-$("$program" stores | awk '$2 ~ /^(engine|server|folder)$/ { print $1 }' | paste -sd ,)}

box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
cc -O2 -shared -fPIC -o "$box/registers.so" scripts/uml-registers.c || fail "scripts/uml-registers.c can't be compiled"
# User-mode Linux has too few addresses for the usual maps of LMDB and libmdbx.
set=
case ",$stores," in *,lmdb,*) set="--set lmdb.map_size=256MiB" ;; esac
case ",$stores," in *,libmdbx,*) set="$set --set libmdbx.size_upper=256MiB" ;; esac
cat >"$box/init" <<END
#!/bin/sh
# The images are in memory, which is not what this is about.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/mnt TMPDIR=/mnt STOREBENCH_TEST_HOOKS=memory-keeps
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
for module in fs/nls/nls_cp437 fs/nls/nls_iso8859-1 fs/nls/nls_ascii fs/nls/nls_utf8 fs/fat/fat fs/fat/vfat drivers/block/loop; do
    if [ -e "$modules/\$module.ko" ]; then insmod "$modules/\$module.ko"; fi
done
mount -t tmpfs -o size=3000m tmpfs /mnt
mount -t hostfs -o "$box" none "$box"
cd /mnt
$program run crud --quick --store $stores --place $places --records 20 --record-size 1B..1KiB --data incompressible \\
    --guarantee default --operations 5 --trials 1 --timeout 300s $set --out /mnt/runs
echo "test-vfat: storebench ended with \$?"
dmesg | grep -i -e fat -e loop -e error | tail -n 20
cp -r /mnt/runs "$box"
sync
echo o >/proc/sysrq-trigger
sleep 60
END
chmod +x "$box/init"
LD_PRELOAD="$box/registers.so" timeout 7200 "$kernel" mem=4096M root=/dev/root rootfstype=hostfs rootflags=/ ro init="$box/init" con=null con0=null,fd:1 quiet \
    </dev/null >"$box/said" 2>&1 || true
whole=0
[ ! -d "$box/runs" ] || scripts/check-run.py "$box"/runs/crud-*/ "$stores" "$places" || whole=1
if [ $whole -ne 0 ] || ! grep -q '^test-vfat: storebench ended with 0' "$box/said"; then
    tail -n 60 "$box/said" >&2
    find "$box" -path '*/logs/*' -type f -exec tail -v -n 20 {} + >&2
    fail "storebench did not end well in user-mode Linux (see above)"
fi
printf 'test-vfat: every trial of %s on %s is complete, verified and audited\n' "$stores" "$places"
