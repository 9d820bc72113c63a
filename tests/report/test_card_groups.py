"""Leaderboards grouped, filtered and shown by the models' cards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up import MEASURES, mixed, right_of, table_of

from proofstone.errors import BadUsage
from proofstone.records.models import Card, card_line
from proofstone.records.scores import Respondent, ScoreTable
from proofstone.results.board import LeftOut
from proofstone.results.board_text import Leaderboard, render_terminal
from proofstone.results.cards import (
    GROUP_FIELDS,
    UNKNOWN,
    card_value,
    group_order,
    matches,
    read_columns,
    read_where,
)
from proofstone.results.rankings import leaderboard

SMALL = Card(lab="Acme", kind="chat", openness="open weights", total_parameters_b=2)
LARGE = Card(
    lab="Zeta", family="Big", kind="reasoning", openness="closed", license="own",
    total_parameters_b=400, active_parameters_b=30, architecture="mixture", released="2026-01",
    languages=("en", "zh"),
)  # fmt: skip
OPEN = Card(lab="Acme", kind="chat", openness="fully open", total_parameters_b=12.5)


def four() -> ScoreTable:
    """Ten questions each: 9, 6, 4 right, and one without a card, 2 right."""
    who = [
        Respondent("zeta/big", "direct", card=LARGE),
        Respondent("acme/open", "direct", card=OPEN),
        Respondent("acme/small", "direct", card=SMALL),
        Respondent("me/nobody-knows", "direct"),
    ]
    rows = [row for r, right in enumerate((9, 6, 4, 2)) for row in right_of(10, right, r)]
    return table_of(who, rows, n_units=10)


def board(group_by: str = "", **options: object) -> Leaderboard:
    return leaderboard(four(), MEASURES, "accuracy", group_by=group_by, **options)  # type: ignore[arg-type]


def test_rows_stand_under_their_group_with_the_ranks_of_all() -> None:
    shown = render_terminal(board("kind"), card_columns=["lab", "parameters"], width=120)
    lines = [line.rstrip() for line in shown.splitlines()]
    headings = [line.partition(" (")[0] for line in lines if line.startswith("kind: ")]
    assert headings == ["kind: chat", "kind: reasoning", "kind: unknown"]
    names = [line.split()[1] for line in lines[1:8] if not line.startswith("kind: ")]
    assert names == ["acme/open", "acme/small", "zeta/big", "me/nobody-knows"]
    plain = {row.name: row.rank for group in board().standings for row in group.ranked}
    assert {r.name: r.rank for g in board("kind").standings for r in g.ranked} == plain


def test_a_groups_mean_is_over_its_respondents_on_the_common_items() -> None:
    (standing,) = board("kind").standings
    means = {group.name: group.mean for group in standing.groups}
    assert means["chat"] is not None
    assert means["reasoning"] is not None
    assert means["chat"].value == pytest.approx((0.6 + 0.4) / 2)
    assert means["reasoning"].value == pytest.approx(0.9)
    assert means["reasoning"] == standing.ranked[0].estimate


@pytest.mark.parametrize("field", GROUP_FIELDS)
def test_no_row_is_lost_whatever_the_field(field: str) -> None:
    """Every ranked and incomplete row stands in exactly one group, and one without a card under
    "unknown"."""
    grouped = leaderboard(mixed(), MEASURES, "accuracy", group_by=field)
    for standing in grouped.standings:
        ranked = sorted(place for group in standing.groups for place in group.ranked)
        short = sorted(place for group in standing.groups for place in group.incomplete)
        assert ranked == list(range(len(standing.ranked)))
        assert short == list(range(len(standing.incomplete)))
        assert [group.name for group in standing.groups] == [UNKNOWN]


def test_an_incomplete_row_says_its_group() -> None:
    table = mixed()
    carded = replace(
        table, respondents=tuple(replace(who, card=LARGE) for who in table.respondents)
    )
    shown = render_terminal(leaderboard(carded, MEASURES, "accuracy", group_by="kind"), width=140)
    (line,) = [line for line in shown.splitlines() if line.startswith("lab/unlucky")]
    assert line.startswith("lab/unlucky  direct  reasoning  30 of 40 responses")


def test_sizes_stand_from_small_to_large_and_the_unknown_last() -> None:
    (standing,) = board("size").standings
    assert [group.name for group in standing.groups] == [
        "1B to 3B", "10B to 40B", "100B and more", "unknown",
    ]  # fmt: skip


def test_the_filter_and_whom_it_left_out_are_said() -> None:
    shown = render_terminal(
        board(
            where="openness=open",
            left_out=(LeftOut(name="a/b", why="openness closed"),),
            notes=("c/d is retired",),
        )
    )
    assert "only openness=open; left out 1 model: a/b (openness closed)\nc/d is retired\n" in shown


@pytest.mark.parametrize(
    ("where", "fits"),
    [
        ("kind=reasoning", [LARGE]),
        ("kind=chat,lab=acme", [SMALL, OPEN]),
        ("kind=chat,kind=reasoning", [SMALL, LARGE, OPEN]),
        ("openness=open", [SMALL, OPEN]),
        ("openness=fully open", [OPEN]),
        ("size=1-12.5", [SMALL]),
        ("size=12.5-", [LARGE, OPEN]),
        ("size=-10b", [SMALL]),
        ("size=100B and more", [LARGE]),
        ("architecture=mixture", [LARGE]),
        ("released=2026", [LARGE]),
        ("language=zh", [LARGE]),
        ("language=unknown", [SMALL, OPEN, None]),
        ("family=unknown", [SMALL, OPEN, None]),
        ("kind=unknown", [None]),
        ("", [SMALL, LARGE, OPEN, None]),
    ],
)
def test_what_fits_a_filter(where: str, fits: list[Card | None]) -> None:
    conditions = read_where([where])
    assert [card for card in (SMALL, LARGE, OPEN, None) if matches(card, conditions)] == fits


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("kin=chat", "no field is 'kin'; did you mean 'kind'?"),
        ("kind=resoning", "no kind is 'resoning'; did you mean 'reasoning'?"),
        ("openness=public", "no openness is 'public'"),
        ("size=large", "no size is 'large'; there is: below 1B"),
        ("kind", "'kind' is not FIELD=VALUE"),
        ("kind=", "kind= has no value"),
        ("size=-", "no size is '-'"),
    ],
)
def test_a_filter_that_means_nothing_is_refused(where: str, says: str) -> None:
    with pytest.raises(BadUsage) as caught:
        read_where([where])
    assert says in caught.value.message


def test_every_mistake_of_a_filter_is_named() -> None:
    with pytest.raises(BadUsage) as caught:
        read_where(["kin=chat,kind=resoning", "size=large"])
    assert len(caught.value.message.splitlines()) == 3


def test_unknown_fields_to_group_or_show_are_refused_with_the_near_ones() -> None:
    with pytest.raises(BadUsage, match="did you mean 'openness'"):
        board("opennes")
    with pytest.raises(BadUsage, match="did you mean 'released'"):
        read_columns(["lab", "relased"])
    assert read_columns(["lab", "released", "lab"]) == ("lab", "released")


def test_a_card_on_one_line_says_what_is_known() -> None:
    assert card_line(LARGE) == (
        "Zeta Big, reasoning, closed, 400B, 30B active mixture, own, 2026-01"
    )
    assert card_line(Card()) == ""
    assert card_value(LARGE, "languages") == "en zh"


@given(st.floats(0.001, 10_000))
def test_every_size_has_one_class(total: float) -> None:
    """And the classes stand in the order of sizes."""
    name = card_value(Card(total_parameters_b=total), "size")
    twice = card_value(Card(total_parameters_b=2 * total), "size")
    assert name != UNKNOWN
    assert group_order("size", name) <= group_order("size", twice)


def test_means_follow_the_level_of_averaging() -> None:
    """Two disciplines, 25 and 15 questions, that count the same."""
    table = mixed()
    carded = replace(
        table, respondents=tuple(replace(who, card=LARGE) for who in table.respondents)
    )
    made = leaderboard(carded, MEASURES, "accuracy", level="discipline", group_by="kind")
    standing = made.standings[0]
    values = [row.estimate.value for row in standing.ranked]
    mean = standing.groups[0].mean
    assert mean is not None
    assert mean.value == pytest.approx(np.mean(values))
