"""What panels of judges said of the replies of runs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"


down_revision = "0015"


KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Adds the table of verdicts behind scores; no score before rests on one."""
    op.create_table(
        "score_verdict",
        sa.Column("scoring_id", KEY, nullable=False),
        sa.Column("unit_id", KEY, nullable=False),
        sa.Column("sample", sa.Integer(), nullable=False),
        sa.Column("measure", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False, server_default=""),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["scoring_id"], ["scoring.id"], name="fk_score_verdict_scoring_id_scoring"
        ),
        sa.ForeignKeyConstraint(["unit_id"], ["unit.id"], name="fk_score_verdict_unit_id_unit"),
        sa.PrimaryKeyConstraint(
            "scoring_id", "unit_id", "sample", "measure", name="pk_score_verdict"
        ),
        sqlite_with_rowid=False,
    )
