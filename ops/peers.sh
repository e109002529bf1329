# Installs what the tests of `make peers` meet: a real Roundup; the real Backlog.md, Codex and Claude Code, which need npm.
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

# Two native programs: 660 MB to download, 810 MB on the disk, ten seconds where the network is quick.
agents() {
    rm -rf "$home/agents" && mkdir "$home/agents"
    cp tests/peers/agents/package.json tests/peers/agents/package-lock.json "$home/agents"
    npm install --prefix "$home/agents" --no-audit --no-fund --ignore-scripts --loglevel=error >/dev/null
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
    install agents tests/peers/agents/package-lock.json
else
    say "npm is not there: the tests with the real Backlog.md, Codex and Claude Code are skipped"
fi
