"""Strict numbers in texts: an optional sign, digits with at most one point, an optional exponent.

``nan``, ``1,5``, ``0x10`` and ``5cm`` are none.
"""

from __future__ import annotations

import math
import re

LARGEST = 1e12
"""Numbers beyond this one are refused: their products leave the range of floating-point numbers."""

_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", re.ASCII)


def number(text: str, largest: float = LARGEST) -> float | str:
    """The finite number that a text is, or what to do about it.

    >>> number("1e-3"), number("1,5")
    (0.001, 'write a decimal point: 1.5')
    """
    if _NUMBER.fullmatch(text):
        value = float(text)
        if math.isfinite(value) and abs(value) <= largest:
            return value
        return f"too large: give a number between -{min(largest, 1e308):g} and {min(largest, 1e308):g} in SI units"
    if "${" in text or "$(" in text:
        return "this is xacro; expand the file with xacro first"
    if _NUMBER.fullmatch(text.replace(",", ".", 1)):
        return f"write a decimal point: {text.replace(',', '.', 1)}"
    if text.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        return "give a finite number"
    return "write a decimal number such as 0.5, without units"
