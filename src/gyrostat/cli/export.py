"""``gyrostat export``: models as C, URDF and YAML."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gyrostat.cli.options import Force, Json, ModelName, Out, Quiet, Reading, examples, reads

WHAT = {"rnea": "InverseDynamics", "aba": "ForwardDynamics", "crba": "MassMatrix"}


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="Write a model as C code, URDF or YAML.", no_args_is_help=True, rich_markup_mode=None, add_completion=False
    )
    group.command("c", epilog=examples("export c lwr -o lwr_c", "export c robot.urdf -o code --what aba --what crba"))(
        reads(export_c)
    )
    group.command("urdf", epilog=examples("export urdf arm.yaml -o arm.urdf"))(reads(export_urdf))
    group.command("yaml", epilog=examples("export yaml robot.urdf -o robot.yaml", "export yaml lwr"))(
        reads(export_yaml)
    )
    app.add_typer(group, name="export", epilog=examples("export c lwr -o lwr_c", "export yaml robot.urdf"))


def export_c(
    model: ModelName,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="The folder for the files.")],
    what: Annotated[
        list[str] | None,
        typer.Option(
            "--what",
            metavar="rnea|aba|crba",
            help="Inverse dynamics (default), forward dynamics, mass matrix; repeatable.",
        ),
    ] = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    *,
    reading: Reading,
) -> None:
    """C99 without allocation: source, header, and a test program with numbers to check it, for each function."""
    import tempfile

    import gyrostat as gs
    from gyrostat.cli.files import failed
    from gyrostat.cli.output import MisuseError
    from gyrostat.errors import clipped, nearest

    for name in what or ():
        if name not in WHAT:
            raise MisuseError(f"--what: there is nothing called {clipped(name)}. Hint: {nearest(name, WHAT)}")
    loaded = reading.load(model, quiet)
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out, prefix=".gyrostat-") as draft:
            for name in dict.fromkeys(what or ["rnea"]):
                getattr(gs, WHAT[name])(loaded).export_c(draft)
            written = _moved(Path(draft), out, force)
    except OSError as error:
        raise failed(out, error) from None
    _tell(written, json, quiet)


def _moved(draft: Path, out: Path, force: bool) -> list[Path]:
    """Files from the draft to their places; all, or none if one is taken."""
    import os

    from gyrostat.cli.files import may_write

    files = sorted(draft.iterdir())
    for file in files:
        may_write(out / file.name, force)
    for file in files:
        os.replace(file, out / file.name)
    return [out / file.name for file in files]


def export_urdf(
    model: ModelName,
    out: Out = None,
    allow_loss: Annotated[
        bool, typer.Option("--allow-loss", help="Write also what loses coordinates; such joints become fixed.")
    ] = False,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    *,
    reading: Reading,
) -> None:
    """URDF; what that format cannot say is listed on stderr."""
    from gyrostat.cli.output import note
    from gyrostat.io.urdf.write import to_urdf

    _expect(out, (".urdf",), force, json)
    text, lost = to_urdf(reading.load(model, quiet), out, allow_loss)
    _write(out, text, force, json, quiet, list(map(str, lost)))
    for problem in lost:
        note(f"not said: {problem}", quiet or json)


def export_yaml(
    model: ModelName,
    out: Out = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    *,
    reading: Reading,
) -> None:
    """The YAML of gyrostat: everything in the model, to be read back and edited."""
    from gyrostat.io.yaml.write import to_text

    _expect(out, (".yaml", ".yml"), force, json)
    _write(out, to_text(reading.load(model, quiet)), force, json, quiet, [])


def _expect(out: Path | None, suffixes: tuple[str, ...], force: bool, json: bool) -> None:
    """Refuse places that mean nothing, before there is any work."""
    from gyrostat.cli.files import may_write
    from gyrostat.cli.output import MisuseError

    if out is None:
        if json:
            raise MisuseError("--json tells about the file that was written. Hint: add -o FILE")
        return
    special = out.exists() and not out.is_file() and not out.is_dir()  # /dev/null, a pipe
    if out.suffix.lower() not in suffixes and not special:
        raise MisuseError(f"'{out}' does not end in {suffixes[0]}. Hint: the kind of a file is told by its name")
    may_write(out, force)


def _write(out: Path | None, text: str, force: bool, json: bool, quiet: bool, lost: list[str]) -> None:
    from gyrostat.cli.files import write_text

    write_text(out, text, force)
    if out is not None:
        _tell([out], json, quiet, lost)


def _tell(files: list[Path], json: bool, quiet: bool, lost: list[str] | None = None) -> None:
    from gyrostat.cli.output import note, show_json

    if json:
        show_json({"files": [str(path) for path in files]} | ({} if lost is None else {"lost": lost}))
    else:
        note("\n".join(map(str, files)), quiet)
