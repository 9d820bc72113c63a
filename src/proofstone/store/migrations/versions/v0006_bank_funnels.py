"""Funnels of banks: what filters left of the file that became one."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"


down_revision = "0005"


KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Creates the table of funnels."""
    op.create_table(
        "bank_funnel",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("bank_id", KEY, nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["bank_id"], ["bank.id"], name="fk_bank_funnel_bank_id"),
        sa.PrimaryKeyConstraint("id", name="pk_bank_funnel"),
        sa.UniqueConstraint("hash", name="uq_bank_funnel_hash"),
    )
    op.create_index("ix_bank_funnel_bank_id", "bank_funnel", ["bank_id"])
