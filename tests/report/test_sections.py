"""The sections of a report: what each says, when it says nothing, and how a page shows it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from proofstone.page.figure import can_draw, draw
from proofstone.page.section import Column, Section, shown_cell
from proofstone.records.runs import Estimate
from proofstone.records.scores import Accuracies, Respondent
from proofstone.results.audit.accuracies import accuracy_board
from proofstone.results.measured_scores import Sheet
from proofstone.results.page import render_page
from proofstone.results.page_parts import PageData, Provenance
from proofstone.results.rankings import leaderboard
from proofstone.results.sections.catalogue import make_sections
from proofstone.results.sections.evidence import Evidence
from proofstone.results.summary import make_opening
from proofstone.results.trust import data_quality_lines
from report.made_up import ACCURACY, MEASURES, mixed, right_of, table_of, two_small
from report.test_page import Outline


def evidence_of(table, **more) -> Evidence:
    """What sections are made from."""
    board = leaderboard(table, MEASURES, "accuracy")
    return Evidence(board=board, sheet=Sheet(table, ACCURACY.counts), **more)


def three() -> Evidence:
    """Three models on 40 items in two groups: right on 36, 20 and 19 of them."""
    rows = right_of(40, 36, 0) + right_of(40, 20, 1) + right_of(40, 19, 2)
    respondents = [Respondent(name, "") for name in ("strong", "middle", "weak")]
    groups = ["art" if item % 2 else "law" for item in range(40)]
    return evidence_of(table_of(respondents, rows, n_units=40, discipline=groups))


def section(evidence: Evidence, name: str) -> Section:
    return next(each for each in make_sections(evidence) if each.name == name)


def test_pairs_say_which_differences_are_more_than_noise() -> None:
    """Strong beats both; middle and weak differ on one item of 40."""
    found = section(three(), "pairs")
    assert found.finding == (
        "2 of 3 pairs of models differ significantly (Holm-adjusted); no significant difference in "
        "1 pair. The ranking falls into 2 tiers, of 1 and 2 models."
    )
    assert found.plain == (
        "strong ranks first. Its lead over every other model is statistically significant."
    )
    assert found.cannot == (
        "Neighbors without a significant difference: middle and weak (+2.5 points)."
    )
    neighbours, every = found.tables
    assert [row[:2] for row in neighbours.rows] == [("strong", "middle"), ("middle", "weak")]
    assert len(every.rows) == 3
    difference = every.rows[0][2]
    assert isinstance(difference, Estimate)
    assert (difference.value, difference.n) == (pytest.approx(16 / 40), 40)


@pytest.mark.parametrize("n_models", [30, 31])
def test_a_matrix_too_large_to_read_is_replaced_by_tables(n_models: int) -> None:
    rows = [row for who in range(n_models) for row in right_of(60, 59 - who, who)]
    respondents = [Respondent(f"m{who:02}", "") for who in range(n_models)]
    found = section(evidence_of(table_of(respondents, rows, n_units=60)), "pairs")
    neighbours, every = found.tables
    assert [len(figure.marks) for figure in found.figures] == [435] * (n_models == 30)
    assert neighbours.note == (
        "A matrix of 31 models is too large to read, so pairs are in tables."
        if n_models == 31
        else ""
    )
    assert len(every.rows) == n_models * (n_models - 1) // 2


def test_a_range_that_no_group_can_test_is_not_called_tested() -> None:
    """One item a group gives no test: no "0 of 0 groups", and no dash for a number."""
    rows = right_of(4, 3, 0) + right_of(4, 1, 1) + right_of(4, 2, 2)
    respondents = [Respondent(name, "") for name in ("one", "other", "third")]
    table = table_of(respondents, rows, n_units=4, discipline=["a", "b", "c", "d"])
    found = section(evidence_of(table), "spread")
    assert found.finding == (
        "The largest observed range of the top 3 by discipline is 100.0 points, in b (1 item). "
        "It is not tested there."
    )
    for found in make_sections(evidence_of(table)):
        assert "0 of 0" not in found.finding
        assert "\N{EM DASH}" not in found.finding


def test_strata_say_where_the_leader_is_strong() -> None:
    """Of items 0 to 35, 18 are even (law), 18 odd (art): 18 of 20 in each."""
    found = section(three(), "strata")
    assert found.finding.startswith(
        "Scores by discipline (2 groups), answer key position (4 groups)."
    )
    assert "highest observed score in 2 of the 2 groups by discipline" in found.finding
    table = found.tables[0]
    (place,) = [at for at, column in enumerate(table.columns) if column.name == "art"]
    assert table.columns[place].help == "n = 20"
    assert table.rows[0][place].value == pytest.approx(18 / 20)  # type: ignore[union-attr]


def test_resolution_says_how_many_items_would_part_neighbours() -> None:
    """Middle and weak differ on one item: hundreds of times as many would be needed."""
    found = section(three(), "power")
    _detectable, table = found.tables
    needed = {row[0]: row[4] for row in table.rows}
    assert needed["strong"] < 40 < needed["middle"]  # type: ignore[operator]


def test_no_detectable_difference_is_over_a_hundred_points() -> None:
    """Two models on three items cannot show any: a dash, not hundreds of points."""
    rows = right_of(3, 2, 0) + right_of(3, 1, 1)
    table = table_of([Respondent(name, "") for name in ("one", "other")], rows, n_units=3)
    found = section(evidence_of(table), "power")
    assert [row[1] for row in found.tables[0].rows] == [None, None]
    assert found.finding.startswith("These are too few independent items")


def test_stability_names_both_schemes_and_the_seed() -> None:
    """Three rates without replacement, then the bootstrap; the leader hardly ever changes."""
    found = section(replace(three(), seed=5), "stability")
    schemes = [(row[0], row[1]) for row in found.tables[0].rows]
    assert schemes == [
        ("subsampling without replacement", 0.5),
        ("subsampling without replacement", 0.7),
        ("subsampling without replacement", 0.9),
        ("bootstrap with replacement", 1.0),
    ]
    assert "seed 5" in found.how
    assert found.plain == (
        "Stability over resamples is not the probability of being best. Probability of having the "
        "highest true score (hierarchical model): strong (>99.9%)."
    )
    assert found.finding.endswith(
        "strong alone ranks first in 100.0% of 1,000 bootstrap resamples."
    )
    shares = [mark.value for mark in found.figures[0].marks if mark.row == "strong"]
    assert sum(shares) == pytest.approx(1.0)


def test_who_shares_the_lead_does_not_stay_first_alone() -> None:
    """Two are right on the same 18 of 20 items, the third on 2: any of the two counts as first."""
    rows = right_of(20, 18, 0) + right_of(20, 18, 1) + right_of(20, 2, 2)
    table = table_of([Respondent(name, "") for name in "abc"], rows, n_units=20)
    found = section(evidence_of(table), "stability")
    told = (
        "2 models share the lead; no other model ranks first in 100.0% of 1,000 bootstrap "
        "resamples."
    )
    assert told in found.finding
    assert told not in found.plain  # said once


def test_the_same_seed_gives_the_same_sections() -> None:
    """And another seed other draws."""
    assert make_sections(three()) == make_sections(three())
    assert section(replace(three(), seed=1), "stability") != section(three(), "stability")


def test_discrimination_stands_beside_chance() -> None:
    """Law: 18, 10 and 10 of 20 are right; mean 12.67 / 20, range 8 / 20."""
    found = section(three(), "spread")
    law = next(row for row in found.tables[0].rows if row[0] == "law")
    assert law[1:3] == (20, pytest.approx((18 + 10 + 10) / 60))
    assert law[7] == pytest.approx(8 / 20)
    assert 0 < law[8] < 1  # type: ignore[operator]


def test_samples_need_items_that_were_asked_again() -> None:
    """Four items twice: the first right, right; right, wrong; wrong, right; wrong, wrong."""
    pattern = [(1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0)]
    rows = [
        (item, who, sample, "answered", value if who == 0 else 0.0)
        for who in range(2)
        for item, values in enumerate(pattern)
        for sample, value in enumerate(values)
    ]
    respondents = [Respondent("a", ""), Respondent("b", "")]
    table = table_of(respondents, rows, n_units=4, expected=[8, 8])
    found = section(evidence_of(table), "samples")
    a = found.tables[0].rows[0]
    values = [cell.value for cell in a[1:4] if isinstance(cell, Estimate)]
    # AVG@2 = 4/8; one of two right on 3 of 4; alike on 2 of 4.
    assert values == [pytest.approx(0.5), pytest.approx(3 / 4), pytest.approx(2 / 4)]
    assert [column.name for column in found.tables[0].columns[1:4]] == [
        "AVG@2",
        "pass@2",
        "alike",
    ]
    assert "samples" not in [each.name for each in make_sections(three())]


def test_a_lone_model_has_no_pairs() -> None:
    """Nor ranks to be stable; its strata stand."""
    table = table_of([Respondent("m", "")], right_of(20, 9, 0), n_units=20)
    assert [each.name for each in make_sections(evidence_of(table))] == ["strata"]


def test_real_and_simulated_are_not_mixed() -> None:
    """Sections speak of the first standing that compares anybody: real ones."""
    found = section(evidence_of(mixed()), "pairs")
    assert {row[0] for row in found.tables[0].rows} == {"lab/large"}


@pytest.mark.parametrize("right", [(0, 0, 0), (20, 20, 20), (7, 7, 7)])
def test_ties_everywhere_are_answered(right: tuple[int, int, int]) -> None:
    """All wrong, all right, all alike."""
    rows = [row for who, n in enumerate(right) for row in right_of(20, n, who)]
    table = table_of([Respondent(name, "") for name in "abc"], rows, n_units=20)
    evidence = evidence_of(table)
    found = section(evidence, "pairs")
    assert found.finding == "None of the 3 pairs of models differs significantly (Holm-adjusted)."
    assert found.plain == ""
    difference = found.tables[0].rows[0][2]
    assert isinstance(difference, Estimate)
    assert math.isnan(difference.low), "no interval: the difference never varies"
    (part,) = make_opening(evidence).parts
    assert part.best[1] == "They score the same."
    assert part.undecided == tuple(
        f"a or {other}: they score the same, so no number of questions can be estimated."
        for other in "bc"
    )


def accuracies(counts: list[int]) -> Evidence:
    """Three models, two groups; c's overall is not the weighted mean."""
    found = Accuracies(
        name="x.csv",
        models=("a", "b", "c"),
        strata=("law", "art"),
        value=np.array([[0.5, 0.75], [0.4, 0.5], [0.3, 0.3]]),
        overall=np.array([0.6, 0.44, 0.35]),
        counts=np.array(counts),
    )
    return Evidence(board=accuracy_board(found), accuracies=found)


def test_accuracies_alone_have_what_needs_no_items() -> None:
    """With counts of items pairs and discrimination too."""
    names = [each.name for each in make_sections(accuracies([60, 40]))]
    assert names == ["pairs", "strata", "spread"]
    assert [each.name for each in make_sections(accuracies([0, 0]))] == ["strata"]


@pytest.mark.parametrize(
    ("cell", "unit", "text", "key"),
    [
        (None, "", "\u2014", ""),
        (1234, "", "1,234", "1234"),
        (0.12345, "points", "12.3", "0.12345"),
        (0.12345, "share", "12.3%", "0.12345"),
        (0.0004, "probability", "<0.001", "0.0004"),
        (0.25, "probability", "0.250", "0.25"),
        (float("nan"), "points", "\u2014", ""),
        (2.345, "", "2.35", "2.345"),
        ("text", "", "text", "text"),
    ],
)
def test_cells_are_written_by_the_unit_of_their_column(
    cell: object, unit: str, text: str, key: str
) -> None:
    """And sort by their number."""
    shown = shown_cell(cell, Column(key="k", name="k", unit=unit))  # type: ignore[arg-type]
    assert (shown.text, shown.key) == (text, key)


def test_an_estimate_is_asked_for_its_n_and_estimand() -> None:
    """With its interval in the cell."""
    estimate = Estimate(
        value=0.5, n=10, low=0.25, high=0.75, population="e", made_by="m", resampled="r",
        effective_n=10.0,
    )  # fmt: skip
    shown = shown_cell(estimate, Column(key="k", name="k", unit="points"))
    assert shown.text == "50.0 [25.0, 75.0]"
    assert shown.told.startswith(
        "n = 10, effective number of independent items 10; 95% interval for e; m"
    )


def page(evidence: Evidence) -> str:
    return render_page(
        PageData(
            title="t",
            board=evidence.board,
            opening=make_opening(evidence),
            trust=data_quality_lines(evidence),
            sections=make_sections(evidence),
            provenance=Provenance(version="0", made_at="today"),
        )
    )


def test_the_page_says_first_what_it_means_and_what_it_leaves_open() -> None:
    """The answer, then the leaderboard and its limits; then the chapters in their order. Forty
    items are few: comparisons and stability stand in one fold."""
    text = Outline(page(three())).text
    order = [
        "40 items",
        "its lead over every other model is statistically significant.",
        "Limitations (",
        "By group Scores by discipline",
        "Details 40 items, 3 models. Below 100 items or 3 models, these analyses often have little",
        "Pairwise differences",
        "Statistical power",
        "Ranking stability",
        "Data quality Recorded facts (",
        "Completeness",
        "Not recorded: ",
        "Methods text",
        "About this page",
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_a_page_with_figures_names_no_address() -> None:
    """Figures stand in the page itself; nothing has a style of its own."""
    outline = Outline(page(three()))
    assert not [a for a in outline.attributes if a[1] in {"src", "srcset", "action", "style"}]
    assert "http:" not in page(three())
    assert page(three()) == page(three())


def test_figures_are_drawn_with_hostile_names_as_text() -> None:
    """Whatever a model is called."""
    if not can_draw():
        pytest.skip("the extra [figures] is not installed")
    rows = right_of(40, 36, 0) + right_of(40, 20, 1) + right_of(40, 9, 2)
    names = ("<script>alert(1)</script>", "a&b", '"')
    table = table_of([Respondent(name, "") for name in names], rows, n_units=40)
    for each in make_sections(evidence_of(table)):
        for figure in each.figures:
            svg = draw(figure)
            assert svg.startswith("<svg")
            assert "<script" not in svg


def test_many_overlapping_ties_become_bars() -> None:
    """A letter a run is readable up to six side by side."""
    few = page(evidence_of(two_small()))
    assert 'class="ties"' in few
    assert 'class="span"' not in few
    respondents = [Respondent(f"m{who:02}", "") for who in range(60)]
    rng = np.random.default_rng(0)
    rows = [
        (item, who, 0, "answered", float(rng.random() < 0.1 + 0.012 * who))
        for who in range(60)
        for item in range(300)
    ]
    many = page(evidence_of(table_of(respondents, rows, n_units=300)))
    assert 'class="span"' in many


def test_pairs_count_the_items_that_only_one_got_right() -> None:
    """Strong has 36, middle the first 20 of them: 16 and 0; exact p = 2 / 2**16."""
    (row,) = [row for row in section(three(), "pairs").tables[0].rows if row[0] == "strong"]
    assert row[-4:] == (16, 0, pytest.approx(2 / 2**16), "yes")


def test_tiers_are_told_where_everyone_above_beats_everyone_below() -> None:
    """A stands above b, c and d, which are tied."""
    rows = [row for who, n in enumerate((90, 50, 49, 48)) for row in right_of(100, n, who)]
    table = table_of([Respondent(name, "") for name in "abcd"], rows, n_units=100)
    found = section(evidence_of(table), "pairs").finding
    assert found.endswith("The ranking falls into 2 tiers, of 1 and 3 models.")


def nine(answers: bool = False, n: int = 30) -> Evidence:
    """Nine models of rising skill on n items; of item 0 the key is wrong: the weakest four are
    right, the strongest five answer B."""
    rng = np.random.default_rng(3)
    rows = [
        (item, who, 0, "answered", float(who < 4 if item == 0 else rng.random() < 0.1 + 0.1 * who))
        for who in range(9)
        for item in range(n)
    ]
    table = table_of([Respondent(f"m{who}", "") for who in range(9)], rows, n_units=n)
    if answers:
        right = table.value == 1.0
        answer_key = table.answer_key[table.unit]
        code = np.where(right, answer_key, np.where(answer_key == 1, 0, 1)).astype(np.int32)
        table = replace(table, answer=code, answers=("A", "B", "C", "D"))
    return evidence_of(table)


def test_items_that_the_weak_get_right_and_the_strong_wrong_come_first() -> None:
    """Item 0, with the wrong answer that the strong agree on where answers are known."""
    found = section(nine(answers=True), "items")
    first = found.tables[0].rows[0]
    assert first[0] == "item:0000"
    assert "the strongest models agree on one wrong answer" in str(first[1])
    assert first[3] == pytest.approx(4 / 9)
    assert (first[5], first[6]) == (0.0, 1.0)
    assert first[7:] == ("B", 1.0)
    assert "The best models disagree with the answer key" in found.plain
    plain = section(nine(), "items")
    assert plain.tables[0].rows[0][7:] == (None, None)


def test_few_models_accuse_no_item() -> None:
    """Three are too few."""
    found = section(three(), "items")
    assert found.finding == "Items are not flagged: this needs at least 8 ranked models."
    assert found.tables == ()


def test_positions_need_letters_and_numbers_of_options() -> None:
    """Wrong answers that are always B (A where B is right) are no even choice."""
    assert "positions" not in [each.name for each in make_sections(nine())]
    found = section(nine(answers=True, n=120), "positions")
    assert "favor some positions" in found.finding
    assert "chooses B in" in found.finding
    tests, shares = found.tables
    assert len(tests.rows) == 9
    asked = [row for row in shares.rows if row[0] == tests.rows[0][0]]
    assert sum(row[2] for row in asked) == 120  # type: ignore[misc]


def test_positions_with_few_expected_choices_are_not_tested() -> None:
    """Models that are wrong at most six times, always on the first option, show nothing."""
    rows = [row for who in range(3) for row in right_of(30, 26 + who, who)]
    table = table_of([Respondent(f"m{who}", "") for who in range(3)], rows, n_units=30)
    wrong = np.where(table.answer_key[table.unit] == 0, 1, 0)
    answers = np.where(table.value == 1, table.answer_key[table.unit], wrong)
    table = replace(table, answers=("A", "B", "C", "D"), answer=answers.astype(np.int32))
    found = section(evidence_of(table), "positions")
    assert found.finding == "Too few wrong answers to test them for position bias."
    assert found.cannot == (
        "Not shown: 6 of 9 chi-square tests, where an expected count, divided by the design "
        "effect, is below 5."
    )
    assert [row[5:7] for row in found.tables[0].rows] == [(None, None)] * 3


def test_calibration_needs_stated_confidence() -> None:
    """All say 90%: strong is right on 36 of 40, so honest; the others on 20 and 19."""
    evidence = three()
    assert evidence.sheet is not None
    table = evidence.sheet.table
    assert "calibration" not in [each.name for each in make_sections(evidence)]
    found = section(evidence_of(replace(table, confidence=np.full(120, 0.9))), "calibration")
    assert found.finding == (
        "2 of 3 models are significantly overconfident, 0 underconfident (Holm-adjusted); the "
        "others show no significant over- or underconfidence."
    )
    gaps = [row[2].value for row in found.tables[0].rows]  # type: ignore[union-attr]
    assert gaps == [pytest.approx(0.9 - n / 40) for n in (36, 20, 19)]
    # 0.9 - 19/40 = 42.5 points.
    assert found.plain.startswith("weak: mean stated confidence exceeds accuracy by 42.5 points [")
    assert found.plain.endswith("] (n = 40).")


def test_lengths_are_compared_on_the_same_item() -> None:
    """Every reply that is twice as long is right, and the other wrong: +100 points either way."""
    rows = [
        (item, who, sample, "answered", float(sample))
        for who in range(2)
        for item in range(12)
        for sample in range(2)
    ]
    respondents = [Respondent("a", ""), Respondent("b", "")]
    table = table_of(respondents, rows, n_units=12, expected=[24, 24])
    assert "length" not in [each.name for each in make_sections(evidence_of(table))]
    tokens = np.where(table.sample == 1, 200.0, 100.0)
    found = section(evidence_of(replace(table, tokens=tokens)), "length")
    everyone = found.tables[0].rows[0]
    assert everyone[:2] == ("all models", 150.0)
    assert [cell.value for cell in everyone[2:4]] == [pytest.approx(1.0)] * 2  # type: ignore[union-attr]
    assert found.cannot == ""
