"""The documentation site: ``./run docs`` builds it into build/docs, without a network."""

import os
import re
import sys
from importlib.metadata import metadata
from pathlib import Path

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path.insert(0, str(DOCS))  # names.py, live.py, gallery_pages.py, formulas.py, notebooks.py

project, author, release = "gyrostat", "the gyrostat developers", metadata("gyrostat")["Version"]
project_copyright = "the gyrostat developers, Apache-2.0"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary"]
extensions += ["names", "live", "gallery_pages", "formulas", "notebooks"]
exclude_patterns = ["*.py"]  # scripts in gallery/ are pages

# ---- pages
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
INSIDE = {
    "README.md": "index.md",
    "NOTATION.md": "notation.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "developer/contributing.md",
}
"""Pages that stand outside this folder, and the pages that include them."""

# ---- reference of names, from docstrings
autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # shapes and units are in the docstrings
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True

# ---- appearance
html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 6,
    "logo": {"text": "gyrostat"},
}
if os.environ.get("GYROSTAT_DOCS_VERSIONS"):  # a site of many versions: release/versions_of_docs.py
    html_theme_options |= {
        "switcher": {"json_url": "../versions.json", "version_match": release},
        "navbar_end": ["version-switcher", "theme-switcher", "navbar-icon-links"],
        "check_switcher": False,
    }
html_title = f"gyrostat {release}"
html_static_path, html_css_files = ["_static"], ["site.css"]
html_sidebars = {
    page: []
    for page in (
        "index",
        "quickstart",
        "notation",
        "correctness",
        "changelog",
        "gallery/**",
        "gallery/index",
        "tutorials/*",
    )
}
html_copy_source, html_show_sourcelink, html_show_sphinx = False, False, False
pygments_style = "tango"


def relocated(text: str, written: Path, read_from: Path) -> str:
    """Links of a page, as they are where it is read: pages outside this folder lead to those that include them."""

    def there(match: re.Match[str]) -> str:
        target, hash_, anchor = match[1].partition("#")
        if "://" in target or not target:
            return match[0]
        place = (written.parent / target).resolve()
        inside = INSIDE.get(str(place.relative_to(ROOT)) if place.is_relative_to(ROOT) else "")
        place = DOCS / inside if inside else place
        kind = "path:" if place.suffix == ".py" and place.parent != DOCS / "gallery" else ""  # a file, no page
        return f"]({kind}{Path(os.path.relpath(place, read_from.parent)).as_posix()}{hash_}{anchor})"

    return re.sub(r"\]\(([^)\s]+)\)", there, text)


def on_page(app, docname, source):
    page = DOCS / f"{docname}.md"
    source[0] = relocated(source[0], page, page)


def on_include(app, relative_path, parent_docname, content):
    page = DOCS / f"{app.env.docname}.md"  # parent_docname lacks its folder
    content[0] = relocated(content[0], (DOCS / relative_path).resolve(), page)


def setup(app):
    app.connect("source-read", on_page)
    app.connect("include-read", on_include)
