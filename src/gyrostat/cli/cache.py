"""``gyrostat cache``: compiled code on disk."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from gyrostat.cli.options import Json, Quiet, examples


def register(app: typer.Typer) -> None:
    app.command(epilog=examples("cache", "cache --clear", "cache --json"))(cache)


def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Delete what is there; it is compiled anew when needed.")] = (
        False
    ),
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Where compiled code is kept, and how much; or delete it.

    The environment variable GYROSTAT_CACHE names another folder, or 'off'.
    """
    from gyrostat.cli.output import note, say, show_json

    state = content()
    if clear:
        state["deleted"] = _delete(state["folder"])
        state |= {key: value for key, value in content().items() if key in ("files", "bytes")}
    if json:
        show_json(state)
        return
    if state["folder"] is None:
        say(f"cache: {state['state']}")
        return
    size = f"{state['bytes'] / 2**20:.1f} of {state['limit'] / 2**20:.0f} MiB"
    say(f"{state['folder']}: {state['files']} compiled objects, {size}; {state['state']}")
    if clear:
        note(f"{state['deleted']} files deleted", quiet)


def content() -> dict[str, Any]:
    """Folder, number of files and bytes, and whether the cache is in use."""
    from gyrostat.engine.llvm.object_cache import LIMIT, folder, refusal

    status: dict[str, Any] = {"folder": None, "state": "off", "files": 0, "bytes": 0, "limit": LIMIT}
    try:
        place = folder()
    except RuntimeError as error:
        return status | {"state": f"unusable: {error}"}
    if place is None:
        return status
    status["folder"] = str(place)
    if not place.exists():
        return status | {"state": "empty, the folder is made when needed"}
    why = refusal(place)
    sizes = [size for _, size in _files(place)]
    state = f"not used: the folder {why}" if why else "in use"
    return status | {"state": state, "files": len(sizes), "bytes": sum(sizes)}


def _files(place: Path) -> list[tuple[Path, int]]:
    """Our files in the folder: it is the user's choice, and may hold anything."""
    from gyrostat.engine.llvm.object_cache import _ours

    files: list[tuple[Path, int]] = []
    with suppress(OSError):
        for path in place.iterdir():
            if _ours(path.name) and path.is_file() and not path.is_symlink():
                with suppress(OSError):  # another process was quicker
                    files.append((path, path.stat().st_size))
    return files


def _delete(place: str | None) -> int:
    deleted = 0
    for path, _ in [] if place is None else _files(Path(place)):
        try:
            path.unlink()
        except FileNotFoundError:
            continue
        except OSError as error:
            from gyrostat.cli.files import failed

            raise failed(path, error) from None
        deleted += 1
    return deleted
