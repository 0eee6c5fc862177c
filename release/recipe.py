"""The recipe for conda (rattler-build's recipe.yaml), written from pyproject.toml and the source archive: nothing in it
can be out of date."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from release.project import builders

OF_CONDA = {"matplotlib": "matplotlib-base"}
"""Packages that have another name there: the one without a window system."""


def recipe(project: dict[str, Any], source: Path) -> str:
    """Its text; the archive lies beside it."""
    python = f"python {project['requires-python']}"
    command = "${{ PYTHON }} -m pip install . -vv --no-deps --no-build-isolation"
    data = {
        "schema_version": 1,
        "package": {"name": project["name"], "version": project["version"]},
        "source": {"path": source.name, "sha256": hashlib.sha256(source.read_bytes()).hexdigest()},
        "build": {
            "number": 0,
            "noarch": "python",
            "script": command,
            "python": {"entry_points": [f"{name} = {place}" for name, place in project["scripts"].items()]},
        },
        "requirements": {
            "host": [python, "pip", *map(_conda, builders())],
            "run": [python, *(_conda(line) for line in project["dependencies"])],
        },
        "tests": [
            {"python": {"imports": [project["name"]], "pip_check": True}},
            {"script": ["gyrostat doctor"]},
        ],
        "about": {"summary": project["description"], "license": project["license"], "license_file": "LICENSE"},
    }
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=120)


def _conda(line: str) -> str:
    wanted = Requirement(line)
    name = canonicalize_name(wanted.name)
    return f"{OF_CONDA.get(name, name)} {wanted.specifier}".strip()
