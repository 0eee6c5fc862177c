"""A site with the documentation of every version: ``python -m release.versions_of_docs build/docs site``.

Each version has its folder; ``versions.json`` feeds the switch at the top of each page, ``index.html`` lists them
without a script."""

from __future__ import annotations

import argparse
import html
import json
import re
import shutil
from pathlib import Path

from packaging.version import InvalidVersion, Version

from release.project import project


def published(built: Path, site: Path, version: str, base: str = "/") -> Path:
    """The pages in ``built`` as those of a version; ``base``: where the site will be, such as /gyrostat/."""
    try:
        Version(version)
    except InvalidVersion:
        raise SystemExit(f"docs: '{version[:60]}' is no version. Hint: 1.2.0") from None
    if not (built / "index.html").is_file():
        raise SystemExit(f"docs: there are no pages in '{built}'. Hint: GYROSTAT_DOCS_VERSIONS=1 ./run docs")
    if not re.fullmatch(r"(https?://[^\s\"'<>]+)?/([^\s\"'<>]*/)?", base):
        raise SystemExit(f"docs: --base must begin and end with a slash, got '{base[:60]}'.")
    new = site / f".{version}.new"
    shutil.rmtree(new, ignore_errors=True)
    shutil.copytree(built, new)
    shutil.rmtree(site / version, ignore_errors=True)
    new.rename(site / version)
    versions = sorted((Version(p.name) for p in site.iterdir() if _is_version(p)), reverse=True)
    newest = next((v for v in versions if not v.is_prerelease), versions[0])
    rows = [
        {
            "name": f"{v} (newest)" if v == newest else str(v),
            "version": str(v),
            "url": f"{base}{v}/",
            "preferred": v == newest,
        }
        for v in versions
    ]
    (site / "versions.json").write_text(json.dumps(rows, indent=2) + "\n", "utf-8")
    items = "".join(f'<li><a href="{row["version"]}/index.html">{html.escape(row["name"])}</a></li>' for row in rows)
    page = f"<title>gyrostat</title><h1>gyrostat: documentation by version</h1><ul>{items}</ul>"
    (site / "index.html").write_text(f'<!doctype html><html lang="en"><meta charset="utf-8">{page}</html>\n', "utf-8")
    return site / version


def _is_version(folder: Path) -> bool:
    try:
        return folder.is_dir() and str(Version(folder.name)) == folder.name
    except InvalidVersion:
        return False


if __name__ == "__main__":
    words = argparse.ArgumentParser(prog="python -m release.versions_of_docs", description=__doc__)
    words.add_argument("built", type=Path, help="the pages: build/docs")
    words.add_argument("site", type=Path, help="the site, with the versions that are there")
    words.add_argument("--base", default="/", help="where the site is: /gyrostat/")
    given = words.parse_args()
    print(published(given.built, given.site, project()["version"], given.base))
