"""Builds in steps: rows, steps, what each step made of each row, and what a build consists of."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"


down_revision = "0009"


KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Adds the tables; nothing that is there changes."""
    _add_steps()
    _add_builds()


def _add_steps() -> None:
    _table("build_row", _hash(), sa.Column("payload", sa.LargeBinary(), nullable=False))
    _table(
        "build_step",
        _hash(),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("config", sa.LargeBinary(), nullable=False),
    )
    _relation(
        "build_outcome",
        {"step_id": "build_step", "row_id": "build_row"},
        sa.Column("is_same", sa.Boolean(), nullable=False),
        _text("reason"),
        _text("found"),
        primary=("step_id", "row_id"),
    )
    _relation(
        "build_output",
        {"step_id": "build_step", "row_id": "build_row", "output_id": "build_row"},
        sa.Column("position", sa.Integer(), nullable=False),
        primary=("step_id", "row_id", "position"),
    )
    _relation(
        "build_call",
        {"step_id": "build_step", "row_id": "build_row", "call_id": "call"},
        primary=("step_id", "row_id", "call_id"),
    )
    op.create_index("ix_build_call_call_id", "build_call", ["call_id"])


def _add_builds() -> None:
    _table(
        "build",
        _hash(),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.Column("n_inputs", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("lease_owner", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.Float(), nullable=True),
    )
    _relation(
        "build_input",
        {"build_id": "build", "row_id": "build_row", "source_id": "source"},
        sa.Column("position", sa.Integer(), nullable=False),
        primary=("build_id", "position"),
        optional=("source_id",),
    )
    _relation(
        "build_stage",
        {"build_id": "build", "step_id": "build_step"},
        sa.Column("position", sa.Integer(), nullable=False),
        primary=("build_id", "position"),
        with_rowid=True,
    )
    _table(
        "build_funnel",
        _hash(),
        sa.Column("build_id", KEY, nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["build_id"], ["build.id"], name="fk_build_funnel_build_id_build"),
    )
    op.create_index("ix_build_funnel_build_id", "build_funnel", ["build_id"])
    _relation(
        "build_bank",
        {"build_id": "build", "bank_id": "bank"},
        primary=("build_id", "bank_id"),
        with_rowid=True,
    )


def _hash() -> sa.Column[bytes]:
    return sa.Column("hash", sa.LargeBinary(length=32), nullable=False)


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False, server_default="")


def _table(name: str, *columns: sa.schema.SchemaItem) -> None:
    """A table with a key and a hash of its own."""
    op.create_table(
        name,
        sa.Column("id", KEY, autoincrement=True, nullable=False),
        *columns,
        sa.PrimaryKeyConstraint("id", name=f"pk_{name}"),
        sa.UniqueConstraint("hash", name=f"uq_{name}_hash"),
    )


def _relation(
    name: str,
    refers: dict[str, str],
    *columns: sa.schema.SchemaItem,
    primary: tuple[str, ...],
    optional: tuple[str, ...] = (),
    with_rowid: bool = False,
) -> None:
    """A table whose keys are those of others."""
    op.create_table(
        name,
        *(sa.Column(column, KEY, nullable=column in optional) for column in refers),
        *columns,
        *(
            sa.ForeignKeyConstraint([column], [f"{table}.id"], name=f"fk_{name}_{column}_{table}")
            for column, table in refers.items()
        ),
        sa.PrimaryKeyConstraint(*primary, name=f"pk_{name}"),
        sqlite_with_rowid=with_rowid,
    )
