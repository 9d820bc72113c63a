"""Two score tables side by side: what pairs, what differs, what cannot be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from made_up import ACCURACY, right_of, table_of

from proofstone.errors import BadUsage
from proofstone.records.runs import OUTCOMES, Scale
from proofstone.records.scores import Respondent, ScoreTable
from proofstone.results.compare import (
    Party,
    Side,
    SideShown,
    compare_sides,
    moved_rows,
    render_compared,
)
from proofstone.results.request import Ask

SCALE = Scale(name="single statements", what="shares of statements", chance=0.5)


def side(
    name: str,
    table: ScoreTable,
    made: Sequence[dict[str, str]] = ({"model": "lab/a"},),
    *,
    asked: dict[str, str] | None = None,
    method: str = "test",
    former: dict[str, str] | None = None,
) -> Side:
    parties = []
    bare = Side(SideShown(name=name, holds=name, n_items=len(table.items)), table, ACCURACY, ())
    for place, who in enumerate(table.respondents):
        parties.append(
            Party(
                name=who.name,
                prompt_method=who.prompt_method,
                runs=tuple(run.hex() for run in who.runs),
                made=dict(made[place % len(made)]),
                asked=asked or {},
                n_responses=bare.sheet.n_responses(place),
                missing=int(bare.sheet.missing[place]),
            )
        )
    return replace(bare, parties=tuple(parties), method=method, former=former)


def one(right: int, n: int = 20, *, who: Respondent | None = None, **more: object) -> ScoreTable:
    """``n`` items of one respondent, the first ``right`` of them right."""
    rows = right_of(n, right, 0)
    return table_of([who or Respondent("lab/a", "direct")], rows, n_units=n, **more)  # type: ignore[arg-type]


def renamed(table: ScoreTable, names: Sequence[str]) -> ScoreTable:
    return replace(table, item_names=tuple(names))


def test_only_common_items_are_compared() -> None:
    """A has a to e, B has d to h; d and e are in both, and e is lost."""
    before = renamed(one(5, 5), "abcde")
    after = renamed(one(1, 5), "defgh")
    (pair,) = compare_sides(side("A", before), side("B", after), Ask()).pairs
    assert (pair.n_common, pair.only_before, pair.only_after) == (2, 3, 3)
    assert pair.difference is not None
    assert pair.difference.estimate.value == (1 + 0) / 2 - (1 + 1) / 2
    assert [item.item for item in pair.lost] == ["e"]
    assert pair.changes[0].consequence == "compared on the 2 items that both have"


def test_new_versions_of_items_are_other_questions() -> None:
    """Of B's two own items one is a new version of one of A's, and both are left out."""
    before, after = renamed(one(2, 3), "abc"), renamed(one(2, 3), ["a", "b2", "z"])
    found = compare_sides(side("A", before), side("B", after, former={"b2": "b"}), Ask())
    (pair,) = found.pairs
    assert (pair.n_common, pair.renewed) == (1, 1)
    assert "1 of B is a new version of an item of A" in pair.changes[0].consequence


def test_without_a_common_item_nothing_is_compared() -> None:
    """It says so, and shows no number."""
    found = compare_sides(
        side("A", renamed(one(2, 3), "abc")), side("B", renamed(one(2, 3), "xyz")), Ask()
    )
    (pair,) = found.pairs
    assert pair.difference is None
    assert pair.cannot == ("They have no item in common, so nothing can be paired.",)
    assert "B - A" not in render_compared(found)


def test_scores_of_another_scale_are_not_compared() -> None:
    """Shares of statements against whole questions, though the items are the same."""
    apart = one(10, who=Respondent("lab/a", "verdicts", scale=SCALE))
    for sides in (side("A", one(10)), side("B", apart)), (side("A", apart), side("B", one(10))):
        (pair,) = compare_sides(*sides, Ask()).pairs
        assert pair.difference is None
        assert "different scales" in pair.cannot[0]
    (pair,) = compare_sides(side("A", apart), side("B", apart), Ask()).pairs
    assert pair.difference is not None


def test_scores_of_another_method_are_not_compared() -> None:
    found = compare_sides(side("A", one(9)), side("B", one(9), method="other"), Ask())
    assert found.pairs[0].difference is None
    assert "A was scored by test, B by other" in found.pairs[0].cannot[0]


def test_scores_by_different_judges_are_not_compared() -> None:
    """No difference and no test; of the same responses it is the judges that are compared, and
    where one judge is not known that is told among what differs."""
    judged = [{"model": "lab/a", "judge": name} for name in ("x", "y")]
    sides = [side(n, one(9), made=[m]) for n, m in zip("AB", judged, strict=True)]
    (pair,) = compare_sides(*sides, Ask()).pairs
    assert (pair.difference, pair.means, pair.won) == (None, "", ())
    assert pair.cannot == (
        "Different judges graded them (A: x; B: y). Their verdicts are not comparable, so a "
        "difference in scores has no meaning: grade both with the same judge.",
    )
    who = Respondent("lab/a", "direct", runs=(b"1",))
    sides = [side(n, one(9, who=who), made=[m]) for n, m in zip("AB", judged, strict=True)]
    (pair,) = compare_sides(*sides, Ask()).pairs
    assert pair.difference is not None
    assert pair.means == "A and B differ only in the judge."
    (pair,) = compare_sides(side("A", one(9)), sides[1], Ask()).pairs
    assert [(each.before, each.after) for each in pair.changes] == [("not known", "y")]


def test_respondents_are_paired_with_those_of_their_judge() -> None:
    """Two judges graded one model on both sides: each pair has one judge, whatever the order."""
    names = [Respondent("lab/a", "direct", judge=judge) for judge in "xy"]
    table = table_of(names, [*right_of(9, 5, 0), *right_of(9, 3, 1)], n_units=9)
    made = [{"model": "lab/a", "judge": judge} for judge in "xy"]
    other = table_of(names, [*right_of(9, 3, 0), *right_of(9, 5, 1)], n_units=9)
    found = compare_sides(side("A", table, made), side("B", other, made[::-1]), Ask())
    assert [pair.difference.rises for pair in found.pairs if pair.difference] == [0, 0]


def test_incomplete_results_are_compared_on_what_there_is() -> None:
    """B lacks five of twenty: fifteen are compared, and that is said to be little to go by."""
    rows = [row for row in right_of(20, 10, 0) if row[0] < 15]
    after = table_of([Respondent("lab/a", "direct")], rows, n_units=20)
    (pair,) = compare_sides(side("A", one(12)), side("B", after), Ask()).pairs
    assert pair.difference is not None
    assert (pair.difference.estimate.n, pair.unscored) == (15, 5)
    assert "B is incomplete, 5 responses short" in pair.cannot[0]


@pytest.mark.parametrize(
    ("made", "asked", "said"),
    [
        ({}, {}, "Nothing that makes a score differs between the two."),
        ({"model": "lab/b"}, {}, "A and B differ only in the model."),
        ({}, {"temperature": "1"}, "A and B differ only in the settings"),
        ({"scorer": "version 2"}, {}, "A and B differ only in the scorer"),
        ({"judge": "lab/j"}, {}, "A and B differ only in the judge"),
        ({"replicate": "again"}, {}, "the difference is random variation of responses."),
        ({"samples": "4"}, {}, "Nothing that makes a score differs"),
        ({"model": "lab/b", "scorer": "version 2"}, {}, "The model and scorer differ at once"),
        ({"source": "b.csv"}, {}, "cannot be attributed to one cause."),
        (
            {"model": "lab/b", "reported": "b-1", "endpoint": "x"},
            {},
            "A and B differ only in the model",
        ),
        ({"reported": "a-2"}, {}, "A and B differ only in the model that answered"),
        (
            {"prompt_method": "cot", "template": "the method's for cot"},
            {},
            "A and B differ only in the prompting method",
        ),
        (
            {"prompt_method": "cot", "template": "mine"},
            {},
            "The prompting method and prompt differ at once",
        ),
    ],
)
def test_a_difference_is_put_down_to_what_differs(made, asked, said) -> None:
    """Each factor by itself, several at once, and what only follows another."""
    common = {
        "model": "lab/a", "scorer": "version 1", "samples": "1", "prompt_method": "direct",
        "template": "the method's for direct", "reported": "a-1", "endpoint": "w",
    }  # fmt: skip
    before = side("A", one(9), [common], asked={"temperature": "0"})
    after = side("B", one(12), [{**common, **made}], asked=asked or {"temperature": "0"})
    (pair,) = compare_sides(before, after, Ask()).pairs
    assert said in pair.means


def test_of_settings_only_those_that_differ_are_told() -> None:
    before = side("A", one(9), asked={"temperature": "0", "max_tokens": "9"})
    after = side("B", one(9), asked={"temperature": "1", "max_tokens": "9", "top_p": "1"})
    (change,) = compare_sides(before, after, Ask()).pairs[0].changes
    assert (change.before, change.after) == ("temperature=0 top_p=none", "temperature=1 top_p=1")


def test_another_answer_format_is_told_as_another_reading() -> None:
    """It does nothing to replies, as other settings do."""
    formats = {"answer_format": "regex:Final: ([A-D])"}
    (change,) = (
        compare_sides(side("A", one(9)), side("B", one(9), asked=formats), Ask()).pairs[0].changes
    )
    read = "answers are extracted from the responses in another format; the questions are the same"
    assert change.consequence == read
    both = side("B", one(9), asked={**formats, "temperature": "1"})
    (change,) = compare_sides(side("A", one(9)), both, Ask()).pairs[0].changes
    assert change.consequence == (
        "the effect of the settings on responses is part of the difference; "
        "answers are also read from them in another format"
    )


def test_the_same_run_twice_says_so() -> None:
    """There is nothing to test: p = 1 and an interval would say that a difference is open."""
    own = Respondent("lab/a", "direct", runs=(b"\x01" * 32,))
    same = one(20, who=own)
    with pytest.raises(BadUsage, match="A and B are the same: B; no difference is possible"):
        compare_sides(side("A", same), side("B", same), Ask())


def test_of_two_forms_a_run_of_both_is_not_tested() -> None:
    """The other pair has its test, uncorrected: it is the only one."""

    def both(run: bytes) -> ScoreTable:
        who = [
            Respondent("lab/a", "direct", runs=(b"\x01" * 32,)),
            Respondent("lab/b", "direct", runs=(run * 32,)),
        ]
        return table_of(who, [*right_of(20, 20, 0), *right_of(20, 10, 1)], n_units=20)

    found = compare_sides(side("A", both(b"\x02")), side("B", both(b"\x03")), Ask())
    same, other = found.pairs
    assert (same.difference, same.means) == (None, "")
    assert same.cannot == (
        "Both are the same run under the same scorer: no difference is possible.",
    )
    assert other.difference is not None
    assert other.difference.p_holm == other.difference.p


def test_respondents_are_paired_by_name_and_p_values_corrected() -> None:
    """Two of three stand on both sides; Holm over the two."""
    who = [Respondent("lab/a", "direct"), Respondent("lab/b", "direct")]
    rows = [*right_of(20, 20, 0), *right_of(20, 10, 1)]
    before = table_of([*who, Respondent("lab/c", "direct")], rows, n_units=20)
    rows = [*right_of(20, 10, 0), *right_of(20, 8, 1)]
    after = table_of([*who, Respondent("lab/d", "direct")], rows, n_units=20)
    found = compare_sides(side("A", before), side("B", after), Ask())
    assert [pair.after.name for pair in found.pairs] == ["lab/a", "lab/b"]
    assert found.unpaired == ("lab/c direct (only in A)", "lab/d direct (only in B)")
    first, second = (pair.difference for pair in found.pairs)
    assert first is not None and second is not None  # noqa: PT018
    assert first.p_holm == pytest.approx(2 * first.p)
    assert second.p_holm == second.p


def test_no_two_respondents_of_one_name_are_refused() -> None:
    """Whom to compare is then not known; the message names who there is."""
    both = table_of(
        [Respondent("lab/a", "direct"), Respondent("lab/b", "direct")],
        [*right_of(4, 2, 0), *right_of(4, 2, 1)],
        n_units=4,
    )
    other = one(2, 4, who=Respondent("lab/z", "direct"))
    with pytest.raises(BadUsage, match="no model is on both sides"):
        compare_sides(side("A", both), side("B", other), Ask())


def test_sign_flips_need_clusters_that_do_not_overlap() -> None:
    """Pairs of items that share a key are swapped together; a chain of keys cannot be."""
    pairs = side("A", one(9, keys=[(i, i // 2) for i in range(20)]))
    chain = side("A", one(9, keys=[(i, k) for i in range(20) for k in (i, i + 1)]))
    (found,) = compare_sides(pairs, side("B", one(12)), Ask()).pairs
    assert found.difference is not None
    assert found.difference.permutation is not None
    assert found.difference.permutation.n_flipped == 10
    (found,) = compare_sides(chain, side("B", one(12)), Ask()).pairs
    assert found.difference is not None
    assert found.difference.permutation is None
    (found,) = compare_sides(chain, side("B", one(12)), Ask(population="bank")).pairs
    assert found.difference is not None
    assert found.difference.permutation is not None


def test_items_won_and_lost_come_as_rows() -> None:
    """The largest moves first, then in B's order."""
    before, after = one(1, 3), one(1, 3)
    before = renamed(replace(before, value=np.array([1.0, 0.0, 0.5])), "abc")
    after = renamed(replace(after, value=np.array([0.0, 0.25, 1.0])), "abc")
    found = compare_sides(side("A", before), side("B", after), Ask())
    rows = [
        (row["moved"], row["item"], row["score_a"], row["score_b"]) for row in moved_rows(found)
    ]
    assert rows == [("won", "c", 0.5, 1.0), ("won", "b", 0.0, 0.25), ("lost", "a", 1.0, 0.0)]


@pytest.mark.parametrize("ending", ["refused", "truncated", "unparsed"])
def test_how_a_lost_item_ended_is_said(ending: str) -> None:
    """A refusal, a cut response and an unreadable one score 0 as a wrong answer does; the listing
    and the file tell them apart. Results that do not tell say nothing of it."""
    before, after = one(1, 2), one(1, 2)
    outcome = np.array([OUTCOMES.index(ending), OUTCOMES.index("answered")], dtype=np.int8)
    after = replace(after, outcome=outcome, value=np.array([np.nan, 0.0]))
    compared = compare_sides(side("A", before), side("B", after), Ask())
    assert f"A 1 right  B 0 {ending}" in render_compared(compared)
    assert [(row["ended_a"], row["ended_b"]) for row in moved_rows(compared)] == [("right", ending)]
    silent = side("B", replace(after, tells_outcomes=False))
    assert [
        row["ended_b"] for row in moved_rows(compare_sides(side("A", before), silent, Ask()))
    ] == [""]


def test_the_text_of_a_comparison() -> None:
    """As a person reads it, whole."""
    before = side("run:11", one(12), [{"model": "lab/a"}])
    after = side("run:22", one(10), [{"model": "lab/b"}])
    assert render_compared(compare_sides(before, after, Ask()), most=1) == TEXT


TEXT = """\
A         lab/a direct; run:11, 20 items
B         lab/a direct; run:22, 20 items
differs   model: lab/a -> lab/b; the difference is between two models
so        A and B differ only in the model.
scores    accuracy on 20 common items: A 60.0 [38.7, 78.1], B 50.0 [29.9, 70.1]
B - A     -10.0 [-26.5, 8.3] points; the difference is not significant
tests     clustered t p 0.16; exact McNemar p 0.5 (items as independent); sign flips p 0.49 (seed 0,
          10,000 patterns over 20 items)
power     80% for a true difference of 20.3 points
items     won 0 (B scores higher), lost 2, equal 18
lost      0a00  A 1 right  B 0 wrong
          and 1 more (-n 2, or -o FILE for all)
95% intervals for the domain of this item bank; paired on common items; each item counts the same
(all replies)
"""
