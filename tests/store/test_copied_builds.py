"""Copies of databases that hold builds are whole, and what is broken in one is found."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from rows_for_tests import open_store
from test_migrations import make_old
from test_stored_builds import MADE, found, written

from proofstone.errors import StoreFailed
from proofstone.store.copies import check_copy, copy_database, copy_file
from proofstone.store.merge import merge
from proofstone.store.schema import HEAD

OLD_ROWS = (
    "INSERT INTO build (id, hash, kind, method, payload, n_inputs, created_at, version)"
    " VALUES (1, x'01', 'lines', 'test', x'', 200, 1, '0.1')",
    "INSERT INTO build_step (id, hash, name, version, config) VALUES (1, x'01', 'cut', 1, x'')",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)"
    " INSERT INTO build_row (id, hash, payload) SELECT i, CAST(i AS BLOB), x'' FROM n",
    "INSERT INTO build_outcome (step_id, row_id, is_same) SELECT 1, id, 0 FROM build_row",
    "INSERT INTO build_output (step_id, row_id, output_id, position)"
    " SELECT 1, id, 201 - id, 0 FROM build_row",
    "INSERT INTO build_input (build_id, row_id, source_id, position)"
    " SELECT 1, id, iif(id % 2, 1, NULL), 1000 - id FROM build_row",
)
OUTPUTS = [(1, n, 0, 201 - n) for n in range(1, 201)]
INPUTS = [(1, 1000 - n, n, 1 if n % 2 else None) for n in range(200, 0, -1)]


def rows_of(file: Path) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    with closing(sqlite3.connect(file)) as connection:
        outputs = "SELECT step_id, row_id, position, output_id FROM build_output ORDER BY 1, 2, 3"
        inputs = "SELECT build_id, position, row_id, source_id FROM build_input ORDER BY 1, 2"
        return connection.execute(outputs).fetchall(), connection.execute(inputs).fetchall()


def old_with_a_build(file: Path, revision: str) -> None:
    make_old(f"sqlite:///{file}", revision)
    with closing(sqlite3.connect(file)) as connection:
        for statement in OLD_ROWS:
            connection.execute(statement)
        connection.commit()


async def test_a_build_with_kept_rows_is_copied_and_merged(
    url: str, new_database: Callable[[], str], tmp_path: Path
) -> None:
    """All its outcomes are in the copy, and in what merged the copy."""
    store, file = open_store(url), tmp_path / "copy.sqlite"
    await written(store, MADE)
    copy_database(store.database, file, {})
    store.close()
    assert check_copy(file) == HEAD
    copy, other = open_store(f"sqlite:///{file}"), open_store(new_database())
    merge(copy.database, other.database)
    assert found(copy, *MADE) == found(other, *MADE) == MADE
    copy.close()
    other.close()


@pytest.mark.parametrize("revision", ["0010", "0014"])
def test_a_build_of_an_older_schema_is_copied_as_it_is_and_brought_up(
    revision: str, tmp_path: Path
) -> None:
    """With more rows than SQLite names troubles; every row is there afterwards, in its place."""
    old, copy = tmp_path / "old.sqlite", tmp_path / "copy.sqlite"
    old_with_a_build(old, revision)
    copy_file(old, copy, {})
    assert check_copy(copy) == revision
    assert rows_of(copy) == (OUTPUTS, INPUTS)
    open_store(f"sqlite:///{copy}").close()
    assert check_copy(copy) == HEAD
    assert rows_of(copy) == (OUTPUTS, INPUTS)
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_what_is_broken_is_found_behind_false_alarms(tmp_path: Path) -> None:
    """A value that must not be empty and is."""
    file = tmp_path / "old.sqlite"
    old_with_a_build(file, "0014")
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("INSERT INTO workspace (key, value) VALUES ('spoilt', NULL)")
        connection.commit()
        connection.execute("PRAGMA writable_schema=1")
        connection.execute(
            "UPDATE sqlite_master SET sql = replace(sql, 'value TEXT', 'value TEXT NOT NULL')"
            " WHERE name = 'workspace'"
        )
        connection.commit()
    with pytest.raises(StoreFailed, match=r"damaged.*: NULL value in workspace\.value"):
        copy_file(file, tmp_path / "copy.sqlite", {})


def test_keys_come_first_in_tables_kept_by_them(tmp_path: Path) -> None:
    """Otherwise SQLite 3.40 takes each of their rows for damaged."""
    file = tmp_path / "new.sqlite"
    open_store(f"sqlite:///{file}").close()
    with closing(sqlite3.connect(file)) as connection:
        tables = connection.execute(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND wr ORDER BY name"
        )
        keys = {
            name: [
                bool(key)
                for *_, key in connection.execute(f"PRAGMA table_info({name})")
            ]
            for (name,) in tables.fetchall()
        }  # fmt: skip
    names = {"build_call", "build_input", "build_outcome", "build_output", "build_verdict"}
    assert names <= set(keys)
    assert {name: sorted(is_key, reverse=True) for name, is_key in keys.items()} == keys
