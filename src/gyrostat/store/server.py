"""PostgreSQL as the data base of a store, through SQLAlchemy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, final

from gyrostat.errors import StoreError
from gyrostat.store.database import Database, Row

LOCK = 7_249_313
"""Number of the lock that writers of a store hold, one at a time."""
TOGETHER = 500
"""Rows in one statement."""


@final
class Server(Database):
    """``postgresql://user:password@host/name``; the password is in no message."""

    def __init__(self, url: str):
        self.name = re.sub(r"\?.*", "", re.sub(r"//.*@", "//", url))
        try:
            import sqlalchemy
            from sqlalchemy.exc import SQLAlchemyError
        except ImportError as error:
            hint = "pip install 'gyrostat[server]'"
            raise StoreError(f"store '{self.name}' needs SQLAlchemy ({error}). Hint: {hint}.") from None
        self._text, self._error = sqlalchemy.text, SQLAlchemyError
        if url.count("@") > 1:
            hint = "write @ / : of a password as %40 %2F %3A"
            raise StoreError(f"store '{self.name}': the address has more than one @. Hint: {hint}.")
        driver = re.sub(r"^postgres(ql)?://", "postgresql+pg8000://", url)
        with self._told("open"):
            self._engine = sqlalchemy.create_engine(driver, pool_pre_ping=True)  # servers are started anew
            self._reading = self._engine.execution_options(isolation_level="AUTOCOMMIT")
            self._reading.connect().close()
        self._writer: Any = None

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        try:
            yield
        except (self._error, OSError, ModuleNotFoundError, ValueError) as error:
            reason = " ".join(str(getattr(error, "orig", None) or error).split())[:300]
            reason = "the address cannot be understood" if "@" in reason and "URL" in reason else reason  # no passwords
            hint = "is the server there, and are name, password and rights right?"
            raise StoreError(f"store '{self.name}' cannot {what}: {reason}. Hint: {hint}") from None

    def rows(self, statement: str, **values: Any) -> list[Row]:
        what = "read" if statement.startswith("SELECT") else "write"
        with self._told(what), nullcontext(self._writer) if self._writer else self._reading.connect() as connection:
            found = connection.execute(self._text(statement), values)
            return [tuple(row) for row in found] if found.returns_rows else []

    def many(self, statement: str, values: Sequence[Mapping[str, Any]]) -> None:
        with self._told("write"):
            for first in range(0, len(values), TOGETHER):  # rows in one statement: each would wait for the network
                some = values[first : first + TOGETHER]
                if not statement.startswith("INSERT"):
                    self._writer.execute(self._text(statement), list(some))
                    continue
                head, row = statement.split(" VALUES ")
                rows = ", ".join(re.sub(r":(\w+)", rf":\1_{k}", row) for k in range(len(some)))
                named = {f"{name}_{k}": x for k, one in enumerate(some) for name, x in one.items()}
                self._writer.execute(self._text(f"{head} VALUES {rows}"), named)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._told("write"):
            writer = self._engine.connect()
        try:
            with self._told("write"):
                writer.execute(self._text("SELECT pg_advisory_xact_lock(:number)"), {"number": LOCK})
            self._writer = writer
            yield
            with self._told("write"):
                writer.commit()
        except BaseException:
            writer.rollback()
            raise
        finally:
            self._writer = None
            writer.close()

    def tables(self) -> dict[str, str]:
        kinds = {"BASE TABLE": "table", "VIEW": "view"}
        found = self.rows(
            "SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = current_schema()"
        )
        return {str(name): kinds.get(str(kind), str(kind)) for name, kind in found}

    def columns(self, table: str) -> set[str]:
        found = self.rows(
            "SELECT column_name FROM information_schema.columns"
            " WHERE table_schema = current_schema() AND table_name = :table",
            table=table,
        )
        return {str(name) for (name,) in found}

    def close(self) -> None:
        self._engine.dispose()
