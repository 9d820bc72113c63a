"""A purged source is gone from every row and file; what was measured with it still stands."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard
from rows_for_tests import Note, call, open_store, source
from sqlalchemy import select, text

from proofstone.api import Workspace, create_workspace, open_workspace
from proofstone.errors import RunInUse, SourcePurged, TextPurged, WorkspaceInUse
from proofstone.keep.backup import restore_workspace
from proofstone.records.knowledge import BuiltFact, Fact, Passage, fact_id, passage_id
from proofstone.store.purge import derived_rows
from proofstone.store.schema import fact as fact_table
from proofstone.store.schema import metadata
from small_bank import write_lines
from told import Proofstone

PLANTED = "Leaf 3 of the Herbal shows 5 drawings of a mandrake."
OTHERS = "Leaf 3 of the Almanac shows 5 drawings of a mandrake."
QUESTIONS = 10


def statements() -> Iterator[dict[str, Any]]:
    """Two books of twelve true statements and as many false ones; every second false one states no
    source of its own, and names the true one it came from."""
    for book in ("Herbal", "Almanac"):
        for n in range(12):
            said = f"Leaf {n} of the {book} shows {{}} drawings of a mandrake."
            place = {"book": book, "discipline": "Lore"}
            yield {
                "id": f"{book}-{n}", "text": said.format(n + 2), "correct": True, "source": book,
                **place,
            }  # fmt: skip
            source = {"source": book} if n % 2 else {}
            yield {
                "id": f"{book}-{n}-f", "text": said.format(n + 3), "correct": False,
                "origin": f"{book}-{n}", "error_type": "detail falsification",
                "reason": f"the leaf of the {book} shows {n + 2}", **place, **source,
            }  # fmt: skip


def bank_file(folder: Path) -> Path:
    return write_lines(folder / "books.jsonl", statements())


def manual(folder: Path) -> Path:
    file = folder / "manual.md"
    file.write_text(f"# The pump\n\n{'Prime it with distilled water.'}\n", encoding="utf-8")
    return file


@pytest.fixture(scope="session")
def books_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace whose questions were asked with worked examples, so that one book's statements
    stand in the prompts of the other's questions."""
    folder = tmp_path_factory.mktemp("books")
    with create_workspace(folder / "work") as workspace:
        fill(workspace, folder)
    return folder / "work"


def fill(workspace: Workspace, folder: Path) -> None:
    forms = workspace.build_form(workspace.import_bank(bank_file(folder)), questions=QUESTIONS)
    workspace.run(forms, models="sim/ann?ability=0.8", prompt_method=["direct", "cot"], shots=1)
    workspace.run(forms, models="sim/bob")


@pytest.fixture
def books(books_once: Path, tmp_path: Path) -> Path:
    with open_workspace(books_once) as workspace:
        workspace.backup(tmp_path / "books.sqlite")
    restore_workspace(tmp_path / "books.sqlite", tmp_path / "books")
    return tmp_path / "books"


def every_text(workspace: Workspace) -> str:
    """All cells of all tables as text, compressed bodies unpacked."""
    found = []
    with workspace.store.database.reading() as connection:
        for name in metadata.tables:
            for row in connection.execute(text(f'SELECT * FROM "{name}"')):
                found += [readable(cell) for cell in row if isinstance(cell, str | bytes)]
    return "\n".join(found)


def readable(cell: str | bytes) -> str:
    if isinstance(cell, str):
        return cell
    if cell.startswith(b"\x28\xb5\x2f\xfd"):
        cell = zstandard.ZstdDecompressor().decompress(cell)
    return cell.decode("utf-8", "replace")


def leaderboard(workspace: Workspace) -> str:
    return str(workspace.leaderboard("books"))


def test_the_planted_sentence_is_gone_from_every_row_and_file(books: Path) -> None:
    """From facts, prompts (worked examples too) and replies, and from the files' bytes; the other
    book keeps its own."""
    files = books / ".proofstone"
    with open_workspace(books) as workspace:
        assert PLANTED in every_text(workspace)
        assert any(PLANTED.encode() in file.read_bytes() for file in files.iterdir())
        workspace.purge("source:" + source_id(workspace, "Herbal"), reason="the licence has ended")
        left = every_text(workspace)
        assert PLANTED not in left
        assert not re.search(r"of the Herbal shows", left)
        assert OTHERS in left
        for file in files.iterdir():
            assert PLANTED.encode() not in file.read_bytes(), file
    for file in files.iterdir():
        assert b"of the Herbal shows" not in file.read_bytes(), file
    with closing(sqlite3.connect(files / "store.sqlite")) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_prompt_template_that_quotes_the_source_goes_with_it(books: Path, tmp_path: Path) -> None:
    """A person put one of its statements into a template; another template stays."""
    quoting, other = tmp_path / "quoting.jinja", tmp_path / "other.jinja"
    quoting.write_text(f"You know that:\n{PLANTED}\n{{{{ question }}}}", encoding="utf-8")
    other.write_text("By heart: {{ question }}", encoding="utf-8")
    with open_workspace(books) as workspace:
        runs = [
            workspace.run("books", models="sim/ann", prompt_template=path)[0].planned.run
            for path in (quoting, other)
        ]
        workspace.purge("source:" + source_id(workspace, "Herbal"), reason="the licence has ended")
        assert PLANTED not in every_text(workspace)
        texts = [
            workspace.store.own_prompts.text(bytes.fromhex(run.settings["prompt"])) for run in runs
        ]
    assert texts == [None, "By heart: {{ question }}"]


def source_id(workspace: Workspace, title: str) -> str:
    return next(row.id.hex() for row in workspace.store.lookup.every("source") if row.name == title)


def test_hashes_scores_usage_and_costs_stay(books: Path) -> None:
    """The leaderboard is the same text; no row of any table is gone; ids stand."""
    with open_workspace(books) as workspace:
        before, board, ids = counts(workspace), leaderboard(workspace), identities(workspace)
        totals = [workspace.store.runs.totals(key) for key, _run in workspace.store.runs.every()]
        workspace.purge("Herbal", reason="the licence has ended", name="Ada")
        after = counts(workspace)
        assert after == {**before, "tombstone": 1, "actor": 1, "person": 1}
        assert leaderboard(workspace) == board
        assert identities(workspace) == ids
        assert totals == [
            workspace.store.runs.totals(key) for key, _run in workspace.store.runs.every()
        ]


def counts(workspace: Workspace) -> dict[str, int]:
    with workspace.store.database.reading() as connection:
        return {
            name: connection.execute(text(f'SELECT count(*) FROM "{name}"')).scalar_one()
            for name in metadata.tables
        }


def identities(workspace: Workspace) -> list[Any]:
    with workspace.store.database.reading() as connection:
        return [
            list(connection.execute(text(f"SELECT hash FROM {name} ORDER BY id")).scalars())
            for name in ("source", "fact", "bank", "item", "item_set", "run", "scoring")
        ] + [list(connection.execute(text("SELECT request_hash FROM call ORDER BY id")).scalars())]


def test_a_dry_run_lists_what_would_go_and_what_holds_it(
    books: Path, proofstone: Proofstone
) -> None:
    """24 statements of the book, half of its false ones by the true one they name; the bank, the
    form and the runs. Nothing changes, and the purge itself finds the same."""
    before = (books / ".proofstone" / "store.sqlite").read_bytes()
    said = proofstone("workspace", "purge", "Herbal", "--dry-run", "-w", books)
    assert said.code == 0, said.err
    assert re.match(
        r"source:\w{8}  Herbal\nwould go  passages 0   facts 24   item texts 0   prompts \d+ ",
        said.out,
    )
    assert re.search(r"held by   bank:\w{8}  books   24 of 48 facts\n", said.out)
    assert re.search(r"held by   form:\w{8}  books   \d+ of 10 questions\n", said.out)
    assert re.search(r"held by   run:\w{8}   sim/bob direct   \d+ of 10 responses\n", said.out)
    assert (books / ".proofstone" / "store.sqlite").read_bytes() == before
    would = proofstone("workspace", "purge", "Herbal", "--dry-run", "--json", "-w", books).json
    gone = proofstone(
        "workspace", "purge", "Herbal", "--reason", "x", "--yes", "--json", "-w", books
    ).json
    assert gone["removed"] == would["removed"]
    assert gone["held_by"] == would["held_by"]
    assert (gone["tombstone"]["kind"], gone["tombstone"]["reason"]) == ("purged", "x")


def test_facts_on_passages_rest_on_the_source_of_these(tmp_path: Path) -> None:
    """Where they state no source themselves; those on another source's passages do not."""
    store, keys = open_store(f"sqlite:///{tmp_path / 's.sqlite'}"), {}
    for title in ("Herbal", "Almanac"):
        of = source(title)
        passage = Passage(source=of.id, start=0, end=4, text="text")
        passage = msgspec.structs.replace(passage, id=passage_id(passage))
        store.knowledge.add_passages(of, [passage])
        fact = Fact(kind="test.note", payload=Note(f"of the {title}"), passage=passage.id)
        fact = msgspec.structs.replace(fact, id=fact_id(fact))
        store.knowledge.add_bank(title, "test", [BuiltFact(fact)], now=1.0)
        keys[fact.id] = next(row for row in store.lookup.every("source") if row.id == of.id).key
    with store.database.reading() as connection:
        for fact_of, key in keys.items():
            found = connection.execute(select(fact_table.c.id).where(fact_table.c.hash == fact_of))
            assert derived_rows(connection, key) == (frozenset(found.scalars()), frozenset())
    store.close()


def test_it_asks_before_and_needs_a_reason(books: Path, proofstone: Proofstone) -> None:
    """Without --yes and an answer nothing is done."""
    said = proofstone("workspace", "purge", "Herbal", "-w", books)
    assert (said.code, said.out) == (2, "")
    assert "missing option --reason" in said.err
    command = ["-m", "proofstone", "workspace", "purge", "Herbal", "--reason", "x"]
    for answer, code, last in (
        ("n\n", 130, "nothing was changed"),
        (
            "",
            2,
            "error[PS-201]: no confirmation; nothing was changed\n  help: confirm with --yes",
        ),
    ):
        told = subprocess.run(
            [sys.executable, *command, "-w", str(books)],
            input=answer, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (told.returncode, told.stdout) == (code, "")
        assert "would go" in told.stderr
        assert told.stderr.endswith(f"{last}\n")
    with open_workspace(books) as workspace:
        assert workspace.store.tombstones.every() == []


def test_what_was_purged_is_not_taken_in_again_until_the_tombstone_is_lifted(
    books: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """The refusal names who, when and why; lifted, the same bank and form live again."""
    with open_workspace(books) as workspace:
        (bank,) = workspace.store.lookup.every("bank")
    purge = ("workspace", "purge", "Herbal", "-w", books, "--actor", "Ada", "--reason")
    proofstone(*purge, "the licence has ended", "--yes")
    again = proofstone("import", bank_file(tmp_path), "--as", "bank", "-w", books)
    assert (again.code, again.out) == (2, "")
    assert re.match(
        r"error\[PS-208\]: purged sources cannot be added again; nothing was stored\n"
        r"  Herbal: source:\w{8} was purged on 20[\d-]+ [\d:]+ UTC by Ada: the licence has ended\n",
        again.err,
    )
    lifted = proofstone(*purge, "renewed", "--lift")
    assert re.match(r"source:\w{8}  lifted on .* by Ada: renewed\n", lifted.out)
    assert proofstone(*purge, "renewed", "--lift").code == 2
    back = proofstone("import", bank_file(tmp_path), "--as", "bank", "-w", books, "--json")
    assert back.json["bank"] == bank.id.hex()
    run = proofstone("run", "books", "-m", "sim/cas", "--shots", 1, "-w", books, "--json")
    assert [result["complete"] for result in run.json] == [True]
    with open_workspace(books) as workspace:
        assert PLANTED in every_text(workspace)


def test_the_same_document_under_another_title_is_refused_by_its_content(
    tmp_path: Path, proofstone: Proofstone
) -> None:
    """A document's passages go as well; the file is known by its bytes."""
    create_workspace(tmp_path / "w").close()
    work = tmp_path / "w"
    (taken,) = proofstone("ingest", manual(tmp_path), "-w", work, "--json").json["taken"]
    purge = ("workspace", "purge", f"source:{taken['id'][:8]}", "--reason", "x", "-w", work)
    gone = proofstone(*purge, "--yes", "--json").json
    assert gone["removed"]["passages"] == taken["n_passages"]
    (tmp_path / "manual.md").rename(tmp_path / "renamed.md")
    again = proofstone("ingest", tmp_path / "renamed.md", "-w", work)
    assert again.err.startswith("not read [PS-208]: renamed.md: ")
    for file in (work / ".proofstone").iterdir():
        assert b"distilled" not in file.read_bytes()
    proofstone(*purge, "--lift")
    assert proofstone("ingest", tmp_path / "renamed.md", "-w", work).code == 0
    with open_workspace(work) as workspace:
        assert "distilled water" in every_text(workspace)


def test_a_workspace_that_still_holds_it_is_not_merged_in(
    books: Path, books_once: Path, empty: Path, proofstone: Proofstone
) -> None:
    """Unless asked; and tombstones travel, with the actor's id instead of the name."""
    with open_workspace(books) as workspace:
        workspace.purge("Herbal", reason="x", name="Ada")
    refused = proofstone("workspace", "merge", books_once, "-w", books)
    assert refused.err.startswith("error[PS-208]: ")
    assert "source:" in refused.err
    assert proofstone("workspace", "merge", books, "-w", empty).code == 0
    with open_workspace(empty) as workspace:
        (stone,) = workspace.store.tombstones.in_force()
        assert (stone.name, stone.reason) == ("", "x")
        with pytest.raises(SourcePurged):
            workspace.import_bank(bank_file(empty))
    assert proofstone("workspace", "merge", books_once, "--take-purged", "-w", books).code == 0


def test_what_needs_the_texts_says_that_they_are_gone(books: Path, proofstone: Proofstone) -> None:
    """Composing, exporting, scoring afresh and asking: PS-209, not a traceback."""
    with open_workspace(books) as workspace:
        workspace.purge("Herbal", reason="x")
        with pytest.raises(TextPurged):
            workspace.build_form("books", seeds=[9])
        with pytest.raises(TextPurged):
            workspace.export("books", books / "out.jsonl")
        (run, *_others) = [run for _key, run in workspace.store.runs.every()]
        with pytest.raises(TextPurged):
            workspace.score(run, again=True)
        with pytest.raises(TextPurged):
            workspace.run("books", models="sim/new")
    said = proofstone("run", "books", "-m", "sim/newer", "-q", "-w", books)
    assert said.err.startswith("error[PS-209]: ")


def test_a_purge_waits_for_runs(books: Path) -> None:
    """A run that is being worked on could write the text again."""
    with open_workspace(books) as workspace:
        with workspace.store.database.writing() as connection:
            held = "UPDATE run SET lease_owner = 'process 7 on elsewhere', lease_until = 1e12"
            connection.execute(text(held + " WHERE id = 1"))
        with pytest.raises(RunInUse, match="process 7 on elsewhere"):
            workspace.purge("Herbal", reason="x")
        assert PLANTED in every_text(workspace)


def test_a_purge_that_the_log_outlives_is_finished_by_repeating_it(books: Path) -> None:
    """While another connection reads an older state, the log keeps the pages: it says so, and the
    second time nothing is left."""
    file = books / ".proofstone" / "store.sqlite"
    with open_workspace(books) as workspace:
        with closing(sqlite3.connect(file, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM fact").fetchone()
            with pytest.raises(WorkspaceInUse, match="is open in another process, and its log"):
                workspace.purge("Herbal", reason="x")
        report = workspace.purge("Herbal", reason="again")
        assert report.tombstone is not None
        assert report.tombstone.reason == "x"
        assert set(report.removed.values()) == {0}
    for each in file.parent.iterdir():
        assert PLANTED.encode() not in each.read_bytes()


@pytest.mark.parametrize("new_database", ["postgres"], indirect=True)
def test_a_purge_on_a_server(tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same rows are emptied; the tables are rewritten there."""
    monkeypatch.setenv("PG", url)
    work = tmp_path / "work"
    work.mkdir()
    (work / "proofstone.toml").write_text('[workspace]\ndatabase_env = "PG"\n', encoding="utf-8")
    with create_workspace(work) as workspace:
        fill(workspace, tmp_path)
        board = leaderboard(workspace)
        workspace.purge("Herbal", reason="x")
        left = every_text(workspace)
        assert PLANTED not in left
        assert OTHERS in left
        assert leaderboard(workspace) == board


def test_a_reply_that_quotes_the_source_goes_wherever_it_stands(tmp_path: Path) -> None:
    """A call of no item, such as a builder's or a control's, is searched as well."""
    with create_workspace(tmp_path / "w") as workspace:
        quoting = json.dumps({"choices": [{"message": {"content": f"It says: {PLANTED}"}}]})
        told = call("tell me", model="scripted/one")

        async def keep() -> None:
            async with workspace.store.writer() as writer:
                await writer.write(msgspec.structs.replace(told, raw=quoting.encode()))
                await writer.write(call("nothing of it", model="scripted/one"))

        asyncio.run(keep())  # the first row of its table is searched too
        fill(workspace, tmp_path)
        workspace.purge("Herbal", reason="x")
        assert PLANTED not in every_text(workspace)
        assert not workspace.store.calls.find_calls([told.request_hash])
        other = call("nothing of it", model="scripted/one")
        assert other.request_hash in workspace.store.calls.find_calls([other.request_hash])


def test_a_derived_fact_without_a_source_is_not_taken_in_again_either(books: Path) -> None:
    """A false statement that only names its true one went with it, and stays away."""
    with open_workspace(books) as workspace:
        (bank,) = workspace.store.lookup.every("bank")
        facts = workspace.store.knowledge.bank(bank.id).facts()
        derived = [fact for fact in facts if fact.source is None and "Herbal" in fact.payload.text]
        assert len(derived) == 6
        workspace.purge("Herbal", reason="x")
        built = [BuiltFact(fact) for fact in derived]
        with pytest.raises(SourcePurged, match="derived from a purged source"):
            workspace.store.knowledge.add_bank("again", "encyclo_k", built, now=1.0)
