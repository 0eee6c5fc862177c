"""Reference data of other programs, which are not part of the project: a folder beside the checkout, if it is there."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "shared" / "refdata"


def reference(name: str) -> Path:
    """Path of a file; the test is skipped where it does not exist."""
    path = FOLDER / name
    if not path.exists():
        pytest.skip(
            f"reference data '{name}' not found in ../shared/refdata; the main figures are typed into the tests"
        )
    return path
