"""The gallery: every script runs without a warning, prints what its comments say, and leaves a figure and a card."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs
from tests.project.test_documents import agree, claims

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))
from executed import CARD, Example, examples, executed  # noqa: E402

NEEDS = {
    "casadi_and_ipopt": ("casadi",),
    "optimal_control": ("casadi", "scipy"),
    "calibration": ("scipy",),
    "collision_distances": ("daqp",),
    "design_front": ("scipy",),
    "inverse_kinematics_tasks": ("daqp",),
    "lqr_balance": ("scipy",),
    "identify_payload": ("scipy", "clarabel"),
    "fmu": ("fmpy",),
    "gymnasium_environment": ("gymnasium",),
    "study_of_many": ("scipy",),
}
"""Extras of the project, without which a script cannot run."""
SLOW: set[str] = set()
"""What takes more than two seconds of the processor; the build of the documentation executes these, too."""

EXAMPLES = {one.name: one for one in examples()}


def marked() -> list:
    return [pytest.param(one, id=name, marks=[pytest.mark.slow] * (name in SLOW)) for name, one in EXAMPLES.items()]


@pytest.mark.parametrize("one", marked())
def test_every_example_runs_and_leaves_what_it_shows(one: Example, monkeypatch):
    monkeypatch.setattr(gs.Entity, "registry", dict(gs.Entity.registry))
    for package in NEEDS.get(one.name, ()):
        pytest.importorskip(package, reason=f"{package} is an extra: pip install gyrostat[dev]")
    if one.name == "fmu" and not any(map(shutil.which, ("cc", "gcc", "clang"))):
        pytest.skip("FMPy needs a library, and that a C compiler")
    from matplotlib.image import imread

    done = executed(one)
    assert done.printed.strip(), "an example checks something, and prints it"
    agree(done.printed, claims(one.code))
    figure, card = (imread(path)[..., :3] for path in (done.figure, done.card))
    assert card.shape[:2] == (CARD[1], CARD[0])
    for image in (figure, card):
        assert image.std() > 0.03, "nothing is drawn"
        assert len(np.unique(image.reshape(-1, 3)[::7], axis=0)) > 20


@pytest.mark.parametrize("one", EXAMPLES.values(), ids=EXAMPLES)
def test_an_example_is_short_and_says_where_to_read_on(one: Example):
    assert 10 <= len(one.title) <= 75
    assert "](../" in one.text, "a link into the reference"
    assert 10 <= len([line for line in one.code.splitlines() if line.strip()]) <= 45
    assert claims(one.code), "its output is claimed by comments"


def test_every_example_is_listed_once():
    page = (DOCS / "gallery" / "index.md").read_text("utf-8")
    listed = [name for block in re.findall(r":::\{examples\}\n(.*?):::", page, re.S) for name in block.split()]
    assert sorted(listed) == sorted(EXAMPLES)
    assert len(listed) >= 26


def test_a_script_without_a_figure_is_refused(tmp_path, monkeypatch):
    import executed as module

    monkeypatch.setattr(module, "KEPT", tmp_path / "kept")
    script = tmp_path / "bare.py"
    script.write_text('"""Title"""\nprint(1)\n', encoding="utf-8")
    with pytest.raises(RuntimeError, match="ends with its `figure`"):
        executed(Example(script))


def test_what_is_known_is_not_executed_again_and_what_changed_is(tmp_path, monkeypatch):
    import executed as module

    monkeypatch.setattr(module, "KEPT", tmp_path / "kept")
    script = tmp_path / "counted.py"
    note = f'with open({str(tmp_path / "log")!r}, "a") as log:\n    log.write("x")\n'
    text = f'"""Title"""\n{note}import matplotlib.pyplot as plt\n'
    for change, runs in (("", 1), ("", 1), ("print(1)\n", 2)):
        script.write_text(text + change + "figure, _ = plt.subplots()\n", encoding="utf-8")
        executed(Example(script))
        assert len((tmp_path / "log").read_text()) == runs
