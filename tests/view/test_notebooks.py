"""A notebook, executed by a kernel: what stands below its cells."""

from __future__ import annotations

import base64
import html
import io
import os
import re
import sys

import numpy as np
import pytest

nbclient = pytest.importorskip("nbclient", reason="notebooks are executed by nbclient: pip install nbclient ipykernel")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")
pytest.importorskip("viser", reason="the viewer needs viser: pip install 'gyrostat[view]'")

CELLS = (
    "import gyrostat as gs\nm = gs.robots.pendulum()",
    "m",
    "run = gs.simulate(m, None, [0.4], [0.0], t_end=0.5)\nrun",
    "run.plot()",
    "gs.InverseDynamics(m)",
    "run.view()",
)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """The data of the last output of every cell, by kind."""
    folder = tmp_path_factory.mktemp("kernel")
    spec = folder / "kernels" / "here"
    spec.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    import json

    (spec / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "here", "language": "python"}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(folder))
        patch.setenv("PYTHONPATH", os.pathsep.join(p for p in sys.path if p))
        patch.delenv("DISPLAY", raising=False)
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
        nbclient.NotebookClient(book, timeout=100, kernel_name="here").execute()
    assert [len(cell["outputs"]) for cell in book["cells"]] == [0, 1, 1, 1, 1, 1]  # and nothing else is said
    last = [cell["outputs"][-1] if cell["outputs"] else {} for cell in book["cells"]]
    return [output.get("data", {}) for output in last]


@pytest.mark.slow
def test_models_results_and_solvers_are_tables(outputs):
    assert "<table>" in outputs[1]["text/html"] and "hinge" in outputs[1]["text/html"]
    assert "0 to 0.5 s" in outputs[2]["text/html"]
    assert "representation" in outputs[4]["text/html"]


@pytest.mark.slow
def test_a_figure_appears_as_the_last_line(outputs):
    from matplotlib.image import imread

    picture = imread(io.BytesIO(base64.b64decode(outputs[3]["image/png"])), format="png")
    assert picture.shape[1] > 600
    blue = (picture[..., 2] - picture[..., 0]) > 0.3  # the curves
    assert np.count_nonzero(blue) > 500


@pytest.mark.slow
def test_a_replay_appears_without_a_server(outputs):
    text = outputs[5]["text/html"]
    [inside] = re.findall(r'srcdoc="([^"]*)"', text)
    page = html.unescape(inside)
    assert "<title>pendulum</title>" in page
    assert not re.search(r"localhost:\d+", page)
    assert len(page) > 100_000
