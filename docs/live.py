"""The script behind the page on WebAssembly: inverse dynamics of a Panda, exported when the site is built."""

from __future__ import annotations

import tempfile
from pathlib import Path

import gyrostat as gs

NAME = "live_robot"


def script() -> str:
    """JavaScript with the module in it; of the KUKA LWR where the files of the Panda are not installed."""
    try:
        model = gs.load("panda")
    except gs.GyrostatError:
        model = gs.robots.kuka_lwr4()
    with tempfile.TemporaryDirectory() as folder:
        files = gs.InverseDynamics(model).export_wasm(folder, name=NAME, vectors=1)
        return files[1].read_text(encoding="utf-8")


def write(app, error):
    if error is None and app.builder.format == "html":
        (Path(app.outdir) / "_static" / f"{NAME}.js").write_text(script(), encoding="utf-8")


def setup(app):
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
