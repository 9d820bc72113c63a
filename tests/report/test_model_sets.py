"""Items by the set of models that reach a threshold, in scores whose answer is known."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up import ACCURACY, Row, table_of

from proofstone.errors import BadUsage
from proofstone.page.figure import can_draw, described, draw
from proofstone.records.scores import Respondent
from proofstone.results.sections.catalogue import perform_analysis
from proofstone.results.sections.model_sets import intersections, members_from
from proofstone.results.sections.parts import Part
from table_texts import rows


def part_of(
    right: np.ndarray,
    topics: list[str] | None = None,  # (items, models, samples)
) -> Part:
    n, m, k = right.shape
    made: list[Row] = [
        (unit, who, sample, "answered", float(right[unit, who, sample]))
        for who in range(m) for unit in range(n) for sample in range(k)
    ]  # fmt: skip
    models = [Respondent(f"lab/{'abcdefghijklmn'[who]}", "direct") for who in range(m)]
    table = table_of(models, made, n_units=n, discipline=topics or ["one"] * n)
    return Part(name="form", kind="asked", seed=None, recipe={}, table=table, measure=ACCURACY)


def test_counts_are_those_of_a_second_count() -> None:
    """300 items, four models, four samples: 35% takes two of four; tuples counted one by one."""
    rng = np.random.default_rng(3)
    ease = rng.random((300, 1, 1))
    right = (rng.random((300, 4, 4)) < 0.2 + 0.7 * ease * np.array([1, 0.8, 0.6, 0.4])[:, None]) * 1
    analysis = perform_analysis("sets", [part_of(right)])
    at_least_two = right.sum(axis=2) >= 2
    best_first = np.argsort(-right.mean(axis=(0, 2)), kind="stable")
    names = [f"lab/{'abcd'[who]} direct" for who in best_first]
    counted = Counter(
        ", ".join(name for name, who in zip(names, best_first, strict=True) if row[who])
        or "no model"
        for row in at_least_two
    )
    assert {row[0]: int(row[2]) for row in rows(analysis)} == counted
    n_right = at_least_two.sum(axis=1)
    assert analysis.finding == (
        f"All 4 models reach 35% on {(n_right == 4).sum()} of 300 items and none on "
        f"{(n_right == 0).sum()}; exactly one does on {(n_right == 1).sum()}."
    )
    totals = analysis.tables[1].rows
    assert [row[1] for row in totals] == at_least_two.sum(axis=0)[best_first].tolist()
    alone = at_least_two & (n_right == 1)[:, None]
    assert [row[3] for row in totals] == alone.sum(axis=0)[best_first].tolist()
    assert "Items have 4 samples: 35% takes 2 of them right." in analysis.notes


def test_groups_are_elements_with_a_level() -> None:
    """a has 40% in Law and 30% in Arts, b 50% and 10%: at 35% both reach Law and none Arts."""
    right = np.zeros((20, 2, 1))
    right[:4, 0], right[:5, 1] = 1, 1  # Law: the first ten
    right[10:13, 0], right[10:11, 1] = 1, 1
    part = part_of(right, ["Law"] * 10 + ["Arts"] * 10)
    analysis = perform_analysis("sets", [part], level="discipline")
    assert {row[0]: row[4] for row in rows(analysis)} == {
        "lab/a direct, lab/b direct": "Law", "no model": "Arts",
    }  # fmt: skip
    stricter = perform_analysis("sets", [part], level="discipline", threshold=45)
    assert {row[0]: row[4] for row in rows(stricter)} == {
        "lab/b direct": "Law", "no model": "Arts",
    }  # fmt: skip


def test_equal_models_share_all_their_items() -> None:
    """Null: two models with the same answers have two combinations, both or none."""
    one = np.random.default_rng(1).integers(0, 2, (50, 1, 1))
    analysis = perform_analysis("sets", [part_of(np.repeat(one, 2, axis=1))])
    assert {row[0] for row in rows(analysis)} == {"lab/a direct, lab/b direct", "no model"}
    assert analysis.finding.endswith("; exactly one does on 0.")


def test_one_model_has_no_sentence_on_exactly_one() -> None:
    analysis = perform_analysis("sets", [part_of(np.ones((5, 1, 1)))])
    assert analysis.finding == "lab/a direct reaches 35% on 5 of 5 items."


def test_of_many_models_the_ten_best_count() -> None:
    """Model n has n + 1 of 12 items right: the two worst are left out and counted."""
    right = np.array([[[1.0 * (unit <= who)] for who in range(12)] for unit in range(12)])
    analysis = perform_analysis("sets", [part_of(right)])
    assert "The 10 best of 12 models." in analysis.notes
    shown = {row[0] for row in analysis.tables[1].rows}
    assert shown == {f"lab/{letter} direct" for letter in "cdefghijkl"}


def test_of_many_combinations_the_largest_are_printed_and_all_written() -> None:
    """Ten models of even chance on 400 items: every combination is a mark, forty are rows."""
    right = np.random.default_rng(5).integers(0, 2, (400, 10, 1))
    analysis = perform_analysis("sets", [part_of(right)])
    n = len({tuple(row) for row in right[:, :, 0].tolist()})
    assert len(analysis.data.marks) == n
    assert sum(mark.value for mark in analysis.data.marks) == 400
    assert len(analysis.tables[0].rows) == 40
    assert f"The 40 largest of {n} combinations; -o FILE writes all." in analysis.notes


def test_partial_scores_have_no_sentence_on_samples() -> None:
    analysis = perform_analysis("sets", [part_of(np.full((4, 2, 2), 0.5))])
    assert not any("samples:" in note for note in analysis.notes)


def test_an_unknown_level_and_a_bad_threshold_are_refused() -> None:
    part = part_of(np.ones((4, 2, 1)))
    with pytest.raises(BadUsage, match="no level 'subfield'"):
        perform_analysis("sets", [part], level="subfield")
    with pytest.raises(BadUsage, match="at most 100%"):
        perform_analysis("sets", [part], threshold=150)
    with pytest.raises(BadUsage, match="takes no --threshold"):
        perform_analysis("topics", [part], threshold=35)


def test_the_figure_has_a_bar_a_combination_and_a_dot_a_member() -> None:
    """Three models, the largest combination first; the text alternative says the extremes."""
    right = np.zeros((9, 3, 1))
    right[:5, :2], right[5:8, 0], right[8, 2] = 1, 1, 1
    (figure,) = perform_analysis("sets", [part_of(right)]).figures
    members = {
        column: [mark.row[4] for mark in figure.marks if mark.column == column and mark.text]
        for column in figure.columns()
    }
    assert members == {"1": ["a", "b"], "2": ["a"], "3": ["c"]}
    assert {mark.row[4]: mark.x for mark in figure.marks} == {"a": 8.0, "b": 5.0, "c": 1.0}
    assert described(figure).startswith("Sets by combination: Items by the models that reach 35%;")
    if can_draw():
        drawn = draw(figure)
        assert all(f">{number}<" in drawn for number in (5, 3, 1, 8))


# Combinations against a count of every element by hand.


@given(st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=40))
def test_every_element_is_in_exactly_one_combination(member: list[list[bool]]) -> None:
    """The same counts as one Counter of tuples, and each element once."""
    found = intersections(np.array(member))
    counted = Counter(tuple(n for n, held in enumerate(row) if held) for row in member)
    assert {each.sets: each.n for each in found} == counted
    assert sorted(e for each in found for e in each.elements) == list(range(len(member)))
    for each in found:
        assert all(
            tuple(np.flatnonzero(member[element]).tolist()) == each.sets
            for element in each.elements
        )


def test_larger_combinations_stand_first_and_ties_have_an_order() -> None:
    """Of equally large ones, fewer sets come first, then lower numbers."""
    rows = [[1, 1], [1, 1], [0, 1], [1, 0], [0, 0]]
    found = intersections(np.array(rows, dtype=bool))
    assert [(each.sets, each.n) for each in found] == [((0, 1), 2), ((), 1), ((0,), 1), ((1,), 1)]


def test_without_elements_there_is_no_combination() -> None:
    assert intersections(np.zeros((0, 3), dtype=bool)) == ()


def test_order_of_elements_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    member = rng.random((200, 4)) < 0.5
    mixed = member[rng.permutation(200)]
    assert [(e.sets, e.n) for e in intersections(member)] == [
        (e.sets, e.n) for e in intersections(mixed)
    ]


def test_the_threshold_itself_is_reached() -> None:
    """Eight tenths summed one by one are below 0.8 as floats; that does not lose the item."""
    tenths = np.array([[sum([0.1] * 8)], [0.79]])
    assert sum([0.1] * 8) < 0.8
    assert members_from(tenths, 0.8).tolist() == [[True], [False]]


@pytest.mark.parametrize("threshold", [0.0, -0.1, 1.01])
def test_a_threshold_outside_is_refused(threshold: float) -> None:
    with pytest.raises(BadUsage, match="above 0 and at most 100%"):
        members_from(np.zeros((1, 1)), threshold)


def test_groups_are_called_groups() -> None:
    part = part_of(np.ones((4, 2, 1)), ["Law", "Law", "Arts", "Arts"])
    assert perform_analysis("sets", [part], level="discipline").finding == (
        "All 2 models reach 35% on 2 of 2 groups of items and none on 0; exactly one does on 0."
    )
