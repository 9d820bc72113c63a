"""Which items calls of pilots asked."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"


down_revision = "0007"


KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Creates the table of calls that belong to no run."""
    op.create_table(
        "pilot_call",
        sa.Column("call_id", KEY, nullable=False),
        sa.Column("item_id", KEY, nullable=False),
        sa.Column("item_set_id", KEY, nullable=False),
        sa.Column("shots", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["call_id"], ["call.id"], name="fk_pilot_call_call_id_call"),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name="fk_pilot_call_item_id_item"),
        sa.ForeignKeyConstraint(
            ["item_set_id"], ["item_set.id"], name="fk_pilot_call_item_set_id_item_set"
        ),
        sa.PrimaryKeyConstraint("call_id", "item_id", name="pk_pilot_call"),
    )
