"""Sections on a judge against people, and on what more samples buy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from proofstone.page.section import shown_estimate
from proofstone.records.runs import Estimate
from proofstone.records.scores import Judged, Respondent
from proofstone.results.sections.catalogue import make_sections
from proofstone.results.sections.evidence import Evidence
from report.made_up import table_of
from report.test_sections import evidence_of, section, three


def judged(people: list[int], judge: list[int], **more) -> Evidence:
    """Three models' results beside labels of other records: wrong and right, -1 where none."""
    n = len(people)
    fields = {
        "labels": ("0", "1"),
        "people": np.array(people),
        "judge": np.array(judge),
        "item": np.arange(n),
        "model": np.arange(n) % 2,
        "models": ("a", "b"),
        "values": np.array([0.0, 1.0]),
    }
    return replace(three(), judged=Judged(**(fields | more)))


def test_a_judge_stands_beside_people() -> None:
    """Of 60 records that both saw 50 agree; the judge calls 10 wrong ones right; 40 more it saw
    alone."""
    people = [1] * 30 + [0] * 30 + [-1] * 40
    judge = [1] * 30 + [1] * 10 + [0] * 20 + [1] * 20 + [0] * 20
    found = section(judged(people, judge), "judge")
    matrix, by_label, coefficients, rates = found.tables
    assert matrix.rows == (("0", 20, 10, 30), ("1", 0, 30, 30))
    assert matrix.note == "40 records lack one of both."
    recall = by_label.rows[0][1]
    assert isinstance(recall, Estimate)
    assert recall.value == pytest.approx(20 / 30)
    values = {row[0]: row[2].value for row in coefficients.rows}  # type: ignore[union-attr]
    assert values["observed agreement"] == pytest.approx(50 / 60)
    # By chance 40/60 * 30/60 + 20/60 * 30/60 = 1/2 agree.
    assert values["Cohen's kappa"] == pytest.approx((50 / 60 - 1 / 2) / (1 - 1 / 2))
    assert found.finding.startswith("Judge and people agree on 83.3 [")
    assert [row[0] for row in rates.rows] == ["all records", "a", "b"]
    assert rates.rows[0][4:6] == (pytest.approx(60 / 100), pytest.approx(10 / 60))
    assert rates.rows[0][7] > 0  # type: ignore[operator]
    assert found.plain.startswith("By the judge alone the mean score is 60.0; corrected")


def test_labels_in_words_have_a_rate_each() -> None:
    """And no weighted kappa."""
    found = section(
        judged([0, 1, 1, 0, 1], [0, 1, 0, 0, 1], labels=("bad", "good"), values=None), "judge"
    )
    assert [row[0] for row in found.tables[3].rows] == ["share of bad", "share of good"]
    assert "5 records with labels by people are few" in found.cannot


def test_the_agreement_rate_has_one_interval() -> None:
    """That of the finding is that of the table of coefficients."""
    found = section(judged([0, 1, 1, 0, 1], [0, 1, 0, 0, 1]), "judge")
    (agreement,) = [row[2] for row in found.tables[2].rows if row[0] == "observed agreement"]
    assert f"agree on {shown_estimate(agreement)}%" in found.finding  # type: ignore[arg-type]


def test_steps_of_a_scale_have_weighted_coefficients() -> None:
    """Marks from 1 to 3."""
    marks = {"labels": ("1", "2", "3"), "values": np.array([1.0, 2.0, 3.0])}
    found = section(judged([0, 1, 2, 0, 1, 2], [0, 1, 2, 1, 1, 1], **marks), "judge")
    names = [row[0] for row in found.tables[2].rows]
    assert "Cohen's kappa, quadratic" in names
    assert "Krippendorff's alpha, interval" in names


def test_one_label_only_leaves_no_chance_to_take_out() -> None:
    """Kappa is undefined, and the judge no help."""
    found = section(judged([1] * 9, [1] * 9), "judge")
    assert "both use one label only" in found.finding
    assert "The judge does not narrow the interval" in found.cannot


def test_without_a_record_that_both_saw_there_is_no_section() -> None:
    """Nor without any labels."""
    for evidence in (judged([1, -1], [-1, 0]), three()):
        assert "judge" not in [each.name for each in make_sections(evidence)]


def repeated(k: int, *, answers: bool = True, stated: bool = True) -> Evidence:
    """Two models on four items, k samples each: the first is right in the first, and surest then;
    right answers are A, wrong ones B."""
    rows = [
        (item, who, sample, "answered", float(sample < (1, 0)[who]))
        for who in range(2)
        for item in range(4)
        for sample in range(k)
    ]
    respondents = [Respondent("a", ""), Respondent("b", "")]
    table = table_of(respondents, rows, n_units=4, expected=[4 * k, 4 * k])  # type: ignore[arg-type]
    if answers:
        code = np.where(table.value == 1.0, 0, 1).astype(np.int32)
        table = replace(table, answer=code, answers=("A", "B"))
    if stated:
        table = replace(table, confidence=np.where(table.sample == 0, 0.9, 0.1))
    return evidence_of(table)


def test_best_of_n_stands_beside_what_a_user_can_have() -> None:
    """One of three samples is right: one 1/3, best of two 2/3, of three 1; the majority is wrong,
    the surest right."""
    found = section(repeated(3), "best-of")
    rows = {row[1]: [cell.value for cell in row[2:]] for row in found.tables[0].rows[:3]}  # type: ignore[union-attr]
    # The majority of fewer than all is drawn.
    assert rows[1] == pytest.approx([1 / 3, 1 / 3, 1 / 3], abs=0.01)
    assert rows[2][0] == pytest.approx(2 / 3)
    assert rows[3] == pytest.approx([1.0, 0.0, 1.0])
    assert found.plain == "Asking a 3 times and taking its most frequent answer gains nothing."
    (figure,) = found.figures
    ends = {mark.row: mark.value for mark in figure.marks if mark.column == "a" and mark.x == 3}
    assert ends == pytest.approx({"at least one right": 1.0, "majority": 0.0, "surest": 1.0})


def test_without_answers_or_confidence_only_the_oracle_is_left() -> None:
    """Which no user can have."""
    found = section(repeated(3, answers=False, stated=False), "best-of")
    assert [column.key for column in found.tables[0].columns] == ["model", "samples", "oracle"]
    assert found.cannot.startswith("The gain from asking again is not known")
    assert found.plain == ""


def test_many_samples_have_eight_steps() -> None:
    """The first is 1, the last all."""
    found = section(repeated(40, stated=False), "best-of")
    steps = [row[1] for row in found.tables[0].rows if row[0] == "a"]
    assert (len(steps), steps[0], steps[-1]) == (8, 1, 40)
    assert "best-of" not in [each.name for each in make_sections(repeated(1))]
