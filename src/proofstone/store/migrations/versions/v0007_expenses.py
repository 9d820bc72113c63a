"""Estimated tokens of calls; what commands at work may be billed for."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"


down_revision = "0006"


KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Adds a column to calls and creates the table of expenses."""
    op.add_column("call", sa.Column("estimated_tokens", sa.Integer(), nullable=True))
    op.create_table(
        "expense",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("runs", sa.Text(), server_default="", nullable=False),
        sa.Column("unit", sa.Text(), server_default="", nullable=False),
        sa.Column("budget", sa.BigInteger(), nullable=True),
        sa.Column("started_at", sa.Float(), nullable=False),
        sa.Column("until", sa.Float(), nullable=False),
        sa.Column("ended_at", sa.Float(), nullable=True),
        sa.Column("exposed_calls", sa.Integer(), nullable=False),
        sa.Column("exposed", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_expense"),
        sa.UniqueConstraint("owner", "started_at", name="uq_expense_owner_started_at"),
    )
