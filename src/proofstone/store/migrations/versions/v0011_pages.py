"""Pages of sources with their passages, and the place of a source in the taxonomy."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"


down_revision = "0010"


KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False, server_default="")


def upgrade() -> None:
    """Adds the four levels to sources, and the tables of pages and of their passages."""
    for level in ("discipline", "field", "subfield", "book"):
        op.add_column("source", _text(level))
    op.create_table(
        "page",
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        sa.Column("hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("source_id", KEY, nullable=False),
        sa.Column("number", sa.Integer(), nullable=True),
        _text("label"),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("width", sa.Float(), nullable=False),
        sa.Column("height", sa.Float(), nullable=False),
        _text("reader"),
        sa.Column("state", sa.Text(), nullable=False),
        _text("reason"),
        _text("detail"),
        sa.Column("layout", sa.LargeBinary(), nullable=False),
        sa.Column("read_at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["source_id"], ["source.id"], name="fk_page_source_id"),
        sa.PrimaryKeyConstraint("id", name="pk_page"),
        sa.UniqueConstraint("hash", name="uq_page_hash"),
    )
    op.create_index("ix_page_source_id_number", "page", ["source_id", "number"])
    op.create_table(
        "page_passage",
        sa.Column("page_id", KEY, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("passage_id", KEY, nullable=False),
        _text("kinds"),
        sa.ForeignKeyConstraint(["page_id"], ["page.id"], name="fk_page_passage_page_id"),
        sa.ForeignKeyConstraint(["passage_id"], ["passage.id"], name="fk_page_passage_passage_id"),
        sa.PrimaryKeyConstraint("page_id", "position", name="pk_page_passage"),
    )
    op.create_index("ix_page_passage_passage_id", "page_passage", ["passage_id"])
