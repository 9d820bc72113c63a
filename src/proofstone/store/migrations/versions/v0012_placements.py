"""Placements of sources in taxonomies."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"


down_revision = "0011"


KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False, server_default="")


def _refers(column: str, table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{table}.id"], name=f"fk_placement_{column}")


def upgrade() -> None:
    """Adds the table of placements."""
    op.create_table(
        "placement",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("source_id", KEY, nullable=False),
        _text("discipline"),
        _text("field"),
        _text("subfield"),
        _text("book"),
        _text("taxonomy"),
        sa.Column("models", sa.LargeBinary(), nullable=False),
        sa.Column("build_id", KEY, nullable=True),
        sa.Column("actor_id", KEY, nullable=True),
        _text("reason"),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("follows_id", KEY, nullable=True),
        _refers("source_id", "source"),
        _refers("build_id", "build"),
        _refers("actor_id", "actor"),
        _refers("follows_id", "placement"),
        sa.PrimaryKeyConstraint("id", name="pk_placement"),
        sa.UniqueConstraint("hash", name="uq_placement_hash"),
    )
    op.create_index("ix_placement_source_id", "placement", ["source_id"])
