"""The tutorials: notebooks without outputs, with exercises and solutions; all of it runs, and shows figures."""

from __future__ import annotations

import base64
import os
import re
import sys
from pathlib import Path

import matplotlib
import pytest

nbformat = pytest.importorskip("nbformat", reason="tutorials are notebooks: pip install 'gyrostat[test]'")

FOLDER = Path(__file__).parents[2] / "docs" / "tutorials"
LESSONS = sorted(FOLDER.glob("*.ipynb"))
LINK = re.compile(r"\]\(([^)#\s]+)")
PNG = b"\x89PNG\r\n\x1a\n"


def read(lesson: Path):
    return nbformat.read(lesson, as_version=4)


def is_solution(cell) -> bool:
    return "solution" in cell.metadata.get("tags", ())


def draws(cell) -> bool:
    return cell.cell_type == "code" and bool(re.search(r"plt\.subplots|run\.plot", cell.source))


def by_stem(lesson: Path) -> str:
    return lesson.stem


def test_there_are_five_lessons_and_the_page_lists_them():
    page = (FOLDER / "index.md").read_text("utf-8")
    assert len(LESSONS) == 5
    assert [f"({lesson.name})" in page for lesson in LESSONS] == [True] * 5


@pytest.mark.parametrize("lesson", LESSONS, ids=by_stem)
def test_notebooks_are_kept_without_outputs(lesson):
    book = read(lesson)
    nbformat.validate(book)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert not [cell for cell in code if cell.outputs or cell.execution_count]
    assert len({cell.id for cell in book.cells}) == len(book.cells)


@pytest.mark.parametrize("lesson", LESSONS, ids=by_stem)
def test_every_exercise_has_a_solution_that_checks_a_number(lesson):
    """An exercise is a heading; what follows up to the next one holds a collapsed solution."""
    exercises, now = {}, None
    for cell in read(lesson).cells:
        heading = re.search(r"^### (Exercise \d+: .+)$", cell.source, re.MULTILINE)
        if cell.cell_type == "markdown" and not is_solution(cell):
            now = heading[1] if heading else None
            if now:
                exercises[now] = []
        elif now:
            exercises[now].append(cell)
    assert len(exercises) == 6
    for name, cells in exercises.items():
        assert cells and all(map(is_solution, cells)), name
        assert all(cell.metadata["jupyter"]["source_hidden"] for cell in cells), name
    text = "\n".join(cell.source for cells in exercises.values() for cell in cells)
    assert text.count("assert ") >= 6


@pytest.mark.parametrize("lesson", LESSONS, ids=by_stem)
def test_links_lead_somewhere_and_figures_are_described(lesson):
    for cell in read(lesson).cells:
        for target in LINK.findall(cell.source) if cell.cell_type == "markdown" else ():
            assert "://" in target or (FOLDER / target).exists(), target
        if draws(cell):
            assert len(cell.metadata.get("alt", "")) > 30, cell.source


def executed(lesson: Path):
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    book = read(lesson)
    nbclient.NotebookClient(
        book, timeout=300, kernel_name="python3", resources={"metadata": {"path": FOLDER}}
    ).execute()
    return book


def with_paths(monkeypatch) -> None:
    """The kernel imports what this process imports, and has no display."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(p for p in sys.path if p))
    monkeypatch.delenv("DISPLAY", raising=False)


def figures(book) -> list[bytes]:
    data = [output.get("data", {}) for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    return [base64.b64decode(part["image/png"]) for part in data if "image/png" in part]


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS, ids=by_stem)
def test_lessons_and_solutions_run_and_show_their_figures(lesson, monkeypatch):
    pytest.importorskip("viser", reason="the first lesson shows a robot: pip install 'gyrostat[view]'")
    pytest.importorskip("clarabel", reason="the last lesson identifies: pip install 'gyrostat[studies]'")
    with_paths(monkeypatch)
    book = executed(lesson)
    drawn = sum(draws(cell) for cell in book.cells)
    shown = figures(book)
    assert len(shown) >= 2 and len(shown) == drawn
    assert all(picture.startswith(PNG) and len(picture) > 8_000 for picture in shown)
    streams = [o for cell in book.cells if cell.cell_type == "code" for o in cell.outputs if o.output_type == "stream"]
    assert not [o.text for o in streams if o.name == "stderr"]


def test_the_beginning_of_the_first_lesson_runs():
    """Without a kernel: the cells before the first figure."""
    scope: dict[str, object] = {}
    with matplotlib.rc_context():
        for cell in read(LESSONS[0]).cells:
            if "subplots" in cell.source:
                break
            if cell.cell_type == "code":
                exec(compile(cell.source, cell.id, "exec"), scope)
    assert "tool" in scope
