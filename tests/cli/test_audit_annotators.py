"""``proofstone audit --label-col ... [--annotator-col COLUMN]``: several annotators' labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from told import Proofstone

# Three label six records; bob differs from both others on q0, and cy left q5 out.
LABELS = {
    "ann": ["yes", "yes", "no", "no", "yes", "no"],
    "bob": ["no", "yes", "no", "no", "yes", "no"],
    "cy": ["yes", "yes", "no", "no", "yes", ""],
}
NAMED = ("--label-col", "ann,bob,cy")


def wide(folder: Path, scores: bool) -> Path:
    path = folder / "wide.csv"
    head = ["item", *(["model", "score"] if scores else []), *LABELS]
    rows = [
        [f"q{n}", *(["m", str(n % 2)] if scores else []), *(own[n] for own in LABELS.values())]
        for n in range(6)
    ]
    path.write_text("\n".join(map(",".join, [head, *rows])) + "\n", encoding="utf-8")
    return path


def long(folder: Path, more: str = "") -> Path:
    path = folder / "long.csv"
    rows = [f"q{n},{who},{own[n]}" for who, own in LABELS.items() for n in range(6)]
    path.write_text("\n".join(["item,who,verdict", *rows, more]) + "\n", encoding="utf-8")
    return path


def section(audit: Any) -> Any:
    (found,) = [each for each in audit["sections"] if each["name"] == "annotators"]
    return found


def test_columns_of_labels_stand_beside_scores(proofstone: Proofstone, tmp_path: Path) -> None:
    """Agreement: five records of three alike but one 1/3, and one of two alike: (4 + 1/3 + 1)/6."""
    told = proofstone("audit", wide(tmp_path, scores=True), *NAMED)
    assert (told.code, told.err) == (0, "")
    assert "labels: ann, bob, cy" in told.out
    assert "3 annotators gave 17 labels of 6 records, 6 of which have two or more." in " ".join(
        told.out.split()
    )
    found = section(proofstone("audit", wide(tmp_path, scores=True), *NAMED, "--json").json)
    names = [row[0] for row in found["tables"][0]["rows"]]
    assert names == [
        "observed agreement",
        "Gwet's AC1",
        "Fleiss' kappa",
        "Krippendorff's alpha, nominal",
    ]
    seen = found["tables"][0]["rows"][0][2]
    assert (seen["value"], seen["n"]) == (pytest.approx((4 + 1 / 3 + 1) / 6), 6)


def test_labels_alone_rank_nobody_and_either_form_says_the_same(
    proofstone: Proofstone, tmp_path: Path
) -> None:
    """One row a label, or one column an annotator."""
    rows = proofstone("audit", long(tmp_path), "--annotator-col", "who", "--label-col", "verdict")
    assert (rows.code, rows.err) == (0, "")
    assert "labels only: there are no scores and no ranking" in rows.out
    by_rows = proofstone(
        "audit", long(tmp_path), "--annotator-col", "who", "--label-col", "verdict", "--json"
    ).json
    by_columns = proofstone("audit", wide(tmp_path, scores=False), *NAMED, "--json").json
    assert section(by_rows) == section(by_columns)


def test_each_annotator_is_set_beside_the_others(proofstone: Proofstone, tmp_path: Path) -> None:
    """bob: of 6 + 5 pairs with others, the two of q0 differ: 9 of 11."""
    found = section(proofstone("audit", wide(tmp_path, scores=False), *NAMED, "--json").json)
    by_name = {row[0]: row for row in found["tables"][1]["rows"]}
    assert by_name["bob"][1:3] == [6, 6]
    assert by_name["bob"][3]["value"] == pytest.approx(9 / 11)
    assert by_name["bob"][4]["value"] == 1.0
    assert found["tables"][2]["rows"][0] == ["ann", 3, 3]


def test_numbers_have_an_order_and_distances(proofstone: Proofstone, tmp_path: Path) -> None:
    """Grades of 1 to 3."""
    path = tmp_path / "grades.csv"
    rows = (f"q{n},{n % 3 + 1},{min(n % 3 + 1 + n % 2, 3)}\n" for n in range(12))
    path.write_text("item,a,b\n" + "".join(rows), encoding="utf-8")
    told = proofstone("audit", path, "--as", "labels", "--label-col", "a,b")
    assert "Krippendorff's alpha, ordinal is 0." in told.out
    found = section(proofstone("audit", path, "--label-col", "a,b", "--json").json)
    assert [row[0].rpartition(", ")[2] for row in found["tables"][0]["rows"]][-2:] == [
        "ordinal",
        "interval",
    ]


def test_the_public_learns_no_annotators_name(proofstone: Proofstone, tmp_path: Path) -> None:
    """They are people's: numbered."""
    page = tmp_path / "page.html"
    told = proofstone(
        "audit", long(tmp_path), "--annotator-col", "who", "--label-col", "verdict",
        "--audience", "public", "--ui-language", "zh", "-o", page, "--tables", "csv",
    )  # fmt: skip
    assert (told.code, told.err) == (0, "")
    text = page.read_text(encoding="utf-8")
    assert "annotator 2" in text
    assert "bob" not in text


@pytest.mark.parametrize(
    ("more", "options", "said"),
    [
        (
            "q1,bob,no",
            ("--annotator-col", "who", "--label-col", "verdict"),
            "line 20, column who: bob",
        ),
        (
            "q7,,no",
            ("--annotator-col", "who", "--label-col", "verdict"),
            "line 20, column who: is empty",
        ),
        ("", ("--label-col", "verdict"), "--label-col COLUMN,COLUMN"),
        ("", ("--annotator-col", "who", "--label-col", "verdict,item"), "stand in one column"),
        ("", ("--annotator-col", "who"), "--label-col COLUMN"),
    ],
)
def test_what_cannot_be_labels_is_refused_with_the_next_step(
    proofstone: Proofstone, tmp_path: Path, more: str, options: tuple[str, ...], said: str
) -> None:
    """A record labelled twice by one, a label of nobody, one annotator alone."""
    told = proofstone("audit", long(tmp_path, more), *options)
    assert told.code == 2
    assert said in told.err


def test_labels_cannot_be_compared_or_mixed_with_scores(
    proofstone: Proofstone, tmp_path: Path
) -> None:
    """One label each gives no agreement, and says so by its absence."""
    path = tmp_path / "one.csv"
    path.write_text("item,a,b\nq1,x,\nq2,,y\n", encoding="utf-8")
    told = proofstone("audit", path, "--label-col", "a,b", "--json")
    assert told.json["sections"] == []


def judged(folder: Path) -> Path:
    """Of a's four answers the panel calls three right, of b's two; cy alone favours b."""
    path = folder / "judged.csv"
    rows = [
        ("a", "1,1,0"), ("a", "1,1,0"), ("a", "1,1,1"), ("a", "0,0,0"),
        ("b", "1,0,1"), ("b", "1,0,1"), ("b", "0,0,1"), ("b", "0,0,1"),
    ]  # fmt: skip
    lines = [f"q{place % 4},{model},1,{given}" for place, (model, given) in enumerate(rows)]
    path.write_text("\n".join(["item,model,score,ann,bob,cy", *lines]) + "\n", encoding="utf-8")
    return path


def test_ranks_without_each_judge(proofstone: Proofstone, tmp_path: Path) -> None:
    """All: a 3/4, b 2/4. Without bob, ann and cy must agree: a has 1 of 2 decided, b 2 of 2."""
    told = proofstone("audit", judged(tmp_path), *NAMED, "--json")
    assert told.code == 0, told.err
    (panel,) = [each for each in told.json["sections"] if each["name"] == "panel"]
    ranks, changed = panel["tables"]
    assert [row[:4] for row in ranks["rows"]] == [["a", 3 / 4, 4, "1"], ["b", 2 / 4, 4, "2"]]
    without_bob = [row[5] for row in ranks["rows"]]
    assert without_bob == ["2", "1"]
    assert changed["rows"][1] == ["bob", 4, "a, b", "a / b"]
    assert "bob" in panel["finding"]


def test_words_rank_nobody(proofstone: Proofstone, tmp_path: Path) -> None:
    told = proofstone("audit", wide(tmp_path, scores=True), *NAMED, "--json")
    assert "panel" not in [each["name"] for each in told.json["sections"]]
