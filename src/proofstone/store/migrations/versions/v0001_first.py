"""Mark the first schema; this migration is empty, because no migration makes tables from nothing.

A new database is made from the current tables of ``store.schema`` and marked with the newest
revision, so that each table is declared once. Migrations run on older databases: each changes the
tables of the previous revision. A second one is a file here with ``down_revision = "v0001"``, its
name after this one's in ``schema.REVISIONS``, and the same change in the declared tables.
``tests/store/v0001.sql`` has the tables of this revision. A test upgrades a database with them.
"""

from __future__ import annotations

revision = "v0001"


down_revision = None


def upgrade() -> None:
    """Nothing: a database of this revision was made with its tables."""
