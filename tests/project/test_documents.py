"""README and documents say what happens: every Python block is run, and what it prints is what the comments claim."""

from __future__ import annotations

import ast
import contextlib
import io
import logging
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs

ROOT = Path(__file__).parents[2]
OUTSIDE = ("README.md", "NOTATION.md", "CONTRIBUTING.md", "CHANGELOG.md")
PAGES = [*(ROOT / name for name in OUTSIDE), *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^(?:<!-- not run: ([^\n]*) -->\n)?```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
REASONS = {
    "opens a browser",
    "takes half a minute",
    "needs a file of another tool",
    "needs the extra jax",
    "needs the extra torch",
}
"""Why a block may be left alone: `<!-- not run: REASON -->` stands on the line before it."""
PEERS = {"pinocchio", "mujoco"}
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")


@pytest.fixture(autouse=True)
def _the_log_stays_as_it_is():
    """A page may set the level of the log; other tests read it."""
    log = logging.getLogger("gyrostat")
    level = log.level
    yield
    log.setLevel(level)


def blocks(page: Path) -> list[str]:
    return [block for reason, block in BLOCK.findall(page.read_text("utf-8")) if not reason]


def left_alone(page: Path) -> list[tuple[str, str]]:
    """Reason and text of the blocks that are not run."""
    return [found for found in BLOCK.findall(page.read_text("utf-8")) if found[0]]


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def claims(block: str) -> str:
    """What the comments say is printed: comments behind print(...) and comment lines."""
    found = []
    for line in block.splitlines():
        if line.startswith("# "):
            found.append(line[2:])
        elif line.lstrip().startswith("print(") and "# " in line:
            found.append(line.split("# ", 1)[1])
    return "\n".join(found)


def agree(printed: str, claimed: str) -> None:
    """Words literally, numbers to nine digits."""
    assert NUMBER.sub("#", printed).split() == NUMBER.sub("#", claimed).split()
    got, want = ([float(x) for x in NUMBER.findall(text)] for text in (printed, claimed))
    assert np.allclose(got, want, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=name)
def test_every_block_runs_and_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(gs.Entity, "registry", dict(gs.Entity.registry))  # a page may define components
    scope: dict[str, object] = {}
    for peer in PEERS:
        if any(f"import {peer}" in block for block in blocks(page)):
            pytest.importorskip(peer, reason=f"{peer} comes with the extra 'oracles'")
    for block in blocks(page):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block, str(page), "exec", dont_inherit=True), scope)  # our own pages
        if claims(block) or out.getvalue():
            agree(out.getvalue(), claims(block))


@pytest.mark.parametrize("page", [p for p in PAGES if left_alone(p)], ids=name)
def test_blocks_that_are_left_alone_have_a_reason_and_use_names_that_exist(page):
    for reason, block in left_alone(page):
        assert reason in REASONS
        tree = ast.parse(block)
        used = [x for x in ast.walk(tree) if isinstance(x, ast.Attribute)]
        assert all(hasattr(gs, x.attr) for x in used if ast.unparse(x.value) == "gs")


def test_no_python_hides_in_another_kind_of_block():
    """Only blocks that begin with ```python are run: nothing else may show Python."""
    for page in PAGES:
        for kind in re.findall(r"^ *(?:```|~~~|:::)(\S.*)$", page.read_text("utf-8"), re.MULTILINE):
            assert kind == "python" or "py" not in kind, f"{name(page)}: a block of kind {kind}"


def test_a_wrong_claim_would_be_found():
    with pytest.raises(AssertionError):
        agree("[1.0 2.0]", "[1.0 2.1]")
    with pytest.raises(AssertionError):
        agree("2 problems", "2 mistakes")


def test_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_readme_begins_with_its_commands_a_picture_and_five_lines():
    text = (ROOT / "README.md").read_text("utf-8")
    assert text.index("./run demo") < text.index("./run test") < text.index("](docs/pictures/arm.png)")
    assert text.index("](docs/pictures/arm.png)") < text.index("pip install gyrostat") < text.index("```python")
    first = blocks(ROOT / "README.md")[0]
    assert len([line for line in first.splitlines() if line.strip() and not line.startswith("import")]) == 5


def test_the_demo_prints_a_table_and_writes_a_labelled_figure(tmp_path, capsys):
    main = runpy.run_path(str(ROOT / "demos" / "lwr_inverse_dynamics.py"))["main"]
    main(["--samples", "29", "--out", str(tmp_path), "--quiet"])
    text = capsys.readouterr().out
    assert "tau7 [N m]" in text
    assert str(tmp_path) in text
    rows = [line for line in text.splitlines() if re.match(r" *\d+\.\d\d  ", line)]
    assert len(rows) == 8
    assert float(rows[0].split()[2]) == pytest.approx(-37.514475, abs=1e-6)
    picture = (tmp_path / "lwr_inverse_dynamics.png").read_bytes()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(picture) > 20_000


def test_the_demo_refuses_nonsense(tmp_path, capsys):
    main = runpy.run_path(str(ROOT / "demos" / "lwr_inverse_dynamics.py"))["main"]
    with pytest.raises(SystemExit):
        main(["--samples", "1", "--out", str(tmp_path)])
    assert "--samples must be 2 or more, got 1" in capsys.readouterr().err
