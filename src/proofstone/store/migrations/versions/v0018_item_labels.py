"""Own names and columns of imported items, and the files that a workspace wrote."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"


down_revision = "0017"


KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Adds both tables."""
    op.create_table(
        "item_label",
        sa.Column("item_set_id", KEY, nullable=False),
        sa.Column("item_id", KEY, nullable=False),
        sa.Column("name", sa.Text(), server_default="", nullable=False),
        sa.Column("metadata", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["item_set_id"], ["item_set.id"], name="fk_item_label_item_set_id_item_set"
        ),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name="fk_item_label_item_id_item"),
        sa.PrimaryKeyConstraint("item_set_id", "item_id", name="pk_item_label"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_item_label_name", "item_label", ["name"])
    op.create_index("ix_item_label_item_id", "item_label", ["item_id"])
    op.create_table(
        "written_file",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("target_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("digest", sa.LargeBinary(length=32), nullable=False),
        sa.Column("written_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_written_file"),
    )
    op.create_index("ix_written_file_path", "written_file", ["path"])
