"""PostgreSQL as the data base of a store, through SQLAlchemy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, final

from gyrostat.errors import StoreError
from gyrostat.store.database import Database, Row

LOCK = 7_249_313
"""Number of the lock that writers of a store hold, one at a time."""


@final
class Server(Database):
    """``postgresql://user:password@host/name``; the password is in no message."""

    def __init__(self, url: str):
        self.name = re.sub(r"//[^@/]*@", "//", url)
        try:
            import sqlalchemy
            from sqlalchemy.exc import SQLAlchemyError
        except ImportError as error:
            hint = "pip install 'gyrostat[server]'"
            raise StoreError(f"store '{self.name}' needs SQLAlchemy ({error}). Hint: {hint}.") from None
        self._text, self._error = sqlalchemy.text, SQLAlchemyError
        driver = re.sub(r"^postgres(ql)?://", "postgresql+pg8000://", url)
        with self._told("open"):
            self._engine = sqlalchemy.create_engine(driver)
            self._connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        self._writer: Any = None

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        try:
            yield
        except (self._error, OSError, ModuleNotFoundError) as error:
            reason = " ".join(str(getattr(error, "orig", None) or error).split())[:300]
            hint = "is the server there, and are name, password and rights right?"
            raise StoreError(f"store '{self.name}' cannot {what}: {reason}. Hint: {hint}") from None

    def rows(self, statement: str, **values: Any) -> list[Row]:
        with self._told("read" if statement.startswith("SELECT") else "write"):
            found = (self._writer or self._connection).execute(self._text(statement), values)
            return [tuple(row) for row in found] if found.returns_rows else []

    def many(self, statement: str, values: Sequence[Mapping[str, Any]]) -> None:
        with self._told("write"):
            if values:
                (self._writer or self._connection).execute(self._text(statement), list(values))

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

    def close(self) -> None:
        self._connection.close()
        self._engine.dispose()
