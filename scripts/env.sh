# shellcheck shell=sh
# The environment in which storebench is built. To be sourced, from any shell that reads POSIX sh: . scripts/env.sh
#
# Reads   ROCKSDB   system, bundled, or empty: the system's library where its headers are, else the bundled one
#         FEATURES  the stores to build in, by cargo feature and separated by commas; empty: all
# Sets    STOREBENCH_CARGO_FLAGS  to be handed to cargo, unquoted
#         ROCKSDB_*, LIBRARY_PATH, CPATH  what librocksdb-sys, the compiler and the linker look at, where the
#         values in .cargo/config.toml won't do

# rustup writes this to the profile, which only the next login reads.
if ! command -v cargo >/dev/null 2>&1 && [ -x "${HOME:-}/.cargo/bin/cargo" ]; then
    export PATH="$HOME/.cargo/bin:$PATH"
fi

# What an earlier sourcing decided is decided anew: a library may have been installed since.
if [ "${ROCKSDB_INCLUDE_DIR:-}" = rocksdb/include ]; then
    unset ROCKSDB_COMPILE ROCKSDB_INCLUDE_DIR
fi

# Homebrew's libraries are in no place where a compiler looks by itself.
if [ "$(uname -s)" = Darwin ] && command -v brew >/dev/null 2>&1; then
    storebench_brew=$(brew --prefix)
    storebench_db=$storebench_brew/opt/berkeley-db@5
    export CPATH="$storebench_db/include:$storebench_brew/include${CPATH:+:$CPATH}"
    export LIBRARY_PATH="$storebench_db/lib:$storebench_brew/lib${LIBRARY_PATH:+:$LIBRARY_PATH}"
    if [ "${ROCKSDB:-}" != bundled ]; then
        export ROCKSDB_LIB_DIR="${ROCKSDB_LIB_DIR:-$storebench_brew/lib}"
        export ROCKSDB_INCLUDE_DIR="${ROCKSDB_INCLUDE_DIR:-$storebench_brew/include}"
    fi
    unset storebench_brew storebench_db
fi

STOREBENCH_CARGO_FLAGS=
if [ -n "${FEATURES:-}" ]; then
    STOREBENCH_CARGO_FLAGS="--no-default-features --features $FEATURES"
fi
case ",${FEATURES:-rocksdb}," in
    *,rocksdb,*)
        if [ "${ROCKSDB:-}" = bundled ] ||
            { [ -z "${ROCKSDB:-}" ] && [ ! -e "${ROCKSDB_INCLUDE_DIR:-/usr/include}/rocksdb/c.h" ]; }; then
            export ROCKSDB_COMPILE=1
            # Relative to librocksdb-sys: the headers of the RocksDB that it builds, not those of the system.
            export ROCKSDB_INCLUDE_DIR=rocksdb/include
            STOREBENCH_CARGO_FLAGS="$STOREBENCH_CARGO_FLAGS --features rocksdb-bundled"
        fi
        ;;
esac
export STOREBENCH_CARGO_FLAGS
