"""Images by hash, for prompts that show some."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"


down_revision = "0004"


KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Creates the table of images."""
    op.create_table(
        "image",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_image"),
        sa.UniqueConstraint("hash", name="uq_image_hash"),
    )
