#!/bin/sh
# A small Linux machine in QEMU that stands in for a board, reached by ssh, in tests of power cuts.
#
# usage: scripts/board.sh get                     unpacks what it needs in storebench's cache, once: 43 MB of Debian's packages
#        scripts/board.sh make DIR [PROGRAM...]   makes it in the new folder DIR, with the libraries of these programs
#        scripts/board.sh start DIR               turns it on and waits until ssh answers
#        scripts/board.sh cut DIR                 cuts its power: what it had not yet written to its disk is lost
#        scripts/board.sh ssh DIR COMMAND...      runs a command on it
#
# Others reach it as the host `board` with DIR/bin first in PATH. Its disk, DIR/disk.img, is ext4 at /data there; /root/.cache is on
# it too. All else is in its memory and new at each start. x86-64 alone, as the programs are this machine's.
# environment: MACHINE_CPUS (1), MACHINE_MEMORY (1G), MACHINE_WAIT (120, seconds to boot), MACHINE_DISK (4G)
# Exit code 1: a line says what is missing.
set -eu

fail() { echo "board: $*" >&2; exit 1; }

tree=${XDG_CACHE_HOME:-${HOME:?is needed to find the cache}/.cache}/storebench/board

# Unpacks the packages: to install a kernel would change /boot, and upgrade the system's own.
get() {
    [ ! -e "$tree/kernel" ] || return 0
    [ "$(uname -m)" = x86_64 ] || fail "it stands in on x86-64 alone"
    kernel=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | awk '$1 == "Depends:" {print $2; exit}')
    [ -n "$kernel" ] || kernel=$(apt-cache depends linux-image-virtual 2>/dev/null | awk '$1 == "Depends:" && /image/ {print $2; exit}')
    [ -n "$kernel" ] || fail "apt knows no kernel for it: run apt-get update"
    # The simulation names what is missing on this machine, with all that it needs.
    missing=$(apt-get install -s --no-install-recommends qemu-system-x86 dropbear-bin busybox-static | awk '/^Inst/ {print $2}')
    new=$tree.new.$$
    mkdir -p "$new/debs"
    trap 'rm -rf "$new"' EXIT
    # shellcheck disable=SC2086
    (cd "$new/debs" && apt-get download -q "$kernel" $missing) >"$new/apt.log" 2>&1 || fail "apt-get download: $(tail -n 1 "$new/apt.log")"
    for deb in "$new"/debs/*.deb; do dpkg -x "$deb" "$new"; done
    rm -r "$new/debs"
    mv "$new"/boot/vmlinuz-* "$new/kernel"
    rm -rf "$tree"
    mv "$new" "$tree"
}

make_initramfs() {
    mkdir "$dir/root"
    cd "$dir/root"
    mkdir -p proc sys dev run tmp data modules etc root/.ssh root/.cache lib64 usr/bin usr/sbin $lib
    ln -s usr/bin usr/sbin usr/lib .
    ln -s bin/busybox init
    # dropbear takes no key from a folder that others can write to.
    chmod 700 root root/.ssh
    ssh-keygen -q -t ed25519 -N '' -C board -f "$dir/key"
    cp "$dir/key.pub" root/.ssh/authorized_keys
    dropbearkey -t ed25519 -f etc/key 2>&1 | awk '/^ssh-/ {print "board", $1, $2}' >"$dir/known_hosts"
    cp "$(command -v busybox)" bin/busybox
    for name in $(busybox --list | grep -vx busybox); do ln -s busybox "bin/$name"; done
    cp "$(command -v dropbear)" usr/sbin/dropbear
    # dropbear and busybox have no scp, which `scp -O` wants there.
    cp "$(command -v scp)" bin/scp
    # With the C++ library and zlib even where no program wants them yet.
    for file in $(ldd usr/sbin/dropbear bin/scp "$dir"/files/bin/* 2>/dev/null | awk '$2 == "=>" {print $3}' | sort -u) \
        /$lib/libstdc++.so.6 /$lib/libgcc_s.so.1 /$lib/libm.so.6 /$lib/libz.so.1; do cp -L "$file" $lib/; done
    cp -L /lib64/ld-linux-x86-64.so.2 lib64/
    # Debian's kernel has ext4 in it, but no virtio. Each module comes after those that it needs.
    modules="virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_blk failover net_failover virtio_net"
    for name in $modules; do cp "$(find "$tree/lib/modules" -name "$name.ko")" modules/; done
    echo "$modules" >modules/order
    echo root:x:0:0:root:/root:/bin/sh >etc/passwd
    echo root:x:0: >etc/group
    echo ::sysinit:/etc/start >etc/inittab
    cat >etc/start <<'END'
#!/bin/sh
mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t devtmpfs dev /dev
mkdir /dev/pts /dev/shm; mount -t devpts devpts /dev/pts
for folder in /dev/shm /tmp /run; do mount -t tmpfs tmpfs $folder; done
for name in $(cat /modules/order); do insmod "/modules/$name.ko"; done
hostname board
ip link set lo up; ip address add 10.0.2.15/24 dev eth0; ip link set eth0 up; ip route add default via 10.0.2.2
mount -t ext4 /dev/vda /data && mount --bind /data/cache /root/.cache || echo "machine: no disk"
# It goes to the background once it listens.
dropbear -s -r /etc/key && echo "machine: ready"
END
    chmod 755 etc/start
    # Not compressed: without KVM, to unpack it takes longer than to read it.
    find . | busybox cpio -o -H newc -R 0:0 >"$dir/initramfs" 2>"$dir/cpio.log" || fail "no initramfs: see $dir/cpio.log"
}

make_machine() {
    mkdir -p "$dir"
    dir=$(cd "$dir" && pwd -P)
    [ -z "$(ls -A "$dir")" ] || fail "$dir is not empty"
    case $dir in *[\ ,]*) fail "$dir: no spaces or commas, which QEMU's options can't take" ;; esac
    mkdir -p "$dir/bin" "$dir/files/bin" "$dir/files/cache"
    [ $# -eq 0 ] || cp -L "$@" "$dir/files/bin/"
    get
    use_tree
    make_initramfs
    truncate -s "${MACHINE_DISK:-4G}" "$dir/disk.img"
    # All is initialized now, so that the machine has nothing of it to write in the background.
    mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 -d "$dir/files" "$dir/disk.img"
    printf '#!/bin/sh\nexec %s -F "%s" "$@"\n' "$(command -v ssh)" "$dir/ssh_config" >"$dir/bin/ssh"
    chmod 755 "$dir/bin/ssh"
    rm -r "$dir/files" "$dir/root"
}

# Programs and their libraries are the system's, or those packages'.
use_tree() {
    lib=usr/lib/x86_64-linux-gnu
    PATH=$tree/bin:$tree/usr/bin:$tree/usr/sbin:$PATH:/usr/sbin:/sbin
    export LD_LIBRARY_PATH="$tree/$lib:$tree/lib/x86_64-linux-gnu"
}

# The machine's process, if it is on: its number may be another's since this system was restarted.
pid() { p=$(cat "$dir/pid" 2>/dev/null) && tr '\0' '\n' 2>/dev/null <"/proc/$p/cmdline" | grep -qxF "$dir/pid" && echo "$p"; }

start() {
    [ -x "$dir/bin/ssh" ] || fail "$dir is no machine"
    ! pid >/dev/null || fail "$dir is on"
    use_tree
    # /dev/kvm alone says little: without the processor's own help it is slower than none, and QEMU does not fall back.
    accel="-accel tcg -cpu max"
    [ ! -w /dev/kvm ] || ! grep -qwE 'vmx|svm' /proc/cpuinfo || accel="-accel kvm -cpu host"
    port=$(cat "$dir/port" 2>/dev/null || shuf -n 1 -i 20000-29999)
    # A flush there is an fdatasync here. What was written there without one is in this system's memory: it survives the cut.
    # shellcheck disable=SC2086
    until qemu-system-x86_64 -M q35 $accel -smp "${MACHINE_CPUS:-1}" -m "${MACHINE_MEMORY:-1G}" -nodefaults -no-user-config \
        -no-reboot -display none -serial "file:$dir/console" -kernel "$tree/kernel" -initrd "$dir/initramfs" \
        -append "console=ttyS0 quiet panic=-1 mitigations=off nokaslr cryptomgr.notests" \
        -drive "file=$dir/disk.img,format=raw,if=virtio,cache=writeback" -device virtio-net-pci,netdev=net,romfile= \
        -netdev "user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:$port-:22" -daemonize -pidfile "$dir/pid" 2>"$dir/qemu.log"
    do
        grep -q 'host forwarding' "$dir/qemu.log" || fail "qemu: $(tail -n 1 "$dir/qemu.log")"
        # Another program has that port.
        port=$(shuf -n 1 -i 20000-29999)
    done
    echo "$port" >"$dir/port"
    printf '%s\n' "Host board" "HostName 127.0.0.1" "Port $port" "User root" "IdentityFile \"$dir/key\"" "IdentitiesOnly yes" \
        "IdentityAgent none" "HostKeyAlias board" "UserKnownHostsFile \"$dir/known_hosts\"" "BatchMode yes" >"$dir/ssh_config"
    tries=$((${MACHINE_WAIT:-120} * 10))
    until grep -q 'machine: ready' "$dir/console"; do
        pid >/dev/null || fail "it ended: see $dir/console"
        [ $((tries -= 1)) -gt 0 ] || fail "it does not boot: see $dir/console"
        sleep 0.1
    done
    ! grep -q 'machine: no disk' "$dir/console" || fail "its disk can't be mounted: see $dir/console"
    "$dir/bin/ssh" board true
}

cut_power() {
    p=$(pid) || fail "$dir is off"
    kill -9 "$p"
    # Its disk is free once its last thread has ended, even if it stays a zombie.
    while grep -qs '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$p/task/"*/status; do sleep 0.02; done
}

if [ "$*" = get ]; then get; exit; fi
[ $# -ge 2 ] || fail "say get; or make, start, cut or ssh, and a folder"
command=$1 dir=$2
shift 2
[ ! -d "$dir" ] || dir=$(cd "$dir" && pwd -P)
case $command in
    make) make_machine "$@" ;;
    start) start ;;
    cut) cut_power ;;
    ssh) exec "$dir/bin/ssh" board "$@" ;;
    *) fail "$command: say make, start, cut or ssh" ;;
esac
