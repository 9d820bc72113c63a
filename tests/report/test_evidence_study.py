"""The study of searches against labeled evidence, on made-up replies whose truth is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from made_up import ACCURACY, Row, table_of

from proofstone.errors import BadUsage
from proofstone.records.runs import Estimate
from proofstone.records.scores import Respondent
from proofstone.results.sections.catalogue import perform_analysis
from proofstone.results.sections.parts import Analysis, HowAsked, Part
from proofstone.stats.retrieval import EvidenceFound
from table_texts import rows

DOCUMENTS, EACH = 20, 6
N = DOCUMENTS * EACH
PASSAGES = {"context": "retrieved", "context_chunks": 2, "context_index": "ab"}
DENSE = {**PASSAGES, "context_search": "dense", "context_index": "cd"}
EVIDENCE = {"context": "evidence", "context_tokens": 900, "context_left_out": 0}
BESIDE = {**PASSAGES, "context": "document+retrieved"}

ALL, PART, NONE = (0.5, 1.0), (0.25, 0.5), (0.0, 0.0)  # recall at 1 and 2

Settings = Mapping[str, object]
Values = Sequence[float]


def found(recall: tuple[float, float], ndcg: float = 0.5) -> EvidenceFound:
    return EvidenceFound(np.array(recall), np.array([ndcg, ndcg]))


def study(
    asked: Sequence[tuple[str, Settings, Values]],
    recall: Sequence[tuple[float, float] | None],
    ndcg: Sequence[float] = (),
) -> Analysis:
    """``recall`` by question: None without evidence. Six questions share a document."""
    made: list[Row] = [
        (unit, place, 0, "answered", value)
        for place, (_model, _settings, values) in enumerate(asked)
        for unit, value in enumerate(values)
    ]
    who = [Respondent(model, "direct", settings=str(at)) for at, (model, *_) in enumerate(asked)]
    n = len(recall)
    table = table_of(who, made, n_units=n, keys=[(unit, unit // EACH) for unit in range(n)])
    known = {
        table.items[unit]: found(each, ndcg[unit] if ndcg else 0.5)
        for unit, each in enumerate(recall)
        if each is not None
    }
    part = Part(
        name="questions", kind="form", seed=0, recipe={}, table=table, measure=ACCURACY,
        asked=tuple(HowAsked(model, "direct", dict(settings)) for model, settings, _ in asked),
        found=tuple(
            known if "retrieved" in str(settings["context"]) else {} for _, settings, _ in asked
        ),
    )  # fmt: skip
    return perform_analysis("evidence", [part])


def thirds() -> list[tuple[float, float] | None]:
    """All evidence, a part and none, in turn."""
    return [(ALL, PART, NONE)[unit % 3] for unit in range(N)]


def losses(made: Analysis) -> dict[str, tuple[str, ...]]:
    return {row[2]: row for row in rows(made, 1)}


def test_a_reader_that_needs_all_evidence_loses_only_what_is_missing() -> None:
    """It answers all with evidence, and with passages only where all evidence was found."""
    passages = [float(unit % 3 == 0) for unit in range(N)]
    made = study([("lab/a", PASSAGES, passages), ("lab/a", EVIDENCE, [1.0] * N)], thirds())
    by = losses(made)
    assert [by[kind][3] for kind in ("all", "part", "none", "every question")] == [
        "40", "40", "40", "120",
    ]  # fmt: skip
    assert [by[kind][4].split()[0] for kind in ("all", "part", "none")] == ["100.0", "0.0", "0.0"]
    assert by["every question"][6].split()[0] == "-66.7"
    assert [by[kind][7].split()[0] for kind in ("all", "part", "none")] == [
        "+0.0", "-33.3", "-33.3",
    ]  # fmt: skip
    assert "scores -66.7 points" in made.finding
    assert "-66.7 on questions with missing evidence, 0.0 on questions with all" in made.finding


def test_a_reader_that_passages_distract_loses_where_all_evidence_was_found() -> None:
    """Each question counts alike with missing evidence; with all of it the reader fails."""
    passages = [float(unit % 3 != 0) for unit in range(N)]
    made = study([("lab/a", PASSAGES, passages), ("lab/a", EVIDENCE, [1.0] * N)], thirds())
    assert "0.0 on questions with missing evidence, -33.3 on questions with all" in made.finding


def test_no_difference_is_not_split() -> None:
    """Equal replies, and replies that differ as often each way."""
    same = [float(unit % 2) for unit in range(N)]
    turned = [1.0 - value for value in same]
    for evidence in (same, turned):
        made = study([("lab/a", PASSAGES, same), ("lab/a", EVIDENCE, evidence)], thirds())
        assert "no significant difference between" in made.finding
        assert "questions with missing evidence" not in made.finding


def test_recall_and_shares_of_each_search() -> None:
    made = study([("lab/a", PASSAGES, [1.0] * N), ("lab/b", PASSAGES, [0.0] * N)], thirds())
    first, second = rows(made)
    assert (first[1], second[1], first[2]) == ("1", "2", "120")
    assert first[3].split()[0] == "25.0"
    assert [cell.split()[0] for cell in second[3:]] == ["50.0", "50.0", "33.3", "33.3", "33.3"]
    assert "recall is 50.0%" in made.finding
    assert "for 40 of 120 questions, a part for 40 and none for 40" in made.finding
    assert made.finding.count("recall") == 1
    assert "Not asked with evidence alone: lab/a direct, lab/b direct." in made.notes


def test_each_search_has_its_own_rows() -> None:
    values = [1.0] * N
    made = study([("lab/a", PASSAGES, values), ("lab/a", DENSE, values)], thirds())
    assert len({row[0] for row in rows(made)}) == 2


def test_with_the_document_shown_nothing_is_missing() -> None:
    """The search is measured, and no loss is split by what it found."""
    made = study([("lab/a", BESIDE, [1.0] * N), ("lab/a", EVIDENCE, [1.0] * N)], thirds())
    assert len(made.tables) == 1
    assert "after the document" in made.finding


def test_settings_must_agree() -> None:
    other = {**EVIDENCE, "temperature": 1.0}
    made = study([("lab/a", PASSAGES, [0.0] * N), ("lab/a", other, [1.0] * N)], thirds())
    assert "evidence alone" not in made.finding
    assert losses(made)["all"][5] == "—"


def test_questions_without_evidence_are_left_out_and_counted() -> None:
    recall = [None, None, *thirds()[2:]]
    made = study([("lab/a", PASSAGES, [1.0] * N)], recall)
    assert rows(made)[0][2] == "118"
    assert any("2 of the scored questions are left out" in note for note in made.notes)


def test_evidence_in_no_passage_is_told() -> None:
    ndcg = [np.nan if unit % 3 == 2 else 0.5 for unit in range(N)]
    made = study([("lab/a", PASSAGES, [1.0] * N)], thirds(), ndcg)
    assert any("holds any evidence of 40 of the questions" in note for note in made.notes)
    nowhere = study([("lab/a", PASSAGES, [1.0] * N)], [NONE] * N, [np.nan] * N)
    assert rows(nowhere)[0][4] == "—"


def test_without_evidence_there_is_no_study() -> None:
    with pytest.raises(BadUsage, match="no complete run here was asked with passages"):
        study([("lab/a", PASSAGES, [1.0] * N)], [None] * N)
    with pytest.raises(BadUsage, match="no complete run here was asked with passages"):
        study([("lab/a", EVIDENCE, [1.0] * N)], thirds())


def test_intervals_of_the_parts_cover_the_truth() -> None:
    """Documents differ in how much they lose; parts of the loss are covered in 95% of samples."""
    draws = np.random.default_rng(11)
    covered, trials = 0, 120
    for _ in range(trials):
        harder = draws.uniform(0.2, 0.8, DOCUMENTS).repeat(EACH)
        missing = np.arange(N) % 3 > 0
        with_evidence = draws.random(N) < 0.9
        regained = draws.random(N) < harder
        passages = with_evidence & (regained | ~missing)
        made = study(
            [
                ("lab/a", PASSAGES, passages.astype(float).tolist()),
                ("lab/a", EVIDENCE, with_evidence.astype(float).tolist()),
            ],
            [NONE if each else ALL for each in missing],
        )
        (row,) = [row for row in made.tables[1].rows if row[2] == "none"]
        of_total = row[7]
        assert isinstance(of_total, Estimate)
        covered += of_total.low <= -0.9 * 0.5 * 2 / 3 <= of_total.high
    assert 0.88 <= covered / trials <= 1.0
