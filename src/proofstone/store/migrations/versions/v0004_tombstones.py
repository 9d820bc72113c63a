"""Tombstones: which sources were purged, by whom, when and why."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"


down_revision = "0003"


KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Creates the table of tombstones."""
    op.create_table(
        "tombstone",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("source_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("actor_id", KEY, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("made_at", sa.Float(), nullable=False),
        sa.Column("removed", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["actor_id"], ["actor.id"], name="fk_tombstone_actor_id"),
        sa.PrimaryKeyConstraint("id", name="pk_tombstone"),
        sa.UniqueConstraint("hash", name="uq_tombstone_hash"),
    )
