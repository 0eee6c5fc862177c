"""The tables of folders in CONTRIBUTING.md and README.md are those on disk, with a sentence for each."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from tests.project.test_layers import LAYERS, ROOT, SOURCE

CHECKOUT = Path(__file__).parents[2]
ROW = re.compile(r"^\| `([a-z_/]+/|[a-z_]+\.py)` \| (.+) \|$", re.MULTILINE)


def told(text: str) -> list[tuple[str, str]]:
    """Name and sentence of each row of the table with the head ``| folder | holds |``."""
    table = text.partition("| folder | holds |\n|---|---|\n")[2].partition("\n\n")[0]
    rows = ROW.findall(table)
    assert len(rows) == len(table.splitlines()), "a row is not `| `name/` | what it holds |`"
    return rows


def on_disk(source: Path, rooms: bool) -> set[str]:
    """Folders of modules, and files that stand beside them."""
    folders = {path.parent.relative_to(source).as_posix() + "/" for path in source.rglob("*.py")} - {"./"}
    files = {path.name for path in source.glob("*.py")} - {"__init__.py", "__main__.py"}
    return files | {folder for folder in folders if rooms or folder.count("/") == 1}


def differences(rows: list[tuple[str, str]], there: set[str]) -> list[str]:
    """What a table lacks, what it has too much or twice, and what it says nothing about."""
    names = [name for name, _ in rows]
    return [
        *(f"'{name}' is missing" for name in sorted(there - set(names))),
        *(f"'{name}' is not on disk" for name in sorted(set(names) - there)),
        *(f"'{name}' stands twice" for name in sorted({n for n in names if names.count(n) > 1})),
        *(f"'{name}' needs a sentence" for name, sentence in rows if len(sentence) < 12),
    ]


@pytest.mark.parametrize(("file", "rooms"), [("CONTRIBUTING.md", True), ("README.md", False)])
def test_the_table_is_what_is_on_disk(file, rooms):
    rows = told((CHECKOUT / file).read_text("utf-8"))
    assert not differences(rows, on_disk(SOURCE, rooms))
    top = [name.removesuffix(".py").rstrip("/") for name, _ in rows if name.count("/") <= 1]
    assert top == [layer for layer in LAYERS if layer != ROOT], "the rows are not in the order of the layers"


def test_rooms_stand_below_their_folder():
    names = [name for name, _ in told((CHECKOUT / "CONTRIBUTING.md").read_text("utf-8"))]
    for above, name in pairwise(names):
        outer = name.rstrip("/").rpartition("/")[0]
        assert not outer or above.startswith(f"{outer}/"), f"'{name}' stands below '{above}'"


def test_tables_that_differ_from_the_disk_are_seen(tmp_path):
    for place in ("spec/model.py", "spec/edits/lock.py", "graph/network.py", "errors.py", "__init__.py"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text("", "utf-8")
    text = "| folder | holds |\n|---|---|\n| `spec/` | entities and rules |\n| `spec/` | the same again |\n"
    rows = told(text + "| `flexible/` | beams |\n| `errors.py` | every exception |\n\nmore text")
    assert differences(rows, on_disk(tmp_path, rooms=True)) == [
        "'graph/' is missing",
        "'spec/edits/' is missing",
        "'flexible/' is not on disk",
        "'spec/' stands twice",
        "'flexible/' needs a sentence",
    ]
    assert differences(rows[1:2] + rows[3:], on_disk(tmp_path, rooms=False)) == ["'graph/' is missing"]


def test_a_row_that_cannot_be_read_is_seen():
    with pytest.raises(AssertionError, match="a row is not"):
        told("| folder | holds |\n|---|---|\n| spec | entities |\n\n")
