#!/bin/sh
# Draws an HTML report in headless Chromium: screenshot.sh REPORT.html OUT.png [light|dark|print] [WIDTHxHEIGHT]
# In `print`, OUT.png is the first page and OUT-2.png, OUT-3.png, … are the next
# ones (needs pdftoppm). What the page complains about goes to stderr, and makes
# the script fail: the report's policy must admit everything that the report has.
set -eu

if [ $# -lt 2 ]; then
    echo "usage: $0 REPORT.html OUT.png [light|dark|print] [WIDTHxHEIGHT]" >&2
    exit 2
fi
report=$(realpath "$1")
out=$(realpath -m "$2")
mode=${3:-light}
size=${4:-1200x6000}

browser=$(command -v chromium || command -v chromium-headless-shell) || {
    echo "$0: no chromium: apt-get install chromium" >&2
    exit 3
}
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT

browse() {
    "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
        --disable-background-networking --disable-component-update --disable-sync \
        --hide-scrollbars --user-data-dir="$home/profile" --enable-logging=stderr --v=0 \
        "$@" "file://$report" >"$home/stdout" 2>"$home/log"
}

case $mode in
light) browse --window-size="$(echo "$size" | tr x ,)" --screenshot="$out" --blink-settings=preferredColorScheme=1 ;;
dark) browse --window-size="$(echo "$size" | tr x ,)" --screenshot="$out" --blink-settings=preferredColorScheme=0 ;;
print)
    browse --print-to-pdf="$home/page.pdf" --no-pdf-header-footer
    pdftoppm -r 80 -png "$home/page.pdf" "$home/page"
    n=1
    for page in "$home"/page-*.png; do
        if [ $n -eq 1 ]; then cp "$page" "$out"; else cp "$page" "${out%.png}-$n.png"; fi
        n=$((n + 1))
    done
    ;;
*)
    echo "$0: mode must be light, dark or print, not \`$mode\`" >&2
    exit 2
    ;;
esac

if grep -E 'CONSOLE|Content Security Policy|Uncaught' "$home/log" >&2; then
    echo "$0: the page complained" >&2
    exit 1
fi
