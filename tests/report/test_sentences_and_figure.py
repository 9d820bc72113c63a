"""Computed sentences, and the geometry of the dot-and-interval figure."""

from __future__ import annotations

import math

import msgspec
import pytest
from made_up import ATTEMPTED, MEASURES, Row, right_of, table_of, two_small

from proofstone.page.section import shown_estimate, shown_interval, shown_rank, shown_share
from proofstone.records.runs import Estimate, Outcome
from proofstone.records.scores import Respondent
from proofstone.results.board import Standings
from proofstone.results.board_text import Leaderboard
from proofstone.results.page import dot_plot, render_page
from proofstone.results.page_layout import partial_lines
from proofstone.results.page_parts import PageData, Provenance
from proofstone.results.rankings import leaderboard
from proofstone.results.sentences import answer_sentences, chance_sentence, intervals_mixed
from proofstone.stats.ranks import RankInterval
from proofstone.wording.messages import counted, joined, say

NAN = math.nan
ABOVE, INSIDE, BELOW = (0.3, 0.5), (0.1, 0.3), (0.0, 0.1)


def estimates(*intervals: tuple[float, float]) -> list[Estimate]:
    return [Estimate(value=(low + high) / 2, n=9, low=low, high=high) for low, high in intervals]


@pytest.mark.parametrize(
    ("intervals", "sentence"),
    [
        ([INSIDE], "Chance lies inside the interval: this result does not show knowledge."),
        (
            [INSIDE] * 2,
            "Chance lies inside both intervals: these results do not show knowledge.",
        ),
        (
            [INSIDE] * 3,
            "Chance lies inside all 3 intervals: these results do not show knowledge.",
        ),
        ([ABOVE], "The interval lies above chance."),
        ([ABOVE] * 2, "Both intervals lie above chance."),
        ([BELOW], "The interval lies below chance."),
        ([BELOW] * 4, "All 4 intervals lie below chance."),
        ([ABOVE, BELOW], "1 of 2 intervals lies above chance and 1 below chance."),
        (
            [ABOVE, ABOVE, INSIDE, BELOW],
            "2 of 4 intervals lie above chance, 1 around chance and 1 below chance: what lies "
            "around chance does not show knowledge.",
        ),
        ([], ""),
        ([(NAN, NAN)], ""),
    ],
)
def test_the_chance_sentence(intervals: list[tuple[float, float]], sentence: str) -> None:
    assert chance_sentence(0.2, estimates(*intervals)) == sentence


@pytest.mark.parametrize(
    ("intervals", "is_said"), [([BELOW], True), ([ABOVE, BELOW], True), ([INSIDE, ABOVE], False)]
)
def test_below_chance_it_is_said_what_unread_replies_count(
    intervals: list[tuple[float, float]], is_said: bool
) -> None:
    """Guessing always answers: who lies below it may only not have been read."""
    sentence = chance_sentence(0.2, estimates(*intervals), unread_are_wrong=True)
    plain = chance_sentence(0.2, estimates(*intervals))
    more = " Unparsed, truncated and refused responses count as wrong." if is_said else ""
    assert sentence == plain + more


def test_only_replies_without_an_answer_are_spoken_of() -> None:
    """100 questions of five options, 1 right: the others wrong, or half of them unparsed."""
    unread: tuple[Outcome, ...] = ("unparsed",) * 50
    for outcomes, measures, said in (
        ((), MEASURES, False),
        (unread, MEASURES, True),
        (unread, (ATTEMPTED,), False),
    ):
        table = table_of([Respondent("m", "")], right_of(100, 1, 0, outcomes), n_units=100)
        group = leaderboard(table, measures, measures[0].name).standings[0]
        assert ("count as wrong" in group.chance_sentence) is said


def test_without_chance_there_is_no_sentence() -> None:
    assert chance_sentence(NAN, estimates(ABOVE)) == ""


def board_of(rights: list[int], n: int = 100) -> Leaderboard:
    rows = [row for r, right in enumerate(rights) for row in right_of(n, right, r)]
    table = table_of([Respondent(f"m{r}", "direct") for r in range(len(rights))], rows, n_units=n)
    return leaderboard(table, MEASURES, "accuracy")


def group_of(rights: list[int], n: int = 100) -> Standings:
    return board_of(rights, n).standings[0]


def answer_of(rights: list[int]) -> str:
    board = leaderboard(two_small(), MEASURES, "accuracy")
    return answer_sentences(msgspec.structs.replace(board, standings=(group_of(rights),)))[0]


def test_a_clear_winner_is_named_as_one() -> None:
    assert answer_of([20, 90]) == (
        "m1 leads with 90.0%, 70.0 points ahead of m0; the difference is statistically significant."
    )
    assert answer_of([20, 90, 5]) == (
        "m1 leads with 90.0%, 70.0 points ahead of m0; its lead over every other "
        "model is statistically significant."
    )


def test_a_first_rank_shared_with_some_says_with_how_many() -> None:
    assert answer_of([50, 51, 5]) == (
        "m1 has the highest score (51.0%, 1.0 points above m0); 1 model is "
        "statistically tied with it."
    )
    assert answer_of([50, 51, 52]).endswith("; all other models are statistically tied with it.")


def test_respondents_of_one_score_are_named_together() -> None:
    """None of them scores highest alone; the rank interval says who else is open."""
    assert answer_of([9, 9]) == ("m0 and m1 have the same score (9.0%).")
    assert answer_of([9, 9, 8]).endswith("; 1 other model is statistically tied with m0.")
    assert answer_of([9, 9, 9, 9, 1]).startswith("4 models share the highest score (9.0%)")


def test_a_single_respondent_is_not_called_highest() -> None:
    assert answer_of([9]) == (
        "m0 scores 9.0% [4.8, 16.2] on 100 items. It is the only ranked model."
    )


def test_respondents_without_common_items_are_not_compared_in_words() -> None:
    rows: list[Row] = [(i, i // 2, 0, "answered", 1.0) for i in range(4)]
    table = table_of([Respondent("a", ""), Respondent("b", "")], rows, n_units=4, expected=[2, 2])
    assert answer_sentences(leaderboard(table, MEASURES, "accuracy")) == (
        "The 2 models share no item, so they are not ranked.",
    )


def test_intervals_of_two_kinds_are_announced_with_their_numbers_of_models() -> None:
    """Near 0% and 100% an interval is exact; the kinds are counted again from the rows."""
    assert intervals_mixed(group_of([50, 60])) == ""
    group = group_of([100, 99, 50, 60, 40])
    exact = sum(row.estimate.made_by.startswith("Clopper") for row in group.ranked)
    assert exact == 2
    said = "Intervals are made in 2 ways: Clopper-Pearson for 2 models and Wilson for 3 models."
    assert intervals_mixed(group) == said
    page = PageData(
        title="page",
        board=board_of([100, 99, 50, 60, 40]),
        provenance=Provenance(version="0", made_at="now"),
    )
    assert said in render_page(page)


def test_incomplete_ones_are_counted_at_the_top() -> None:
    table = table_of([Respondent(name, "") for name in "abc"], right_of(4, 2, 0), n_units=4)
    board = leaderboard(table, MEASURES, "accuracy")
    data = PageData(title="t", board=board, provenance=Provenance(version="1", made_at="now"))
    assert list(partial_lines(data)) == [
        "Partial run: scores of 2 of 3 models are missing. They are not ranked."
    ]


def test_words_and_numbers() -> None:
    assert [joined(words) for words in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]
    assert [counted(1, "item"), counted(5038, "item"), counted(2, "response", "responses")] == [
        "1 item",
        "5,038 items",
        "2 responses",
    ]
    assert shown_interval(0.079, 0.261) == "[7.9, 26.1]"
    assert shown_interval(NAN, NAN) == shown_share(NAN) == shown_rank(None) == "\N{EM DASH}"
    assert shown_estimate(Estimate(value=NAN, n=0, low=NAN, high=NAN)) == "\N{EM DASH}"
    assert [shown_rank(RankInterval(2, 2)), shown_rank(RankInterval(1, 3))] == ["2", "1-3"]


# ------------------------------------------------------------ the figure


def test_the_axis_holds_all_intervals_and_chance_in_tenths() -> None:
    """Intervals 10.6 to 29.9 and 8.1 to 26.1 of 100: an axis from 0 to 30, 96% of its width."""
    plot = dot_plot(leaderboard(two_small(), MEASURES, "accuracy").standings[0])
    assert plot is not None
    assert [(tick.x, tick.text) for tick in plot.ticks] == [
        (2.0, "0"),
        (34.0, "10"),
        (66.0, "20"),
        (98.0, "30"),
    ]
    assert plot.chance is not None
    assert (plot.chance.x, plot.chance.text, plot.chance.anchor) == (66.0, "chance 20.0", "middle")
    assert plot.dots[0].x == round(2 + 96 * (11 / 60) / 0.3, 2)
    assert plot.dots[0].low < plot.dots[0].x < plot.dots[0].high


@pytest.mark.parametrize(
    ("interval", "ticks"),
    [
        ((0.0, 0.05), ["0", "5", "10"]),
        ((0.3, 0.3), ["30", "35", "40"]),
        ((0.0, 1.0), ["0", "20", "40", "60", "80", "100"]),
        ((0.15, 0.72), ["10", "30", "50", "70"]),
    ],
)
def test_there_are_a_few_round_ticks(interval: tuple[float, float], ticks: list[str]) -> None:
    group = group_of([50])
    (row,) = group.ranked
    (estimate,) = estimates(interval)
    row = msgspec.structs.replace(row, estimate=estimate)
    plot = dot_plot(msgspec.structs.replace(group, ranked=(row,), chance=NAN))
    assert plot is not None
    assert plot.chance is None
    assert [tick.text for tick in plot.ticks] == ticks


@pytest.mark.parametrize(("chance", "anchor"), [(0.0, "start"), (0.5, "middle"), (1.0, "end")])
def test_the_chance_label_stays_inside(chance: float, anchor: str) -> None:
    group = group_of([0, 100])
    plot = dot_plot(msgspec.structs.replace(group, chance=chance))
    assert plot is not None
    assert plot.chance is not None
    assert plot.chance.anchor == anchor


def test_without_an_interval_there_is_no_figure() -> None:
    table = table_of([Respondent("m", "")], [], n_units=0, expected=[0])
    assert dot_plot(leaderboard(table, MEASURES, "accuracy").standings[0]) is None


def test_what_rounds_to_zero_has_no_sign() -> None:
    """In numbers, in differences and in sentences: -0.04 points are 0.0 and not -0.0."""
    assert shown_interval(-0.0004, 0.167) == "[0.0, 16.7]"
    assert (shown_share(-0.0004), shown_share(-0.0006)) == ("0.0%", "-0.1%")
    assert say("{x:+.1f} {y:.2f} {z:.1f}", x=-0.04, y=-0.0, z=-0.06) == "+0.0 0.00 -0.1"
    assert say("{x:.1f}", x=-math.inf) == "-inf"
