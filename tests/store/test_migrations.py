"""A database of every older schema becomes one of today's, with what was in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from rows_for_tests import built, open_store
from sqlalchemy import create_engine, text

from proofstone.store import store as store_package
from proofstone.store.schema import HEAD, metadata

CONFIG = Config()
CONFIG.set_main_option("script_location", str(Path(store_package.__file__).parent / "migrations"))
REVISIONS = [script.revision for script in ScriptDirectory.from_config(CONFIG).walk_revisions()]


def make_old(url: str, revision: str) -> None:
    """A database as the version with this schema left it: a workspace, a source and a bank."""
    engine = create_engine(url)
    with engine.begin() as connection:
        CONFIG.attributes["connection"] = connection
        command.upgrade(CONFIG, revision)
        connection.execute(text("INSERT INTO workspace (key, value) VALUES ('id', 'old')"))
        row = {"hash": bytes(32), "authors": b"[]", "content": bytes(32)}
        connection.execute(
            text(
                "INSERT INTO source (hash, kind, title, authors, content)"
                " VALUES (:hash, 'document', 'An old book', :authors, :content)"
            ),
            row,
        )
        bank = {"hash": bytes(32), "name": "old", "method": "test", "created_at": 1.0}
        marks = ", ".join(f":{name}" for name in bank)
        connection.execute(text(f"INSERT INTO bank ({', '.join(bank)}) VALUES ({marks})"), bank)
    engine.dispose()


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_older_schema_becomes_todays(url: str, revision: str) -> None:
    """Opened, it has today's tables and its own rows, and takes new ones."""
    make_old(url, revision)
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
        assert context.get_current_revision() == HEAD
        assert compare_metadata(context, metadata) == []
    engine.dispose()


def test_the_revisions_are_one_chain() -> None:
    """Each follows the one before it, so that none can be left out."""
    assert sorted(REVISIONS, reverse=True) == REVISIONS
    assert REVISIONS[0] == HEAD
