"""Cards of models as they stood when something was run, and what checks of models came to."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"


down_revision = "0002"


KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Adds model_card, run_card and model_check."""
    op.create_table(
        "model_card",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.Column("recorded_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_model_card"),
        sa.UniqueConstraint("hash", name="uq_model_card_hash"),
    )
    op.create_index("ix_model_card_model", "model_card", ["model"])
    op.create_table(
        "run_card",
        sa.Column("run_id", KEY, nullable=False),
        sa.Column("model_card_id", KEY, nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_run_card_run_id_run"),
        sa.ForeignKeyConstraint(
            ["model_card_id"], ["model_card.id"], name="fk_run_card_model_card_id_model_card"
        ),
        sa.PrimaryKeyConstraint("run_id", "model_card_id", name="pk_run_card"),
    )
    op.create_table(
        "model_check",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("endpoint", sa.Text(), server_default="", nullable=False),
        sa.Column("detail", sa.Text(), server_default="", nullable=False),
        sa.Column("checked_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_model_check"),
        sa.UniqueConstraint("hash", name="uq_model_check_hash"),
    )
    op.create_index("ix_model_check_model", "model_check", ["model"])
