"""The documentation site: it is built without warnings, needs no network, and has every public name."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import gyrostat as gs

ROOT = Path(__file__).parents[2]
API = ROOT / "docs" / "reference" / "api"
NEEDED = ("sphinx", "myst_parser", "pydata_sphinx_theme", "nbformat", "latex2mathml")

needs_sphinx = pytest.mark.skipif(
    not all(map(find_spec, NEEDED)), reason="the site needs the extra 'docs': pip install gyrostat[docs]"
)


def listed() -> list[str]:
    """Names on the pages of public names; ``studies.identify`` is one of a module."""
    text = "\n".join(page.read_text("utf-8") for page in sorted(API.glob("*.md")))
    found = [name for block in re.findall(r"\.\. names::\n((?: {3}.*\n)+)", text) for name in block.split()]
    return found + re.findall(r"\.\. py:data:: (\w+)", text)


def built(out: Path, *options: str) -> Path:
    command = [sys.executable, "-m", "sphinx", *f"-q -W --keep-going -E -d {out / 'trees'}".split(), *options]
    done = subprocess.run([*command, "docs", str(out / "html")], cwd=ROOT, capture_output=True, text=True, timeout=1500)
    assert done.returncode == 0, done.stderr[-3000:]
    return out / "html"


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The site without what its notebooks give."""
    return built(tmp_path_factory.mktemp("site"), "-D", "execute_notebooks=0")


@pytest.fixture(scope="module")
def executed(tmp_path_factory) -> Path:
    return built(tmp_path_factory.mktemp("executed"))


@pytest.fixture(scope="module")
def browser():
    """A page of 1280 px in chromium."""
    api = pytest.importorskip("playwright.sync_api", reason="browser tests need playwright: pip install playwright")
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("CHROMIUM") or next((shutil.which(name) for name in names if shutil.which(name)), None)
    if found is None:
        pytest.skip("browser tests need chromium, which is not installed: apt-get install chromium")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser.new_page(viewport={"width": 1280, "height": 900})
        browser.close()


def pages(site: Path) -> list[Path]:
    return sorted(site.rglob("*.html"))


def test_every_public_name_is_described_once():
    whole = listed()
    assert sorted(whole) == sorted(set(whole)), "a name is listed twice"
    names = [name for name in whole if "." not in name]
    missing, unknown = sorted(set(gs.__all__) - set(names)), sorted(set(names) - set(gs.__all__))
    assert not missing, f"add to docs/reference/api/, to the page of its subject: {' '.join(missing)}"
    assert not unknown, f"no public names: {' '.join(unknown)}"


def test_modules_that_are_split_over_pages_have_all_their_names_there():
    inside = [name.split(".") for name in listed() if "." in name]
    assert {module for module, _ in inside} >= {"blocks", "studies", "tasks", "robots", "flexible"}
    for module in sorted({module for module, _ in inside}):
        there = getattr(gs, module)
        own = {name for name in there.__all__ if getattr(gs, name, None) is not getattr(there, name)}
        on_pages = {name for of, name in inside if of == module}
        functions = {name for name in own if callable(getattr(there, name)) or name in on_pages}
        assert on_pages == functions, f"{module}: {on_pages ^ functions}"


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


@needs_sphinx
def test_lessons_have_formulas_without_scripts_and_folded_solutions(site):
    lessons = sorted((site / "tutorials").glob("[1-9]_*.html"))
    assert len(lessons) == 5
    for lesson in lessons:
        text = lesson.read_text("utf-8")
        assert text.count('<details class="solution">') == 6
        scripts = re.sub(r"\w*mathjax_\w+", "", text.lower())  # names of classes are no scripts
        assert text.count("<math") > 25 and "mathjax" not in scripts
        assert text.count("<img") == 0  # nothing was executed


HEADER = "[...document.querySelectorAll('.bd-header .navbar-nav > li')].filter(x => x.offsetParent)"
ENDS = f"{HEADER}.map(x => x.getBoundingClientRect().top)"


@needs_sphinx
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_pages_of_public_names_are_short_and_the_header_is_one_row(site, browser):
    heights, tops = {}, []
    for page in sorted((site / "reference" / "api").glob("*.html")):
        browser.goto(page.as_uri())
        heights[page.stem] = browser.evaluate("document.documentElement.scrollHeight")
        tops = browser.evaluate(ENDS)
        assert len(tops) >= 6 and max(tops) - min(tops) < 10, page.stem
    assert len(heights) > 40
    assert {name: height for name, height in heights.items() if height >= 6000} == {}


@needs_sphinx
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("width", [390, 1280])
def test_lessons_show_their_figures_and_fit_into_the_window(executed, browser, width):
    browser.set_viewport_size({"width": width, "height": 900})
    for lesson in sorted((executed / "tutorials").glob("[1-9]_*.html")):
        browser.goto(lesson.as_uri())
        assert browser.evaluate("document.documentElement.scrollWidth") <= width, lesson.stem
        browser.evaluate("document.querySelectorAll('details').forEach(x => x.open = true)")
        widths = browser.evaluate(
            "[...document.querySelectorAll('img.output')].map(x => x.getBoundingClientRect().width)"
        )
        assert len(widths) >= 2 and min(widths) > 200 and max(widths) <= width, lesson.stem
        shown = browser.evaluate("[...document.querySelectorAll('math')].map(x => x.getBoundingClientRect().width)")
        assert min(shown) > 0, lesson.stem
    for page in pages(executed):
        assert "stderr" not in page.name and str(ROOT) not in page.read_text("utf-8"), page.name
