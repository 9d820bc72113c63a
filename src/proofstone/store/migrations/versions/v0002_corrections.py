"""Corrections: what people edited, retired, restored and ruled; roles in whole item sets."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"


down_revision = "0001"


KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Adds five tables; nothing that is there changes."""
    op.create_table(
        "item_set_role",
        sa.Column("item_set_id", KEY, nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["item_set_id"], ["item_set.id"], name="fk_item_set_role_item_set_id"
        ),
        sa.PrimaryKeyConstraint("item_set_id", "role", "model", name="pk_item_set_role"),
    )
    op.create_table(
        "corrected_set",
        sa.Column("item_set_id", KEY, nullable=False),
        sa.Column("corrects_id", KEY, nullable=False),
        sa.ForeignKeyConstraint(
            ["item_set_id"], ["item_set.id"], name="fk_corrected_set_item_set_id"
        ),
        sa.ForeignKeyConstraint(
            ["corrects_id"], ["item_set.id"], name="fk_corrected_set_corrects_id"
        ),
        sa.PrimaryKeyConstraint("item_set_id", name="pk_corrected_set"),
    )
    op.create_index("ix_corrected_set_corrects_id", "corrected_set", ["corrects_id"])
    op.create_table(
        "corrected_bank",
        sa.Column("bank_id", KEY, nullable=False),
        sa.Column("corrects_id", KEY, nullable=False),
        sa.ForeignKeyConstraint(["bank_id"], ["bank.id"], name="fk_corrected_bank_bank_id"),
        sa.ForeignKeyConstraint(["corrects_id"], ["bank.id"], name="fk_corrected_bank_corrects_id"),
        sa.PrimaryKeyConstraint("bank_id", name="pk_corrected_bank"),
    )
    op.create_table(
        "correction",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("fact_id", KEY, nullable=True),
        sa.Column("item_id", KEY, nullable=True),
        sa.Column("item_set_id", KEY, nullable=True),
        sa.Column("actor_id", KEY, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("follows_id", KEY, nullable=True),
        sa.ForeignKeyConstraint(["fact_id"], ["fact.id"], name="fk_correction_fact_id"),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name="fk_correction_item_id"),
        sa.ForeignKeyConstraint(["item_set_id"], ["item_set.id"], name="fk_correction_item_set_id"),
        sa.ForeignKeyConstraint(["actor_id"], ["actor.id"], name="fk_correction_actor_id"),
        sa.ForeignKeyConstraint(["follows_id"], ["correction.id"], name="fk_correction_follows_id"),
        sa.PrimaryKeyConstraint("id", name="pk_correction"),
        sa.UniqueConstraint("hash", name="uq_correction_hash"),
    )
    op.create_index("ix_correction_fact_id", "correction", ["fact_id"])
    op.create_index("ix_correction_item_id", "correction", ["item_id"])
    op.create_table(
        "ruling",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("item_id", KEY, nullable=False),
        sa.Column("call_id", KEY, nullable=False),
        sa.Column("run_id", KEY, nullable=False),
        sa.Column("sample", sa.Integer(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("actor_id", KEY, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("replaces_id", KEY, nullable=True),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name="fk_ruling_item_id"),
        sa.ForeignKeyConstraint(["call_id"], ["call.id"], name="fk_ruling_call_id"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_ruling_run_id"),
        sa.ForeignKeyConstraint(["actor_id"], ["actor.id"], name="fk_ruling_actor_id"),
        sa.ForeignKeyConstraint(["replaces_id"], ["ruling.id"], name="fk_ruling_replaces_id"),
        sa.PrimaryKeyConstraint("id", name="pk_ruling"),
        sa.UniqueConstraint("hash", name="uq_ruling_hash"),
    )
    op.create_index("ix_ruling_item_id", "ruling", ["item_id"])
