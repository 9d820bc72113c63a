"""Sheets of reviewers that were withdrawn."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"


down_revision = "0018"


KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Adds one table: which sheet was withdrawn, by whom, why and when."""
    op.create_table(
        "withdrawn_sheet",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("sheet_id", KEY, nullable=False),
        sa.Column("actor_id", KEY, nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["sheet_id"], ["review_sheet.id"], name="fk_withdrawn_sheet_sheet_id"
        ),
        sa.ForeignKeyConstraint(["actor_id"], ["actor.id"], name="fk_withdrawn_sheet_actor_id"),
        sa.PrimaryKeyConstraint("id", name="pk_withdrawn_sheet"),
        sa.UniqueConstraint("hash", name="uq_withdrawn_sheet_hash"),
    )
    op.create_index("ix_withdrawn_sheet_sheet_id", "withdrawn_sheet", ["sheet_id"])
