"""The schema version of a database that is not opened, and so not migrated."""

from __future__ import annotations

import sqlite3

from sqlalchemy import create_engine, inspect, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from proofstone.engines.store.opening import sqlite_file
from proofstone.errors import WorkspaceUnusable

__all__ = ["schema_version"]


def schema_version(url: str) -> str | None:
    """The version, or None where the database has no tables of ours yet; makes no file.

    Raises WorkspaceUnusable where it cannot be read.
    """
    file = sqlite_file(url)
    if file is not None and not file.exists():
        return None
    engine = create_engine(url, poolclass=NullPool)
    try:
        with engine.connect() as connection:
            if not inspect(connection).has_table("alembic_version"):
                return None
            return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    except (DBAPIError, sqlite3.Error) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        raise WorkspaceUnusable(f"cannot read the database: {cause}") from error
    finally:
        engine.dispose()
