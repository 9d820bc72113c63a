"""What reviewers' decisions came to by which policy, and where texts lie in meaning."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"


down_revision = "0016"


KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Adds two tables of one shape: a record of a bank or form, its content as JSON."""
    for table in ("review_decision", "semantic_map"):
        op.create_table(
            table,
            sa.Column("id", KEY, autoincrement=True, nullable=False),
            sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
            sa.Column("bank_id", KEY, nullable=True),
            sa.Column("item_set_id", KEY, nullable=True),
            sa.Column("payload", sa.LargeBinary(), nullable=False),
            sa.Column("created_at", sa.Float(), nullable=False),
            sa.ForeignKeyConstraint(["bank_id"], ["bank.id"], name=f"fk_{table}_bank_id"),
            sa.ForeignKeyConstraint(
                ["item_set_id"], ["item_set.id"], name=f"fk_{table}_item_set_id"
            ),
            sa.PrimaryKeyConstraint("id", name=f"pk_{table}"),
            sa.UniqueConstraint("hash", name=f"uq_{table}_hash"),
        )
        op.create_index(f"ix_{table}_bank_id", table, ["bank_id"])
        op.create_index(f"ix_{table}_item_set_id", table, ["item_set_id"])
