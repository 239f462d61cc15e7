#!/bin/sh
# Prints the compiler's flags for Node as a library: the system's (libnode-dev), or else Debian's packages,
# which are unpacked in a folder, as they can't be installed beside another Node.
#
# usage: examples/node/libnode.sh FOLDER
#   FOLDER  named node; the libraries that are linked by these flags stand beside it
# environment: CXX
# Exit code 1: a line says what is missing.
set -eu

fail() {
    echo "libnode: $*: install libnode-dev, by which Debian and Ubuntu have Node as a library" >&2
    exit 1
}

# Where the compiler finds none, it gives the name back alone.
if [ -e "$(${CXX:-c++} -print-file-name=libnode.so)" ] && [ -e /usr/include/node/node.h ]; then
    echo "-isystem /usr/include/node -lnode -luv"
    exit
fi

is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
needs() { apt-cache depends "$1" 2>/dev/null | awk '$1 == "Depends:" && $2 !~ /</ {print $2}'; }

if [ ! -e "$1/usr" ]; then
    command -v apt-get >/dev/null || fail "Node's library is not here, nor apt-get to fetch it"
    library=$(needs libnode-dev | grep '^libnode[0-9]') || fail "apt knows of none (or needs an update)"
    missing=
    for name in $(needs libnode-dev) $(needs "$library"); do
        # The headers of OpenSSL are for those who use them.
        if [ "$name" != libssl-dev ] && ! is_installed "$name"; then missing="$missing $name"; fi
    done
    new=$1/new.$$
    mkdir -p "$new"
    trap 'rm -rf "$new"' EXIT
    # shellcheck disable=SC2086 # a list of names
    (cd "$new" && apt-get download -q libnode-dev $missing >apt.log 2>&1) ||
        fail "apt-get download: $(grep -m 1 '^E: ' "$new/apt.log" || tail -n 1 "$new/apt.log")"
    for deb in "$new"/*.deb; do dpkg -x "$deb" "$new/files"; done
    mv "$new/files/usr" "$1/usr"
fi

# Also the libraries that Node's own needs are found there: the newer kind of path (RUNPATH) would not do.
folder=$(cd "$1" && pwd -P)
libraries=$(dirname "$(find "$folder/usr/lib" -name libnode.so)")
echo "-isystem $folder/usr/include/node -isystem $folder/usr/include -L$libraries -lnode -l:libuv.so.1" \
    "-Wl,--disable-new-dtags,-rpath,\$ORIGIN/node${libraries#"$folder"}"
