"""From the word on the command line to a model: a file, or a robot that comes with gyrostat."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gyrostat.cli.output import MisuseError

if TYPE_CHECKING:
    from gyrostat.cli.options import Reading
    from gyrostat.io.audit import Audit
    from gyrostat.spec.model import Model


def is_file_name(word: str) -> bool:
    """Whether a word names a file: it has a dot or a slash. Everything else is the name of a robot."""
    return any(sign in word for sign in "./\\")


def robots() -> dict[str, Callable[[], Model]]:
    """Robots by name: every public function of ``gyrostat.robots`` that needs no arguments."""
    import gyrostat.robots as wheel

    makers: dict[str, Callable[[], Model]] = {}
    for name in wheel.__all__:
        make = getattr(wheel, name)
        if inspect.isfunction(make) and _needs_nothing(make):
            makers[name] = make
    return makers


def _needs_nothing(function: Callable[..., Any]) -> bool:
    named = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    return all(p.default is not p.empty or p.kind in named for p in parameters)


def short_names(known: Iterable[tuple[str, Callable[..., Any]]]) -> dict[str, str]:
    """Short name -> full name: the file that holds a robot alone, ``lwr`` for ``kuka_lwr4``."""
    by_file: dict[str, list[str]] = {}
    for name, make in known:
        by_file.setdefault(make.__module__.rpartition(".")[2], []).append(name)
    return {file: names[0] for file, names in by_file.items() if len(names) == 1 and names[0] != file}


def robot(word: str) -> Callable[[], Model]:
    """The function that makes a robot of this name."""
    from gyrostat.errors import clipped, nearest

    known = robots()
    short = short_names(known.items())
    name = short.get(word, word)
    if name not in known:
        there = " (a file of that name exists: write ./ in front of it)" if Path(word).is_file() else ""
        hint = nearest(word, [*short, *known])
        raise MisuseError(f"there is no robot {clipped(word)}{there}. Hint: {hint} Files have a dot in their name")
    return known[name]


def load(word: str, reading: Reading, quiet: bool = False) -> Model:
    """The model of a file or robot; what the library has to say about a file goes to stderr."""
    import gyrostat as gs
    from gyrostat.cli.log import told

    if is_file_name(word):
        with told(quiet):
            return gs.load(word, **_options(word, reading))
    make = robot(word)
    for name in ("policy", "root", "arg"):
        if getattr(reading, name) not in (None, []):
            raise MisuseError(f"--{name} is for files, and '{word}' is a robot that comes with gyrostat")
    model = make()
    if reading.base is not None and reading.base != model.context.base:
        model = model.replace({"context.base": reading.base})
        gs.check(model)
    return model


def audit(word: str, reading: Reading) -> Audit:
    """All findings about a file or robot; that a file cannot be opened is one, too: other files wait for their turn."""
    import gyrostat as gs
    from gyrostat.io.audit import Audit, from_problems

    try:
        if is_file_name(word):
            return gs.audit(word, **_options(word, reading))
        gs.check(load(word, reading))
    except gs.SpecError as error:
        return from_problems(word, error.problems)
    return Audit(word, ())


def _options(word: str, reading: Reading) -> dict[str, Any]:
    """As ``gs.load`` takes them; options that mean nothing for the kind of file are refused."""
    suffix = Path(word).suffix.lower()
    if suffix in (".yaml", ".yml") and (reading.policy or reading.root):
        raise MisuseError("--policy and --root are for robot files of other programs, not for YAML")
    if suffix != ".xacro" and reading.arg:
        raise MisuseError("--arg is for .xacro files")
    options: dict[str, Any] = {"base": reading.base}
    if reading.policy:
        options["policy"] = reading.policy
    if reading.root:
        options["roots"] = reading.root
    pairs = [word.partition("=") for word in reading.arg or ()]
    for name, sign, _ in pairs:
        if not name or not sign:
            raise MisuseError(f"--arg {name}: is no argument. Hint: write --arg name=value")
    if pairs:
        options["arguments"] = {name: value for name, _, value in pairs}
    return options
