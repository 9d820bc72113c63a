"""What is broken in an SQLite file, by SQLite's own checks and without their one false alarm.

SQLite 3.40 says "NULL value in ..." of every row of a table WITHOUT ROWID in which a column that
must not be empty stands before one of the key. Schemas 0010 to 0014 have such tables, and files of
these schemas are copied as they are. So what is said of a column is asked of the column itself.
"""

from __future__ import annotations

import re
import sqlite3

_NULL = re.compile(r"NULL value in (\w+)\.(\w+)")


_ALL = 2**31 - 1  # SQLite stops after 100 troubles, so that false ones would hide true ones


def damage_in(connection: sqlite3.Connection) -> str:
    """The first trouble that is found, or nothing."""
    false: set[str] = set()
    for (said,) in connection.execute(f"PRAGMA integrity_check({_ALL})"):
        if said == "ok" or said in false:
            continue
        alarm = _NULL.fullmatch(said)
        if alarm is None or _holds_null(connection, *alarm.groups()):
            return str(said)
        false.add(said)
    broken = connection.execute("PRAGMA foreign_key_check").fetchone()
    return "" if broken is None else f"a row of {broken[0]} names a row of {broken[2]} that is gone"


def _holds_null(connection: sqlite3.Connection, table: str, column: str) -> bool:
    """Asked by type: where a column must not be empty, SQLite answers IS NULL without looking."""
    query = f'SELECT 1 FROM "{table}" WHERE typeof("{column}") = \'null\' LIMIT 1'  # noqa: S608
    return connection.execute(query).fetchone() is not None
