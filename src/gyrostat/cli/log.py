"""What the library tells while it reads a file, by a warning or through its log: accepted errors, repairs."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gyrostat.cli.output import note
from gyrostat.errors import ModelWarning


class Notes(logging.Handler):
    """Each message becomes a note on stderr, word for word."""

    def emit(self, record: logging.LogRecord) -> None:
        note(record.getMessage())


@contextmanager
def told(quiet: bool) -> Iterator[None]:
    """Inside, warnings about models and messages of the log ``gyrostat`` go to stderr; with ``quiet`` errors only."""
    log, notes = logging.getLogger("gyrostat"), Notes(logging.ERROR if quiet else logging.WARNING)
    before = log.propagate
    log.addHandler(notes)
    log.propagate = False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", ModelWarning)
            shown = warnings.showwarning

            def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
                if not issubclass(category, ModelWarning):
                    shown(message, category, *place, **more)
                else:
                    note(f"warning: {_in_words_of_the_command(str(message))}", quiet)

            warnings.showwarning = show
            yield
    finally:
        log.removeHandler(notes)
        log.propagate = before


def _in_words_of_the_command(text: str) -> str:
    """The same hint for somebody who calls no Python."""
    for python, command in (
        ("gs.audit(path)", "'gyrostat check'"),
        ('policy="strict"', "--policy strict"),
        ('policy="repair"', "--policy repair"),
    ):
        text = text.replace(python, command)
    return text
