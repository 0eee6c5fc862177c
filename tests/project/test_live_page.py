"""The page whose robot is computed in the browser: a slider moves, and the numbers are Python's."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs

pytestmark = pytest.mark.slow
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def page(tmp_path, monkeypatch):
    """The page's own HTML and scripts in a browser, from a file."""
    api = pytest.importorskip("playwright.sync_api", reason="browser tests need playwright: pip install playwright")
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("CHROMIUM") or next((shutil.which(name) for name in names if shutil.which(name)), None)
    if found is None:
        pytest.skip("browser tests need chromium, which is not installed: apt-get install chromium")
    monkeypatch.syspath_prepend(str(DOCS))
    sys.modules.pop("live", None)
    import live

    (html,) = re.findall(r"```\{raw\} html\n(.*?)```", (DOCS / "reference" / "webassembly.md").read_text(), re.S)
    static = tmp_path / "_static"
    shutil.copytree(DOCS / "_static", static)
    (static / f"{live.NAME}.js").write_text(live.script(), encoding="utf-8")
    (tmp_path / "reference").mkdir()
    file = tmp_path / "reference" / "page.html"
    file.write_text(f"<!doctype html><meta charset='utf-8'><title>live</title><body>{html}</body>", encoding="utf-8")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        opened = browser.new_page()
        wrong: list[str] = []
        opened.on("pageerror", lambda error: wrong.append(str(error)))
        opened.goto(file.as_uri())
        opened.wait_for_selector("#live-robot[data-ready=yes]", timeout=60_000)
        yield opened
        assert not wrong
        browser.close()


def shown(page) -> tuple[dict[str, list[float]], np.ndarray]:
    state = json.loads(page.get_attribute("#live-robot", "data-state"))
    return state, np.array([float(x.get_attribute("data-torque")) for x in page.query_selector_all("td[data-torque]")])


@pytest.mark.filterwarnings("ignore")
def test_the_live_page_shows_pythons_torques_and_follows_its_sliders(page):
    try:
        model = gs.load("panda")
    except gs.GyrostatError:
        model = gs.robots.kuka_lwr4()
    before, torques = shown(page)
    np.testing.assert_allclose(torques, gs.rnea(model, *before.values()), rtol=1e-12, atol=1e-12)
    for name, value in (("q1", 0.4), ("v3", -1.25), ("a5", 7.0)):
        slider = page.locator(f"#live-{name}")
        slider.fill(str(value))
        state, torques = shown(page)
        assert abs(state[name[0]][int(name[1])] - value) < 1e-12 and state != before
        np.testing.assert_allclose(torques, gs.rnea(model, *state.values()), rtol=1e-12, atol=1e-12)
    page.locator("#live-q2").focus()
    page.keyboard.press("ArrowRight")
    assert shown(page)[0]["q"][2] != 0.0
    pixels = page.evaluate(
        "() => { const c = document.querySelector('.live-plot');"
        " return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((x) => x > 0); }"
    )
    assert pixels
