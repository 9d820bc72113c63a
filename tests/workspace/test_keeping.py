"""Backup, restore, move, merge and migrate keep every row, or refuse and change nothing."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import text

from proofstone.api import Workspace, create_workspace, open_workspace
from proofstone.errors import BadUsage, WorkspaceUnusable
from proofstone.keep.backup import move_workspace, restore_workspace
from proofstone.methods.encyclo_k.payloads import Statement
from proofstone.records.knowledge import BuiltFact, Fact, fact_id
from proofstone.store.database import this_process
from proofstone.store.schema import HEAD, metadata
from serving import wait_until
from told import Proofstone

HELD = "UPDATE run SET lease_owner = :owner, lease_until = :until WHERE id = 1"


def counts(workspace: Workspace) -> dict[str, int]:
    """The number of rows of every table."""
    with workspace.store.database.reading() as connection:
        return {
            name: connection.execute(text(f'SELECT count(*) FROM "{name}"')).scalar_one()
            for name in metadata.tables
        }


def test_a_backup_restored_is_the_same_workspace(
    made: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """Every row of every table, names of people, the workspace's id and its settings."""
    (made / "proofstone.toml").write_text("# mine\n", encoding="utf-8")
    with open_workspace(made) as workspace:
        workspace.store.people.add("Ada", now=1.0)
        before, name = counts(workspace), workspace.store.database.workspace_id()
    file = tmp_path / "copy.sqlite"
    said = proofstone("workspace", "backup", file, "-w", made)
    assert (said.code, said.out.split("   ")[:2]) == (0, ["backup", str(file)])
    assert list(tmp_path.glob(".*.part*")) == []
    bytes_before = file.read_bytes()
    back = proofstone("workspace", "restore", file, tmp_path / "new")
    assert back.code == 0, back.err
    assert re.search(r"as of 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC\n", back.out)
    with open_workspace(tmp_path / "new") as workspace:
        assert counts(workspace) == before
        assert workspace.store.database.workspace_id() == name
    assert (tmp_path / "new" / "proofstone.toml").read_text(encoding="utf-8") == "# mine\n"
    assert file.read_bytes() == bytes_before
    board = ("leaderboard", "old-books", "--json")
    assert proofstone(*board, "-w", tmp_path / "new").out == proofstone(*board, "-w", made).out


def test_a_backup_in_a_folder_is_named_after_workspace_and_time(
    made: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """So that one a day stands beside the others."""
    (tmp_path / "copies").mkdir()
    made_there = proofstone("workspace", "backup", tmp_path / "copies", "-w", made, "--json").json
    (file,) = (tmp_path / "copies").iterdir()
    assert made_there == {"file": str(file), "bytes": file.stat().st_size}
    assert re.fullmatch(r"work-\d{8}-\d{6}\.sqlite", file.name)


def test_a_backup_while_others_write_is_of_one_moment(made: Path, tmp_path: Path) -> None:
    """A bank is written with its facts in one transaction, again and again, while copies are made:
    in every copy, each bank has its fact."""
    stop, written = threading.Event(), 0

    def write() -> None:
        nonlocal written
        with open_workspace(made) as workspace:
            while not stop.is_set():
                fact = made_up(written)
                workspace.store.knowledge.add_bank(f"b{written}", "test", [fact], now=1.0)
                written += 1

    writer = threading.Thread(target=write)
    writer.start()
    sizes = []
    try:
        with open_workspace(made) as workspace:
            for n in range(5):
                wait_until(lambda: written > 5 * n)  # noqa: B023 - called at once
                workspace.backup(tmp_path / f"{n}.sqlite")
                with closing(sqlite3.connect(tmp_path / f"{n}.sqlite")) as copy:
                    (banks, facts) = copy.execute(
                        "SELECT count(*), (SELECT count(*) FROM fact WHERE language = 'xx')"
                        " FROM bank WHERE method = 'test'"
                    ).fetchone()
                assert banks == facts
                sizes.append(banks)
    finally:
        stop.set()
        writer.join()
    assert sizes == sorted(sizes)
    assert sizes[-1] > sizes[0]


def made_up(n: int) -> BuiltFact:
    """A fact in a language of its own, by which it can be counted."""
    payload = Statement(text=f"fact {n}", correct=True)
    fact = Fact(kind="encyclo_k.statement", payload=payload, language="xx")
    return BuiltFact(msgspec.structs.replace(fact, id=fact_id(fact)))


def test_nothing_is_overwritten(made: Path, tmp_path: Path, proofstone: Proofstone) -> None:
    """A file, a folder with something in it, or a workspace in the way: refused, and as it was."""
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    said = proofstone("workspace", "backup", tmp_path / "file", "-w", made)
    assert said.code == 2
    assert "is there already, and nothing is overwritten" in said.err
    assert proofstone("workspace", "backup", tmp_path / "no" / "x.sqlite", "-w", made).code == 2
    proofstone("workspace", "backup", tmp_path / "b.sqlite", "-w", made)
    for target in (made, tmp_path / "file"):
        said = proofstone("workspace", "restore", tmp_path / "b.sqlite", target)
        assert (said.code, said.out) == (2, "")
        assert "is there already, and nothing is overwritten" in said.err
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "proofstone.toml").write_text("# other\n", encoding="utf-8")
    assert proofstone("workspace", "move", tmp_path / "other", "-w", made).code == 2
    assert proofstone("status", "-w", made).code == 0
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda data: data[:9000] + bytes(9000) + data[18000:], "is damaged|cannot read"),
        (lambda data: data[: len(data) // 2], "is damaged|cannot read"),
        (lambda _data: b"no database, and longer than a header would be" * 9, "cannot read"),
    ],
    ids=["zeros", "cut off", "no database"],
)
def test_a_damaged_backup_is_refused(made: Path, tmp_path: Path, spoil, says: str) -> None:
    """Before anything is made of it."""
    with open_workspace(made) as workspace:
        workspace.backup(tmp_path / "b.sqlite")
    (tmp_path / "b.sqlite").write_bytes(spoil((tmp_path / "b.sqlite").read_bytes()))
    with pytest.raises(WorkspaceUnusable, match=says):
        restore_workspace(tmp_path / "b.sqlite", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_backup_of_something_else_or_of_a_newer_version_is_refused(
    made: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """Nothing is made of either."""
    with closing(sqlite3.connect(tmp_path / "foreign.sqlite")) as foreign:
        foreign.execute("CREATE TABLE accounts (id INTEGER)")
    said = proofstone("workspace", "restore", tmp_path / "foreign.sqlite", tmp_path / "new")
    assert said.err.startswith("error[PS-204]: ")
    assert "but not a Proofstone database" in said.err
    proofstone("workspace", "backup", tmp_path / "b.sqlite", "-w", made)
    with closing(sqlite3.connect(tmp_path / "b.sqlite")) as newer:
        newer.execute("UPDATE alembic_version SET version_num = '9999'")
        newer.commit()
    said = proofstone("workspace", "restore", tmp_path / "b.sqlite", tmp_path / "new")
    assert said.err.startswith("error[PS-205]: ")
    assert not (tmp_path / "new").exists()
    assert proofstone("workspace", "restore", tmp_path / "none", tmp_path / "new").code == 2


def test_a_workspace_moves_with_its_rows_and_settings_alone(
    made: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """Other files stay; where it was, there is no workspace any more."""
    (made / "page.html").write_text("a page", encoding="utf-8")
    board = proofstone("leaderboard", "old-books", "-w", made, "--json").out
    said = proofstone("workspace", "move", tmp_path / "far" / "away", "-w", made)
    assert (said.code, said.err) == (0, "")
    assert sorted(path.name for path in made.iterdir()) == ["page.html"]
    there = tmp_path / "far" / "away"
    assert sorted(path.name for path in there.iterdir()) == [".proofstone", "proofstone.toml"]
    assert proofstone("leaderboard", "old-books", "-w", there, "--json").out == board
    assert proofstone("status", "-w", made).code == 2


def test_a_move_is_refused_while_a_run_is_worked_on(
    made: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """By the holder's name; a holder that died does not count."""
    with open_workspace(made) as workspace, workspace.store.database.writing() as connection:
        held = {"owner": "process 7 on another-host", "until": time.time() + 3600}
        connection.execute(text(HELD), held)
    said = proofstone("workspace", "move", tmp_path / "new", "-w", made)
    assert (said.code, said.out) == (2, "")
    assert re.search(
        r"error\[PS-206\]: 1 run is being worked on: run:\w{8} \(process 7 on ano", said.err
    )
    assert not (tmp_path / "new").exists()
    gone = re.sub(r"\d+", "999999999", this_process(), count=1)
    with open_workspace(made) as workspace, workspace.store.database.writing() as connection:
        connection.execute(text(HELD), {"owner": gone, "until": time.time() + 3600})
    assert proofstone("workspace", "move", tmp_path / "new", "-w", made).code == 0


READER = """
import sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None)
c.execute("BEGIN"); c.execute("SELECT count(*) FROM run").fetchone()
print("open", flush=True)
sys.stdin.read()
"""


def test_a_move_is_refused_while_another_process_has_it_open(
    made: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """On Linux the process is named."""
    file = made / ".proofstone" / "store.sqlite"
    with subprocess.Popen(
        [sys.executable, "-c", READER, str(file)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as reader:  # fmt: skip
        assert reader.stdout is not None
        assert reader.stdout.readline() == "open\n"
        said = proofstone("workspace", "move", tmp_path / "new", "-w", made)
        assert said.err.startswith(f"error[PS-210]: {file} is open in ")
        assert sys.platform != "linux" or f"process {reader.pid} (" in said.err
        assert not (tmp_path / "new").exists()
        reader.communicate("")
    assert proofstone("workspace", "move", tmp_path / "new", "-w", made).code == 0


def test_a_move_to_a_synchronised_folder_is_refused_and_undone(
    made: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """Nothing is left there, and the workspace is where it was."""
    said = proofstone("workspace", "move", tmp_path / "Dropbox", "-w", made)
    assert said.err.startswith("error[PS-207]: ")
    assert not (tmp_path / "Dropbox").exists()
    assert proofstone("status", "-w", made).code == 0


def test_merging_takes_a_folder_or_a_backup_and_says_what_was_new(
    made: Path, empty: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """Names of people stay behind; a second time nothing is new; the other one is untouched."""
    with open_workspace(made) as workspace:
        workspace.store.people.add("Ada", now=1.0)
        workspace.backup(tmp_path / "b.sqlite")
        before = counts(workspace)
    bytes_before = (tmp_path / "b.sqlite").read_bytes()
    said = proofstone("workspace", "merge", tmp_path / "b.sqlite", "-w", empty)
    assert said.code == 0, said.err
    assert re.search(r"(?m)^run +4 +4$", said.out)
    again = proofstone("workspace", "merge", made, "-w", empty)
    assert again.err == f"everything of {made} was here already\n"
    with open_workspace(empty) as workspace:
        assert counts(workspace) == {**before, "person": 0}
    assert (tmp_path / "b.sqlite").read_bytes() == bytes_before
    assert [path.name for path in (empty / ".proofstone").glob("merging*")] == []
    assert proofstone("workspace", "merge", made, "-w", made).code == 2
    assert proofstone("workspace", "merge", tmp_path / "nowhere", "-w", made).code == 2


@pytest.mark.parametrize("new_database", ["postgres"], indirect=True)
def test_rows_go_to_a_server_by_merging_and_come_back_by_backup(
    made: Path, tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch, proofstone: Proofstone
) -> None:
    """The portable form of a workspace on PostgreSQL is the same file; its settings name the
    server, and the restored workspace does not."""
    server = tmp_path / "server"
    server.mkdir()
    config = server / "proofstone.toml"
    config.write_text('[workspace]\ndatabase_env = "PG"\n', encoding="utf-8")
    monkeypatch.setenv("PG", url)
    proofstone("init", server)
    assert proofstone("workspace", "merge", made, "-w", server).code == 0
    with open_workspace(server) as workspace:
        workspace.store.people.add("Ada", now=1.0)
        before, name = counts(workspace), workspace.store.database.workspace_id()
    said = proofstone("workspace", "backup", tmp_path / "b.sqlite", "-w", server)
    assert said.code == 0, said.err
    assert proofstone("workspace", "restore", tmp_path / "b.sqlite", tmp_path / "new").code == 0
    with open_workspace(tmp_path / "new") as workspace:
        assert workspace.store.database.is_sqlite
        assert counts(workspace) == before
        assert workspace.store.database.workspace_id() == name
    again = proofstone("workspace", "merge", server, "-w", tmp_path / "new")
    assert again.err == f"everything of {server} was here already\n"


def test_migrating_what_is_current_does_nothing(made: Path, proofstone: Proofstone) -> None:
    """It says so."""
    said = proofstone("workspace", "migrate", "-w", made)
    assert (said.code, said.out) == (0, f"schema {HEAD} is current; nothing to do\n")


def test_migrating_copies_what_was_there_and_brings_the_tables_up(
    tmp_path: Path, proofstone: Proofstone, upgrade_proofstone: Callable[[], None]
) -> None:
    """From an older schema, with a row in it: the copy has the old tables, the workspace the new
    ones, and the row is in both. So it is without a copy, and when a command simply opens it."""
    folders = [tmp_path / name for name in ("asked", "bare", "opened")]
    for folder in folders:
        with_a_bank(folder)
    upgrade_proofstone()
    said = proofstone("workspace", "migrate", "-w", folders[0])
    assert said.out.startswith("schema v0001 -> v0002\nbefore   ")
    (copy,) = (folders[0] / ".proofstone").glob("schema-v0001-*.sqlite")
    bare = proofstone("workspace", "migrate", "--no-backup", "--json", "-w", folders[1])
    assert bare.json == {"before": "v0001", "after": "v0002", "backup": None}
    assert proofstone("status", "-w", folders[2]).code == 0
    for folder in folders:
        assert schema_and_banks(folder / ".proofstone" / "store.sqlite") == ("v0002", ["kept"])
    assert schema_and_banks(copy) == ("v0001", ["kept"])


def test_an_older_workspace_and_its_backup_are_merged_and_stay_old(
    tmp_path: Path, proofstone: Proofstone, upgrade_proofstone: Callable[[], None]
) -> None:
    """The other workspace is only read."""
    with_a_bank(tmp_path / "old")
    file = tmp_path / "old" / ".proofstone" / "store.sqlite"
    upgrade_proofstone()
    empty = tmp_path / "empty"
    create_workspace(empty).close()
    assert proofstone("workspace", "merge", tmp_path / "old", "-w", empty).code == 0
    assert schema_and_banks(empty / ".proofstone" / "store.sqlite") == ("v0002", ["kept"])
    assert schema_and_banks(file) == ("v0001", ["kept"])
    assert proofstone("workspace", "restore", file, tmp_path / "new").code == 0
    assert schema_and_banks(tmp_path / "new" / ".proofstone" / "store.sqlite")[1] == ["kept"]


@pytest.mark.parametrize(
    "command",
    [
        "status -w {old}",
        "workspace migrate -w {old}",
        "workspace merge {old} -w {made}",
        "workspace restore {old}/.proofstone/store.sqlite {new}",
    ],
)
def test_a_workspace_from_before_the_first_release_is_told_to_start_again(
    command: str, made: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """What came, where, and what to do; nothing is changed or made."""
    old, new = tmp_path / "old", tmp_path / "new"
    with_a_bank(old)
    file = old / ".proofstone" / "store.sqlite"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0020'")
        connection.commit()
    said = proofstone(*command.format(old=old, new=new, made=made).split())
    assert said.code == 2
    assert said.err.startswith("error[PS-215]: ")
    assert "old" in said.err
    assert "has schema 0020 from before the first release" in said.err
    assert "start again in a new folder or an empty database: proofstone init" in said.err
    assert schema_and_banks(file) == ("0020", ["kept"])
    assert not new.exists()


def with_a_bank(folder: Path) -> None:
    """A workspace of this version with one bank."""
    with create_workspace(folder) as workspace, workspace.store.database.writing() as connection:
        row = "INSERT INTO bank (hash, name, method, created_at) VALUES (:hash, 'kept', 'test', 1)"
        connection.execute(text(row), {"hash": bytes(32)})


def schema_and_banks(file: Path) -> tuple[str, list[str]]:
    """The schema version of a database, and the names of its banks."""
    with closing(sqlite3.connect(file)) as connection:
        (version,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        return version, [name for (name,) in connection.execute("SELECT name FROM bank")]


def test_a_backup_whose_folder_is_none_is_refused(made: Path) -> None:
    """In Python the same refusals are exceptions."""
    with open_workspace(made) as workspace, pytest.raises(BadUsage, match="there is no folder"):
        workspace.backup(made / "none" / "b.sqlite")


def test_a_new_workspace_can_be_made_where_one_was_moved_from(tmp_path: Path) -> None:
    """The folder is free again."""
    create_workspace(tmp_path / "a").close()
    move_workspace(tmp_path / "a", tmp_path / "b")
    create_workspace(tmp_path / "a").close()
