"""``./run release``: checks, archives, bill of materials, recipe and checksums, into dist/."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from release.archives import built
from release.bill_of_materials import bill_of_materials
from release.checks import faults
from release.checksums import checksums
from release.project import ROOT, epoch, project
from release.recipe import recipe


def main() -> int:
    words = argparse.ArgumentParser(prog="./run release", description=__doc__)
    words.add_argument("--out", type=Path, default=ROOT / "dist", metavar="FOLDER", help="dist, if not given")
    words.add_argument("--rehearse", action="store_true", help="make everything, although it is no release yet")
    given = words.parse_args()
    data, made_at = project(), epoch()
    told = faults()
    for fault in told:
        print(f"release: {fault}", file=sys.stderr)
    if told and not given.rehearse:
        print("release: nothing was made. Hint: --rehearse makes the archives all the same", file=sys.stderr)
        return 1
    given.out.mkdir(parents=True, exist_ok=True)
    files = built(given.out, made_at)
    (source,) = (file for file in files if file.name.endswith(".tar.gz"))
    name = f"{data['name']}-{data['version']}"
    for file, text in (
        (given.out / f"{name}.cdx.json", bill_of_materials(data, made_at)),
        (given.out / "recipe.yaml", recipe(data, source)),
    ):
        file.write_text(text, encoding="utf-8")
        files.append(file)
    files.append(checksums(given.out, files))
    for file in files:
        print(f"{file.stat().st_size:>10}  {file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
