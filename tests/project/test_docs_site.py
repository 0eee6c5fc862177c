"""The documentation site: it is built without warnings, needs no network, and has every public name."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import gyrostat as gs

ROOT = Path(__file__).parents[2]
API = ROOT / "docs" / "reference" / "api"
NEEDED = ("sphinx", "myst_parser", "pydata_sphinx_theme")

needs_sphinx = pytest.mark.skipif(
    not all(map(find_spec, NEEDED)), reason="the site needs the extra 'docs': pip install gyrostat[docs]"
)


def listed() -> list[str]:
    """Names on the pages of public names."""
    text = "\n".join(page.read_text("utf-8") for page in sorted(API.glob("*.md")))
    found = [name for block in re.findall(r"\.\. names::\n((?: {3}.*\n)+)", text) for name in block.split()]
    return found + re.findall(r"\.\. py:data:: (\w+)", text)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("site")
    options = f"-q -W --keep-going -E -d {out / 'trees'} docs {out / 'html'}".split()
    command = [sys.executable, "-m", "sphinx", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return out / "html"


def pages(site: Path) -> list[Path]:
    return sorted(site.rglob("*.html"))


def test_every_public_name_is_described_once():
    names = listed()
    assert sorted(names) == sorted(set(names)), "a name is listed twice"
    missing, unknown = sorted(set(gs.__all__) - set(names)), sorted(set(names) - set(gs.__all__))
    assert not missing, f"add to docs/reference/api/, to the page of its subject: {' '.join(missing)}"
    assert not unknown, f"no public names: {' '.join(unknown)}"


@needs_sphinx
def test_the_site_is_built_without_warnings_and_has_its_pages(site):
    for page in (
        "index", "quickstart", "notation", "changelog", "correctness", "coming_from/pinocchio", "howto/write_a_model",
        "experiments/index", "experiments/hydraulic",
        "reference/api", "reference/api/models", "howto/casadi",
        "howto/export_c", "reference/urdf", "theory/errata", "developer/engine", "developer/contributing",
    ):  # fmt: skip
        assert (site / f"{page}.html").is_file()


@needs_sphinx
def test_every_public_name_has_its_place(site):
    text = "\n".join(page.read_text("utf-8") for page in (site / "reference" / "api").glob("*.html"))
    lacking = [
        name
        for name in gs.__all__
        if f'id="gyrostat.{name}"' not in text and f'id="module-gyrostat.{name}"' not in text
    ]
    assert not lacking


@needs_sphinx
def test_no_page_needs_a_network(site):
    """Nothing is fetched from elsewhere: scripts, styles, fonts, pictures, frames."""
    fetched = re.compile(
        r"<(script|link|img|iframe|source|video|object)\b[^>]*\b(?:src|href|data)=[\"'](?:https?:)?//[^>]*>", re.I
    )
    for page in pages(site):
        found = fetched.search(page.read_text("utf-8"))
        assert not found, f"{page.name}: {found[0] if found else ''}"
    for style in site.rglob("*.css"):
        assert not re.search(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", style.read_text("utf-8")), style.name


@needs_sphinx
def test_no_page_tells_where_it_was_built(site):
    for page in pages(site):
        assert str(ROOT) not in page.read_text("utf-8"), page.name


@needs_sphinx
def test_pages_outside_the_folder_are_linked_where_they_are_included(site):
    start = (site / "index.html").read_text("utf-8")
    assert 'href="notation.html"' in start
    assert "NOTATION.md" not in re.sub(r">[^<]*<", "><", start)
    assert 'href="../notation.html"' in (site / "reference" / "api.html").read_text("utf-8")
