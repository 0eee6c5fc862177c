"""What must be true of a checkout before it is a release."""

from __future__ import annotations

import re
import subprocess

from release.project import ROOT, project

VERSION = re.compile(r"\d+\.\d+\.\d+((a|b|rc)\d+)?")


def faults() -> list[str]:
    """In words; empty if it can be released."""
    version = project()["version"]
    return [*_of_files(version), *_of_git(version)]


def _of_files(version: str) -> list[str]:
    told = []
    if not VERSION.fullmatch(version):
        told.append(f"pyproject.toml: version '{version}' must be like 1.2.0 or 1.2.0rc1")
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    if cited is None or cited[1].strip() != version:
        told.append(f"CITATION.cff: the version must be {version}, got {cited[1] if cited else 'none'}")
    if not re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", _changelog(), re.MULTILINE):
        told.append(f"CHANGELOG.md: there is no heading '## [{version}] - YYYY-MM-DD'. Hint: rename [Unreleased]")
    return told


def _changelog() -> str:
    return (ROOT / "CHANGELOG.md").read_text("utf-8")


def _of_git(version: str) -> list[str]:
    if _git("rev-parse", "--is-inside-work-tree") is None:
        return ["this is no checkout of Git"]
    told = []
    if _git("status", "--porcelain"):
        told.append("files differ from the commit. Hint: git status")
    if f"v{version}" not in (_git("tag", "--points-at", "HEAD") or "").split():
        told.append(f"the commit has no tag v{version}. Hint: git tag -s v{version}")
    return told


def _git(*words: str) -> str | None:
    answer = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    return None if answer.returncode else answer.stdout
