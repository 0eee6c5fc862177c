"""What cannot be recorded, and where in the user's code it was asked for."""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np

from gyrostat.errors import RecordError

_NOT_THE_USER = (os.path.dirname(np.__file__) + os.sep, os.path.dirname(os.path.dirname(__file__)) + os.sep)


def _place(frame: Any, line: int) -> str:
    return f" at {frame.f_code.co_filename}:{line} in {frame.f_code.co_name}()"


def not_recordable(what: str, instead: str) -> RecordError:
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(_NOT_THE_USER):
        frame = frame.f_back
    where = _place(frame, frame.f_lineno) if frame else ""
    return RecordError(
        f"{what} on a recorded value{where} cannot be recorded: its number is not known yet. Hint: use {instead}"
    )


def unknown_operation(error: Exception) -> RecordError | None:
    """What NumPy and Python say of operations that recorded values do not have, in our words."""
    said = str(error)
    if not any(sign in said for sign in ("Recorded", "ufunc", "'float' object has no attribute")):
        return None
    where, step = "", error.__traceback__
    while step is not None:
        if not step.tb_frame.f_code.co_filename.startswith(_NOT_THE_USER):
            where = _place(step.tb_frame, step.tb_lineno)
        step = step.tb_next
    return RecordError(
        f"an operation{where} cannot be recorded: {said}. "
        "Hint: use functions of the table in gyrostat.engine.tracing.operations, "
        "of recorded values one by one where numbers are among them"
    )


def mixed() -> RecordError:
    return RecordError("two recordings were mixed in one expression. Hint: record the whole function at once")
