#!/bin/sh
# Makes .venv from requirements.lock. Needs python3 (3.11 to 3.13) and nothing else; `make` runs it when the lock changed.
# Compiled ahead: every process of ours imports the same libraries, on some machines without a place to keep bytecode.
# uv is taken from its own hash-locked file into .tools, never into .venv; without it plain pip does the same, slower.
set -eu
cd "$(dirname "$0")/.."

say() { printf 'stationkeeper: %s\n' "$*" >&2; }
stop() { say "$*"; exit 3; }

# Another environment that happens to be active, or a person's pip settings, must not decide where things go.
unset VIRTUAL_ENV PYTHONHOME PYTHONPATH PIP_TARGET PIP_PREFIX PIP_USER PIP_REQUIRE_VIRTUALENV
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore UV_PYTHON_DOWNLOADS=never UV_NO_PROGRESS=1

python=${PYTHON:-python3}
supported='import sys; raise SystemExit(not (3, 11) <= sys.version_info[:2] <= (3, 13))'

command -v "$python" >/dev/null 2>&1 || stop "$python is not there: install Python 3.11, 3.12 or 3.13, or name one: make PYTHON=/path/to/python3.12"
"$python" -c "$supported" || stop "$python is $("$python" -V 2>&1), expected Python 3.11, 3.12 or 3.13; name one: make PYTHON=/path/to/python3.12"

if ! .venv/bin/python -c "$supported" >/dev/null 2>&1 || ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    rm -rf .venv
    "$python" -m venv .venv >/dev/null 2>&1 || { rm -rf .venv; stop "$python cannot make a virtual environment; run: apt-get install python3-venv"; }
fi

# An ordinary user without a writable home still gets a cache, in the tree.
home_cache=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}
mkdir -p "$home_cache" 2>/dev/null && [ -w "$home_cache" ] || export UV_CACHE_DIR="$PWD/.tools/cache"

uv=.tools/uv/bin/uv
if ! "$uv" --version >/dev/null 2>&1; then
    rm -rf .tools/uv
    .venv/bin/python -m pip install -qq --no-deps --only-binary :all: --require-hashes -r requirements-uv.lock --target .tools/uv || say "no uv for this machine; pip does it, in about a minute"
fi

if "$uv" --version >/dev/null 2>&1; then
    "$uv" pip sync -q --compile-bytecode --python .venv/bin/python --require-hashes requirements.lock
    "$uv" pip install -qq --python .venv/bin/python --no-build-isolation --no-deps -e .
else
    .venv/bin/python -m pip install -qq --no-deps --require-hashes -r requirements.lock
    .venv/bin/python -m pip install -qq --no-build-isolation --no-deps -e .
fi
