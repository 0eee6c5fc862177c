"""A data base as the store needs it: statements with named values, and transactions that happen whole or not at all.

SQLite serves one machine, in a file; PostgreSQL serves teams, by its address (:mod:`gyrostat.store.server`). Both
understand the same statements: names as ``:name``, ON CONFLICT, no types but TEXT, BIGINT and DOUBLE PRECISION."""

from __future__ import annotations

import os
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, final

from gyrostat.errors import StoreError

PATIENCE = 60.0
"""Seconds for which a writer waits for another one."""
LONGEST = 2**28
"""Bytes of one text in a data base."""

Row = tuple[Any, ...]


class Database(ABC):
    """Statements and transactions; ``name`` is what messages call it."""

    name: str

    @abstractmethod
    def rows(self, statement: str, **values: Any) -> list[Row]:
        """What a statement answers."""

    @abstractmethod
    def many(self, statement: str, values: Sequence[Mapping[str, Any]]) -> None:
        """One statement for each of many sets of values."""

    @abstractmethod
    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of it or nothing, and no other writer meanwhile."""

    @abstractmethod
    def tables(self) -> dict[str, str]:
        """Name -> kind of everything that is defined there: 'table', 'index', 'view', 'trigger'."""

    @abstractmethod
    def columns(self, table: str) -> set[str]:
        """Names of the columns of a table that is there."""

    @abstractmethod
    def close(self) -> None:
        """No more statements."""


@final
class Sqlite(Database):
    """A file, with a write-ahead log: what is committed outlives the end of the process at any instant."""

    def __init__(self, path: Path):
        self.path, self.name = path, str(path)
        for file in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm", "-journal"))):
            if file.is_symlink() or (file.exists() and not file.is_file()):
                hint = "it may lead out of the folder; put the file itself there"
                raise StoreError(f"store '{self.name}': '{file.name}' is a link or no file. Hint: {hint}.")
        with self._told("open"):
            self._connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
        self._process = os.getpid()
        try:
            self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
            with self._told("read"):
                for setting in ("trusted_schema=OFF", "cell_size_check=ON", "journal_mode=WAL", "synchronous=NORMAL"):
                    self._connection.execute(f"PRAGMA {setting}")
                ((verdict,), *_) = self._connection.execute("PRAGMA quick_check(1)").fetchall()
            if verdict != "ok":
                raise StoreError(f"store '{self.name}' is damaged: {verdict}. Hint: take a copy from a backup.")
        except BaseException:
            self._connection.close()
            raise

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """SQLite's refusals as ours."""
        try:
            yield
        except sqlite3.Error as error:
            text = str(error)
            hint = "it is no data base of SQLite, or was cut off; take a copy from a backup"
            if "full" in text:
                hint = "make room; what was stored before is whole"
            elif "closed" in text:
                hint = "this store was closed; open it anew with gs.store"
            elif "locked" in text or "busy" in text:
                hint = f"another process has been writing for more than {PATIENCE:g} s"
            elif "readonly" in text or "unable to open" in text or "I/O" in text:
                hint = "look at the folder: does it exist, may you write to it, is its disk there?"
            raise StoreError(f"store '{self.name}' cannot {what}: {text}. Hint: {hint}.") from None

    def _here(self) -> sqlite3.Connection:
        if os.getpid() != self._process:
            raise StoreError(f"store '{self.name}' was opened by another process. Hint: open it in each process.")
        return self._connection

    def rows(self, statement: str, **values: Any) -> list[Row]:
        with self._told("read" if statement.startswith("SELECT") else "write"):
            return self._here().execute(statement, values).fetchall()

    def many(self, statement: str, values: Sequence[Mapping[str, Any]]) -> None:
        with self._told("write"):
            self._here().executemany(statement, values)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.rows("BEGIN IMMEDIATE")
        try:
            yield
            self.rows("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.rollback()
            raise

    def tables(self) -> dict[str, str]:
        found = self.rows("SELECT name, type FROM sqlite_master")
        return {name: kind for name, kind in found if not name.startswith("sqlite_")}

    def columns(self, table: str) -> set[str]:
        return {name for (name,) in self.rows("SELECT name FROM pragma_table_info(:table)", table=table)}

    def close(self) -> None:
        if os.getpid() == self._process:
            self._connection.close()
