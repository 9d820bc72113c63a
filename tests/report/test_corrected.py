"""Rulings and retirements on a score table: what they change, what they leave, how they count."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up import ACCURACY, MEASURES, Row, mixed, right_of, table_of
from msgspec import structs

from proofstone.records.reviews import Verdict
from proofstone.records.scores import Corrections, HeldRole, Respondent, ScoreTable
from proofstone.results.board_text import render_terminal
from proofstone.results.corrections import TableOverride, apply_overrides, leave_out
from proofstone.results.rankings import leaderboard

ONE, TWO = Respondent("lab/one", "direct"), Respondent("lab/two", "direct")


def two() -> ScoreTable:
    """10 items: one is right on 0-5, two on 0-3; the last reply of one cannot be read."""
    rows = right_of(10, 6, 0, ["unparsed"]) + right_of(10, 4, 1)
    return table_of([ONE, TWO], rows, n_units=10)


def overridden(
    table: ScoreTable, *overrides: tuple[int, int, Verdict], sample: int = 0
) -> ScoreTable:
    made = [
        TableOverride(who, table.items[unit], sample, verdict) for who, unit, verdict in overrides
    ]
    return apply_overrides(table, made, ACCURACY)


def accuracies(table: ScoreTable) -> dict[str, tuple[float, int]]:
    (group,) = leaderboard(table, MEASURES, "accuracy").standings
    return {row.name: (row.estimate.value, row.estimate.n) for row in group.ranked}


def test_correct_and_incorrect_set_the_worth_of_one_reply() -> None:
    """One: 6 of 10 right, two wrong ones ruled correct, one right one incorrect: 7 of 10."""
    table = overridden(two(), (0, 8, "correct"), (0, 9, "correct"), (0, 0, "incorrect"))
    assert accuracies(table) == {
        "lab/one": (pytest.approx((6 + 2 - 1) / 10), 10),
        "lab/two": (pytest.approx(4 / 10), 10),
    }
    assert table.corrections == (Corrections(raised=2, lowered=1), Corrections())


def test_a_ruling_that_changes_no_worth_is_upheld() -> None:
    table = overridden(two(), (0, 0, "correct"), (1, 9, "incorrect"), (0, 9, "incorrect"))
    assert table.corrections == (Corrections(upheld=2), Corrections(upheld=1))
    assert accuracies(table)["lab/one"][0] == pytest.approx(6 / 10)


def test_void_leaves_the_item_out_for_all() -> None:
    """Item 0, which both had right, is void for two: 5 of 9 and 3 of 9 are compared."""
    table = overridden(two(), (1, 0, "invalidated"))
    assert accuracies(table) == {
        "lab/one": (pytest.approx(5 / 9), 9),
        "lab/two": (pytest.approx(3 / 9), 9),
    }
    (group,) = leaderboard(table, MEASURES, "accuracy").standings
    assert not group.incomplete
    assert [row.n_responses for row in group.ranked] == [10, 9]


def test_a_void_sample_leaves_the_item_to_the_others() -> None:
    """Two samples, right and wrong: with the wrong one void the item is worth 1."""
    rows: list[Row] = [(0, 0, 0, "answered", 1.0), (0, 0, 1, "answered", 0.0)]
    table = table_of([ONE], rows, n_units=1, expected=[2])
    assert accuracies(table)["lab/one"][0] == pytest.approx((1 + 0) / 2)
    assert accuracies(overridden(table, (0, 0, "invalidated"), sample=1)) == {"lab/one": (1.0, 1)}


def test_all_void_leaves_nothing_to_compare() -> None:
    """No figure is made up, and nobody falls over."""
    table = overridden(two(), *((0, unit, "invalidated") for unit in range(10)))
    (group,) = leaderboard(table, MEASURES, "accuracy").standings
    assert [row.name for row in group.ranked] == ["lab/two"]
    assert [row.name for row in group.incomplete] == ["lab/one"]
    assert group.ranked[0].estimate.n == 10
    assert group.incomplete[0].missing == 0


def test_a_ruling_over_a_reply_that_is_not_here_does_nothing() -> None:
    table = two()
    assert (
        apply_overrides(table, [TableOverride(0, b"elsewhere", 0, "invalidated")], ACCURACY)
        is table
    )
    assert (
        apply_overrides(table, [TableOverride(0, table.items[0], 5, "invalidated")], ACCURACY)
        is table
    )
    assert apply_overrides(table, [], ACCURACY) is table


def test_the_table_that_was_handed_in_stays() -> None:
    """Both leaderboards can be shown, whatever order they are asked for in."""
    table = two()
    before = accuracies(table)
    overridden(table, (0, 0, "incorrect"), (1, 1, "invalidated"))
    assert accuracies(table) == before


def test_left_out_items_take_rows_strata_edges_and_roles_along() -> None:
    """Of 40 items every third is retired: what is left agrees, item by item."""
    roles = (HeldRole("wrote", "x", np.arange(0, 40, 2, dtype=np.int32)),)
    table = replace(mixed(), roles=roles)
    gone = set(table.items[::3])
    left = leave_out(table, gone)
    kept = [unit for unit in range(40) if unit % 3]
    assert left.items == tuple(table.items[unit] for unit in kept)
    assert len(left.unit) == sum(table.unit[row] % 3 > 0 for row in range(len(table.unit)))
    names = table.stratum_names["discipline"]
    old = {table.items[u]: names[c] for u, c in enumerate(table.strata["discipline"])}
    new = {left.items[u]: names[c] for u, c in enumerate(left.strata["discipline"])}
    assert new == {item: old[item] for item in left.items}
    edges = {
        (left.items[u], int(k)) for u, k in zip(left.cluster_unit, left.cluster_key, strict=True)
    }
    assert edges == {(table.items[u], u // 2) for u in kept}
    touched = {left.items[unit] for unit in left.roles[0].units.tolist()}
    assert touched == {table.items[unit] for unit in kept if unit % 2 == 0}
    worth = {
        (left.items[u], int(r)): float(v)
        for u, r, v in zip(left.unit, left.respondent, left.value, strict=True)
    }
    for unit, who, value in zip(table.unit, table.respondent, table.value, strict=True):
        if unit % 3:
            assert worth[table.items[unit], int(who)] == pytest.approx(float(value), nan_ok=True)


def test_nothing_left_out_is_the_same_table() -> None:
    table = two()
    assert leave_out(table, set()) is table


@given(
    st.lists(
        st.tuples(
            st.integers(0, 1),
            st.integers(0, 9),
            st.sampled_from(["correct", "incorrect", "invalidated"]),
        ),
        max_size=12,
    )
)
def test_rulings_agree_with_a_slow_count(overrides: list[tuple[int, int, Verdict]]) -> None:
    """Any rulings, a later one over the same reply winning: each respondent's own accuracy and
    counts are those of a loop over its replies."""
    table = two()
    worth = {(0, i): float(i < 6) for i in range(10)} | {(1, i): float(i < 4) for i in range(10)}
    newest = {(who, unit): verdict for who, unit, verdict in overrides}
    counts = {who: {"raised": 0, "lowered": 0, "upheld": 0, "invalidated": 0} for who in (0, 1)}
    for (who, unit), verdict in newest.items():
        before = worth.pop((who, unit))
        if verdict == "invalidated":
            counts[who]["invalidated"] += 1
            continue
        after = worth[who, unit] = float(verdict == "correct")
        kind = "raised" if after > before else "lowered" if after < before else "upheld"
        counts[who][kind] += 1
    changed = overridden(table, *overrides)
    if newest:
        assert changed.corrections == tuple(Corrections(**counts[who]) for who in (0, 1))
    for who in (0, 1):
        rows = changed.respondent == who
        own = [value for (respondent, _unit), value in worth.items() if respondent == who]
        assert np.nan_to_num(changed.value[rows]).sum() == sum(own)
        assert rows.sum() == len(own) == changed.expected[who]


def test_the_terminal_counts_rulings_by_model_and_says_what_is_left_out() -> None:
    """Also the model that nobody ruled on: who is ruled on more often must be seen."""
    table = overridden(two(), (0, 9, "correct"), (0, 0, "incorrect"), (0, 1, "invalidated"))
    text = render_terminal(leaderboard(replace(table, n_excluded=2), MEASURES, "accuracy"))
    assert (
        "overrides          ruled on  responses  raised  lowered  upheld  invalidated\n"
        "lab/one    direct         3         10       1        1       0            1\n"
        "lab/two    direct         0         10       0        0       0            0\n"
    ) in text
    assert (
        "2 items are excluded.\n"
        "1 response is invalidated. "
        "An item invalidated for one model is left out for all: 1 of 10 items.\n"
        "As people corrected it; before any correction: --ignore-corrections.\n"
    ) in text


def test_without_corrections_nothing_is_said_of_them() -> None:
    text = render_terminal(leaderboard(two(), MEASURES, "accuracy"))
    assert "rul" not in text.replace("rule", "")
    assert "excluded" not in text


def test_a_ruling_holds_for_each_part_of_a_reply() -> None:
    """Two statements of each of two questions, true and false in turn. Of the first question one
    is read wrong and one not at all: ruled correct both are right, and what was said follows."""
    measure = structs.replace(ACCURACY, unit="part")
    rows: list[Row] = [
        (0, 0, 0, "answered", 0.0), (1, 0, 0, "unparsed", None),
        (2, 0, 0, "answered", 1.0), (3, 0, 0, "answered", 1.0),
    ]  # fmt: skip
    table = table_of([ONE], rows, n_units=4, expected=[0])
    table = replace(
        table, items=(b"a", b"a", b"b", b"b"), answer_key=np.array([0, 1, 0, 1], dtype=np.int32),
        answer_keys=("true", "false"), answers=("", "false", "true"),
        answer=np.array([1, 0, 2, 1], dtype=np.int32),
    )  # fmt: skip

    def told(verdict: Verdict, item: bytes) -> tuple[list[float], list[str]]:
        made = apply_overrides(table, [TableOverride(0, item, 0, verdict)], measure)
        return made.value.tolist(), [made.answers[code] for code in made.answer.tolist()]

    assert told("correct", b"a") == ([1, 1, 1, 1], ["true", "false", "true", "false"])
    assert told("incorrect", b"b")[1][2:] == ["false", "true"]
    invalidated = apply_overrides(table, [TableOverride(0, b"b", 0, "invalidated")], measure)
    assert (len(invalidated.value), invalidated.expected.tolist()) == (2, [0])


def test_a_ruled_choice_is_what_the_ruling_makes_it() -> None:
    """The right letter, where it was ruled correct; where it was right and ruled incorrect, none
    that is known; else as it was read."""
    table = two()
    table = replace(
        table, answers=("", "A", "B", "C", "D"), answer=table.answer_key[table.unit] + 1
    )
    made = overridden(table, (0, 8, "correct"), (0, 0, "incorrect"), (1, 9, "invalidated"))
    read = {
        (int(who), int(unit)): made.answers[code]
        for who, unit, code in zip(made.respondent, made.unit, made.answer, strict=True)
    }
    assert (read[0, 8], read[0, 0], read[0, 1]) == ("A", "", "B")
    assert (1, 9) not in read
