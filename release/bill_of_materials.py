"""The software bill of materials (CycloneDX 1.6, JSON): gyrostat, and what it brings along, with versions and licences
as installed where the release is made. gyrostat pins nothing: it says what was tested, not what must be."""

from __future__ import annotations

import datetime
import json
import uuid
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

NAMESPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")  # of URLs [RFC 9562]


def bill_of_materials(project: dict[str, Any], epoch: int) -> str:
    """Its text; the same environment and instant give the same bytes."""
    found: dict[str, Distribution] = {}
    needs: dict[str, set[str]] = {}
    _gather(project["name"], [Requirement(line) for line in project["dependencies"]], found, needs)
    root = {
        "type": "library",
        "bom-ref": _reference(project["name"], project["version"]),
        "name": project["name"],
        "version": project["version"],
        "description": project["description"],
        "licenses": [{"license": {"id": project["license"]}}],
        "purl": _reference(project["name"], project["version"]),
    }
    reference = {name: _reference(name, found[name].version) for name in found} | {project["name"]: root["bom-ref"]}
    data: dict[str, Any] = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": datetime.datetime.fromtimestamp(epoch, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": root,
        },
        "components": [_component(name, found[name]) for name in sorted(found)],
        "dependencies": [
            {"ref": reference[name], "dependsOn": sorted(reference[other] for other in needs[name])}
            for name in sorted(needs)
        ],
    }
    digest = uuid.uuid5(NAMESPACE, json.dumps(data, sort_keys=True))
    return json.dumps({**data, "serialNumber": f"urn:uuid:{digest}"}, indent=2) + "\n"


def _gather(name: str, wanted: list[Requirement], found: dict[str, Distribution], needs: dict[str, set[str]]) -> None:
    """Everything that is needed, with what needs it; extras of requirements included."""
    below = needs.setdefault(name, set())
    for line in wanted:
        other = canonicalize_name(line.name)
        try:
            installed = distribution(other)
        except PackageNotFoundError:
            raise SystemExit(f"release: {other} is not installed. Hint: ./run release does so") from None
        if not line.specifier.contains(installed.version, prereleases=True):
            raise SystemExit(f"release: {other} {installed.version} is installed, needed is {line.specifier}.")
        below.add(other)
        if other in found:
            continue
        found[other] = installed
        lines = [Requirement(text) for text in installed.requires or []]
        asked = [{"extra": extra} for extra in line.extras] or [{"extra": ""}]
        here = [x for x in lines if x.marker is None or any(x.marker.evaluate(extra) for extra in asked)]
        _gather(other, here, found, needs)


def _component(name: str, of: Distribution) -> dict[str, Any]:
    told = {"type": "library", "bom-ref": _reference(name, of.version), "name": name, "version": of.version}
    licence = _licence(of)
    return told | ({"licenses": [licence]} if licence else {}) | {"purl": _reference(name, of.version)}


def _licence(of: Distribution) -> dict[str, Any] | None:
    """As the package says it: an SPDX expression, else the words of its classifiers, else a short text."""
    if of.metadata.get("License-Expression"):
        return {"expression": of.metadata["License-Expression"]}
    classified = [
        x.rpartition(" :: ")[2] for x in of.metadata.get_all("Classifier") or () if x.startswith("License ::")
    ]
    text = "; ".join(classified) or (of.metadata.get("License") or "").strip().partition("\n")[0]
    return {"license": {"name": text[:200]}} if text else None


def _reference(name: str, version: str) -> str:
    return f"pkg:pypi/{canonicalize_name(name)}@{version}"
