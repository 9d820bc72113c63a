"""What panels of judges said of the rows of builds."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"


down_revision = "0012"


KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Adds the table of verdicts; those of rows that were judged before are not in it."""
    op.create_table(
        "build_verdict",
        sa.Column("step_id", KEY, nullable=False),
        sa.Column("row_id", KEY, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False, server_default=""),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["step_id"], ["build_step.id"], name="fk_build_verdict_step_id"),
        sa.ForeignKeyConstraint(["row_id"], ["build_row.id"], name="fk_build_verdict_row_id"),
        sa.PrimaryKeyConstraint("step_id", "row_id", "position", name="pk_build_verdict"),
        sqlite_with_rowid=False,
    )
