"""What pyproject.toml says, and the instant that archives carry."""

from __future__ import annotations

import os
import subprocess
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
OLDEST = 315_532_800
"""1980-01-01: zip archives know nothing before."""


def project() -> dict[str, Any]:
    """The table [project]."""
    return _pyproject()["project"]


def builders() -> list[str]:
    """What builds it."""
    return _pyproject()["build-system"]["requires"]


def _pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def epoch() -> int:
    """Seconds since 1970: SOURCE_DATE_EPOCH, or the instant of the commit, so that whoever builds it gets the same."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is None:
        command = ["git", "log", "-1", "--format=%ct"]
        answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if answer.returncode:
            raise SystemExit(
                "release: this is no checkout of Git. Hint: set SOURCE_DATE_EPOCH to the release's seconds"
            )
        given = answer.stdout
    if not given.strip().isdecimal() or int(given) < OLDEST:
        raise SystemExit(f"release: SOURCE_DATE_EPOCH must be seconds from 1980 on, got {given.strip()[:40]!r}.")
    return int(given)
