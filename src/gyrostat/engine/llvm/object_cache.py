"""Compiled objects on disk: found by content, written atomically, checked before use, bounded in size.

``GYROSTAT_CACHE=off`` switches the cache off, any other value names its folder. A folder that others may write to is
not used: object code from it would be code of theirs."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

MAGIC = b"gyrostat object 1\n"
NEW = ".new-gyrostat-"
"""How the names of files begin that are not yet complete."""
LIMIT = 256 * 2**20
"""Bytes that the cache may hold, a 32nd more for each process that writes; objects used longest ago go first."""
_since: dict[Path, int] = {}
"""Bytes written by this process since it last looked how full a folder is."""


def folder() -> Path | None:
    """Where objects are kept; None if the cache is off. RuntimeError if there is no home to keep them in."""
    given = os.environ.get("GYROSTAT_CACHE", "")
    if given.lower() in ("off", "0", "no", "false"):
        return None
    if given:
        return Path(given).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "gyrostat" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "gyrostat"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gyrostat"


def refusal(path: Path) -> str | None:
    """Why a folder must not be trusted, or None."""
    if not hasattr(os, "getuid"):
        return None
    try:
        status = os.lstat(path)
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    if stat.S_ISLNK(status.st_mode) or not stat.S_ISDIR(status.st_mode):
        return "is not a folder"
    if status.st_uid != os.getuid():
        return "belongs to another user"
    if status.st_mode & 0o022:
        return "can be written by others"
    return None


class ObjectCache:
    """Objects by key. ``note`` says what happened last: a hit, a miss, or why the cache was not used."""

    def __init__(self) -> None:
        self.note = "not asked"

    def _usable(self) -> Path | None:
        try:
            path = folder()
        except RuntimeError as error:
            self.note = f"unusable: {error}"
            return None
        if path is None:
            self.note = "off"
            return None
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            self.note = f"unusable: {path} cannot be made ({error.strerror})"
            return None
        why = refusal(path)
        if why:
            self.note = f"refused: {path} {why}"
            return None
        return path

    def get(self, key: str) -> bytes | None:
        """The object of a key, if it is there and unharmed."""
        path = self._usable()
        if path is None:
            return None
        file = path / f"{key}.o"
        try:
            with file.open("rb") as opened:
                info = os.fstat(opened.fileno())
                data = opened.read()
        except OSError:
            self.note = "miss"
            return None
        if hasattr(os, "getuid") and (info.st_uid != os.getuid() or info.st_mode & 0o022):
            self.note = "miss (a file that others could write is rebuilt)"
            return None
        with suppress(OSError):  # a disk may be read-only
            os.utime(file)
        start = len(MAGIC) + 32
        if (
            data[: len(MAGIC)] != MAGIC
            or hashlib.sha256(key.encode() + data[start:]).digest() != data[len(MAGIC) : start]
        ):
            self.note = "miss (damaged file is rebuilt)"
            return None
        self.note = "hit"
        return data[start:]

    def put(self, key: str, code: bytes) -> None:
        """Keep an object; failures only cost the next start its time."""
        before, path = self.note, self._usable()
        if path is None:
            return
        self.note = before
        try:
            handle, name = tempfile.mkstemp(dir=path, prefix=NEW)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(MAGIC + hashlib.sha256(key.encode() + code).digest() + code)
                os.replace(name, path / f"{key}.o")
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
            _since[path] = _since.get(path, LIMIT) + len(code)
            if _since[path] > LIMIT // 32:  # thousands of files are not listed for each one that is written
                _shrink(path)
                _since[path] = 0
        except OSError as error:
            self.note = f"{before}, not written ({error.strerror})"


def _ours(name: str) -> bool:
    """Whether we made a file of this name: the folder is the user's choice, and may hold anything."""
    return name.startswith(NEW) or re.fullmatch(r"[0-9a-f]{64}\.o", name) is not None


def _shrink(path: Path) -> None:
    objects = []
    with os.scandir(path) as entries:
        for entry in entries:
            if not _ours(entry.name):
                continue
            try:
                info = entry.stat(follow_symlinks=False)
            except OSError:
                continue  # another process was quicker
            objects.append((info.st_mtime, info.st_size, entry.name))
    total = sum(size for _, size, _ in objects)
    for _, size, name in sorted(objects):
        if total <= LIMIT:
            return
        (path / name).unlink(missing_ok=True)
        total -= size
