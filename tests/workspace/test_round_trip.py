"""What is exported comes back the same: every kind, in every format, in a workspace that never saw
it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proofstone.api import Workspace, create_workspace
from proofstone.files.tables import read_rows
from proofstone.store.items import StoredItem
from small_bank import rows, write_lines
from told import Proofstone

FORMATS = ("jsonl", "csv", "tsv", "parquet", "xlsx", "jsonl.gz")
CAPITALS = [
    {"id": "cap-01", "question": "What is the capital of Peru?", "options": ["Lima", "Quito"],
     "answer": "A", "difficulty": "easy", "tags": ["south", "coast"], "year": 1821},
    {"id": "cap-02", "question": "What is the capital of Chad?", "options": ["Lima", "N'Djamena"],
     "answer": "B", "difficulty": "hard", "language": "en"},
    {"id": "cap-08", "question": "=What is the capital of France?", "options": ["Paris", "Rome"],
     "answer": "A", "difficulty": "easy", "discipline": "Geography"},
]  # fmt: skip
SHORT = [
    {"id": f"q{n}", "question": f"Which year is {n} years after 1900?", "answer": str(1900 + n),
     "aliases": [f"the year {1900 + n}"], "primary_category": "Years", "answer_type": "date"}
    for n in range(1, 5)
]  # fmt: skip
ENTITIES = [
    {
        "id": "e1",
        "name": "Anna Example",
        "domain": "person",
        "aliases": ["A. Example"],
        "note": "x",
    },
    {"name": "Port Nowhere", "domain": "location", "popularity": 12, "note": "y"},
]


def sourced() -> list[dict[str, Any]]:
    """Statements of a book whose source is known, with the models behind them."""
    source = {"source": "Herbal of 1500", "page": "12", "written_by": "lab/writer"}
    return [{**row, **source} if row["book"] == "Herbal" else row for row in rows()]


def made(workspace: Workspace, kind: str, folder: Path) -> str:
    """The target of a form of this kind."""
    if kind == "choices":
        form = workspace.import_form(write_lines(folder / "capitals.jsonl", CAPITALS))
    elif kind == "entities":
        lines = write_lines(folder / "entities.jsonl", ENTITIES)
        form = workspace.import_form(lines, method="bequ")
    elif kind == "short":
        lines = write_lines(folder / "short.jsonl", SHORT)
        form = workspace.import_form(lines, method="chinese_simpleqa")
    elif kind == "short of a bank":
        lines = write_lines(folder / "short.jsonl", SHORT)
        bank = workspace.import_bank(lines, method="chinese_simpleqa")
        (form,) = workspace.build_form(bank)
    else:
        bank = workspace.import_bank(write_lines(folder / "books.jsonl", sourced()))
        params = {"composed": {"questions": 6}, "statements": SINGLE}[kind]
        (form,) = workspace.build_form(bank, **params)
    return f"form:{form.id.hex()}"


SINGLE: dict[str, Any] = {"setting": "statements", "sample": 10}
METHODS = {"entities": "bequ", "short": "chinese_simpleqa", "short of a bank": "chinese_simpleqa"}


def items(workspace: Workspace, form: bytes) -> list[StoredItem]:
    return [stored for page in workspace.store.items.pages(form) for stored in page]


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize(
    "kind", ["choices", "entities", "short", "short of a bank", "composed", "statements"]
)
def test_a_form_comes_back_as_it_was(tmp_path: Path, kind: str, suffix: str) -> None:
    """The same items with the same facts, sources, own ids and columns; and exported once more, the
    same rows."""
    file = tmp_path / f"out.{suffix}"
    with create_workspace(tmp_path / "a") as first, create_workspace(tmp_path / "b") as second:
        target = made(first, kind, tmp_path)
        first.export(target, file)
        told: list[str] = []
        back = second.import_form(file, method=METHODS.get(kind, "encyclo_k"), tell=told.append)
        before = items(first, first.find(target, "form").id)
        after = items(second, back.id)
        assert [s.loaded for s in after] == [s.loaded for s in before]
        facts = [fact for stored in before for fact in stored.loaded.facts]
        assert second.store.knowledge.built_facts(facts) == first.store.knowledge.built_facts(facts)
        second.export(f"form:{back.id.hex()}", tmp_path / f"again.{suffix}")
    written, again = list(read_rows(file)), list(read_rows(tmp_path / f"again.{suffix}"))
    if written[0].values.pop("form", None):  # its bank is in the first workspace alone
        assert again[0].values.pop("form")
    assert again == written
    assert [note for note in told if not note.startswith("kept as metadata")] == []


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("method", ["encyclo_k", "chinese_simpleqa", "bequ"])
def test_a_bank_comes_back_as_it_was(tmp_path: Path, method: str, suffix: str) -> None:
    """The same facts, so the same bank."""
    lines: list[dict[str, Any]] = {
        "encyclo_k": sourced(),
        "chinese_simpleqa": SHORT,
        "bequ": [
            {"entity": "Lima", "predicate": "country", "object": "Peru", "url": "https://x.org"},
            {
                "entity": "Lima",
                "predicate": "river",
                "object": "Rimac",
                "passage": "It lies there.",
            },
        ],
    }[method]
    file = tmp_path / f"out.{suffix}"
    with create_workspace(tmp_path / "a") as first, create_workspace(tmp_path / "b") as second:
        bank = first.import_bank(write_lines(tmp_path / "bank.jsonl", lines), method=method)
        first.export(f"bank:{bank.id.hex()}", file)
        assert second.import_bank(file, method=method).id == bank.id


def test_a_form_whose_bank_is_here_is_that_form(tmp_path: Path) -> None:
    """Its export is no second form; elsewhere, where its bank is not, it is a form of its own whose
    statements are known: they can be asked for one by one, and questions that share them depend on
    each other."""
    file = tmp_path / "out.jsonl"
    with create_workspace(tmp_path / "a") as first, create_workspace(tmp_path / "b") as second:
        target = made(first, "composed", tmp_path)
        form = first.find(target, "form").id
        first.export(target, file)
        assert first.import_form(file).id == form
        assert first.store.lookup.count("form") == 1
        back = second.import_form(file)
        assert (back.kind, back.bank) == ("imported", None)
        second.run(back, models="sim/a?ability=0.9", prompt_method="verdicts")
        first.run(target, models="sim/a?ability=0.9", prompt_method="verdicts")
        here, there = first.score_table(target), second.score_table(back)
    assert here.cluster_unit.tolist() == there.cluster_unit.tolist()
    assert len(here.cluster_unit) > 6
    assert here.value.tolist() == there.value.tolist()


def test_an_exported_question_that_was_changed_is_a_question_of_its_own(tmp_path: Path) -> None:
    """What its statements say is no longer what it asks: they do not come along, and this is
    told."""
    file = tmp_path / "out.jsonl"
    with create_workspace(tmp_path / "a") as first, create_workspace(tmp_path / "b") as second:
        first.export(made(first, "composed", tmp_path), file)
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        lines[1]["question"] += " Choose one."
        told: list[str] = []
        back = second.import_form(write_lines(file, lines), tell=told.append)
        after = items(second, back.id)
    assert [len(s.loaded.facts) > 0 for s in after] == [True, False, True, True, True, True]
    assert told[-1] == (
        "1 of 6 rows were changed after their export; "
        "they are read as separate questions without their facts"
    )


def test_own_ids_and_columns_are_used_everywhere(
    empty: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """``show cap-08``, the responses' file, what was won and lost, and scores by a column."""
    lines = [
        {**row, "id": f"{row['id']}-{n}", "question": f"{row['question']} ({n})"}
        for row in CAPITALS
        for n in range(4)
    ]
    file = write_lines(tmp_path / "capitals.jsonl", lines)
    said = proofstone("import", file, "--as", "form", "-w", empty)
    assert "note: kept as metadata of the questions: difficulty, tags, year\n" in said.err
    models = "sim/a?ability=0.9,sim/b?ability=0.1"
    assert proofstone("run", "capitals", "-m", models, "-w", empty).code == 0
    shown = proofstone("show", "cap-08-2", "-w", empty)
    assert "id in the file  cap-08-2\n" in shown.out
    assert "difficulty      easy\n" in shown.out
    assert proofstone("show", "item:cap-08-2", "-w", empty).out == shown.out
    by = proofstone("leaderboard", "capitals", "--by", "difficulty", "-w", empty)
    assert "difficulty  n " in by.out
    assert "\nhard        4 " in by.out
    run = "run:" + proofstone("list", "run", "-w", empty, "--json").json[0]["id"]
    proofstone("export", run, "-o", tmp_path / "run.jsonl", "-w", empty)
    first = json.loads((tmp_path / "run.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert (first["item_name"], first["difficulty"]) == ("cap-01-0", "easy")
