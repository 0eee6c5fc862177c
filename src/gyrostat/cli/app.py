"""All commands, in the order of the help text. Their files import typer only; the rest comes when they run."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gyrostat.cli import (
    bench,
    cache,
    check,
    db,
    demo,
    doctor,
    export,
    frames,
    frequencies,
    info,
    job,
    robots,
    simulate,
    torque,
    view,
)
from gyrostat.cli.options import examples

app = typer.Typer(
    name="gyrostat",
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help: it starts in half the time, and brackets are brackets
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples("info lwr", "check robot.urdf", "torque robot.urdf motion.csv -o torques.csv", "view robot.urdf"),
)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"gyrostat {version('gyrostat')}")
        raise typer.Exit


@app.callback()
def gyrostat(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where in the program an error came up; may stand anywhere.")
    ] = False,
) -> None:
    """Robot dynamics with the drivetrain in the model: robot files in, numbers and pictures out.

    Exit codes: 0 fine, 1 a bad file or model, 2 misuse of the command.
    """


for module in (
    info,
    robots,
    check,
    torque,
    simulate,
    frames,
    frequencies,
    export,
    view,
    bench,
    demo,
    cache,
    doctor,
    job,
    db,
):
    module.register(app)


def command() -> Any:
    """The whole command line, as typer runs it."""
    return typer.main.get_command(app)
