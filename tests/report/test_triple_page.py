"""What a page of verified triples says, computed from models of known skill."""

from __future__ import annotations

from functools import cache

import pytest
from msgspec import structs

from proofstone.methods.bequ.records import Group
from proofstone.methods.bequ.report.board import TripleBoard, TripleRow
from proofstone.methods.bequ.report.findings import (
    answer_of,
    counted_rows,
    extreme_of,
    findings_of,
    is_above,
    partial_notes,
    shown_range,
)
from proofstone.methods.bequ.report.page import TriplePage, render_triple_page
from proofstone.methods.bequ.report.sections import (
    frontier,
    plane_section,
    rows_together,
    standing_table,
    triple_sections,
)
from proofstone.records.models import Card
from proofstone.records.runs import Estimate
from proofstone.results.page_parts import Provenance
from proofstone.wording.messages import speaking
from report.made_up_triples import HOSTILE, TIERS, Skill, board_of, runs_of

MADE = Provenance(version="0.1.0", made_at="2026-11-21 02:30 UTC", runs=("run:2c1e",))
BOLD = Skill(model="bold", right=(0.8, 0.3), said=(0.5, 0.2), nonexistent_given=9)
TWIN = Skill(model="twin", right=(0.8, 0.3), said=(0.5, 0.2), nonexistent_given=0)
WEAK = Skill(model="weak", right=(0.2, 0.1), said=(0.2, 0.1), nonexistent_given=0)


@cache
def board(*skills: Skill) -> TripleBoard:
    return board_of(skills, runs_of(skills, seed=3))


def page(shown: TripleBoard) -> str:
    return render_triple_page(
        TriplePage(
            title="random",
            board=shown,
            provenance=MADE,
            answers=answer_of(shown),
            findings=findings_of(shown),
            sections=triple_sections(shown),
        )
    )


def estimate(value: float, half: float, groups: float = 100.0) -> Estimate:
    return Estimate(value=value, n=100, low=value - half, high=value + half, effective_n=groups)


@pytest.mark.parametrize(
    ("first", "second", "comparisons", "bundled"),
    [
        (0.60, 0.40, 1, True),
        (0.40, 0.60, 1, False),
        (0.50, 0.36, 1, False),  # 0.14 is below the interval of a difference, 0.10 times root 2
        (0.50, 0.35, 1, True),
        (0.50, 0.35, 10, False),  # the widest of ten
    ],
)
def test_a_difference_is_carried_by_both_intervals(
    first: float, second: float, comparisons: int, bundled: bool
) -> None:
    """Half widths of 0.10: their difference has one of 0.1414."""
    assert is_above(estimate(first, 0.1), estimate(second, 0.1), comparisons) is bundled


def test_nothing_is_carried_without_intervals_or_by_one_group() -> None:
    assert not is_above(estimate(0.9, float("nan")), estimate(0.1, 0.01))
    assert not is_above(estimate(0.9, 0.01, groups=1.0), estimate(0.1, 0.01))


def test_the_answer_names_the_leader_and_whom_it_cannot_be_told_from() -> None:
    leader, made_of = answer_of(board(BOLD, TWIN, WEAK))
    assert leader.startswith("Of 3 models on 60 entities, ")
    assert leader.endswith(
        ("lead over twin is not significant.", "lead over bold is not significant.")
    )
    assert "It abstained on 3.3% of entities." in made_of  # 2 of 60


def test_a_model_alone_is_compared_with_nobody() -> None:
    (said, _made_of) = answer_of(board(BOLD))
    assert said.endswith("no other model is ranked.")
    assert findings_of(board(BOLD))[0] == (
        "bold: precision 54.6 [45.8, 63.6], recall 36.7 [29.2, 44.5]. The difference is "
        "significant."
    )


def test_before_anything_was_judged_the_page_says_so() -> None:
    empty = structs.replace(board(BOLD), rows=(), parts=(), ties=())
    assert answer_of(empty) == ("No triples have been verified yet, so there is no ranking.",)
    assert findings_of(empty) == ()
    assert triple_sections(empty) == ()
    assert "score the runs with a judge and a reference" in page(empty)


def test_rows_of_which_one_direction_was_not_judged_stand_unranked() -> None:
    whole = board(BOLD, WEAK)
    measured = structs.replace(
        whole.rows[1].measured,
        estimates={
            name: each
            for name, each in whole.rows[1].measured.estimates.items()
            if name in ("precision", "contradiction", "neutral")
        },
    )
    partial = structs.replace(whole.rows[1], measured=measured, rank=None, ties=(), waiting=240)
    shown = structs.replace(whole, rows=(whole.rows[0], partial), ties=())
    assert answer_of(shown)[-1] == (
        "1 more model cannot be ranked yet: triples wait for a judge, or one "
        "direction has no verdicts."
    )
    assert partial_notes(shown) == (
        (
            "Partial: 240 triples of the samples wait for a judge and are "
            "excluded; score the runs again with the same judge."
        ),
    )
    assert partial_notes(whole) == ()
    bare = structs.replace(partial, measured=structs.replace(measured, estimates={}), waiting=0)
    assert partial_notes(structs.replace(shown, rows=(bare,))) == (
        f"No triples of {bare.label} were verified.",
    )
    text = page(shown)
    assert "nothing of its direction was judged" in text
    assert "triples of the sample that no judge has decided yet" in text


def test_what_depends_on_popularity_is_found_and_what_does_not_is_not_claimed() -> None:
    """Both models were made to know the well known better, and no domain better than another."""
    shown = board(BOLD, TWIN)
    tiers = extreme_of(shown, "popularity", "f1")
    assert tiers is not None
    assert (tiers.high, tiers.low, tiers.n_significant, tiers.models) == (*TIERS, 2, "2 models")
    domains = extreme_of(shown, "domain", "f1")
    assert domains is not None
    assert domains.n_significant == 0
    said = findings_of(shown)
    assert any(
        text.startswith("F1 by popularity: significantly higher for well known") for text in said
    )
    assert "F1 by domain: no two values differ significantly in any model." in said


def test_simulated_rows_stand_apart_and_groups_go_by_cards() -> None:
    whole = board(BOLD, TWIN, WEAK)
    first, second, third = whole.rows
    closed = structs.replace(first, card=Card(openness="closed"))
    shown = structs.replace(whole, rows=(closed, second, structs.replace(third, simulated=True)))
    apart = [(part.heading, len(part.rows)) for part in rows_together(shown)]
    assert apart == [("", 2), ("Simulated models", 1)]
    grouped = structs.replace(shown, group_by="openness")
    assert [part.heading for part in rows_together(grouped)] == [
        "openness: closed (1 configuration)",
        "openness: unknown (1 configuration)",
        "Simulated models; openness: unknown (1 configuration)",
    ]
    assert page(grouped).count('<tr class="part">') == 3


def test_a_model_in_several_settings_is_one_model() -> None:
    whole = board(BOLD, TWIN)
    rows = tuple(
        structs.replace(row, group=Group("m", setting))
        for row, setting in zip(whole.rows, ("direct", "two-step"), strict=True)
    )
    assert counted_rows(whole.rows) == "2 models"
    assert counted_rows(rows) == "2 settings of 1 model"
    shown = structs.replace(whole, rows=rows, parts=())
    assert answer_of(shown)[0].startswith("Of 2 settings of 1 model on 60 entities, m ")


def test_a_range_of_one_value_is_that_value() -> None:
    assert shown_range([0.2, 0.2]) == "20.0%"
    assert shown_range([0.315, 0.2]) == "20.0% to 31.5%"


def test_who_makes_most_up_is_said_where_the_interval_carries_it() -> None:
    told = [text for text in findings_of(board(BOLD, TWIN, WEAK)) if "hallucination" in text]
    assert told == [
        (
            "bold has the highest hallucination rate: it gives triples about 90.0 "
            "[55.5, 99.7] of 100 non-existent entities, 2.7 triples each; twin and "
            "weak about 0.0 [0.0, 30.8]. The former abstains on 3.3% of the "
            "existing entities, the latter on 3.3%."
        )
    ]  # 9 of 10 entities, 3 triples each of these; 2 of 60 that there are


def test_the_frontier_holds_what_no_other_beats_on_both() -> None:
    rows = [row_at(recall, precision) for recall, precision in PLACES]
    assert [row.label for row in frontier(rows)] == ["1 9", "5 5", "9 1"]


PLACES = ((5, 5), (4, 4), (1, 9), (5, 4), (9, 1))


def row_at(recall: int, precision: int) -> TripleRow:
    row = board(BOLD).rows[0]
    estimates = {"recall": estimate(recall / 10, 0.1), "precision": estimate(precision / 10, 0.1)}
    measured = structs.replace(row.measured, estimates=estimates)
    return structs.replace(row, group=Group(f"{recall} {precision}"), measured=measured)


def test_the_frontier_is_drawn_as_the_edge_of_what_is_reached() -> None:
    """Down from the best precision to the best recall, in right angles."""
    rows = tuple(row_at(recall, precision) for recall, precision in PLACES)
    section = plane_section(structs.replace(board(BOLD), rows=rows))
    assert section is not None
    (edge,) = [curve for curve in section.figures[0].curves if curve.is_firm]
    assert list(zip(edge.x, edge.values, strict=True)) == [
        (0.0, 0.9), (0.1, 0.9), (0.1, 0.5), (0.5, 0.5), (0.5, 0.1), (0.9, 0.1), (0.9, 0.0),
    ]  # fmt: skip


def test_texts_of_models_and_values_stand_as_text() -> None:
    """Neither a tag nor a direction mark of a name or a group does anything on the page."""
    shown = board(BOLD, WEAK)
    rows = tuple(structs.replace(row, group=Group(f"m {HOSTILE}")) for row in shown.rows[:1])
    parts = tuple(
        structs.replace(part, group=rows[0].group, value=f"{part.value} {HOSTILE}")
        for part in shown.parts
        if part.group == shown.rows[0].group
    )
    text = page(structs.replace(shown, rows=rows, parts=parts, judges=HOSTILE, sampling=HOSTILE))
    assert "<script>alert" not in text
    assert "\u202e" not in text
    assert text.count("</script>") == 1


def test_the_table_that_files_hold_has_the_leaderboard_s_measures() -> None:
    table = standing_table(board(BOLD, WEAK))
    assert [column.key for column in table.columns] == [
        "model", "rank", "openness", "f1", "precision", "recall", "contradiction",
        "unparsed", "recall_unparsed", "abstention", "triples_an_entity",
        "nonexistent_given", "waiting", "config",
    ]  # fmt: skip
    assert [row[0] for row in table.rows] == ["bold", "weak"]


def test_a_page_can_be_in_chinese() -> None:
    with speaking("zh"):
        text = page(board(BOLD, WEAK))
    assert "主要发现" in text
    assert "Key findings" not in text
