"""``review``: sheets out and in on the command line, decisions carried out, and what pages say."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from proofstone.api import open_workspace
from proofstone.files.write import write_rows
from review.filled import fill
from told import Proofstone

ANSWER, NEW, WHY = "Your decision", "New wording", "Reason or remark"
CLAIM = "Truth of the new wording"


def answers(_number: int, row: Mapping[str, str]) -> Mapping[str, str]:
    """Leaf 1 of the Herbal goes, leaf 2 is mended, all else stays."""
    text = row["Statement"]
    if text == "Leaf 1 of the Herbal shows 3 drawings.":
        return {ANSWER: "drop it", WHY: "it points at a leaf"}
    if text == "Leaf 2 of the Herbal shows 4 drawings.":
        new = "The second leaf of the Herbal shows 4 drawings."
        return {ANSWER: "fix it", NEW: new, CLAIM: "it is true"}
    return {ANSWER: "keep it"}


def test_from_sheets_to_a_corrected_bank(
    proofstone: Proofstone, made: Path, tmp_path: Path
) -> None:
    """Two read all; one is dropped, one fixed, and the card and the page say so."""
    sheet = tmp_path / "sheet.xlsx"
    told = proofstone(
        "review", "export", "old-books", "--to", sheet, "--people", "Anna,Ben",
        "--shared", "100%", "-w", made,
    )  # fmt: skip
    assert told.code == 0
    assert told.out.splitlines()[-1] == "48 statements of old-books, 48 with several reviewers"
    files = [tmp_path / "sheet-anna.xlsx", tmp_path / "sheet-ben.xlsx"]
    for file in files:
        fill(file, answers)
    told = proofstone("review", "import", *files, "-w", made)
    assert told.out.splitlines()[:3] == [
        "sheet-anna.xlsx, sheet-ben.xlsx   96 new",
        "old-books, format   48 with 2 or more of 2 reviewers, 0 judged differently",
        "agreement           x 100                  n",
    ]
    assert "Cohen kappa         100.0 [100.0, 100.0]  48" in told.out

    work = tmp_path / "work.csv"
    told = proofstone(
        "review", "decide", "old-books", "--quorum", 2, "--flagged-items", work, "-w", made
    )  # fmt: skip
    assert told.out == "old-books   46 keep, 1 fix, 1 drop\n"
    told = proofstone("correct", "apply", work, "--actor", "Chief", "-w", made)
    assert told.out.splitlines()[0] == "work.csv   1 edited, 1 excluded"

    told = proofstone("review", "status", "old-books", "--quorum", 2, "-w", made)
    assert told.code == 0
    when_and_who = r"decided \d{4}-\S+ \S+ UTC by actor \w{8}"
    shown = re.sub(when_and_who, "decided (when) by actor (who)", told.out)
    assert shown == (
        "old-books   48 of 48 statements read for their format, by 2 people in all\n"
        "reader  given  decided\n"
        "Anna       48       48  46 keep, 1 fix, 1 drop\n"
        "Ben        48       48  46 keep, 1 fix, 1 drop\n"
        "decided: 46 keep, 1 fix, 1 drop; of 2 to drop or fix 2 are done\n"
        "last decided (when) by actor (who) from 96 reviews, quorum 2, drop majority, tie open, "
        "fix any\n"
    )
    card = proofstone("show", "old-books", "-w", made)
    assert "48 of 48 reviewed by 2 people: 46 keep, 1 fix, 1 drop" in card.out
    again = proofstone("review", "decide", "old-books", "--flagged-items", work, "-w", made)
    assert again.code == 0


TRUE, FALSE = "Leaf 2 of the Herbal shows 4 drawings.", "Leaf 2 of the Herbal shows 5 drawings."


def both_fixed(_number: int, row: Mapping[str, str]) -> Mapping[str, str]:
    text = row["Statement"]
    if text in (TRUE, FALSE):
        claim = "it is true" if text == TRUE else "it is false"
        return {ANSWER: "fix it", NEW: text.replace("Leaf 2", "The second leaf"), CLAIM: claim}
    return {ANSWER: "keep it"}


@pytest.fixture
def both(proofstone: Proofstone, made: Path, tmp_path: Path) -> Path:
    """The work list of a review that fixes a true statement and its falsified one."""
    sheet, work = tmp_path / "sheet.xlsx", tmp_path / "work.csv"
    proofstone(
        "review", "export", "old-books", "--to", sheet, "--people", "Anna,Ben",
        "--shared", "100%", "-w", made,
    )  # fmt: skip
    files = [tmp_path / "sheet-anna.xlsx", tmp_path / "sheet-ben.xlsx"]
    for file in files:
        fill(file, both_fixed)
    proofstone("review", "import", *files, "-w", made)
    proofstone("review", "decide", "old-books", "--flagged-items", work, "-w", made)
    return work


def texts_of(folder: Path) -> tuple[set[str], set[str]]:
    """What the newest bank says of that leaf: as true, and as falsified from a statement of it."""
    with open_workspace(folder) as workspace:
        facts = workspace.store.knowledge.bank(workspace.find("old-books", "bank").id).facts()
        here = {fact.id for fact in facts}
        leaf = [fact for fact in facts if re.search("(?:Leaf 2|second leaf) of the Herbal",
                                                    fact.payload.text)]  # fmt: skip
        return (
            {fact.payload.text for fact in leaf if fact.payload.correct},
            {fact.payload.text for fact in leaf if fact.payload.origin in here},
        )


FIXED = ({TRUE.replace("Leaf 2", "The second leaf")}, {FALSE.replace("Leaf 2", "The second leaf")})


def test_a_statement_and_its_falsified_one_are_fixed_together(
    proofstone: Proofstone, made: Path, both: Path
) -> None:
    told = proofstone("correct", "apply", both, "--actor", "Chief", "-w", made)
    assert told.code == 0, told.err
    assert told.out.splitlines()[0] == "work.csv   2 edited"
    assert texts_of(made) == FIXED
    told = proofstone("review", "status", "old-books", "-w", made)
    assert "decided: 46 keep, 2 fix; of 2 to drop or fix 2 are done" in told.out
    again = proofstone("correct", "apply", both, "--actor", "Chief", "-w", made)
    assert again.out.splitlines()[0] == "work.csv   2 already in force"


def test_a_fix_stays_to_be_done_when_the_true_statement_alone_was_edited(
    proofstone: Proofstone, made: Path, both: Path, tmp_path: Path
) -> None:
    """By a new work list of what is left, or by the one of before."""
    head, *rows = both.read_text(encoding="utf-8-sig").splitlines()
    first, rest = tmp_path / "first.csv", tmp_path / "rest.csv"
    first.write_text("\n".join([head, *(row for row in rows if TRUE in row)]), encoding="utf-8")
    assert proofstone("correct", "apply", first, "--actor", "Chief", "-w", made).code == 0
    assert texts_of(made) == (FIXED[0], {FALSE})
    told = proofstone("review", "status", "old-books", "-w", made)
    assert "decided: 46 keep, 2 fix; of 2 to drop or fix 1 are done" in told.out
    assert "Anna       48       48  46 keep, 2 fix" in told.out
    proofstone("review", "decide", "old-books", "--flagged-items", rest, "-w", made)
    (left,) = rest.read_text(encoding="utf-8-sig").splitlines()[1:]
    assert FALSE in left
    other = shutil.copytree(made, tmp_path / "other")
    for work, folder, done in (
        (rest, made, "1 edited"),
        (both, other, "1 edited, 1 already in force"),
    ):
        told = proofstone("correct", "apply", work, "--actor", "Chief", "-w", folder)
        assert told.code == 0, told.err
        assert told.out.splitlines()[0] == f"{work.name}   {done}"
        assert texts_of(folder) == FIXED
        told = proofstone("review", "status", "old-books", "-w", folder)
        assert "decided: 46 keep, 2 fix; of 2 to drop or fix 2 are done" in told.out


def test_a_page_says_what_people_read_and_found(
    proofstone: Proofstone, made: Path, tmp_path: Path
) -> None:
    sheet = tmp_path / "sheet.xlsx"
    proofstone("review", "export", "old-books", "--to", sheet, "--people", "Anna", "-w", made)
    fill(sheet, answers)
    proofstone("review", "import", sheet, "-w", made)
    truth = tmp_path / "truth.xlsx"
    proofstone(
        "review", "export", "old-books", "--to", truth, "--people", "Ben", "--fact-check", 20,
        "--answer-key", "false", "-w", made,
    )  # fmt: skip
    fill(truth, lambda n, _row: {"Is it true?": "it is false" if n else "it is true"}, tab=1)
    fill(truth, lambda _n, _row: {"Does the reason fit?": "the reason fits"}, tab=2)
    proofstone("review", "import", truth, "-w", made)
    with open_workspace(made) as workspace:
        proofstone("report", "old-books", "-o", tmp_path / "page.html", "-w", made)
        rates = workspace.review_standing("old-books").rates
    assert [(one.name, one.wrong, one.rate.n) for one in rates] == [
        ("false", 1, 20), ("reason", 0, 20)
    ]  # fmt: skip
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "2 reviewers read all statements of 8 of 8 items, and some of 0 more." in page
    assert "Reviewers found 1 of 20 false statements to be true: 5.0%" in page
    assert "Reviewers read 48 of 48 statements: 1 to drop, 1 to fix." in page


def test_decisions_of_a_file_ask_no_workspace(
    proofstone: Proofstone, tmp_path: Path, monkeypatch: object
) -> None:
    said = [("a", "drop"), ("b", "drop"), ("c", "keep")]
    write_rows(
        tmp_path / "reviews.jsonl",
        [{"target": "q1", "reviewer": who, "verdict": what, "reason": "r"} for who, what in said]
        + [{"target": "q2", "reviewer": "a", "verdict": "keep"}],
    )
    told = proofstone(
        "review", "decide", tmp_path / "reviews.jsonl", "--quorum", 3, "-o", tmp_path / "out.jsonl"
    )
    assert told.code == 0
    assert told.out == f"{tmp_path / 'reviews.jsonl'}   1 drop, 1 open\n"
    lines = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    policy = "quorum 3, drop majority, tie open, fix any"
    assert [json.loads(line) for line in lines] == [
        {"target": "q1", "task": "format", "outcome": "drop", "votes": {"keep": 1, "drop": 2},
         "why": "r", "policy": policy},
        {"target": "q2", "task": "format", "outcome": "open", "votes": {"keep": 1},
         "why": "1 of 3 reviews done", "policy": policy},
    ]  # fmt: skip


def test_rows_that_cannot_be_read_are_told_by_line(proofstone: Proofstone, tmp_path: Path) -> None:
    write_rows(
        tmp_path / "reviews.jsonl",
        [
            {"target": "q1", "reviewer": "a", "verdict": "good"},
            {"target": "q1", "reviewer": "a", "judge": "m", "verdict": "keep"},
            {"target": "q1", "reviewer": "a", "verdict": "drop"},
            {"target": "q1", "reviewer": "a", "verdict": "fix"},
            {"target": "", "reviewer": "a", "verdict": "keep", "round": "two"},
        ],
    )
    told = proofstone("review", "decide", tmp_path / "reviews.jsonl")
    assert told.code == 2
    assert [line.strip().partition(" - ")[0] for line in told.err.splitlines()[1:6]] == [
        "line 1: verdict: expected one of keep, fix, drop; got 'good'",
        "line 2: expected either a reviewer (a person) or a judge (a model)",
        "line 3: reason: drop needs one",
        'line 4: changes: fix needs the new text, as {"text": "..."}',
        "line 5: Expected `int`, got `str`",
    ]


def test_what_cannot_be_given_out_is_refused(
    proofstone: Proofstone, made: Path, tmp_path: Path
) -> None:
    def refused(*more: object) -> str:
        told = proofstone("review", "export", "old-books", *more, "-w", made)
        assert told.code == 2
        return told.err

    to = ("--to", tmp_path / "sheet.xlsx")
    assert "say what to write" in refused()
    assert "no reviewer is named" in refused(*to)
    assert "sheets are written as .xlsx" in refused("--to", tmp_path / "s.ods", "--per-person", 2)
    assert "names in --people" in refused(*to, "--people", "A,B", "--per-person", 3)
    assert "a share from 0% to 100%" in refused(*to, "--people", "A", "--shared", "120%")
    assert "cannot sample 99 of 48" in refused(*to, "--people", "A", "--fact-check", 99)
    assert "no statement of old-books was reviewed yet" in refused(
        *to, "--people", "A", "--undecided"
    )
    assert "A is named twice: each reader has one file" in refused(*to, "--people", "A,B,A")
    assert "duplicate reviewer: Anna and anna" in refused(*to, "--people", "Anna,anna")
    assert "3 reviewers each, but only 2" in refused(*to, "--people", "A,B", "--reviewers-each", 3)
    assert list(tmp_path.glob("*.xlsx")) == []
