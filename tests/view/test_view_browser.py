"""The viewer in a browser: playwright drives Debian's chromium without a screen. Skipped, with the reason, where one
of them is not there."""

from __future__ import annotations

import io
import os
import shutil
import time

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.view.viewer.viewer import view

NAMES = ("chromium", "chromium-browser", "google-chrome")
SOFTWARE = ("--no-sandbox", "--use-angle=swiftshader-webgl", "--enable-unsafe-swiftshader")
PATIENCE = 150.0
"""Seconds: pictures are drawn by the processor."""


@pytest.fixture(scope="module")
def browser():
    pytest.importorskip("viser", reason="the viewer needs viser: pip install 'gyrostat[view]'")
    api = pytest.importorskip("playwright.sync_api", reason="browser tests need playwright: pip install playwright")
    found = os.environ.get("CHROMIUM") or next((shutil.which(name) for name in NAMES if shutil.which(name)), None)
    if found is None:
        pytest.skip("browser tests need chromium, which is not installed: apt-get install chromium")
    with api.sync_playwright() as playwright:
        try:
            started = playwright.chromium.launch(executable_path=found, args=SOFTWARE)
        except api.Error as error:
            pytest.skip(f"chromium does not start here: {str(error).splitlines()[0]}")
        yield started
        started.close()


class Page:
    """A page that remembers what went wrong in it and what it asked for."""

    def __init__(self, browser, url: str, offline: bool = False):
        self.context = browser.new_context(viewport={"width": 900, "height": 420}, offline=offline)
        self.page = self.context.new_page()
        self.page.set_default_timeout(1000.0 * PATIENCE)
        self.wrong: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda m: self.wrong.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(url)

    def picture(self) -> np.ndarray:
        from matplotlib.image import imread

        middle = {"x": 315, "y": 20, "width": 185, "height": 350}  # between the message on the left and the panel
        return imread(io.BytesIO(self.page.screenshot(clip=middle)), format="png")[..., :3]

    def until(self, right, what: str) -> np.ndarray:
        """The first picture for which ``right`` is true."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            picture = self.picture()
            if right(picture):
                return picture
            self.page.wait_for_timeout(200)
        pytest.fail(f"{what}: not within {PATIENCE:g} s")

    def settled(self) -> np.ndarray:
        """A picture with something in it that does not change any more."""
        last: list[np.ndarray] = []

        def right(picture):
            last.append(picture)
            return len(last) > 1 and coloured(picture) > 0.005 and moved(last[-2], picture) < 1e-3

        return self.until(right, "the robot is drawn")


def coloured(picture: np.ndarray) -> float:
    """Share of pixels that are strongly coloured: joints are orange, the sky and the ground are pale."""
    return float(np.mean(np.ptp(picture, axis=-1) > 0.25))


def centre(picture: np.ndarray) -> float:
    """How far right the coloured pixels are, in pixels."""
    columns = np.nonzero(np.ptp(picture, axis=-1) > 0.25)[1]
    return float(columns.mean()) if len(columns) else np.nan


def moved(one: np.ndarray, two: np.ndarray) -> float:
    """Share of pixels that differ."""
    return float(np.mean(np.abs(one - two).max(axis=-1) > 0.08))


def robot() -> gs.Model:
    """A thick orange arm on a hinge."""
    shapes = [{"kind": "box", "size": (0.3, 0.3, 1.0), "translation": (0, 0, 0.5), "color": (1.0, 0.4, 0.0)}]
    rod = gs.RigidBody("rod", mass=1, com=(0, 0, 0.5), inertia=(1 / 12, 1 / 12, 0.01), shapes=shapes)
    hinge = gs.Joint("hinge", "revolute", axis="y", lower=-1.2, upper=1.2)
    return gs.assemble("arm", gs.chain("world", hinge, rod))


@pytest.fixture
def opened(browser):
    pages = []

    def start(url, **options):
        pages.append(Page(browser, url, **options))
        return pages[-1]

    yield start
    for page in pages:
        page.context.close()


def test_a_slider_moves_the_robot_and_the_picture(opened):
    viewer = view(robot(), port=8290, block=False)
    try:
        page = opened(viewer.url)
        before = page.settled()
        assert "0.000" in page.page.locator("table").inner_text()
        page.page.locator("[role=slider]").first.press("End")
        after = page.until(lambda picture: moved(before, picture) > 0.02, "the robot moves")
        assert viewer.q == pytest.approx([1.2], abs=2e-3)
        assert coloured(after) > 0.005
        expected = f"{gs.gravity(viewer.model, viewer.q)[0]:.3f}"
        page.page.get_by_text(expected).wait_for()  # the read-out follows
        viewer.set([0.0])  # and the other way round
        page.until(lambda picture: moved(before, picture) < 0.01, "the robot goes back")
        page.page.get_by_role("checkbox", name="robot").uncheck()
        page.until(lambda picture: coloured(picture) < 0.001, "the robot is hidden")
        assert page.wrong == []
        assert all(url.startswith((viewer.url, "data:", "blob:")) for url in page.asked)
    finally:
        viewer.close()


def test_the_exported_file_opens_without_network(opened, tmp_path):
    t = np.linspace(0.0, 2.0, 61)
    path = view(robot(), 1.2 * np.sin(np.pi * t)[:, None], t, html=tmp_path / "robot.html")
    page = opened(path.as_uri(), offline=True)
    first = page.until(lambda picture: coloured(picture) > 0.005, "the robot is drawn")
    page.until(lambda picture: abs(centre(picture) - centre(first)) > 10.0, "the trajectory is played")
    assert page.page.title() == "arm"
    assert page.wrong == []
    assert all(url.startswith(("file:", "data:", "blob:")) for url in page.asked)
