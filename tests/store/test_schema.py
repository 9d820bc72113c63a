"""What is opened has the newest schema; a newer database, or what is none, is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from rows_for_tests import built, open_store
from sqlalchemy import create_engine, text

from proofstone.errors import SchemaTooNew, WorkspaceUnusable
from proofstone.store.schema import HEAD, metadata


def test_the_newest_migration_makes_exactly_the_tables_of_the_schema(url: str) -> None:
    """From blank, migrations and schema agree column by column; HEAD is the newest one."""
    opened = open_store(url)
    opened.close()
    engine = create_engine(url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert context.get_current_revision() == HEAD
        assert compare_metadata(context, metadata) == []
    engine.dispose()


def test_opening_twice_keeps_the_workspace(url: str) -> None:
    """The second opening finds the first one's rows and id."""
    first = open_store(url)
    name = first.database.workspace_id()
    first.knowledge.add_bank("b", "test", [built("x")], now=1.0)
    first.close()
    second = open_store(url)
    assert second.database.workspace_id() == name
    assert second.lookup.count("bank") == 1
    second.close()


def test_a_newer_database_is_refused_and_left_alone(url: str) -> None:
    """A schema this version does not know is not touched."""
    open_store(url).close()
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SchemaTooNew, match="9999"):
        open_store(url)
    with engine.connect() as connection:
        version = text("SELECT version_num FROM alembic_version")
        assert connection.execute(version).scalar() == "9999"
    engine.dispose()


def test_a_database_of_something_else_is_refused(url: str) -> None:
    """Tables that are not ours are never mixed with ours."""
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE accounts (id INTEGER)"))
    engine.dispose()
    with pytest.raises(WorkspaceUnusable, match="not Proofstone's"):
        open_store(url)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    """The error names the file and the cause."""
    path = tmp_path / "notes.sqlite"
    path.write_text("this is no database, only a longer text than a header would be" * 30)
    with pytest.raises(WorkspaceUnusable, match=r"notes\.sqlite"):
        open_store(f"sqlite:///{path}")
