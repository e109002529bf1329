# Installs what the tests of `make peers` meet: a real Roundup, and the real Backlog.md program (which needs npm).
# Each is pinned by hash. What cannot be installed is named, and its tests skip by name; that is no failure.
set -eu
cd "$(dirname "$0")/.."

say() { printf 'peers: %s\n' "$*" >&2; }
unset VIRTUAL_ENV PYTHONHOME PYTHONPATH PIP_TARGET PIP_PREFIX PIP_USER PIP_REQUIRE_VIRTUALENV
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore

home=.tools/peers
mkdir -p "$home"

# Roundup comes as source only; its build back end is pinned beside it, in an environment that is not ours.
roundup() {
    rm -rf "$home/roundup"
    .venv/bin/python -m venv "$home/roundup"
    "$home/roundup/bin/python" -m pip install -qq --no-deps --require-hashes -r tests/peers/build.lock
    "$home/roundup/bin/python" -m pip install -qq --no-deps --no-build-isolation --require-hashes -r tests/peers/roundup.lock
}

backlog() {
    rm -rf "$home/backlog" && mkdir "$home/backlog"
    cp tests/peers/package.json tests/peers/package-lock.json "$home/backlog"
    npm install --prefix "$home/backlog" --no-audit --no-fund --ignore-scripts --loglevel=error >/dev/null
}

# Installed once for each content of its lock.
install() {
    name=$1 lock=$2
    cmp -s "$lock" "$home/$name.installed" && return
    rm -f "$home/$name.installed"
    if (set -e; "$name"); then cp "$lock" "$home/$name.installed"; else say "$name cannot be installed here: its tests are skipped"; fi
}

install roundup tests/peers/roundup.lock
if command -v npm >/dev/null 2>&1; then
    install backlog tests/peers/package-lock.json
else
    say "npm is not there: the tests with the real Backlog.md program are skipped"
fi
