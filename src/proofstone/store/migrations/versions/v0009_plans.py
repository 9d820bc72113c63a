"""Plans: what will be looked at, frozen before a run."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"


down_revision = "0008"


KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Creates the table of plans."""
    op.create_table(
        "plan",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("item_set_id", KEY, nullable=True),
        sa.Column("bank_id", KEY, nullable=True),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["item_set_id"], ["item_set.id"], name="fk_plan_item_set_id"),
        sa.ForeignKeyConstraint(["bank_id"], ["bank.id"], name="fk_plan_bank_id"),
        sa.PrimaryKeyConstraint("id", name="pk_plan"),
        sa.UniqueConstraint("hash", name="uq_plan_hash"),
    )
