"""The gallery as pages: each script in ``gallery/`` becomes a page, and the directive ``examples`` lists them as cards.

Scripts are executed before pages are read, side by side in as many processes as there are processors (executed.py).
Nothing is written into the folder of the sources.
"""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from executed import HERE, KEPT, SCRIPTS, Example, examples, executed

PAGE = """---
html_theme.sidebar_secondary.remove: true
---

# {title}

::::::{{container}} example

:::::{{container}} example-text
{text}
:::::

:::::{{container}} example-result
![{title}: what comes out]({figure})
{printed}
:::::

:::::{{container}} example-code
```python
{code}```

{{download}}`{name}.py <{name}.py>` · [all examples](index.md)
:::::

::::::
"""


def run_all(app) -> None:
    """Execute what is not known yet."""
    wanted = sorted(examples(), key=lambda one: -_seconds(one))  # long ones first
    workers = min(
        len(wanted), len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        for _ in pool.map(executed, wanted):
            pass


def _seconds(one: Example) -> int:
    """How long it takes, roughly, where nothing is known: its length."""
    return len(one.code)


def on_read(app, docname: str, source: list[str]) -> None:
    """The script becomes a page in Markdown."""
    script = Path(app.env.doc2path(docname))
    if script.parent != SCRIPTS or script.suffix != ".py":
        return
    one = Example(script)
    done = executed(one)
    for path in (done.figure, HERE / "gallery_pages.py"):
        app.env.note_dependency(str(path))
    printed = f"```text\n{done.printed}```" if done.printed else ""
    text = one.text
    if one.shown:
        text = f"![{one.title}: the robot]({_from_page(done.card)})\n\n{text}"
    source[0] = PAGE.format(
        title=one.title, text=text, figure=_from_page(done.figure), printed=printed, code=one.code, name=one.name
    )


def _from_page(path: Path) -> str:
    return Path(os.path.relpath(path, SCRIPTS)).as_posix()


class Examples(Directive):
    """Cards, a picture and a title each, for scripts by name."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        found = nodes.container(classes=["cards"])
        for name in " ".join(self.content).split():
            one = Example(SCRIPTS / f"{name}.py")
            card = nodes.container(classes=["gallery-card"])
            lines = [f"[![]({_from_page(KEPT / name / f'{name}_card.png')}) {one.title}]({name}.py)"]
            self.state.nested_parse(StringList(lines, name), self.content_offset, card)
            found += card
        return [found]


def setup(app) -> dict[str, bool]:
    app.add_source_suffix(".py", "markdown")
    app.add_directive("examples", Examples)
    app.connect("builder-inited", run_all)
    app.connect("source-read", on_read, priority=400)  # before links are relocated
    return {"parallel_read_safe": True, "parallel_write_safe": True}
