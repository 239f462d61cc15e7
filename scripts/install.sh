#!/bin/sh
# Installs the release binary, its manual pages, its shell completions and the header for stores of libraries under a prefix, or removes them.
# usage: scripts/install.sh [--remove] PREFIX        (`make install` and `make uninstall` call this)
# environment:
#   PROGRAM   the binary; empty: the one that cargo built for this machine
#   RUNNER    what runs it here, where it is another machine's
set -eu

# Where what goes, below the prefix.
binary=bin/storebench
manuals=share/man/man1
bash=share/bash-completion/completions/storebench
zsh=share/zsh/site-functions/_storebench
fish=share/fish/vendor_completions.d/storebench.fish
header=include/storebench_store.h
# What a program that is built with ROCKSDB=authors loads.
libraries=lib/storebench

fail() {
    echo "install: $*" >&2
    exit 1
}

# The binary that cargo built, wherever CARGO_TARGET_DIR or cargo's configuration have it.
built() {
    target=$(cargo metadata --format-version 1 --no-deps --offline | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')
    echo "$target/release/storebench"
}

run() {
    # shellcheck disable=SC2086 # several words, or none
    ${RUNNER:-} "$from" "$@"
}

install_all() {
    from=${PROGRAM:-$(built)}
    [ -x "$from" ] || fail "$from is not there: \`make install\` builds it first"
    for file in "$binary" "$manuals/x" "$bash" "$zsh" "$fish" "$header"; do
        folder=$(dirname "$prefix/$file")
        mkdir -p "$folder" || fail "$folder can't be made: choose another with PREFIX=..., or use sudo"
    done
    install -m 755 "$from" "$prefix/$binary" || fail "$prefix/bin can't be written: choose another PREFIX, or use sudo"
    install -m 644 "$header" "$prefix/$header"
    library=
    if [ "${ROCKSDB:-}" = authors ]; then library=$(scripts/rocksdb-authors.sh --where | tail -n 1); fi
    if [ -n "$library" ]; then
        mkdir -p "$prefix/$libraries"
        install -m 644 "$library" "$prefix/$libraries"
    fi
    run man "$prefix/$manuals"
    run completions bash >"$prefix/$bash"
    run completions zsh >"$prefix/$zsh"
    run completions fish >"$prefix/$fish"
    echo "installed $prefix/$binary, with manual pages and completions for bash, zsh and fish under $prefix/share, and $prefix/$header"
    case ":$PATH:" in
        *":$prefix/bin:"*) ;;
        *) echo "note: $prefix/bin is not in PATH" ;;
    esac
}

remove_all() {
    rm -f "$prefix/$binary" "$prefix/$bash" "$prefix/$zsh" "$prefix/$fish" "$prefix/$header" \
        "$prefix/$manuals/storebench.1" "$prefix/$manuals"/storebench-*.1
    rm -f "$prefix/$libraries"/librocksdbjni-*.so
    rmdir "$prefix/$libraries" 2>/dev/null || true
    echo "removed storebench from $prefix; the folders of your runs are kept"
}

action=install_all
if [ "${1:-}" = --remove ]; then
    action=remove_all
    shift
fi
prefix=${1:-}
[ -n "$prefix" ] || fail "usage: scripts/install.sh [--remove] PREFIX"
cd "$(dirname "$0")/.."
$action
