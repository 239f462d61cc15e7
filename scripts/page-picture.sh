#!/bin/sh
# Makes a picture of the top of a report's page, for the documentation: what Chromium shows of it.
#
# usage: scripts/page-picture.sh PAGE.html OUT.png [WIDTH,HEIGHT]
#   WIDTH,HEIGHT  in pixels; 860,1180 as in README.md
# Exit code 0: the picture was written; 1: Chromium made none; 2: an argument is wrong, or there is no Chromium.
set -eu

fail() {
    echo "page-picture.sh: $*" >&2
    exit 2
}

case $# in 2 | 3) ;; *) fail 'usage: scripts/page-picture.sh PAGE.html OUT.png [WIDTH,HEIGHT]' ;; esac
[ -f "$1" ] || fail "there is no page $1"
for browser in chromium chromium-browser google-chrome ''; do
    if command -v "$browser" >/dev/null; then break; fi
done
[ -n "$browser" ] || fail 'Chromium is missing: scripts/setup.sh test installs it'

page=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
# Containers often can't have its sandbox. The page counts as loaded once it is drawn.
"$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$box" --window-size="${3:-860,1180}" \
    --screenshot="$box/picture.png" "file://$page" >"$box/log" 2>&1 || true
[ -s "$box/picture.png" ] || { tail -n 3 "$box/log" >&2; exit 1; }
cp "$box/picture.png" "$2"
