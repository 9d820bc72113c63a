"""Sections on ways of asking, sizes, several benchmarks, and models with work in the items."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from proofstone.page.section import Section
from proofstone.records.models import Card
from proofstone.records.runs import Estimate
from proofstone.records.scores import Accuracies, HeldRole, Respondent
from proofstone.results.audit.accuracies import accuracy_board
from proofstone.results.cards import size_of
from proofstone.results.measured_scores import Sheet
from proofstone.results.rankings import leaderboard
from proofstone.results.sections.catalogue import make_sections
from proofstone.results.sections.evidence import Evidence
from report.made_up import ACCURACY, MEASURES, Row, right_of, table_of

# KINA's Table 3 (ALL) for its Qwen models of one recipe, and one whose name tells no size.
KINA = {
    "Qwen3-0.6B": 14.49, "Qwen3-1.7B": 18.33, "Qwen3-4B": 21.50, "Qwen3-8B": 22.27,
    "Qwen3-14B": 26.00, "Qwen3-32B": 27.41, "Qwen3-30B-A3B": 24.28, "Qwen3-235B-A22B": 29.37,
    "Qwen3.5-0.8B": 16.66, "Qwen3.5-2B": 20.52, "Qwen3.5-4B": 28.50, "Qwen3.5-9B": 30.09,
    "Qwen3.5-27B": 39.35, "Qwen3.5-35B-A3B": 35.43, "Qwen3.5-122B-A10B": 38.88,
    "Qwen3.5-397B-A17B": 42.99, "GPT-5.2": 39.52,
}  # fmt: skip


def evidence_of(table, **more) -> Evidence:
    board = leaderboard(table, MEASURES, "accuracy")
    return Evidence(board=board, sheet=Sheet(table, ACCURACY.counts), **more)


def section(evidence: Evidence, name: str) -> Section | None:
    return next((each for each in make_sections(evidence) if each.name == name), None)


def accuracies(scores: dict[str, float], n: int = 899) -> Evidence:
    overall = np.array(list(scores.values())) / 100
    found = Accuracies(
        "kina.csv", tuple(scores), ("all of it",), overall[:, None], overall, np.array([n])
    )
    return Evidence(board=accuracy_board(found), accuracies=found)


def answers(n: int, who: int, chance: float, seed: int) -> list[Row]:
    right = np.random.default_rng(seed).random(n) < chance
    return [(unit, who, 0, "answered", float(right[unit])) for unit in range(n)]


def test_kinas_slopes_are_read_from_a_leaderboard_of_accuracies() -> None:
    found = section(accuracies(KINA), "scaling")
    assert found is not None
    assert found.finding == (
        "Ten times the parameters are worth 14.8 [10.0, 19.6] points in Qwen3.5 (5 models) and 7.6 "
        "[6.1, 9.1] points in Qwen3 (6 models). Slopes differ "
        "significantly between Qwen3.5 and Qwen3 (Holm-adjusted)."
    )
    assert found.plain == (
        "A Qwen3.5 model ten times as large gets about 15 more questions in a hundred right."
    )
    assert found.cannot.startswith("The sizes of Qwen3.5 and Qwen3 are too few")
    assert "Sizes are read from the models' names." in found.how
    slopes, shapes, mixtures = found.tables
    assert [row[1:4] for row in slopes.rows] == [(5, 0.8, 27.0), (6, 0.6, 32.0)]
    assert {row[1] for row in shapes.rows} == {"inconclusive"}
    gaps = {(row[0], row[1]): row[4] for row in mixtures.rows}
    active = gaps["Qwen3.5", "active"]
    assert isinstance(active, Estimate)
    assert active.low > 0


def test_scores_by_item_give_slopes_an_interval_over_items() -> None:
    """Four sizes on 200 items, each tenfold 20 items more: 10 points."""
    who = [Respondent(f"lab/Made-{size}B", "direct") for size in (1, 10, 100, 1000)]
    rows = [row for k in range(4) for row in right_of(200, 60 + 20 * k, k)]
    found = section(evidence_of(table_of(who, rows, n_units=200)), "scaling")
    assert found is not None
    row = found.tables[0].rows[0]
    assert row[0] == "Made, direct"
    items = row[5]
    assert isinstance(items, Estimate)
    assert (items.value, items.n) == (pytest.approx(0.1), 200)
    assert found.cannot == ""
    assert found.finding.endswith("points in Made, direct (4 models).")


def test_without_numbers_of_items_there_is_no_interval_over_items() -> None:
    many = {f"F{k}-{size}B": 20.0 + size + k for k in range(4) for size in (1, 3, 9)}
    found = section(accuracies(many, n=0), "scaling")
    assert found is not None
    assert [row[5] for row in found.tables[0].rows] == [None] * 4
    assert " and 1 more." in found.finding


def test_two_sizes_are_no_family() -> None:
    two = {name: KINA[name] for name in ("Qwen3-4B", "Qwen3-8B", "GPT-5.2")}
    assert section(accuracies(two), "scaling") is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("qwen/Qwen3-30B-A3B-Thinking-2507", ("Qwen3 Thinking-2507", 30.0, 3.0, True)),
        ("Qwen3.5-0.8B", ("Qwen3.5", 0.8, 0.8, False)),
        ("Llama-3.1-405B-Instruct", ("Llama-3.1 Instruct", 405.0, 405.0, False)),
        ("Mixtral-8x7B-Instruct", None),
        ("GPT-5.4", None),
        ("70b", ("70b", 70.0, 70.0, False)),
    ],
)
def test_sizes_in_names(name: str, expected: tuple[str, float, float, bool] | None) -> None:
    found = size_of(name)
    told = found and (found.family, found.total_b, found.active_b, found.is_mixture)
    assert told == expected


def test_a_card_knows_better_than_a_name() -> None:
    card = Card(total_parameters_b=400, active_parameters_b=17, architecture="mixture")
    found = size_of("Llama-4-Maverick-17B", card)
    assert found is not None
    assert (found.total_b, found.active_b, found.is_mixture) == (400, 17, True)
    assert found.is_told


def test_ways_of_asking_are_compared_within_each_model() -> None:
    """Two models in two ways on 100 items: the first gains 30 of them, the second none."""
    who = [Respondent(n, w) for n in ("one", "two") for w in ("direct", "search")]
    rows = [row for k, right in enumerate((40, 70, 50, 50)) for row in right_of(100, right, k)]
    found = section(evidence_of(table_of(who, rows, n_units=100)), "factors")
    assert found is not None
    assert found.finding.startswith(
        "From direct to search accuracy changes by +15.0 points on average over 2 models"
    )
    assert "The change differs significantly between models" in found.finding
    assert found.plain == (
        "How one asks matters: one gets about 30 more questions in a hundred right with search."
    )
    assert found.cannot == "No significant change for two (search) (Holm-adjusted)."
    assert [row[:2] for row in found.tables[0].rows] == [("one", "search"), ("two", "search")]


def test_a_way_that_changes_nothing_and_one_that_only_some_were_asked_in() -> None:
    who = [Respondent("one", "direct"), Respondent("one", "search"), Respondent("two", "direct"),
           Respondent("two", "search"), Respondent("one", "worked"), Respondent("three", "worked"),
           Respondent("three", "search")]  # fmt: skip
    rows = [row for k in range(7) for row in right_of(60, 30, k)]
    found = section(evidence_of(table_of(who, rows, n_units=60)), "factors")
    assert found is not None
    assert found.finding.startswith("From search to direct")
    assert found.plain.startswith("The prompting method has no")
    assert found.cannot == ""
    assert len(found.tables[0].rows) == 4


def test_base_models_stand_beside_the_chat_models_made_from_them() -> None:
    """On 100 items one gains 20 and the other loses 5; a third has no base model."""
    names = ("A-8B-Base", "A-8B-Instruct", "B-base", "B", "C-Chat")
    rows = [row for k, n in enumerate((40, 60, 50, 45, 70)) for row in right_of(100, n, k)]
    found = section(evidence_of(table_of([Respondent(n, "") for n in names], rows, n_units=100)),
                    "alignment")  # fmt: skip
    assert found is not None
    assert found.finding.startswith("From base to chat accuracy changes by +7.5 points on average")
    assert [row[:2] for row in found.tables[0].rows] == [("B", "chat"), ("A-8B", "chat")]
    assert found.plain.startswith("Training to chat matters: A-8B gets about 20 more questions")


def test_a_card_says_which_is_the_base_model() -> None:
    who = [Respondent("M-chat", "", card=Card(kind="base")), Respondent("M", "")]
    found = section(evidence_of(table_of(who, right_of(30, 9, 0) + right_of(30, 9, 1), n_units=30)),
                    "alignment")  # fmt: skip
    assert found is not None
    assert found.plain.startswith("Chat training has no")


def test_one_way_is_no_factor() -> None:
    who = [Respondent("one", "direct"), Respondent("two", "search")]
    table = table_of(who, right_of(20, 10, 0) + right_of(20, 12, 1), n_units=20)
    assert section(evidence_of(table), "factors") is None


def two_tests(*, falls: bool) -> Evidence:
    """Eight models on two tests of 400 items; the best one falls on the second."""
    skill = np.linspace(0.2, 0.9, 8)
    rows = []
    for k, chance in enumerate(skill.tolist()):
        first = answers(400, k, chance, k)
        second = answers(400, k, 0.4 if falls and k == 7 else chance, 100 + k)
        rows += first + [(400 + unit, *rest) for unit, *rest in second]
    table = table_of([Respondent(f"m{k}", "") for k in range(8)], rows, n_units=800)
    codes = np.repeat([0, 1], 400).astype(np.int32)
    return evidence_of(
        replace(table, strata={"benchmark": codes}, stratum_names={"benchmark": ("old", "new")})
    )


def test_the_model_that_falls_on_the_second_benchmark_is_named() -> None:
    found = section(two_tests(falls=True), "benchmarks")
    assert found is not None
    assert found.finding.endswith("m7 moves significantly (Holm-adjusted).")
    agreement, freed, moves = found.tables
    assert [row[0] for row in (*agreement.rows, *freed.rows)] == ["old, new"] * 2
    assert [row[0] for row in moves.rows if row[-1] == "yes"] == ["m7"]
    same = section(two_tests(falls=False), "benchmarks")
    assert same is not None
    assert same.finding.endswith("no model moves significantly (Holm-adjusted).")


def test_a_leaderboard_by_dataset_is_several_benchmarks() -> None:
    """Three data sets of 100 items each, accuracies alone: all pairs, no table of moves."""
    models = tuple(f"m{k}" for k in range(6))
    value = np.linspace(0.2, 0.8, 6)[:, None] + np.array([0.0, 0.1, 0.0])
    value[:, 2] = value[::-1, 2]
    found = Accuracies("sets.csv", models, ("x", "y", "z"), value, value.mean(axis=1),
                       np.array([100, 100, 100]), by="dataset")  # fmt: skip
    evidence = Evidence(board=accuracy_board(found), accuracies=found)
    made = section(evidence, "benchmarks")
    assert made is not None
    assert made.finding == (
        "Of 3 pairs of benchmarks, x and y agree most (Kendall's tau-b 1.00 over 6 models), "
        "x and z least (-1.00)."
    )
    assert made.plain.startswith("Of any two models, the benchmarks that agree least put 0 in 100")
    assert len(made.tables) == 2
    alike = replace(found, value=np.full((6, 3), 0.5))
    flat = section(replace(evidence, accuracies=alike), "benchmarks")
    assert flat is not None
    assert flat.finding == "One of any two benchmarks here gives all models the same score."
    assert flat.plain == ""


def test_subjects_of_one_test_are_no_benchmarks() -> None:
    who = [Respondent(name, "") for name in "abc"]
    rows = [row for k in range(3) for row in right_of(40, 10 + 10 * k, k)]
    groups = ["art" if item % 2 else "law" for item in range(40)]
    assert section(evidence_of(table_of(who, rows, n_units=40, discipline=groups)),
                   "benchmarks") is None  # fmt: skip


def with_filter(units: range) -> Evidence:
    """Three models on 200 items; the first filtered some, and fails those."""
    who = [Respondent("own", "", roles_held=((0, True),)), Respondent("b", ""), Respondent("c", "")]
    rows = [(u, 0, 0, "answered", float(u >= 100 or u % 10 == 0)) for u in range(200)]
    rows += [(u, k, 0, "answered", float((u + k) % 2)) for k in (1, 2) for u in range(200)]
    role = HeldRole("filtered", "own", np.array(units, dtype=np.int32))
    return evidence_of(replace(table_of(who, rows, n_units=200), roles=(role,)))


def test_a_filter_is_held_against_its_own_model() -> None:
    """Right on 10 of 100 filtered items and on all others; the rest right on half of both."""
    found = section(with_filter(range(100)), "roles")
    assert found is not None
    bias = found.tables[1].rows[0][6]
    assert isinstance(bias, Estimate)
    assert bias.value == pytest.approx(0.1 - 1.0)
    assert "filtered 100" in found.finding
    assert found.plain.endswith("kept because a model failed them: that model is scored too low.")
    assert found.cannot == ""
    rest = found.tables[0].rows[0][5]
    assert isinstance(rest, Estimate)
    assert (rest.value, rest.n) == (1.0, 100)


def test_without_unfiltered_items_the_bias_is_open() -> None:
    found = section(with_filter(range(200)), "roles")
    assert found is not None
    assert len(found.tables) == 1
    assert found.cannot.startswith("The effect of filtering on the filter's own model is not known")


def test_nobody_with_a_hand_no_section() -> None:
    table = table_of([Respondent("a", "")], right_of(10, 5, 0), n_units=10)
    assert section(evidence_of(table), "roles") is None
