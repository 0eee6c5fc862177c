"""From the word on the command line to a model: a file, or a robot that comes with gyrostat."""

from __future__ import annotations

from collections.abc import Callable
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
    from gyrostat.robots.catalogue import catalogue

    return catalogue()


def robot(word: str) -> Callable[[], Model] | Path:
    """The function that makes a robot of this name, or the file that has it."""
    from gyrostat.errors import LoadError, clipped, nearest
    from gyrostat.robots.by_name import available, found
    from gyrostat.robots.catalogue import short_names

    try:
        known = found(word)
    except LoadError as error:
        raise MisuseError(str(error)) from None
    if known is None:
        there = " (a file of that name exists: write ./ in front of it)" if Path(word).is_file() else ""
        hint = nearest(word, [*short_names(), *dict.fromkeys(one.name for one in available())])
        raise MisuseError(f"there is no robot {clipped(word)}{there}. Hint: {hint} Files have a dot in their name")
    return known.path or robots()[known.name]


def file_of(word: str) -> str | None:
    """The file that a word names, or that has the robot of this name; None for a robot that comes with gyrostat."""
    if is_file_name(word):
        return word
    made = robot(word)
    return str(made) if isinstance(made, Path) else None


def load(word: str, reading: Reading, quiet: bool = False) -> Model:
    """The model of a file or robot; what the library has to say about a file goes to stderr."""
    import gyrostat as gs
    from gyrostat.cli.log import told

    file = file_of(word)
    if file is not None:
        with told(quiet):
            return gs.load(file, **_options(file, reading))
    for name in ("policy", "root", "arg"):
        if getattr(reading, name) not in (None, []):
            raise MisuseError(f"--{name} is for files, and '{word}' is a robot that comes with gyrostat")
    make = robot(word)
    assert not isinstance(make, Path)
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
        file = file_of(word)
        if file is not None:
            return gs.audit(file, **_options(file, reading))
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
