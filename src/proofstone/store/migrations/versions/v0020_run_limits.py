"""How many items of its set a run was asked for."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"


down_revision = "0019"


KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Adds one table: of each run the numbers of first items that commands asked for."""
    op.create_table(
        "run_limit",
        sa.Column("run_id", KEY, nullable=False),
        sa.Column("n_items", sa.Integer(), nullable=False, autoincrement=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_run_limit_run_id_run"),
        sa.PrimaryKeyConstraint("run_id", "n_items", name="pk_run_limit"),
    )
