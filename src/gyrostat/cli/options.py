"""Arguments and options that several commands share.

A command that reads models has a parameter ``reading``; :func:`reads` puts the options in its place that say how files
are read.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

if TYPE_CHECKING:
    from gyrostat.io.audit import Audit
    from gyrostat.spec.model import Model

ModelName = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A file (.urdf, .xacro, .sdf, .xml, .yaml), or the name of a robot that comes with gyrostat ('gyrostat "
        "info' lists them). A name without dots and slashes is a robot.",
        show_default=False,
    ),
]
Base = Annotated[
    Literal["fixed", "free"] | None,
    typer.Option("--base", help="Fix the base, or let it float; without it, what the file says.", show_default=False),
]
Policy = Annotated[
    Literal["strict", "repair", "accept"] | None,
    typer.Option(
        "--policy",
        help="What to do about errors in a robot file: refuse them, mend what can be mended, or take what can be "
        "computed as it stands. Whatever is done is told. Without it: 'strict' for check, 'accept' for all others.",
        show_default=False,
    ),
]
Root = Annotated[
    list[Path] | None,
    typer.Option("--root", metavar="FOLDER", help="A folder that holds packages with meshes; repeatable."),
]
Arg = Annotated[
    list[str] | None, typer.Option("--arg", metavar="NAME=VALUE", help="An argument of a .xacro file; repeatable.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Results and errors only: no remarks, no progress bar.")]
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite files that exist.")]
Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE", help="Write to this file instead of stdout.", show_default=False),
]


@dataclass(frozen=True)
class Reading:
    """How files are read."""

    base: Literal["fixed", "free"] | None = None
    policy: Literal["strict", "repair", "accept"] | None = None  # what gs.load and gs.audit do without it
    root: list[Path] | None = None
    arg: list[str] | None = None

    def load(self, word: str, quiet: bool = False) -> Model:
        """The model of a file or robot; what the library has to say about a file goes to stderr."""
        from gyrostat.cli import models

        return models.load(word, self, quiet)

    def audit(self, word: str) -> Audit:
        """All findings about a file or robot."""
        from gyrostat.cli import models

        return models.audit(word, self)


READING = {"base": Base, "policy": Policy, "root": Root, "arg": Arg}


def reads(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of a :class:`Reading` instead of its parameter ``reading``."""
    hints = get_type_hints(command, include_extras=True)
    own = [p for p in inspect.signature(command).parameters.values() if p.name != "reading"]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=getattr(Reading, name), annotation=kind)
        for name, kind in READING.items()
    ]
    parameters = [
        *(p.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[p.name]) for p in own),
        *added,
    ]

    @functools.wraps(command)
    def call(**given: Any) -> None:
        reading = Reading(**{name: given.pop(name) for name in READING})
        command(**given, reading=reading)

    del call.__wrapped__  # whose annotations are others
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {p.name: p.annotation for p in parameters}
    return call


def examples(*lines: str) -> str:
    """The end of a help text; the sign in front keeps its line breaks."""
    return "\b\nExamples:\n" + "\n".join(f"  gyrostat {line}" for line in lines)
