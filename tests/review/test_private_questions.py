"""Questions about private documents: answered from their passages, and never by way of the web."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec import structs

from proofstone.api import Workspace, create_workspace
from proofstone.documents.sources import Stated
from proofstone.files.xlsx import read_grids
from proofstone.ingest.ingest import ingest_paths
from proofstone.records.knowledge import BuiltFact, fact_id
from proofstone.records.reviews import policy_words
from proofstone.review.request import SheetsAsked
from review.filled import fill, rows_of
from small_bank import write_lines

TEXT = "The pump house of the north site is opened with the key that hangs in locker 17."
ROW = {"question": "Which locker holds the key of the pump house?", "answer": "17"}
FIT, ANSWER = "Is the question fit?", "Your answer"


def questions(folder: Path, license: str) -> Workspace:
    """A workspace whose bank ``site`` has one question, made from a document."""
    folder.mkdir()
    workspace = create_workspace(folder / "work")
    file = folder / "manual.txt"
    file.write_text(TEXT, encoding="utf-8")
    report = ingest_paths(
        workspace.store, [file], clock=workspace.clock, stated=Stated(license=license)
    )
    (entry,) = report.taken
    (passage,) = workspace.store.knowledge.passages_of(entry.id)
    bank = workspace.import_bank(
        write_lines(folder / "raw.jsonl", [ROW]), method="chinese_simpleqa"
    )
    (first,) = workspace.store.knowledge.bank(bank.id).facts()
    fact = structs.replace(first, id=b"", source=entry.id, passage=passage.id)
    built = BuiltFact(structs.replace(fact, id=fact_id(fact)))
    workspace.store.knowledge.add_bank("site", "chinese_simpleqa", [built], 0.0)
    return workspace


def answering(_number: int, _row: Mapping[str, str]) -> Mapping[str, str]:
    return {FIT: "it is fit", ANSWER: "17"}


def test_a_sheet_of_private_questions_shows_the_passage_and_asks_for_no_page(
    tmp_path: Path,
) -> None:
    with questions(tmp_path / "own", "internal") as workspace:
        asked = SheetsAsked(people=("Anna", "Ben"))
        workspace.give_out_sheets("site", asked, tmp_path / "s.xlsx")
        file = tmp_path / "s-anna.xlsx"
        head, row = rows_of(file)
        assert row[head.index("Source passage")] == TEXT
        assert not [name for name in head if "URL" in name]
        about = " ".join(cell for row in read_grids(file)[0].rows for cell in row)
        assert "Do not enter these questions into a search engine or a chatbot." in about
        assert "search the web" not in about
        assert "https://" not in about
        for name in ("s-anna.xlsx", "s-ben.xlsx"):
            workspace.import_reviews([fill(tmp_path / name, answering)])
        decided = workspace.review_decisions("site")
        assert decided.outcomes["keep"] == 1
        assert policy_words(decided.policy) == (
            "two answers from the documents, a third if they differ"
        )


def test_questions_of_public_documents_need_their_pages(tmp_path: Path) -> None:
    with questions(tmp_path / "public", "CC-BY-4.0") as workspace:
        workspace.give_out_sheets("site", SheetsAsked(people=("Anna",)), tmp_path / "s.xlsx")
        head, _row = rows_of(tmp_path / "s.xlsx")
        assert "First page (URL)" in head
        assert "Source passage" not in head


@pytest.mark.parametrize("verdict", ["it is not fit"])
def test_a_private_question_that_is_not_fit_is_dropped(tmp_path: Path, verdict: str) -> None:
    with questions(tmp_path / "own", "") as workspace:
        workspace.give_out_sheets("site", SheetsAsked(people=("Anna",)), tmp_path / "s.xlsx")
        said = {FIT: verdict, "Reason or remark": "it names no site"}
        workspace.import_reviews([fill(tmp_path / "s.xlsx", lambda _n, _row: said)])
        assert workspace.review_decisions("site").outcomes["drop"] == 1
