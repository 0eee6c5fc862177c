"""The library of an FMU, by the C compiler that is found on this machine."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

COMPILERS = ("cc", "gcc", "clang")
FLAGS = ("-std=c99", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-fvisibility=hidden")
LONGEST = 600.0
"""Seconds that a compiler may take."""
ENDINGS = {"linux": ".so", "darwin": ".dylib", "win32": ".dll"}
_MACHINES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}
_OLD = {
    ("linux", "x86_64"): "linux64", ("darwin", "x86_64"): "darwin64", ("darwin", "aarch64"): "darwin64",
    ("win32", "x86_64"): "win64",
}  # fmt: skip
_NEW = {"linux": "linux", "darwin": "darwin", "win32": "windows"}


class Binary(NamedTuple):
    """``place`` in the FMU and ``content``, or ``why`` there is none."""

    place: str = ""
    content: bytes = b""
    why: str = ""


def platform_name(fmi: str) -> str:
    """The folder of this platform below ``binaries``; "" if FMI has no name for it."""
    machine = _MACHINES.get(platform.machine().lower(), "")
    if fmi == "2.0":
        return _OLD.get((sys.platform, machine), "")
    return f"{machine}-{_NEW[sys.platform]}" if machine and sys.platform in _NEW else ""


def compiled(sources: Mapping[str, str], main: str, identifier: str, fmi: str, compiler: str | None) -> Binary:
    """The shared library of sources by name; ``main`` is the one that is compiled. ``compiler``: another one than the
    first that is found."""
    folder = platform_name(fmi)
    if not folder:
        return Binary(why=f"FMI {fmi} has no name for {sys.platform} on {platform.machine()}")
    found = shutil.which(compiler) if compiler else next(filter(None, map(shutil.which, COMPILERS)), None)
    if found is None:
        return Binary(why=f"no C compiler was found ({compiler or ', '.join(COMPILERS)})")
    name = identifier + ENDINGS[sys.platform]
    with tempfile.TemporaryDirectory(prefix="gyrostat-") as place:
        for file, text in sources.items():
            (Path(place) / file).write_text(text, encoding="utf-8")
        command = [found, *FLAGS, "-o", name, main, "-lm"]
        environment = os.environ | {"LC_ALL": "C", "SOURCE_DATE_EPOCH": "0"}
        try:
            done = subprocess.run(
                command, cwd=place, env=environment, capture_output=True, text=True, timeout=LONGEST, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return Binary(why=f"{found} could not be run: {error}")
        library = Path(place) / name
        if done.returncode or not library.is_file():
            return Binary(why=f"{found} refused the sources: {' '.join(done.stderr.split())[:300]}")
        return Binary(f"binaries/{folder}/{name}", library.read_bytes())
