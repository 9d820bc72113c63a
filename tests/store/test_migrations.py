"""A database of every older schema becomes one of today's, or is told to start again."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from rows_for_tests import built, open_store
from sqlalchemy import create_engine, inspect, text
from sqlalchemy.dialects.sqlite import dialect
from sqlalchemy.schema import CreateIndex, CreateTable

from proofstone.errors import SchemaTooOld
from proofstone.store import database, schema

CONFIG = Config()
CONFIG.set_main_option("script_location", str(database.MIGRATIONS))
SCHEMAS = sorted(Path(__file__).parent.glob("v*.sql"))


def declared() -> str:
    """The tables as ``store.schema`` declares them, in SQLite's words."""
    tables = schema.metadata.sorted_tables
    made = [str(CreateTable(table).compile(dialect=dialect())) for table in tables]
    for table in tables:
        indexes = sorted(table.indexes, key=lambda index: str(index.name))
        made += [str(CreateIndex(index).compile(dialect=dialect())) for index in indexes]
    return "".join(f"{' '.join(one.split())};\n" for one in made)


def make_old(file: Path, tables: Path) -> None:
    """A database as the version with this schema left it: a workspace, a source and a bank."""
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(tables.read_text(encoding="utf-8"))
        connection.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) PRIMARY KEY)")
        connection.execute("INSERT INTO alembic_version VALUES (?)", (tables.stem,))
        connection.execute("INSERT INTO workspace (key, value) VALUES ('id', 'old')")
        connection.execute(
            "INSERT INTO source (hash, kind, title, authors, content)"
            " VALUES (?, 'document', 'An old book', x'5b5d', ?)",
            (bytes(32), bytes(32)),
        )
        bank = "INSERT INTO bank (hash, name, method, created_at) VALUES (?, 'old', 'test', 1)"
        connection.execute(bank, (bytes(32),))
        connection.commit()


@pytest.mark.parametrize("tables", SCHEMAS, ids=lambda tables: tables.stem)
def test_every_older_schema_becomes_todays(tables: Path, tmp_path: Path) -> None:
    """Opened, it has today's tables and its own rows, and takes new ones."""
    url = f"sqlite:///{tmp_path / 'old.sqlite'}"
    make_old(tmp_path / "old.sqlite", tables)
    store = open_store(url)
    assert store.database.workspace_id() == "old"
    assert store.lookup.count("source") == 1
    assert store.lookup.find("old").kind == "bank"
    store.knowledge.add_bank("b", "test", [built("x")], now=1.0)
    assert store.models.once_run() == []
    store.close()
    engine = create_engine(url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert context.get_current_revision() == schema.HEAD
        assert compare_metadata(context, schema.metadata) == []
    engine.dispose()


def test_the_newest_tables_are_written_down() -> None:
    """Whoever changes a table adds a revision, and the tables of it to these files."""
    assert [tables.stem for tables in SCHEMAS] == list(schema.REVISIONS)
    assert SCHEMAS[-1].read_text(encoding="utf-8") == declared()


def test_the_revisions_are_one_chain() -> None:
    """Each follows the one before it, so that none can be left out."""
    found = [script.revision for script in ScriptDirectory.from_config(CONFIG).walk_revisions()]
    assert found == sorted(schema.REVISIONS, reverse=True)


def test_a_later_migration_follows_the_first(
    url: str, upgrade_proofstone: Callable[[], None]
) -> None:
    """A database of this version is brought up where it is opened, and keeps its rows."""
    store = open_store(url)
    name = store.database.workspace_id()
    store.close()
    upgrade_proofstone()
    store = open_store(url)
    assert store.database.workspace_id() == name
    store.close()
    engine = create_engine(url)
    with engine.connect() as connection:
        assert "note" in {column["name"] for column in inspect(connection).get_columns("bank")}
        version = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    assert version == schema.HEAD == "v0002"
    engine.dispose()


@pytest.mark.parametrize("version", ["0001", "0020"])
def test_a_database_from_before_the_first_release_is_told_to_start_again(
    url: str, version: str
) -> None:
    """It is left as it is."""
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32))"))
        connection.execute(text(f"INSERT INTO alembic_version VALUES ('{version}')"))
        connection.execute(text("CREATE TABLE source (id INTEGER)"))
    with pytest.raises(SchemaTooOld, match=rf"has schema {version} .*\n.* proofstone init"):
        open_store(url)
    with engine.connect() as connection:
        assert sorted(inspect(connection).get_table_names()) == ["alembic_version", "source"]
    engine.dispose()
