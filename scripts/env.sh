# shellcheck shell=sh
# The environment in which storebench is built. To be sourced, from any shell that reads POSIX sh: . scripts/env.sh
#
# Reads   FEATURES  the stores to build in, by cargo feature and separated by commas; empty: all
# Sets    STOREBENCH_CARGO_FLAGS  to be handed to cargo, unquoted
#         LIBRARY_PATH, CPATH  where the compiler and the linker look, on macOS
# Where RocksDB and LevelDB come from is no affair of this: the build looks for them by itself (docs/building.md).

# rustup writes this to the profile, which only the next login reads.
if ! command -v cargo >/dev/null 2>&1 && [ -x "${HOME:-}/.cargo/bin/cargo" ]; then
    export PATH="$HOME/.cargo/bin:$PATH"
fi

# Homebrew's libraries are in no place where a compiler looks by itself.
if [ "$(uname -s)" = Darwin ] && command -v brew >/dev/null 2>&1; then
    storebench_brew=$(brew --prefix)
    storebench_db=$storebench_brew/opt/berkeley-db@5
    export CPATH="$storebench_db/include:$storebench_brew/include${CPATH:+:$CPATH}"
    export LIBRARY_PATH="$storebench_db/lib:$storebench_brew/lib${LIBRARY_PATH:+:$LIBRARY_PATH}"
    unset storebench_brew storebench_db
fi

STOREBENCH_CARGO_FLAGS=
if [ -n "${FEATURES:-}" ]; then
    STOREBENCH_CARGO_FLAGS="--no-default-features --features $FEATURES"
fi
export STOREBENCH_CARGO_FLAGS
