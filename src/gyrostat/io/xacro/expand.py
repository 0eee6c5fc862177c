"""xacro files: expanded to URDF by xacrodoc, in a process of its own that runs no Python of the file.

Properties, macros, blocks, conditionals, includes, arguments, ``$(arg x)``, ``$(find package)`` within allowed folders,
``xacro.load_yaml`` of files there. Expressions are arithmetic (``expression``). Bounds: 16 MiB for each file,
10 000 macro calls, 100 in each other, 300 000 elements, 1 GiB of memory where the system can limit it, and
:data:`SECONDS` of time.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gyrostat.errors import LoadError, Problem, SpecError, clipped
from gyrostat.io.mesh_paths import Roots
from gyrostat.io.safe_xml import parse

SECONDS = 10.0
"""How long an expansion may take."""

EXPANDED = " (expanded)"
"""What messages add to the name of the file: their line numbers are those of the expanded document."""


def expanded(
    text: str,
    file: str,
    arguments: Mapping[str, object] | None = None,
    roots: Sequence[str | os.PathLike[str]] = (),
) -> str:
    """The URDF text that a xacro text stands for. :class:`LoadError` says what is not expanded, and why."""
    parse(text, file)  # well-formed, no entities; with line numbers of the file itself
    request = {
        "file": os.path.abspath(file),
        "text": text,
        "alone": Roots.of(Path(file), ()).folder is None,
        "roots": [os.path.abspath(os.fsdecode(root)) for root in roots],
        "arguments": _texts(arguments or {}),
        "path": [os.path.abspath(p) for p in sys.path if p],
    }
    _expect_xacrodoc(file)
    answer = _ask(request, file)
    if "text" in answer:
        return str(answer["text"])
    raise _refusal(file, str(answer["place"]), str(answer["error"]), str(answer["remedy"]))


def _texts(arguments: Mapping[str, object]) -> dict[str, str]:
    """Arguments as xacro has them: texts."""
    if not isinstance(arguments, Mapping) or not all(isinstance(key, str) for key in arguments):
        message = f"arguments must map names to values, got {clipped(arguments)}"
        raise SpecError.one("load", "property-value", message, "write arguments={'prefix': 'left_'}", arguments)
    return {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in arguments.items()}


def _expect_xacrodoc(file: str) -> None:
    for name in ("xacrodoc", "xacro"):
        if importlib.util.find_spec(name) is None:
            message = f"the package '{name}' is needed to expand xacro"
            raise _refusal(file, "", message, "pip install xacrodoc, or expand the file with xacro first")


def _ask(request: dict[str, Any], file: str) -> dict[str, Any]:
    """Start the worker without this process' environment, and wait for its answer."""
    script = Path(__file__).with_name("worker.py")
    kept = {key: os.environ[key] for key in ("SYSTEMROOT", "PATH") if key in os.environ and os.name == "nt"}
    try:
        done = subprocess.run(
            [sys.executable, "-I", str(script)],
            input=json.dumps(request).encode(),
            capture_output=True,
            timeout=SECONDS,
            cwd=os.path.dirname(request["file"]),
            env=kept,
            check=False,
        )
        return json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        message = f"is not expanded after {SECONDS:g} s"
        raise _refusal(file, "", message, "look for macros that double or call themselves") from None
    except ValueError:
        message = "the expansion stopped without an answer: it took too much time or memory"
        raise _refusal(file, "", message, "look for macros that double or call themselves") from None
    except OSError as error:
        message = f"the process that expands xacro cannot be started: {error.strerror}"
        raise _refusal(file, "", message, "expand the file with xacro first") from None


def _refusal(file: str, place: str, message: str, remedy: str) -> LoadError:
    name, _, line = place.rpartition(":")
    name, line = (name, f":{line}") if name and line.isdecimal() else (place, "")
    where = file if not name or os.path.realpath(name) == os.path.realpath(file) else name
    return LoadError([Problem("xacro", "xacro", message, remedy, None, f"{where}{line}")])
