"""Loading files with errors: the model, and the one warning that is given."""

from __future__ import annotations

import warnings
from typing import Any

import gyrostat as gs


def load_told(path: Any, **options: Any) -> tuple[gs.Model, dict[str, int]]:
    """The model of a file, and how many errors of each rule its one warning counts; none without a warning."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = gs.load(path, **options)
    assert len(told) <= 1
    for warning in told:
        assert isinstance(warning.message, gs.ModelWarning)
    return model, {rule: n for warning in told for rule, n in warning.message.rules.items()}


def load_accepted(path: Any, **options: Any) -> gs.Model:
    """The model of a file that has errors."""
    model, rules = load_told(path, **options)
    assert rules, "the file has no errors"
    return model
