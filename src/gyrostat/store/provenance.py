"""What made a result: versions, processor, commit of the folder one works in; no name of a person or of a machine."""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from gyrostat.errors import StoreError

PACKAGES = ("gyrostat", "numpy", "scipy", "llvmlite")


@cache
def provenance() -> dict[str, Any]:
    """Of this process."""
    return {
        "versions": {name: _version(name) for name in PACKAGES},
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor_name(),
        "commit": commit(),
    }


def as_text(data: Any) -> str:
    """JSON with one spelling: keys in order, all digits of numbers, nothing that is no number."""
    try:
        return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False, default=_plain)
    except (TypeError, ValueError) as error:
        hint = "numbers, texts, lists and dictionaries are kept; write NaN as a failure"
        raise StoreError(f"store: {error}. Hint: {hint}.") from None


def _plain(value: Any) -> Any:
    """Numbers and arrays of NumPy as those of Python."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is no data")


def digest(text: str) -> str:
    """SHA-256 of a text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def processor_name() -> str:
    """As its maker calls it."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration, UnicodeDecodeError):
        return platform.processor()


def commit(folder: Path | None = None) -> str | None:
    """Of the folder one works in, or of another one, if it is under Git; marked where files differ from it. Of another
    folder only if its files belong to the checkout: an environment may lie inside somebody's project."""

    def git(*words: str) -> str | None:
        given: dict[str, Any] = {"capture_output": True, "text": True, "timeout": 5.0, "cwd": folder}
        answer = subprocess.run(["git", *words], **given)
        return None if answer.returncode else answer.stdout

    try:
        if folder is not None and git("ls-files", "--error-unmatch", "__init__.py") is None:
            return None
        head = git("rev-parse", "HEAD")
        changed = git("status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return None
    return None if head is None else head.strip() + (" with changes" if changed else "")
