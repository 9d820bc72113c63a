"""``proofstone audit --human-col COLUMN --judge-col COLUMN``: a judge's labels beside people's."""

from __future__ import annotations

from pathlib import Path

import pytest

from told import Proofstone

LONG = "item,model,score,human,verdict\n" + "".join(
    f"q{n},m{who},{(n + who) % 2},{'' if n > 5 else (n + who) % 2 if n else 1},{n % 3}\n"
    for n in range(12)
    for who in range(2)
)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    path = tmp_path / "judged.csv"
    path.write_text(LONG, encoding="utf-8")
    return path


def test_the_score_is_the_judge_where_none_is_named(proofstone: Proofstone, results: Path) -> None:
    """People saw items 0 to 5 of both models, and gave item 0 of m0 another score: 11 of 12."""
    told = proofstone("audit", results, "--human-col", "human")
    assert (told.code, told.err) == (0, "")
    assert "human: human" in told.out
    assert "Judge and people agree on 91.7 [" in told.out
    audit = proofstone("audit", results, "--human-col", "human", "--json").json
    (found,) = [each for each in audit["sections"] if each["name"] == "judge"]
    assert found["tables"][0]["rows"] == [["0", 5, 0, 5], ["1", 1, 6, 7]]


def test_a_judge_is_named(proofstone: Proofstone, results: Path) -> None:
    """Its labels are compared, not the score."""
    told = proofstone("audit", results, "--human-col", "human", "--judge-col", "verdict")
    assert told.code == 0
    assert "judge: verdict" in told.out


def test_a_wide_table_has_no_judge_of_its_own(proofstone: Proofstone, tmp_path: Path) -> None:
    """The way out is told."""
    path = tmp_path / "wide.csv"
    path.write_text("item,a,people\nx,1,ja\ny,0,nein\n", encoding="utf-8")
    told = proofstone("audit", path, "--human-col", "people")
    assert told.code == 2
    assert "--judge-col COLUMN" in told.err


def test_too_many_labels_are_refused(proofstone: Proofstone, tmp_path: Path) -> None:
    """Twenty-one different ones are no labels."""
    path = tmp_path / "long.csv"
    rows = "".join(f"q{n},m,1,text {n},good\n" for n in range(20))
    path.write_text("item,model,score,people,judge\n" + rows, encoding="utf-8")
    told = proofstone("audit", path, "--human-col", "people", "--judge-col", "judge")
    assert told.code == 2
    assert "use 21 different labels" in told.err
