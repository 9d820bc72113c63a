"""A score table becomes a leaderboard: who is ranked, on what, and what is said beside it."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from made_up import ACCURACY, MEASURES, Row, mixed, right_of, table_of, two_small

from proofstone.errors import BadUsage
from proofstone.records.runs import Measure
from proofstone.records.scores import HeldRole, Respondent, ScoreTable
from proofstone.results.board import BoardRow, board_rows
from proofstone.results.board_text import Leaderboard, render_terminal, to_json
from proofstone.results.page import render_page
from proofstone.results.page_parts import PageData, Provenance
from proofstone.results.rankings import leaderboard
from proofstone.stats.ranks import RankInterval


def board_of(table: ScoreTable, **how: str) -> Leaderboard:
    return leaderboard(table, MEASURES, "accuracy", **how)  # type: ignore[arg-type]


def rows_by_name(board: Leaderboard) -> dict[str, BoardRow]:
    rows = [row for group in board.standings for row in (*group.ranked, *group.incomplete)]
    return {row.label: row for row in rows}


def test_rows_are_sorted_by_estimate_with_their_rates() -> None:
    (group,) = board_of(two_small()).standings
    assert [row.prompt_method for row in group.ranked] == ["cot", "direct"]
    cot = group.ranked[0]
    assert cot.estimate.value == pytest.approx(11 / 60)
    assert (cot.rate("truncated").count, cot.rate("unparsed").count) == (4, 7)
    assert cot.rate("no answer").share == pytest.approx((4 + 7) / 60)
    assert cot.rate("refused").n == 60
    assert group.n_items == 60


def test_more_than_two_in_a_hundred_truncated_or_unparsed_warns_with_what_to_try() -> None:
    rows = rows_by_name(board_of(two_small()))
    assert [advice.what for advice in rows["smollm2-135m cot"].warnings] == [
        "6.7% truncated (4 of 60)",
        "11.7% unparsed (7 of 60)",
    ]
    assert "--max-tokens" in rows["smollm2-135m cot"].warnings[0].try_next
    at_two_in_a_hundred = table_of(
        [Respondent("m", "direct")], right_of(50, 9, 0, ["unparsed"]), n_units=50
    )
    assert rows_by_name(board_of(at_two_in_a_hundred))["m"].warnings == ()


def test_misses_count_as_wrong_and_the_other_measures_say_otherwise() -> None:
    """9 right of 60 replies; 9 of the 58 that gave an answer."""
    direct = rows_by_name(board_of(two_small()))["smollm2-135m direct"]
    others = {other.name: other for other in direct.others}
    assert direct.estimate.value == pytest.approx(9 / 60)
    assert others["no answer"].estimate.value == pytest.approx(2 / 60)
    assert others["accuracy of attempted"].estimate.value == pytest.approx(9 / 58)
    assert others["accuracy of attempted"].denominator == "answered replies"


def test_what_each_outcome_counts_as_is_a_table() -> None:
    assert board_of(two_small()).counts == (
        ("answered", "its score"),
        ("refused", "0"),
        ("unparsed", "0"),
        ("truncated", "0"),
        ("failed", "not counted; asked again, and the run is incomplete until it succeeds"),
    )
    attempted = leaderboard(two_small(), MEASURES, "accuracy of attempted")
    assert dict(attempted.counts)["refused"] == "not counted"


def test_simulated_respondents_never_stand_among_real_ones() -> None:
    real, simulated = board_of(mixed()).standings
    assert (real.simulated, simulated.simulated) == (False, True)
    assert [row.name for row in simulated.ranked] == ["sim/guesser?ability=0.6"]
    assert not any(row.simulated for row in (*real.ranked, *real.incomplete))
    assert simulated.ranked[0].rank == RankInterval(1, 1)


def test_simulated_ones_alone_make_a_simulated_board() -> None:
    table = table_of([Respondent("sim/x", "direct", simulated=True)], right_of(4, 2, 0), n_units=4)
    assert board_of(table).is_simulated_only
    assert not board_of(mixed()).is_simulated_only


def test_an_incomplete_respondent_stands_below_with_bounds() -> None:
    """30 of 40 replies, 15 right, 1 failed call: 15 / 40 to 25 / 40."""
    real = board_of(mixed()).standings[0]
    assert [row.name for row in real.ranked] == ["lab/large", "lab/小模型"]
    (row,) = real.incomplete
    assert (row.name, row.rank, row.is_complete) == ("lab/unlucky", None, False)
    assert (row.n_responses, row.failed, row.missing) == (30, 1, 10)
    assert row.bounds is not None
    assert (row.bounds.low, row.bounds.high) == (15 / 40, 25 / 40)
    assert row.estimate.n == 30
    assert real.n_items == 40


def test_a_failed_call_is_no_score_and_keeps_a_run_incomplete() -> None:
    rows = right_of(10, 10, 0)
    rows[0] = (0, 0, 0, "failed", None)
    (group,) = board_of(table_of([Respondent("m", "direct")], rows, n_units=10)).standings
    assert group.ranked == ()
    assert group.incomplete[0].estimate.value == 1.0
    bounds = group.incomplete[0].bounds
    assert bounds is not None
    assert (bounds.low, bounds.high) == (9 / 10, 10 / 10)


def test_the_headline_is_over_the_items_that_all_complete_ones_have() -> None:
    """One has items 0-9, the other 5-14; both right on the five common ones but for one."""
    rows = right_of(10, 9, 0)
    rows += [(i, 1, 0, "answered", 1.0) for i in range(5, 15)]
    table = table_of(
        [Respondent("a", "direct"), Respondent("b", "direct")],
        rows,
        n_units=15,
        expected=[10, 10],
    )
    (group,) = board_of(table).standings
    assert group.n_items == 5
    assert [(row.name, row.estimate.value) for row in group.ranked] == [("b", 1.0), ("a", 4 / 5)]


def test_respondents_without_a_common_item_are_not_ranked() -> None:
    other: list[Row] = [(i, 1, 0, "answered", 1.0) for i in range(5, 10)]
    rows = right_of(5, 2, 0) + other
    table = table_of(
        [Respondent("a", "direct"), Respondent("b", "direct")], rows, n_units=10, expected=[5, 5]
    )
    (group,) = board_of(table).standings
    assert not group.is_common
    assert [(row.name, row.estimate.n, row.rank) for row in group.ranked] == [
        ("b", 5, None),
        ("a", 5, None),
    ]
    assert group.chance_sentence == ""


def test_both_estimands_stand_on_each_row_and_one_is_chosen() -> None:
    knowledge = board_of(mixed()).standings[0].ranked[0]
    bank = board_of(mixed(), population="bank").standings[0].ranked[0]
    assert knowledge.estimate == knowledge.knowledge == bank.knowledge
    assert bank.estimate == bank.bank == knowledge.bank
    assert bank.bank.low > knowledge.knowledge.low


def test_a_level_averages_its_groups() -> None:
    """Discipline-wise is the mean of the two disciplines' means, 25 and 15 items."""
    board = board_of(mixed(), level="discipline")
    row = board.standings[0].ranked[0]
    groups = {g.name: g for g in board.standings[0].breakdowns[0].groups}
    assert (groups["Science"].n, groups["History"].n) == (25, 15)
    mean = (groups["Science"].estimates[0].value + groups["History"].estimates[0].value) / 2
    assert row.estimate.value == pytest.approx(mean)
    assert [level.name for level in row.levels] == ["sample", "discipline"]


def test_breakdowns_are_by_levels_that_tell_items_apart_and_by_gold_position() -> None:
    group = board_of(mixed()).standings[0]
    assert [part.by for part in group.breakdowns] == ["discipline", "answer key position"]
    position = group.breakdowns[1]
    assert [(each.name, each.n) for each in position.groups] == [(p, 10) for p in "ABCD"]
    assert all(len(each.estimates) == len(group.ranked) for each in position.groups)


def test_items_without_gold_or_options_have_no_chance_and_no_positions() -> None:
    table = dataclasses.replace(
        two_small(), answer_keys=("",), answer_key=np.zeros(60, dtype=np.int32)
    )
    table = dataclasses.replace(table, n_options=np.zeros(60, dtype=np.int32))
    (group,) = board_of(table).standings
    assert group.breakdowns == ()
    assert math.isnan(group.chance)
    assert group.chance_sentence == ""


def test_the_unnamed_group_of_a_level_is_shown_as_such() -> None:
    table = mixed()
    names = {**table.stratum_names, "discipline": ("", "Science")}
    part = board_of(dataclasses.replace(table, stratum_names=names)).standings[0].breakdowns[0]
    assert [each.name for each in part.groups] == ["(not given)", "Science"]


def test_samples_of_an_item_are_one_unit_and_give_avg_at_k() -> None:
    """Two samples of four items: 3 and 1 right; mean 1/2, SD (3/4 - 1/4) / sqrt(2)."""
    rows: list[Row] = [
        (i, 0, k, "answered", float(i < right)) for k, right in ((0, 3), (1, 1)) for i in range(4)
    ]
    table = table_of([Respondent("m", "direct")], rows, n_units=4, expected=[8])
    row = board_of(table).standings[0].ranked[0]
    assert (row.estimate.n, row.estimate.value) == (4, 0.5)
    assert row.average is not None
    assert (row.average.k, row.average.by_sample) == (2, (3 / 4, 1 / 4))
    assert row.average.sd == pytest.approx((3 / 4 - 1 / 4) / math.sqrt(2))


def test_equal_scores_are_in_the_order_of_their_names() -> None:
    rows = [row for r in range(3) for row in right_of(6, 3, r)]
    table = table_of([Respondent(name, "direct") for name in "cab"], rows, n_units=6)
    (group,) = board_of(table).standings
    assert [row.name for row in group.ranked] == ["a", "b", "c"]
    assert group.ties == ((0, 2),)
    assert {row.ties for row in group.ranked} == {(0,)}
    assert {row.rank for row in group.ranked} == {RankInterval(1, 3)}


@pytest.mark.parametrize("right", [0, 1])
def test_one_item_is_answered(right: int) -> None:
    table = table_of([Respondent("m", "direct")], right_of(1, right, 0), n_units=1)
    row = board_of(table).standings[0].ranked[0]
    assert row.estimate.value == right
    assert 0 <= row.estimate.low <= right <= row.estimate.high <= 1


def test_a_respondent_without_scores_is_answered() -> None:
    table = table_of([Respondent("m", "direct")], [], n_units=3)
    (group,) = board_of(table).standings
    assert group.incomplete[0].bounds is not None
    assert group.incomplete[0].bounds.high == 1.0
    assert math.isnan(group.incomplete[0].estimate.value)
    assert math.isnan(group.incomplete[0].rate("no answer").share)


def test_no_respondent_and_no_item_are_answered() -> None:
    assert board_of(table_of([], [], n_units=0)).standings == ()
    nothing = table_of([Respondent("m", "direct")], [], n_units=0, expected=[0])
    assert board_of(nothing).standings[0].incomplete[0].name == "m"


@pytest.mark.parametrize(
    ("how", "message", "hint"),
    [
        (
            {"headline": "acuracy"},
            "no measure 'acuracy'",
            "accuracy, no answer, accuracy of attempted",
        ),
        ({"population": "all"}, "no estimand 'all'", "bank, domain"),
        ({"level": "book"}, "cannot be averaged by 'book'", "sample, discipline"),
        ({"confidence": 95.0}, "a confidence of 95 is none", "0.95"),
    ],
)
def test_a_wrong_choice_names_the_right_ones(how: dict[str, str], message: str, hint: str) -> None:
    with pytest.raises(BadUsage, match=message) as caught:
        leaderboard(mixed(), MEASURES, **{"headline": "accuracy", **how})  # type: ignore[arg-type]
    assert hint in caught.value.hint


def test_no_measures_at_all_are_refused() -> None:
    with pytest.raises(BadUsage, match="no measure") as caught:
        leaderboard(mixed(), (), "accuracy")
    assert caught.value.hint == "measures: none"


def test_a_measure_may_give_points_for_an_outcome() -> None:
    """Half a point for each of 2 unparsed: (9 + 1) / 60."""
    kind = Measure(
        name="kind", of="correct", counts={**ACCURACY.counts, "unparsed": 0.5}, denominator="all"
    )
    rows = rows_by_name(leaderboard(two_small(), [kind], "kind"))
    assert rows["smollm2-135m direct"].estimate.value == pytest.approx((9 + 2 * 0.5) / 60)


def test_models_that_different_judges_graded_are_ranked_apart() -> None:
    """Two by one judge, one by another, and one that was never scored: each ranking has one judge,
    which its heading and its rows name; the unscored one stands with the judge of most."""
    who = [
        Respondent("lab/a", "direct", judge="j/one"),
        Respondent("lab/b", "direct", judge="j/two"),
        Respondent("lab/c", "direct", judge="j/one"),
        Respondent("lab/d", "direct"),
    ]
    rows = [row for place in range(3) for row in right_of(20, 6 + 4 * place, place)]
    table = table_of(who, rows, n_units=20, expected=[20] * 4)
    board = leaderboard(table, MEASURES, "accuracy")
    assert [
        (group.judge, [row.name for row in group.ranked], [row.name for row in group.incomplete])
        for group in board.standings
    ] == [("j/one", ["lab/c", "lab/a"], ["lab/d"]), ("j/two", ["lab/b"], [])]
    assert [row.judge for group in board.standings for row in group.ranked] == [
        "j/one", "j/one", "j/two",
    ]  # fmt: skip
    shown = render_terminal(board)
    assert (
        "graded by j/two, ranked separately: judges differ, so the scores are not comparable."
        in shown
    )
    assert '"judge": "j/two"' in to_json(board)
    assert board_rows(board)[0]["judge"] == "j/one"
    page = render_page(
        PageData(board=board, title="t", provenance=Provenance(version="1", made_at="now"))
    )
    assert '<th scope="col">judge</th>' in page
    assert "graded by j/two" in page


def test_one_judge_is_named_once() -> None:
    """Below the table; nothing is ranked separately."""
    who = [Respondent(f"lab/{name}", "direct", judge="j/one") for name in "ab"]
    rows = [row for place in range(2) for row in right_of(20, 6 + 4 * place, place)]
    board = leaderboard(table_of(who, rows, n_units=20), MEASURES, "accuracy")
    assert [group.judge for group in board.standings] == [None]
    assert render_terminal(board).count("graded by j/one\n") == 1


def test_experiments_have_no_ranks_and_no_part_in_what_is_ranked() -> None:
    """Two models, and two other settings of one: the ranking is that of the two models; the
    experiments stand below by their scores, also with its own work in the items left out."""
    self_evaluation = ((0, True),)
    who = [
        Respondent("lab/a", "direct"),
        Respondent("lab/b", "direct", roles_held=self_evaluation),
        Respondent("lab/b", "direct", "effort=low", roles_held=self_evaluation, experiment=True),
        Respondent("lab/b", "direct", "effort=high", roles_held=self_evaluation, experiment=True),
    ]
    rows = [row for place in range(4) for row in right_of(20, 6 + 4 * place, place)]
    wrote = HeldRole("wrote", "lab/b", np.arange(4, dtype=np.int32))
    table = dataclasses.replace(table_of(who, rows, n_units=20), roles=(wrote,))
    board = board_of(table)
    ranked, others = board.standings
    alone = dataclasses.replace(table_of(who[:2], rows[:40], n_units=20), roles=(wrote,))
    own = repr(board_of(alone).standings[0])
    # Alone, no other model has another setting.
    assert repr(ranked) == own.replace("is_setting_shared=True", "is_setting_shared=False")
    assert others.experiment
    assert (others.compared, others.ties) == ((), ())
    assert [(row.settings, row.rank, row.ties) for row in others.ranked] == [
        ("effort=high", None, ()), ("effort=low", None, ()),
    ]  # fmt: skip
    for row, n_right in zip(others.ranked, (18, 14), strict=True):
        assert row.estimate.value == pytest.approx(n_right / 20)
        assert row.self_evaluation is not None
        assert row.self_evaluation.rank is None
        assert row.self_evaluation.untouched.value == pytest.approx((n_right - 4) / 16)
    assert [row["experiment"] for row in board_rows(board)] == [False, False, True, True]
