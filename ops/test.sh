#!/bin/sh
# Every test but those of `peers`, in two runs side by side: the end-to-end ones mostly wait, the others mostly compute.
# Ends with 1 if either run failed; the closing line of each stands in the output.
set -u
python="$1"
told="$(mktemp)"
trap 'rm -f "$told"' EXIT
"$python" -m pytest tests/e2e -m "not peer" >"$told" 2>&1 &
whole=$!
"$python" -m pytest tests --ignore=tests/e2e -m "not peer"
rest=$?
wait "$whole"
whole=$?
cat "$told"
[ "$rest" -eq 0 ] && [ "$whole" -eq 0 ]
