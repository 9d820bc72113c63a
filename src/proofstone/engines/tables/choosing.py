"""Some records of a table: those with given values in given columns."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from proofstone.errors import BadUsage
from proofstone.records import Coded, FileColumns

__all__ = ["chosen"]


def chosen(table: FileColumns, where: Mapping[str, str]) -> FileColumns:
    """The records whose columns have these values, in their order.

    Raises BadUsage for a column that is none, and where nothing is left.
    """
    kept = np.ones(len(table), dtype=bool)
    for column, value in where.items():
        if column not in table.columns:
            raise BadUsage(
                f"{table.name} has no column {column!r}",
                hint=f"its columns: {', '.join(table.columns)}",
            )
        coded = table.columns[column]
        kept &= coded.codes == (coded.names.index(value) if value in coded.names else -2)
        if not kept.any():
            known = ", ".join(coded.names[:10])
            raise BadUsage(
                f"no record of {table.name} has {column} {value!r}", hint=f"values there: {known}"
            )
    if kept.all():
        return table
    columns = {name: _narrowed(column, kept) for name, column in table.columns.items()}
    return FileColumns(table.name, columns, table.lines[kept], table.unit, table.unread)


def _narrowed(column: Coded, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Coded:
    """The kept records' values; names that occur no more are gone."""
    codes = column.codes[kept]
    used = np.unique(codes[codes >= 0])
    place = np.full(len(column.names) + 1, -1, dtype=np.int32)
    place[used] = np.arange(len(used))
    return Coded(place[codes], tuple(column.names[code] for code in used.tolist()))
