"""Copies of databases that hold builds are whole, and what is broken in one is found."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from rows_for_tests import open_store
from test_stored_builds import MADE, found, written

from proofstone.errors import StoreFailed
from proofstone.store.copies import check_copy, copy_database, copy_file, merge
from proofstone.store.schema import HEAD


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


def test_what_is_broken_is_found(tmp_path: Path) -> None:
    """A value that must not be empty and is."""
    file = tmp_path / "store.sqlite"
    open_store(f"sqlite:///{file}").close()
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
