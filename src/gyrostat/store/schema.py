"""The tables of a store, version by version; an older store is brought up to date in one transaction when it is opened.

models      content-addressed: the hash is that of the text
tasks       what is to be done: kind, data, model; the hash is that of all three
runs        one row for each point of a task that is done or has failed, with its inputs
metrics     numbers of a run by name
arrays      which file and column hold an array of a run
provenance  versions, processor, commit: one row for all runs made alike"""

from __future__ import annotations

from collections.abc import Sequence

from gyrostat.errors import StoreError
from gyrostat.store.database import Database

MARK = "gyrostat store"
VERSIONS: tuple[Sequence[str], ...] = (
    (
        "CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
        "CREATE TABLE models (hash TEXT PRIMARY KEY, name TEXT NOT NULL, text TEXT NOT NULL, created TEXT NOT NULL)",
        "CREATE TABLE tasks (number BIGINT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, name TEXT NOT NULL,"
        " kind TEXT NOT NULL, data TEXT NOT NULL, model TEXT REFERENCES models (hash), created TEXT NOT NULL)",
        "CREATE TABLE provenance (hash TEXT PRIMARY KEY, data TEXT NOT NULL)",
        "CREATE TABLE runs (task BIGINT NOT NULL REFERENCES tasks (number), point BIGINT NOT NULL,"
        " status TEXT NOT NULL, reason TEXT NOT NULL, inputs TEXT NOT NULL, seconds DOUBLE PRECISION NOT NULL,"
        " created TEXT NOT NULL, provenance TEXT NOT NULL REFERENCES provenance (hash), PRIMARY KEY (task, point))",
        "CREATE TABLE metrics (task BIGINT NOT NULL, point BIGINT NOT NULL, name TEXT NOT NULL,"
        " value DOUBLE PRECISION NOT NULL, PRIMARY KEY (task, point, name))",
        "CREATE TABLE arrays (task BIGINT NOT NULL, point BIGINT NOT NULL, name TEXT NOT NULL, file TEXT NOT NULL,"
        " place BIGINT NOT NULL, PRIMARY KEY (task, point, name))",
    ),
)
"""Statements that lead from version k to version k + 1."""
COLUMNS: dict[str, set[str]] = {
    "about": {"key", "value"},
    "models": {"hash", "name", "text", "created"},
    "tasks": {"number", "hash", "name", "kind", "data", "model", "created"},
    "provenance": {"hash", "data"},
    "runs": {"task", "point", "status", "reason", "inputs", "seconds", "created", "provenance"},
    "metrics": {"task", "point", "name", "value"},
    "arrays": {"task", "point", "name", "file", "place"},
}
"""Tables of today's version, and what is in them."""


def prepare(database: Database) -> None:
    """An empty data base becomes a store, an old store one of today; anything else is refused with the reason."""
    found = database.tables()
    if not found:
        with database.transaction():
            if not database.tables():  # another process may have been quicker
                _advance(database, 0)
        found = database.tables()
    strange = sorted(name for name, kind in found.items() if name not in COLUMNS or kind != "table")
    if strange:
        raise _foreign(database, f"it has {found[strange[0]]} '{strange[0]}'")
    version = _version(database) if "about" in found else 0
    if not version:
        raise _foreign(database, "it has no table 'about'")
    if version > len(VERSIONS):
        told = f"has version {version}, this gyrostat knows up to {len(VERSIONS)}"
        raise StoreError(f"store '{database.name}' {told}. Hint: use the newer gyrostat that wrote it.")
    if version < len(VERSIONS):
        with database.transaction():
            _advance(database, _version(database))
    _expect_columns(database)


def _expect_columns(database: Database) -> None:
    found = database.tables()
    for table, wanted in COLUMNS.items():
        if table not in found:
            raise _foreign(database, f"it has no table '{table}'")
        missing = sorted(wanted - database.columns(table))
        if missing:
            raise _foreign(database, f"its table '{table}' has no column '{missing[0]}'")


def _foreign(database: Database, what: str) -> StoreError:
    return StoreError(f"'{database.name}' is no store of gyrostat: {what}. Hint: give a new folder.")


def _version(database: Database) -> int:
    about = dict(database.rows("SELECT key, value FROM about"))
    if about.get("kind") != MARK or not about.get("version", "").isdecimal():
        raise _foreign(database, "it does not say so")
    return int(about["version"])


def _advance(database: Database, version: int) -> None:
    for statement in (s for step in VERSIONS[version:] for s in step):
        database.rows(statement)
    put = "INSERT INTO about (key, value) VALUES (:key, :value) ON CONFLICT (key) DO UPDATE SET value = :value"
    database.rows(put, key="kind", value=MARK)
    database.rows(put, key="version", value=str(len(VERSIONS)))
