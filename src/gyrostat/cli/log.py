"""What the library tells through its log while it reads a file: repairs, accepted numbers, warnings."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from gyrostat.cli.output import note


class Notes(logging.Handler):
    """Each message becomes a note on stderr, word for word."""

    def emit(self, record: logging.LogRecord) -> None:
        note(record.getMessage())


@contextmanager
def told(quiet: bool) -> Iterator[None]:
    """Inside, messages of the log ``gyrostat`` go to stderr; with ``quiet`` only errors do."""
    log, notes = logging.getLogger("gyrostat"), Notes(logging.ERROR if quiet else logging.WARNING)
    before = log.propagate
    log.addHandler(notes)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(notes)
        log.propagate = before
