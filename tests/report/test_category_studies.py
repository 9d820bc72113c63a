"""Difficulty and the best models by category, in made-up scores whose answer is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from made_up import ACCURACY, Row, table_of

from proofstone.errors import BadUsage
from proofstone.page.figure import vega_lite
from proofstone.page.section import section_text
from proofstone.records.runs import Measure, Outcome
from proofstone.records.scores import Respondent, ScoreTable
from proofstone.results.sections.catalogue import perform_analysis
from proofstone.results.sections.parts import Part, figure_rows
from table_texts import heads, rows

F = Measure(
    name="f_score",
    of="correct",
    counts={"answered": "value", "refused": 0.0},
    weights={"answered": 2.0},
    denominator="all replies",
    label="F",
)
Given = tuple[Outcome, float]
RIGHT, WRONG, NONE = ("answered", 1.0), ("answered", 0.0), ("refused", 0.0)


def part_of(
    responses: Sequence[Sequence[Given]], topics: Sequence[str], others: Sequence[Measure] = (F,)
) -> Part:
    """``responses`` by model and question."""
    made: list[Row] = [
        (unit, who, 0, outcome, value)
        for who, given in enumerate(responses)
        for unit, (outcome, value) in enumerate(given)
    ]
    models = [Respondent(f"lab/{'abcdefghijkl'[n]}", "direct") for n in range(len(responses))]
    table: ScoreTable = table_of(models, made, n_units=len(topics), discipline=topics)
    return Part(
        name="form", kind="asked", seed=None, recipe={}, table=table, measure=ACCURACY,
        others=tuple(others),
    )  # fmt: skip


def two_topics() -> Part:
    """12 questions of 'Arts', 12 of 'Law', three models: all right in half of the arts, none in the
    other half; in law a alone is right in 8, and gives no answer in 4."""
    a = [RIGHT] * 6 + [WRONG] * 6 + [RIGHT] * 8 + [NONE] * 4
    b = [RIGHT] * 6 + [WRONG] * 6 + [WRONG] * 12
    return part_of([a, b, b], ["Arts"] * 12 + ["Law"] * 12)


def test_difficulty_counts_the_models_that_fail_each_question() -> None:
    """Arts: six questions failed by none, six by all three: 6 x 3 / 36. Law: eight failed by two,
    four by all: (8 x 2 + 4 x 3) / 36."""
    analysis = perform_analysis("difficulty", [two_topics()])
    cells = {row[0]: row for row in rows(analysis)}
    assert list(cells) == ["all questions", "Law", "Arts"]
    assert cells["Arts"][1:3] == ("discipline", "12")
    assert cells["Arts"][3].startswith(f"{100 * 18 / 36:.1f} [")
    assert cells["Law"][3].startswith(f"{100 * 28 / 36:.1f} [")
    assert cells["Arts"][4:] == ("1.5", "6", "6")
    assert cells["Law"][4:] == ("2", "0", "4")
    assert cells["all questions"][3].startswith(f"{100 * 46 / 72:.1f} [")
    assert analysis.finding.startswith(
        "Of 24 questions 10 are failed by all 3 models and 6 by none; by discipline, Law is hardest"
    )


def test_categories_are_called_as_the_method_calls_them() -> None:
    part = two_topics()
    called = replace(part.table, level_names={"discipline": "primary category"})
    analysis = perform_analysis("difficulty", [replace(part, table=called)])
    assert {row[1] for row in rows(analysis)} == {"", "primary category"}
    assert "; by primary category, Law is hardest" in analysis.finding
    assert analysis.figures[1].name == "difficulty-by-primary-category"


def test_of_categories_alike_none_is_hardest() -> None:
    part = part_of([[RIGHT, WRONG] * 2, [RIGHT, WRONG] * 2], ["Arts", "Arts", "Law", "Law"])
    analysis = perform_analysis("difficulty", [part])
    assert analysis.finding == (
        "Of 4 questions 2 are failed by all 2 models and 2 by none; by discipline, all are as hard."
    )


def test_the_shares_of_a_category_sum_to_one_with_their_n() -> None:
    marks = figure_rows(perform_analysis("difficulty", [two_topics()]).data)
    law = [row for row in marks if row["series"] == "discipline: Law"]
    assert [(row["models failing"], row["n"]) for row in law] == [(k, 12) for k in (0, 1, 2, 3)]
    assert [row["share of questions"] for row in law] == pytest.approx([0, 0, 8 / 12, 4 / 12])
    assert all(row["low"] <= row["share of questions"] <= row["high"] for row in law)


def test_each_topic_is_ranked_by_f_and_ties_are_told() -> None:
    """In law a has F = 2 x 8 / (2 x 8 + 4), b and c none; in arts all score alike."""
    analysis = perform_analysis("topics", [two_topics()])
    assert heads(analysis) == ("topic", "rank", "model", "F, %", "n", "tied")
    arts, law = rows(analysis)[:3], rows(analysis)[3:]
    assert [row[2] for row in arts] == ["lab/a direct", "lab/b direct", "lab/c direct"]
    assert [(row[1], row[5]) for row in arts] == [("1-3", "a")] * 3
    assert law[0][1:3] == ("1", "lab/a direct")
    assert law[0][3].startswith(f"{100 * 16 / 20:.1f} [")
    assert [(row[1], row[3][:3], row[5]) for row in law[1:]] == [("2-3", "0.0", "a")] * 2
    assert analysis.finding == (
        "lab/a direct has the highest value in all 2 topics; the lead over all others is "
        "significant in 1 (Law)."
    )


def test_only_ten_are_shown_and_ranks_are_among_all() -> None:
    responses = [[RIGHT] * n + [WRONG] * (12 - n) for n in range(12)]
    analysis = perform_analysis("topics", [part_of(responses, ["Arts"] * 6 + ["Law"] * 6)])
    assert len(rows(analysis)) == 20
    assert rows(analysis)[0][1].endswith("12")
    for figure in analysis.figures:
        assert len(figure.marks) == 10
        assert all(span.last < 10 for span in figure.spans)


def test_without_f_the_headline_ranks() -> None:
    part = part_of([[RIGHT] * 4, [WRONG] * 4], ["Arts", "Arts", "Law", "Law"], others=())
    assert perform_analysis("topics", [part]).data.value_axis == "accuracy"


def test_one_topic_is_none() -> None:
    part = part_of([[RIGHT] * 4, [WRONG] * 4], ["Arts"] * 4)
    with pytest.raises(BadUsage, match="no topics"):
        perform_analysis("topics", [part])
    assert len(rows(perform_analysis("difficulty", [part]))) == 1


def test_each_study_reads_as_text_and_draws() -> None:
    for name, figures in (
        ("difficulty", ["difficulty", "difficulty-by-discipline"]),
        ("topics", ["topic-1", "topic-2"]),
    ):
        analysis = perform_analysis(name, [two_topics()])
        assert analysis.finding in section_text(analysis)
        assert [figure.name for figure in analysis.figures] == figures
        assert all(vega_lite(figure)["layer"] for figure in analysis.figures)
