"""What the experiments share: their options, progress, tables and figures."""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    from matplotlib.figure import Figure

T = TypeVar("T")
FORMATS = ("png", "svg")


def parser(name: str, description: str | None) -> argparse.ArgumentParser:
    """Options that every experiment has: --out, --format, --quiet."""
    options = argparse.ArgumentParser(
        prog=f"./run demo {name}", description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--out", type=Path, default=Path("out"), help="folder for the figures (default: out)")
    options.add_argument("--format", choices=FORMATS, default="png", help="of the figures (default: png)")
    options.add_argument("--quiet", action="store_true", help="no progress")
    return options


def with_samples(name: str, description: str | None, default: int, what: str, arguments: Any) -> argparse.Namespace:
    """What was given to an experiment that has --samples, too: the number of ``what``."""
    known = parser(name, description)
    known.add_argument("--samples", type=int, default=default, help=f"number of {what}, 2 at least")
    options = known.parse_args(arguments)
    if options.samples < 2:
        known.error(f"--samples must be 2 or more, got {options.samples}")
    return options


class Stages:
    """A progress bar over named pieces of work, where there is a terminal: ``with Stages(2, quiet) as stage: x =
    stage("path", job)``."""

    def __init__(self, count: int, quiet: bool):
        from rich.console import Console
        from rich.progress import Progress

        console = Console(stderr=True)
        self._bar = Progress(console=console, disable=quiet or not console.is_terminal, transient=True)
        self._task = self._bar.add_task("", total=count)

    def __call__(self, text: str, job: Callable[[], T]) -> T:
        """What the job returns."""
        self._bar.update(self._task, description=text)
        answer = job()
        self._bar.advance(self._task)
        return answer

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A plain table: the first column to the left, the others to the right; floats with six digits."""
    text = [list(map(_cell, row)) for row in rows]
    widths = [max(len(row[k]) for row in [list(head), *text]) for k in range(len(head))]
    return "\n".join(_lines([list(head), *text], widths))


def _cell(x: object) -> str:
    return f"{x + 0.0:.6g}" if isinstance(x, float) else str(x)


def _lines(rows: Sequence[Sequence[str]], widths: Sequence[int]) -> Iterator[str]:
    for first, *others in rows:
        rest = "".join(f"  {cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True))
        yield f"{first:<{widths[0]}}{rest}".rstrip()


def subplots(rows: int, columns: int, size: tuple[float, float], **options: Any) -> tuple[Figure, Any]:
    """A figure that no window shows, and its axes in an array (rows, columns), with a grid."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    for ax in axes.flat:
        ax.grid(alpha=0.3)
    return figure, axes


def save(figure: Figure, options: argparse.Namespace, name: str) -> Path:
    """Write NAME.png or NAME.svg into the folder of --out; where it is."""
    import matplotlib as mpl
    from PIL import Image

    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / f"{name}.{options.format}"
    if options.format == "svg":
        with mpl.rc_context({"svg.hashsalt": name}):  # the same figure is the same file
            figure.savefig(path, metadata={"Date": None})
    else:
        picture = io.BytesIO()
        figure.savefig(picture, format="png", dpi=110)
        Image.open(picture).convert("RGB").quantize(128).save(path, optimize=True)  # a third of the size
    return path.resolve()


def say_figures(paths: Iterable[Path]) -> None:
    for path in paths:
        print(f"figure: {path}")
