"""A purge takes a source's sentences, and no words that are anybody's: labels, names, phrases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_purge import every_text

from proofstone.api import Workspace, create_workspace
from proofstone.ingest.ingest import ingest_paths
from proofstone.store.payloads import said_in
from small_bank import write_lines

LABEL = "detail falsification"
ANSWER = "International Union of Pure and Applied Chemistry"
PHRASE = "Which of the following statements is correct?"


def pair(book: str, n: int, **more: str) -> list[dict[str, Any]]:
    said = f"Leaf {n} of the {book} shows {{}} drawings of a mandrake."
    return [
        {"id": f"{book}-{n}", "text": said.format(n + 2), "correct": True, **more},
        {"id": f"{book}-{n}-f", "text": said.format(n + 3), "correct": False,
         "error_type": LABEL, "reason": f"It shows {n + 2} in the {book}.",
         "origin": f"{book}-{n}", **more},
    ]  # fmt: skip


def texts(workspace: Workspace, table: str) -> list[str]:
    with workspace.store.database.reading() as connection:
        found = connection.exec_driver_sql(f"SELECT payload FROM {table} ORDER BY id").scalars()
        return [bytes(body).decode() for body in found]


@pytest.mark.parametrize("source", [{"source": "Almanac"}, {}], ids=["of a source", "of none"])
def test_rows_that_share_only_a_label_stay(tmp_path: Path, source: dict[str, str]) -> None:
    """The error type of a purged source's statements stands in those of another source, and in
    facts that state no source; prompts that asked these stay too."""
    with create_workspace(tmp_path / "work") as workspace:
        herbal = [row for n in range(12) for row in pair("Herbal", n, source="Herbal")]
        other = [row for n in range(12) for row in pair("Almanac", n, **source)]
        workspace.import_bank(write_lines(tmp_path / "herbal.jsonl", herbal))
        bank = workspace.import_bank(write_lines(tmp_path / "other.jsonl", other))
        asked = [{"question": f"What is a {LABEL} called?", "options": ["an error", "a joke"],
                  "answer": "A"}]  # fmt: skip
        form = workspace.import_form(write_lines(tmp_path / "asked.jsonl", asked))
        workspace.run([form, *workspace.build_form(bank, questions=2)], models="sim/ann")
        kept = [body for body in texts(workspace, "fact") if "Almanac" in body]
        prompts = every_text(workspace).count("of the Almanac shows")
        items = texts(workspace, "item")
        report = workspace.purge("Herbal", reason="x")
        assert report.removed["facts"] == 24
        assert report.removed["prompts"] == report.removed["responses"] == 0
        assert [body for body in texts(workspace, "fact") if "Almanac" in body] == kept
        assert sum(LABEL in body for body in kept) == 12
        assert texts(workspace, "item") == items
        assert every_text(workspace).count("of the Almanac shows") == prompts
        assert "of the Herbal" not in every_text(workspace)


def test_questions_that_share_an_answer_or_a_phrase_stay(tmp_path: Path) -> None:
    """A question that several facts ask is nobody's own words, and neither is an organisation's
    name; a question that one fact asks is, and its copy goes."""
    own = "Which leaf of the Herbal shows seven drawings of a mandrake?"
    with create_workspace(tmp_path / "work") as workspace:
        reasons = [PHRASE, PHRASE, PHRASE, ANSWER, own]
        rows = [row for n in range(5) for row in pair("Herbal", n, source="Herbal")]
        for row, reason in zip(rows[1::2], reasons, strict=True):
            row["reason"] = reason
        workspace.import_bank(write_lines(tmp_path / "herbal.jsonl", rows))
        asked = [
            {"question": PHRASE, "options": ["the first", "the second"], "answer": "A"},
            {"question": "Who names the elements?", "options": [ANSWER, "nobody"], "answer": "A"},
            {"question": own, "options": ["leaf five", "leaf six"], "answer": "A"},
        ]
        workspace.import_form(write_lines(tmp_path / "asked.jsonl", asked))
        phrase, name, copy = texts(workspace, "item")
        workspace.purge("Herbal", reason="x")
        assert texts(workspace, "item") == [phrase, name, ""]
        assert own in json.loads(copy)["question"]


def test_a_heading_of_a_document_is_nobodys(tmp_path: Path) -> None:
    """What stands in a document in whole sentences, or in lines of five words, is its own."""
    file = tmp_path / "manual.md"
    file.write_text("# Acknowledgements and thanks\n\nPrime the pump with distilled water\n\n"
                    "The attic is aired twice in a year.\n", encoding="utf-8")  # fmt: skip
    with create_workspace(tmp_path / "work") as workspace:
        ingest_paths(workspace.store, [file], clock=workspace.clock)
        asked = [
            {"question": said, "options": ["yes", "no"], "answer": "A"}
            for said in (
                "Where do acknowledgements and thanks stand?",
                "Should one prime the pump with distilled water?",
                "True? The attic is aired twice in a year.",
            )
        ]
        workspace.import_form(write_lines(tmp_path / "asked.jsonl", asked))
        first, *_others = texts(workspace, "item")
        workspace.purge(workspace.store.lookup.every("source")[0], reason="x")
        assert texts(workspace, "item") == [first, "", ""]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("detail falsification", []),
        ("encyclo_k.statement.with_a_long_name.", []),
        ("https://example.org/a/very/long/address?", []),
        ("事实性细节错误", []),
        ("Gold has atomic number 79. A label", ["Gold has atomic number 79."]),
        ('He said "gold is heavy."', ['He said "gold is heavy."']),
        ("金的原子序数是七十九。", ["金的原子序数是七十九。"]),
        ("gold is a metal that has the atomic number seventy nine",
         ["gold is a metal that has the atomic number seventy nine"]),
    ],
)  # fmt: skip
def test_whole_sentences_are_told_from_labels(text: str, found: list[str]) -> None:
    assert sorted(set(said_in(text, words=10))) == found
