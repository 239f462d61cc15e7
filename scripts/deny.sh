#!/bin/sh
# Checks the dependencies: licences, bans and sources always; security advisories where their database can be fetched.
# The rules: deny.toml. Exit code 0: all that could be checked is well.
set -eu
cd "$(dirname "$0")/.."

if ! cargo deny --version >/dev/null 2>&1; then
    echo "deny: installing cargo-deny, which checks the dependencies (cargo install; some minutes, once)"
    cargo install --locked cargo-deny
fi

# The example has a lock file of its own, and needs not all that is allowed.
of_example() {
    cargo deny --locked --manifest-path examples/rust-turso/Cargo.toml --config deny.toml check -A license-not-encountered "$@"
}

cargo deny --locked check licenses bans sources
of_example licenses bans sources

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# No password prompt, and no endless wait where a firewall swallows packets.
limit=
if command -v timeout >/dev/null 2>&1; then limit='timeout 120'; fi
# shellcheck disable=SC2086 # a command and its argument, or nothing
if GIT_TERMINAL_PROMPT=0 $limit cargo deny fetch db >"$log" 2>&1; then
    cargo deny --locked check advisories
    of_example advisories
else
    reason=$(sed -n 's/^fatal: //p' "$log" | head -n 1)
    [ -n "$reason" ] || reason=$(grep . "$log" | tail -n 1) || reason="no answer within two minutes"
    echo "deny: ADVISORIES SKIPPED: their database could not be fetched: $reason"
fi
