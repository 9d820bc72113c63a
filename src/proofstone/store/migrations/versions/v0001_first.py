"""The first schema; it has no body of its own, because no migration makes tables from nothing.

A new database is made from the tables of ``store.schema`` as they stand and marked with the newest
revision, so that each table is declared once. Migrations run on databases made before: each changes
the tables of the revision before it into its own. A second one is a file here with ``down_revision
= "v0001"``, its name behind this one's in ``schema.REVISIONS``, and the same change in the declared
tables. ``tests/store/v0001.sql`` holds the tables of this revision, for the test that a database
made with them becomes one of today's.
"""

from __future__ import annotations

revision = "v0001"


down_revision = None


def upgrade() -> None:
    """Nothing: a database of this revision was made with its tables."""
