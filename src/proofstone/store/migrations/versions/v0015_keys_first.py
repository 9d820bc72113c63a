"""Tables kept by their key alone have its columns first.

SQLite 3.40 says "NULL value in ..." of every row of a table WITHOUT ROWID in which a column that
must not be empty stands before one of the key, though nothing is empty.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"


down_revision = "0014"


def upgrade() -> None:
    """Makes the two tables again with the same rows; servers do not mind the order."""
    if op.get_bind().dialect.name != "sqlite":
        return
    _make_again(
        "build_output",
        ("step_id", "row_id", "position"),
        {"step_id": "build_step", "row_id": "build_row", "output_id": "build_row"},
    )
    _make_again(
        "build_input",
        ("build_id", "position"),
        {"build_id": "build", "row_id": "build_row", "source_id": "source"},
    )


def _make_again(name: str, primary: tuple[str, ...], refers: dict[str, str]) -> None:
    """The table with its key first; of the rest, only a source may be missing."""
    columns = [*primary, *(column for column in refers if column not in primary)]
    op.create_table(
        f"{name}_new",
        *(sa.Column(column, sa.Integer(), nullable=column == "source_id") for column in columns),
        *(
            sa.ForeignKeyConstraint([column], [f"{table}.id"], name=f"fk_{name}_{column}_{table}")
            for column, table in refers.items()
        ),
        sa.PrimaryKeyConstraint(*primary, name=f"pk_{name}"),
        sqlite_with_rowid=False,
    )
    named = ", ".join(columns)
    op.execute(f"INSERT INTO {name}_new ({named}) SELECT {named} FROM {name}")  # noqa: S608
    op.drop_table(name)
    op.rename_table(f"{name}_new", name)
