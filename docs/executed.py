"""Examples of the gallery, executed: what a script prints, its figure, and the picture for its card.

A script is a docstring (title, text) and user code that ends with a ``figure``. A last line ``# picture: arm, q`` has
the card show ``picture(arm, q)`` (render.py), with the names of the script, in the place of the figure. Results are
kept in ``build/gallery`` until the code, gyrostat or the libraries that draw change.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib.metadata
import io
import json
import logging
import os
import re
import runpy
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
SCRIPTS, KEPT = HERE / "gallery", ROOT / "build" / "gallery"
CARD = (480, 360)
"""Pixels of the picture on a card."""
PICTURE = re.compile(r"^# picture: (.*)\n", re.MULTILINE)
STYLE = {
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.25, "font.size": 9.5,
    "figure.constrained_layout.use": True, "figure.figsize": (6.4, 4.4), "figure.facecolor": "white",
    "legend.frameon": False, "lines.linewidth": 1.6,
}  # fmt: skip
"""How figures look here, beside what a script or gyrostat says itself."""


@dataclass(frozen=True)
class Example:
    """A script as text."""

    script: Path

    @property
    def name(self) -> str:
        return self.script.stem

    @property
    def docstring(self) -> str:
        return ast.get_docstring(ast.parse(self.script.read_text("utf-8"))) or ""

    @property
    def title(self) -> str:
        return self.docstring.partition("\n")[0]

    @property
    def text(self) -> str:
        return self.docstring.partition("\n")[2].strip()

    @property
    def code(self) -> str:
        """What a user would write."""
        source = self.script.read_text("utf-8")
        after = ast.parse(source).body[0].end_lineno
        return PICTURE.sub("", "".join(source.splitlines(keepends=True)[after:])).strip() + "\n"

    @property
    def shown(self) -> str | None:
        """Arguments of the picture of the robot, if there is one."""
        found = PICTURE.search(self.script.read_text("utf-8"))
        return found and found[1]


@dataclass(frozen=True)
class Executed:
    """What became of it; ``seconds`` of the processor, imports included where they are the first."""

    printed: str
    seconds: float
    figure: Path
    card: Path


def examples() -> list[Example]:
    return [Example(script) for script in sorted(SCRIPTS.glob("*.py"))]


def executed(example: Example) -> Executed:
    """Run it, in a folder of its own, with warnings as errors, or take what is known of the same script."""
    folder = KEPT / example.name
    figure, card, log = folder / f"{example.name}.png", folder / f"{example.name}_card.png", folder / "run.json"
    key = _key(example)
    known = json.loads(log.read_text("utf-8")) if log.is_file() else {}
    if known.get("key") == key:
        return Executed(known["printed"], known["seconds"], figure, card)
    folder.mkdir(parents=True, exist_ok=True)
    started = time.process_time()
    scope, printed = _run(example)
    seconds = time.process_time() - started
    if "figure" not in scope:
        raise RuntimeError(f"{example.script}: a script of the gallery ends with its `figure`")
    begun = [folder / f"{os.getpid()}_{path.name}" for path in (figure, card, log)]
    _draw(example, scope, *begun[:2])
    begun[2].write_text(json.dumps({"key": key, "printed": printed, "seconds": seconds}), encoding="utf-8")
    for path, place in zip(begun, (figure, card, log), strict=True):
        path.replace(place)  # who reads sees all of it, or what was there before
    return Executed(printed, seconds, figure, card)


def _run(example: Example) -> tuple[dict, str]:
    import matplotlib

    out, here, log = io.StringIO(), Path.cwd(), logging.getLogger("gyrostat")
    level = log.level
    log.setLevel(logging.ERROR)
    matplotlib.use("agg")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(), matplotlib.rc_context(STYLE):
        warnings.simplefilter("error")
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(out):
                scope = runpy.run_path(str(example.script))
        except Exception as error:
            error.add_note(f"in the gallery's {example.script.name}")
            raise
        finally:
            os.chdir(here)
            log.setLevel(level)
    return scope, out.getvalue()


def _draw(example: Example, scope: dict, figure: Path, card: Path) -> None:
    from matplotlib import pyplot
    from matplotlib.image import imsave

    sys.path.insert(0, str(HERE))
    from render import picture

    scope["figure"].savefig(figure, dpi=160, metadata={"Software": ""})
    if example.shown:
        image = eval(f"picture({example.shown})", {**scope, "picture": lambda *a, **k: picture(*a, size=CARD, **k)})
        imsave(card, image, metadata={"Software": ""})
    else:
        scope["figure"].set_size_inches(5.2, 3.9)
        scope["figure"].savefig(card, dpi=CARD[0] / 5.2, metadata={"Software": ""})
    pyplot.close("all")


def _key(example: Example) -> str:
    return hashlib.sha256(f"{example.code}{example.shown}".encode() + _environment()).hexdigest()


@cache
def _environment() -> bytes:
    """A digest of what else decides: the sources of gyrostat, how figures and robots are drawn, NumPy, Matplotlib."""
    digest = hashlib.sha256(repr((STYLE, CARD)).encode())
    import gyrostat

    sources = Path(gyrostat.__file__).parent
    for path in [*sorted(sources.rglob("*.py")), *sorted(sources.rglob("*.pyi")), HERE / "render.py"]:
        digest.update(path.read_bytes())
    for package in ("numpy", "matplotlib", "scipy"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            digest.update(importlib.metadata.version(package).encode())
    return digest.digest()


if __name__ == "__main__":  # python docs/executed.py NAME ...: run these, and say how long they took
    for one in examples():
        if not sys.argv[1:] or one.name in sys.argv[1:]:
            done = executed(one)
            print(f"{one.name:32} {done.seconds:6.2f} s  {len(one.code.splitlines())} lines  {done.figure}")
            print(done.printed, end="")
