# shellcheck shell=sh
# Fetches a file with whatever the system has for that. To be sourced.

# download ADDRESS FILE [SECONDS]: fetches a file, in so many seconds at most (120); where it fails, the last line of
# download.log in the current folder says why.
download() {
    if command -v curl >/dev/null 2>&1; then
        curl --proto '=http,https' -fsSL --retry 2 --max-time "${3:-120}" -o "$2" "$1" 2>download.log
    elif command -v wget >/dev/null 2>&1; then
        wget -q -T 60 -O "$2" "$1" 2>download.log
    elif [ -x /usr/lib/apt/apt-helper ]; then
        /usr/lib/apt/apt-helper download-file "$1" "$2" >download.log 2>&1
    else
        echo "there is neither curl nor wget" >download.log
        false
    fi
}
