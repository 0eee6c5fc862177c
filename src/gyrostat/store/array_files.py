"""Arrays of runs in Parquet files beside the data base: a file for each group of runs, called after its content.

A file is written under another name, brought to the disk, and renamed; only then the data base is told of it. What was
cut off in between is a file that nobody names: ``Store.gc`` deletes it."""

from __future__ import annotations

import hashlib
import io
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, final

import numpy as np

from gyrostat.errors import StoreError

Array = np.ndarray
NAME = re.compile(r"[0-9a-f]{64}\.parquet")
KINDS = {"f": "float64", "i": "int64", "u": "int64", "b": "bool"}
MAX_BYTES = 2**33
"""Of a file that is read."""


@final
class ArrayFiles:
    """The files of a store, in one folder."""

    def __init__(self, folder: Path | None):
        self.place = folder
        if folder is not None and folder.is_symlink():
            hint = "it may lead anywhere; give the folder itself as arrays="
            raise StoreError(f"arrays '{folder}': the folder is a link. Hint: {hint}.")
        self._opened = lru_cache(maxsize=8)(self._table)

    @property
    def folder(self) -> Path:
        """Where the files are."""
        if self.place is None:
            hint = "gs.store(address, arrays=folder), --arrays FOLDER: one that all writers see"
            raise StoreError(f"a store on a server needs a folder for arrays. Hint: {hint}.")
        return self.place

    def write(self, runs: Sequence[Mapping[str, Array]]) -> str:
        """The arrays of some runs, {name: array} each; the name of the file, in which run k has place k."""
        content = _content(runs)
        name = f"{hashlib.sha256(content).hexdigest()}.parquet"
        try:
            os.utime(self.folder / name)  # it is there: young again, so that gc leaves it to us
        except OSError:
            self._written(name, content)
        return name

    def _written(self, name: str, content: bytes) -> None:
        place = ""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, place = tempfile.mkstemp(dir=self.folder, prefix=".", suffix=".part")
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(place, self.folder / name)
        except OSError as error:
            if place:
                with suppress(OSError):
                    os.unlink(place)
            hint = "make room, or give another folder; nothing that was stored before is touched"
            raise StoreError(f"arrays in '{self.folder}' cannot be written: {error.strerror}. Hint: {hint}.") from None

    def read(self, file: str, place: int, name: str) -> Array:
        """One array of one run."""
        table = self._opened(file)
        try:
            if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < table.num_rows:
                raise IndexError("there is no such row")
            flat, shape = (table.column(c)[place].as_py() for c in (name, f"{name}.shape"))
            if any(n < 0 for n in shape):
                raise ValueError(f"shape {shape}")
            kind = table.schema.metadata[name.encode("utf-8")].decode("ascii")
            if kind not in KINDS.values():
                raise ValueError(f"dtype {kind!r}")
            return np.array(flat, dtype=kind).reshape(shape)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise self._damaged(file, f"array '{name}' of row {place}: {error}") from None

    def _table(self, file: str) -> Any:
        path = self.folder / file
        if not NAME.fullmatch(file):
            raise StoreError(f"store: '{file[:80]}' is no name of a file of arrays. Hint: the store was tampered with.")
        arrow = _pyarrow()
        try:
            if path.is_symlink() or not path.is_file():
                raise self._damaged(file, "it is not there")
            if path.stat().st_size > MAX_BYTES:
                raise self._damaged(file, f"it has more than {MAX_BYTES} bytes")
            content = path.read_bytes()
            if hashlib.sha256(content).hexdigest() != file.removesuffix(".parquet"):
                raise self._damaged(file, "its content is not what its name says")
            opened = arrow.parquet.ParquetFile(io.BytesIO(content))
            if _unpacked(opened.metadata) > MAX_BYTES:
                raise self._damaged(file, f"it unpacks to more than {MAX_BYTES} bytes")
            return opened.read()
        except (OSError, arrow.ArrowException) as error:
            raise self._damaged(file, str(error)) from None

    def _damaged(self, file: str, what: str) -> StoreError:
        hint = "take a copy from a backup, or delete the runs and do them again"
        return StoreError(f"arrays '{self.folder / file}' cannot be read: {what[:200]}. Hint: {hint}.")

    def names(self) -> set[str]:
        """All files that are there, unfinished ones too."""
        if self.place is None or not self.folder.is_dir():
            return set()
        return {p.name for p in self.folder.iterdir() if NAME.fullmatch(p.name) or p.name.endswith(".part")}

    def sound(self, file: str) -> bool:
        """Whether the content of a file is what its name says."""
        path = self.folder / file
        if not NAME.fullmatch(file) or path.is_symlink() or not path.is_file():
            return False
        with path.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest() == file.removesuffix(".parquet")


def _unpacked(metadata: Any) -> int:
    """Bytes that a file asks for: what it says of its pages, and eight for each number, however they are packed."""
    groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
    numbers = sum(group.column(k).num_values for group in groups for k in range(group.num_columns))
    return max(8 * numbers, sum(group.total_byte_size for group in groups))


def _content(runs: Sequence[Mapping[str, Array]]) -> bytes:
    """A table with a row for each run: numbers and shape of each of its arrays."""
    arrow = _pyarrow()
    columns: dict[str, Any] = {}
    kinds: dict[str, str] = {}
    for name in dict.fromkeys(name for run in runs for name in run):
        arrays = [np.asarray(run[name]) if name in run else None for run in runs]
        kind = np.result_type(*(x for x in arrays if x is not None)).kind
        if kind not in KINDS:
            raise StoreError(f"store: array '{name}' has no numbers in it. Hint: numbers and truth values are kept.")
        kinds[name] = KINDS[kind]
        flat = [None if x is None else x.astype(kinds[name]).ravel() for x in arrays]
        number = {"float64": arrow.float64(), "int64": arrow.int64(), "bool": arrow.bool_()}[kinds[name]]
        columns[name] = arrow.array(flat, arrow.large_list(number))
        shapes = [None if x is None else list(x.shape) for x in arrays]
        columns[f"{name}.shape"] = arrow.array(shapes, arrow.list_(arrow.int64()))
    table = arrow.table(columns).replace_schema_metadata(kinds)
    target = io.BytesIO()
    arrow.parquet.write_table(table, target, compression="zstd", use_dictionary=False)
    return target.getvalue()


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        hint = "pip install 'gyrostat[tables]'"
        raise StoreError(f"arrays of a store need pyarrow ({error}). Hint: {hint}.") from None
    return pyarrow
