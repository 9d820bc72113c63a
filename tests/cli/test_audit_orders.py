"""``proofstone audit --order-col COLUMN``: the same items with their options in several orders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from told import Proofstone

ORDERS = ("ABCD", "BCDA", "CDAB", "DABC")


def results(folder: Path, cell: Callable[[str], str] = str, *, by_original: bool = False) -> Path:
    """Forty items whose right option is A of the original, in four orders. ``knows`` always chooses
    it; ``first`` takes whatever stands first; right answers are those shown or the original's."""
    rows = []
    for n in range(40):
        for order in ORDERS:
            right = "ABCD"[order.index("A")]
            answer_key = "A" if by_original else right
            for model, answer in (("knows", right), ("first", "A")):
                rows.append(
                    f"q{n},{model},{int(answer == right)},{answer},{answer_key},{cell(order)}"
                )
    path = folder / "orders.csv"
    path.write_text("\n".join(["item,model,score,answer,gold,shown", *rows]) + "\n", "utf-8")
    return path


def told(audit: Any, name: str) -> Any:
    (found,) = [each for each in audit["sections"] if each["name"] == name]
    return found


@pytest.mark.parametrize("by_original", [False, True])
@pytest.mark.parametrize(
    "cell",
    [
        str,
        lambda order: " ".join(str("ABCD".index(letter) + 1) for letter in order),
        lambda order: "|".join(str("ABCD".index(letter)) for letter in order),
    ],
    ids=["letters", "from 1", "from 0"],
)
def test_the_same_option_is_found_wherever_it_stands(
    proofstone: Proofstone, tmp_path: Path, cell: Callable[[str], str], by_original: bool
) -> None:
    """Who knows chooses it in all orders; who takes the first place another one in each of four,
    and is right in one of four, never each time."""
    path = results(tmp_path, cell, by_original=by_original)
    audit = proofstone("audit", path, "--order-col", "shown", "--json").json
    rows = {row[0]: row for row in told(audit, "orders")["tables"][0]["rows"]}
    assert rows["knows"][1] == 40
    values = {
        name: [row[2]["value"], row[4]["value"], row[5]["value"]] for name, row in rows.items()
    }
    assert values == {"knows": [1.0, 1.0, 1.0], "first": [0.0, 0.25, 0.0]}
    assert rows["knows"][3] is None
    # The place as shown is what a position is, and no letter of the original is one.
    assert "chooses A in 100.0% of its responses" in told(audit, "positions")["finding"]
    assert "answer key position" not in str(told(audit, "positions"))


def test_a_named_order_compares_scores(proofstone: Proofstone, tmp_path: Path) -> None:
    """What a letter means is not known: pairs score alike where both are right or both wrong: of
    six pairs of four replies with one right, three."""
    path = results(tmp_path, lambda order: f"shuffle of {ORDERS.index(order)}")
    audit = proofstone("audit", path, "--order-col", "shown", "--json").json
    found = told(audit, "orders")
    rows = {row[0]: row for row in found["tables"][0]["rows"]}
    assert (rows["knows"][2]["value"], rows["first"][2]["value"]) == (1.0, 3 / 6)
    assert "Scores are compared instead" in found["cannot"]
    assert "positions" not in [each["name"] for each in audit["sections"]]


def test_pairs_in_the_same_order_stand_beside(proofstone: Proofstone, tmp_path: Path) -> None:
    """Each order asked twice: what the first place gives is the same then."""
    path = results(tmp_path)
    head, *rows = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([head, *rows, *rows]) + "\n", encoding="utf-8")
    audit = proofstone("audit", path, "--order-col", "shown", "--json").json
    rows_of = {row[0]: row for row in told(audit, "orders")["tables"][0]["rows"]}
    assert (rows_of["first"][2]["value"], rows_of["first"][3]["value"]) == (0.0, 1.0)
    page = tmp_path / "page.html"
    for language in ("en", "zh"):
        done = proofstone(
            "audit", path, "--order-col", "shown", "-o", page, "--audience", "public",
            "--ui-language", language,
        )  # fmt: skip
        assert (done.code, done.err) == (0, "")


def test_right_answers_that_disagree_are_problems(proofstone: Proofstone, tmp_path: Path) -> None:
    """Read back into the original order, records of one item must have one right option."""
    path = results(tmp_path)
    text = path.read_text(encoding="utf-8").replace("q3,knows,1,D,D,BCDA", "q3,knows,1,D,C,BCDA")
    path.write_text(text, encoding="utf-8")
    done = proofstone("audit", path, "--order-col", "shown")
    assert done.code == 2
    assert "column gold: is 'D', and another record of the same item (q3) has 'A'" in done.err
