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
TABLES = ("about", "models", "tasks", "provenance", "runs", "metrics", "arrays")


def prepare(database: Database) -> None:
    """An empty data base becomes a store, an old store one of today; anything else is refused with the reason."""
    found = database.tables()
    if not found:
        with database.transaction():
            if not database.tables():  # another process may have been quicker
                _advance(database, 0)
        found = database.tables()
    strange = sorted(name for name, kind in found.items() if name not in TABLES or kind != "table")
    missing = sorted(set(TABLES) - set(found))
    if strange or missing:
        what = f"it has {found[strange[0]]} '{strange[0]}'" if strange else f"it has no table '{missing[0]}'"
        raise StoreError(f"'{database.name}' is no store of gyrostat: {what}. Hint: give a new folder.")
    version = _version(database)
    if version > len(VERSIONS):
        told = f"has version {version}, this gyrostat knows up to {len(VERSIONS)}"
        raise StoreError(f"store '{database.name}' {told}. Hint: use the newer gyrostat that wrote it.")
    if version < len(VERSIONS):
        with database.transaction():
            _advance(database, _version(database))


def _version(database: Database) -> int:
    about = dict(database.rows("SELECT key, value FROM about"))
    if about.get("kind") != MARK or not about.get("version", "").isdecimal():
        raise StoreError(f"'{database.name}' is no store of gyrostat: it does not say so. Hint: give a new folder.")
    return int(about["version"])


def _advance(database: Database, version: int) -> None:
    for statement in (s for step in VERSIONS[version:] for s in step):
        database.rows(statement)
    put = "INSERT INTO about (key, value) VALUES (:key, :value) ON CONFLICT (key) DO UPDATE SET value = :value"
    database.rows(put, key="kind", value=MARK)
    database.rows(put, key="version", value=str(len(VERSIONS)))
