"""Reviews of facts and items, and the sheets in which people were asked for them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"


down_revision = "0013"


KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False, server_default="")


def _key(table: str) -> list[sa.schema.SchemaItem]:
    return [
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.PrimaryKeyConstraint("id", name=f"pk_{table}"),
        sa.UniqueConstraint("hash", name=f"uq_{table}_hash"),
    ]


def _ref(table: str, column: str, target: str, *, optional: bool) -> list[sa.schema.SchemaItem]:
    return [
        sa.Column(column, KEY, nullable=optional),
        sa.ForeignKeyConstraint([column], [f"{target}.id"], name=f"fk_{table}_{column}"),
    ]


def upgrade() -> None:
    """Adds the tables of sheets, of their rows, and of what was decided."""
    op.create_table(
        "review_sheet",
        *_key("review_sheet"),
        *_ref("review_sheet", "bank_id", "bank", optional=True),
        *_ref("review_sheet", "item_set_id", "item_set", optional=True),
        *_ref("review_sheet", "actor_id", "actor", optional=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("recipe", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
    )
    op.create_index("ix_review_sheet_bank_id", "review_sheet", ["bank_id"])
    op.create_index("ix_review_sheet_item_set_id", "review_sheet", ["item_set_id"])
    op.create_table(
        "review_place",
        *_ref("review_place", "sheet_id", "review_sheet", optional=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("task", sa.Text(), nullable=False),
        *_ref("review_place", "fact_id", "fact", optional=True),
        *_ref("review_place", "item_id", "item", optional=True),
        sa.PrimaryKeyConstraint("sheet_id", "position", name="pk_review_place"),
    )
    op.create_table(
        "review",
        *_key("review"),
        sa.Column("task", sa.Text(), nullable=False),
        *_ref("review", "fact_id", "fact", optional=True),
        *_ref("review", "item_id", "item", optional=True),
        *_ref("review", "actor_id", "actor", optional=True),
        _text("judge"),
        sa.Column("verdict", sa.Text(), nullable=False),
        _text("reason"),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        *_ref("review", "sheet_id", "review_sheet", optional=True),
        sa.Column("created_at", sa.Float(), nullable=False),
        *_ref("review", "corrects_id", "review", optional=True),
    )
    op.create_index("ix_review_fact_id", "review", ["fact_id"])
    op.create_index("ix_review_item_id", "review", ["item_id"])
