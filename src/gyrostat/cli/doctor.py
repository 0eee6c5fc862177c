"""``gyrostat doctor``: what a bug report needs, and whether this installation computes what it should."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

import typer

from gyrostat.cli.options import Json, examples
from gyrostat.fmi.binary import COMPILERS

GIVES = {
    "casadi": "solver.casadi(): functions for its optimisers",
    "cluster": "studies on a cluster of dask",
    "collision": "pairs of shapes that have no closed form: boxes, cylinders, convex meshes",
    "control": "whole-body control and efforts of robots on legs",
    "flexible": "finite elements: gs.reduce_fe, gs.FlexibleBody",
    "fmi": "FMUs of others as blocks",
    "gym": "gs.gym_env",
    "jax": "gs.jax: solvers as functions of JAX",
    "mjcf": "MJCF files of MuJoCo",
    "notebooks": "figures and scenes in notebooks",
    "server": "stores on PostgreSQL",
    "simulate": "methods scipy-bdf, scipy-radau, cvode, ida",
    "studies": "calibration, identification, fastest paths, optimal control",
    "sweeps": "gs.studies.Study: samples, optimisation, sensitivity; stores with arrays",
    "tables": "results as tables, MCAP files",
    "tasks": "limits of inverse kinematics that are active",
    "torch": "gs.torch: solvers as functions of PyTorch",
    "view": "the viewer in the browser",
    "xacro": "xacro files",
}
"""What an extra is good for; the others (dev, docs, lint, oracles, release, test) serve those who work on gyrostat."""
TELLING = ("sse4.2", "avx", "avx2", "fma", "avx512f", "neon", "fp-armv8", "sve")
"""Features of processors that decide about machine code."""
SETTINGS = ("GYROSTAT_CACHE", "GYROSTAT_ROBOTS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "PYTHONOPTIMIZE")


def register(app: typer.Typer) -> None:
    app.command(epilog=examples("doctor", "doctor --json"))(doctor)


def doctor(json: Json = False) -> None:
    """What a bug report needs, and a test of the installation.

    The exit code is 1 if the self-test fails. No names of people or machines are printed: the home folder is written ~.
    """
    from gyrostat.cli.output import show_json

    found = examined()
    if json:
        show_json(found)
    else:
        _show(found)
    raise typer.Exit(0 if found["sound"] else 1)


def examined() -> dict[str, Any]:
    """Everything, as plain data."""
    from gyrostat.cli.cache import content
    from gyrostat.cli.self_test import self_test
    from gyrostat.store.provenance import commit, processor_name

    here = Path(__file__).parents[1]
    tests = self_test()
    cache = content()
    return {
        "gyrostat": {"version": _version("gyrostat"), "commit": commit(here), "folder": _home(str(here))},
        "python": {"version": platform.python_version(), "kind": platform.python_implementation()},
        "system": {
            "name": platform.platform(terse=True),
            "distribution": _distribution(),
            "machine": platform.machine(),
        },
        "processor": {"name": processor_name(), **_processor()},
        "packages": {name: _version(name) for name, _ in _required(None)},
        "extras": {name: _extra(name) for name in GIVES},
        "cache": cache | {"folder": _home(cache["folder"])},
        "compiler": _compiler(),
        "settings": {name: _home(os.environ[name]) for name in SETTINGS if name in os.environ},
        "self_test": tests,
        "sound": all(test["sound"] for test in tests),
    }


def _show(found: dict[str, Any]) -> None:
    from gyrostat.cli.output import say

    of, system, cpu, cache = found["gyrostat"], found["system"], found["processor"], found["cache"]
    say(f"gyrostat   {of['version']}, commit {of['commit'] or 'unknown (no checkout)'}, in {of['folder']}")
    say(f"python     {found['python']['version']}, {found['python']['kind']}")
    say(f"system     {system['name']}, {system['distribution'] or 'no distribution named'}, {system['machine']}")
    say(f"processor  {cpu['name']}: {cpu['kind']}, {cpu['usable_cores']} of {cpu['cores']} cores usable")
    words = " ".join(name for name in cpu["features"] if name in TELLING) or "nothing that LLVM knows"
    say(f"           {words}; {cpu['lanes']} states in a register; LLVM {cpu['llvm']}")
    packages = (f"{name} {number or 'MISSING'}" for name, number in found["packages"].items())
    say(f"packages   {', '.join(packages) or 'unknown: gyrostat was not installed by pip'}")
    say("extras")
    for name, extra in found["extras"].items():
        state = "found" if not extra["missing"] else f"missing {', '.join(extra['missing'])}"
        say(f"  {name:<10} {state:<34} {extra['gives']}")
    size = f"{cache['files']} objects, {cache['bytes'] / 2**20:.1f} of {cache['limit'] / 2**20:.0f} MiB"
    say(f"cache      {cache['folder'] or 'none'}: {cache['state']}; {size}")
    say(f"compiler   {found['compiler']['version'] or 'no C compiler: FMUs are exported as sources'}")
    for name, value in found["settings"].items():
        say(f"setting    {name}={value}")
    say("self-test")
    for test in found["self_test"]:
        say(f"  {'sound' if test['sound'] else 'FAILED':<7} {test['what']}: {test['told']}")


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _required(extra: str | None) -> list[tuple[str, str]]:
    """(name, least version or "") of the packages that gyrostat needs, or that an extra needs."""
    found = []
    try:
        lines = requires("gyrostat") or []
    except PackageNotFoundError:
        return []
    for line in lines:
        wanted, _, marker = line.partition(";")
        of = re.search(r"extra\s*==\s*['\"]([\w-]+)['\"]", marker)
        name = re.match(r"[\w.-]+", wanted)
        least = re.search(r">=\s*([\d.]+)", wanted)
        if name is not None and (of[1] if of else None) == extra:
            found.append((name[0], least[1] if least else ""))
    return found


def _extra(name: str) -> dict[str, Any]:
    packages = {package: _version(package) for package, _ in _required(name)}
    missing = [
        f"{package}>={least}" if packages[package] and least else package
        for package, least in _required(name)
        if packages[package] is None or _older(packages[package], least)
    ]
    if not packages:
        missing = ["(unknown: gyrostat was not installed by pip)"]
    return {"gives": GIVES[name], "packages": packages, "missing": missing}


def _older(number: str | None, least: str) -> bool:
    def parts(text: str) -> list[int]:
        return [int(x) for x in re.findall(r"\d+", text)[:3]]

    return bool(number and least and parts(number) < parts(least))


def _processor() -> dict[str, Any]:
    import llvmlite.binding as llvm

    from gyrostat.engine.llvm.target import host

    target = host()
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "kind": target.cpu,
        "features": sorted(x[1:] for x in target.features.split(",") if x.startswith("+")),
        "lanes": target.lanes,
        "fma": target.fma,
        "cores": os.cpu_count(),
        "usable_cores": usable,
        "llvm": ".".join(map(str, llvm.llvm_version_info)),
    }


def _distribution() -> str | None:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        return None


def _compiler() -> dict[str, str | None]:
    place = next(filter(None, map(shutil.which, COMPILERS)), None)
    told = None
    if place is not None:
        try:
            lines = subprocess.run([place, "--version"], capture_output=True, text=True, timeout=10.0).stdout
            told = (lines.splitlines() or [""])[0].strip() or f"{Path(place).name}, which tells no version"
        except (OSError, subprocess.SubprocessError) as error:
            told = f"{Path(place).name} cannot be run ({type(error).__name__})"
    return {"command": None if place is None else Path(place).name, "version": told}


def _home(text: str | None) -> str | None:
    """A path without the name of its owner."""
    home = os.path.expanduser("~")
    return text if text is None or home in ("~", "/", "") else re.sub(rf"{re.escape(home)}(?=$|[/\\:])", "~", text)
