"""One run of the command ``gyrostat``, with mistakes turned into words.

Exit codes: 0 fine; 1 a file, model or result is not; 2 the command was misused; 130 interrupted; 141 nobody reads what
is printed. Everything heavy is imported inside the commands: ``gyrostat --help`` starts at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

BAD, MISUSED, INTERRUPTED, UNREAD = 1, 2, 130, 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line (without the program's name) and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = given[: given.index("--")] if "--" in given else given
    debug = "--debug" in options  # anywhere: before or after the command
    words = [word for word in options if word != "--debug"] + given[len(options) :]
    _print_anything()
    try:
        code = _run(words, debug)
        sys.stdout.flush()
    except BrokenPipeError:
        _stop_printing()
        return UNREAD
    except OSError as error:  # a full disk
        if debug:
            raise
        from gyrostat.cli.output import complain

        _stop_printing()
        complain(f"the result cannot be printed: {error.strerror or error}")
        return BAD
    return code


def _run(words: list[str], debug: bool) -> int:
    import typer

    from gyrostat.cli.app import command
    from gyrostat.cli.output import MisuseError, complain
    from gyrostat.errors import GyrostatError

    of_typer: Any = typer.BadParameter.__mro__[2]  # the base of all its complaints, which has no public name
    try:
        return int(command().main(words, prog_name="gyrostat", standalone_mode=False) or 0)
    except (KeyboardInterrupt, typer.Abort):
        complain("interrupted")
        return INTERRUPTED
    except SystemExit as stop:  # typer's way to end for a closed pipe, or after shell completion
        if isinstance(stop.__context__, BrokenPipeError):
            raise stop.__context__ from None
        return int(stop.code or 0)
    except BrokenPipeError:
        raise
    except of_typer as error:
        _explain(error)
        return MISUSED
    except (GyrostatError, OSError) as error:
        if debug:
            raise
        complain(str(error))
        return MISUSED if isinstance(error, MisuseError) else BAD
    except ModuleNotFoundError as error:
        if debug or (error.name or "gyrostat").startswith("gyrostat"):
            raise
        complain(f"this needs '{error.name}', which is not installed. Hint: pip install {error.name}")
        return BAD


def _explain(error: BaseException) -> None:
    """What typer says about a wrong command line, with the usage of the command in question."""
    from gyrostat.cli.output import complain, note

    context = getattr(error, "ctx", None)
    told = error.format_message() if hasattr(error, "format_message") else str(error)  # type: ignore[attr-defined]
    if told.startswith("Usage:"):  # no command at all: this is the whole help
        note(told)
    elif context is None:
        complain(told)
    else:
        complain(f"{told}\n{context.get_usage()}\nSee '{context.command_path} --help'.")


def _print_anything() -> None:
    """A character that the terminal's encoding lacks is printed as an escape, not refused."""
    if sys.stdout is None:  # closed by the caller
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  # for as long as the process lives
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def _stop_printing() -> None:
    """Nobody reads on (``| head``): what is left in the buffers goes nowhere, without a word."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):
        pass
    finally:
        os.close(nowhere)
