"""Expands one xacro file, in a process of its own, with bounds on what it may read, compute and produce.

It is started by ``gyrostat.io.xacro.expand`` as a script; it reads a request (JSON) from the standard input and writes
the expanded document, or why there is none, to the standard output. The expander is that of xacrodoc; what it would
hand to
Python's ``eval`` is computed by ``expression``, and ``$(...)`` knows ``arg`` and ``find`` alone. As a second
wall, an audit hook of the interpreter refuses every file outside the allowed folders, every process and every socket.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gyrostat.io.xacro.sandbox import Sandbox

MEMORY = 2**30
SECONDS = 30
NEEDED = ("safe_eval", "eval_extension", "parse", "eval_all", "handle_macro_call", "load_yaml", "init_stacks", "Table")
"""What is replaced in, or used of, the package xacro."""


def beside(name: str) -> Any:
    """A file of this folder as a module, without importing gyrostat."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    if spec is None or spec.loader is None:
        raise ImportError(f"{name}.py is missing; install gyrostat anew")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def wall(sandbox: Sandbox, refusal: type[Exception]) -> Callable[[str, tuple[Any, ...]], None]:
    """The audit hook: from now on this process reads allowed files and modules, and does nothing else."""
    libraries = tuple(os.path.realpath(p) for p in sys.path if p)
    refused = ("os.", "subprocess.", "socket.", "ctypes.", "shutil.", "urllib.", "pty.", "fcntl.", "tempfile.")
    harmless = ("os.listdir", "os.scandir", "os.walk", "os.fwalk")  # names of folders; the import system asks for them

    def hook(event: str, values: tuple[Any, ...]) -> None:
        if event == "open" and not isinstance(values[0], int):
            path = Path(os.path.realpath(os.fsdecode(values[0])))
            writing = int(values[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
            reads = not set(str(values[1] or "")) & set("wax+") and not writing
            module = path.suffix in (".py", ".pyc") and str(path).startswith(libraries)
            if not reads or not (module or any(path.is_relative_to(f) for f in sandbox.folders)):
                raise refusal(f"the file '{path}' is outside the allowed folders", "keep it beside the model")
        elif event.startswith(refused) and event not in harmless:
            raise refusal(f"asks for '{event}'", "a model must not do that")

    return hook


ARGUMENT = re.compile(r"""<xacro:arg\s[^>]*?name\s*=\s*["']([^"']+)["']|\$\(arg\s+([^\s)]+)""")
"""Where a file names an argument."""


def limit() -> None:
    """Bounds of memory and time, where the system has them."""
    try:
        resource = importlib.import_module("resource")
    except ImportError:
        return
    for name, bound in (("RLIMIT_AS", MEMORY), ("RLIMIT_CPU", SECONDS), ("RLIMIT_FSIZE", 0), ("RLIMIT_CORE", 0)):
        _, hard = resource.getrlimit(getattr(resource, name))
        bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(getattr(resource, name), (bound, hard))


def expand(request: dict[str, Any], bounds: Any) -> str:
    """The expanded document."""
    xacro: Any = importlib.import_module("xacro")
    xacrodoc = importlib.import_module("xacrodoc")
    lacking = [name for name in NEEDED if not callable(getattr(xacro, name, None))]
    if lacking:
        message = f"this version of xacro is not known here: it lacks {', '.join(lacking)}"
        raise bounds.RefusedError(message, "install xacro 2.1 and xacrodoc 2")
    for name in ("yaml", "xml.dom.minidom", "xml.dom.expatbuilder", "encodings.utf_8_sig", "unicodedata"):
        importlib.import_module(name)
    home = Path(os.path.realpath(request["file"]))
    roots = [Path(os.path.realpath(root)) for root in request["roots"]]
    alone = bool(request["alone"])  # a text without a file has no folder
    folders = [*roots] if alone else [home.parent, *roots]
    sandbox = bounds.Sandbox(xacro, beside("expression"), home, roots, folders, alone)
    xacro.safe_eval, xacro.eval_extension = sandbox.expression_value, sandbox.extension
    xacro.parse, xacro.load_yaml = sandbox.document, sandbox.yaml
    xacro.eval_all, xacro.handle_macro_call = sandbox.counted(xacro.eval_all), sandbox.called(xacro.handle_macro_call)
    sandbox.texts[str(home)] = request["text"]
    xacro.init_stacks(str(home))
    sys.addaudithook(wall(sandbox, bounds.RefusedError))
    arguments = {str(key): str(value) for key, value in request["arguments"].items()}
    document = xacrodoc.XacroDoc.from_string(request["text"], subargs=arguments, resolve_packages=False)
    known = {name for text in sandbox.texts.values() for pair in ARGUMENT.findall(text) for name in pair if name}
    for name in arguments:
        if name not in known:
            raise bounds.RefusedError(f"has no argument '{name[:60]}'", f"known: {', '.join(sorted(known)) or 'none'}")
    for mesh in document.dom.getElementsByTagName("mesh"):
        name = mesh.getAttribute("filename").removeprefix("file://")
        for package, folder in sandbox.packages.items():
            if name.startswith(f"{folder}{os.sep}"):
                mesh.setAttribute("filename", f"package://{package}/{name[len(str(folder)) + 1 :]}")
    return _text(document.dom)


def _text(dom: Any) -> str:
    """One element in each line, so that line numbers say something."""
    text = dom.toprettyxml(indent="  ")
    return "\n".join(line for line in text.split("\n") if line.strip()) + "\n"


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """What the other side gets."""
    bounds = beside("sandbox")
    try:
        return {"text": expand(request, bounds)}
    except RecursionError:
        return {"error": "is nested too deep", "remedy": "look for a macro that calls itself", "place": ""}
    except MemoryError:
        return {"error": "needs more memory than allowed", "remedy": "look for macros that double", "place": ""}
    except Exception as error:  # whatever the expander raises is told to the other side
        refused = _within(error, bounds.RefusedError)
        if refused is not None:
            return {"error": str(refused), "remedy": refused.remedy, "place": refused.place}
        text = " ".join(str(error).split()) or type(error).__name__
        return {"error": text[:400], "remedy": "check the file with xacro", "place": ""}


def _within(error: BaseException | None, kind: type[Exception]) -> Any:
    """Our own refusal, if the expander wrapped it."""
    for _ in range(200):
        if error is None or isinstance(error, kind):
            return error
        error = getattr(error, "exc", None) or error.__cause__ or error.__context__
    return None


def main() -> None:
    """Read the request, answer it."""
    request = json.load(sys.stdin)
    sys.path += [p for p in request["path"] if p not in sys.path]
    limit()
    sys.setrecursionlimit(3000)
    json.dump(answer(request), sys.stdout)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
