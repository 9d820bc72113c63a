"""The study of contexts, on made-up replies whose differences are known."""

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
from table_texts import rows

DOCUMENTS, EACH = 24, 5
N = DOCUMENTS * EACH
CONTEXTS: Mapping[str, dict[str, object]] = {
    "none": {},
    "evidence": {"context": "evidence", "context_tokens": 900},
    "retrieved": {"context": "retrieved", "context_within": "document", "context_chunks": 5},
    "document": {"context": "document", "context_tokens": 30_000},
    "both": {"context": "document+retrieved", "context_within": "document", "context_chunks": 5},
}


def study(
    asked: Sequence[tuple[str, Mapping[str, object], Sequence[float]]],
    *,
    is_clustered: bool = True,
) -> Analysis:
    """Five questions share a document, unless none do."""
    made: list[Row] = [
        (unit, place, 0, "answered", value)
        for place, (_model, _settings, values) in enumerate(asked)
        for unit, value in enumerate(values)
    ]
    who = [Respondent(model, "direct", settings=str(at)) for at, (model, *_) in enumerate(asked)]
    keys = [(unit, unit // EACH if is_clustered else unit) for unit in range(N)]
    part = Part(
        name="questions", kind="form", seed=0, recipe={},
        table=table_of(who, made, n_units=N, keys=keys), measure=ACCURACY,
        asked=tuple(HowAsked(model, "direct", dict(settings)) for model, settings, _ in asked),
    )  # fmt: skip
    return perform_analysis("contexts", [part])


def by_document(share: float) -> list[float]:
    """All questions on the first documents right, all others wrong."""
    return [float(unit // EACH < share * DOCUMENTS) for unit in range(N)]


def test_every_two_contexts_are_paired() -> None:
    shares = (0.25, 0.75, 0.5, 0.625, 0.625)
    made = study(
        [
            ("lab/a", settings, by_document(share))
            for settings, share in zip(CONTEXTS.values(), shares, strict=True)
        ]
    )
    found = {row[1:3]: row[6].split()[0] for row in rows(made)}
    assert len(found) == 10
    assert found["none", "evidence"] == "+50.0"
    assert found["evidence", "retrieved:document"] == "-25.0"
    assert found["retrieved:document", "document"] == "+12.5"
    assert found["document", "document+retrieved:document"] == "+0.0"


def test_questions_of_one_document_count_as_dependent() -> None:
    """The same difference has a wider interval where whole documents change."""
    asked = [
        ("lab/a", CONTEXTS["none"], by_document(0.25)),
        ("lab/a", CONTEXTS["document"], by_document(0.75)),
    ]

    def width(**options: bool) -> float:
        change = study(asked, **options).tables[0].rows[0][6]
        assert isinstance(change, Estimate)
        assert change.value == pytest.approx(0.5)
        return change.high - change.low

    ratio = width(is_clustered=True) / width(is_clustered=False)
    assert EACH**0.5 * 0.85 < ratio < EACH**0.5 * 1.25


def test_equal_contexts_are_not_significant_and_named_by_none() -> None:
    same = by_document(0.5)
    made = study([("lab/a", CONTEXTS["none"], same), ("lab/a", CONTEXTS["document"], same)])
    assert made.finding == (
        "0 of 1 paired difference is statistically significant (Holm-adjusted)."
    )
    assert rows(made)[0][7] == "1.000"


def test_a_null_effect_is_rarely_significant() -> None:
    """Documents change at random each way: Holm keeps any error below 5% of samples."""
    draws = np.random.default_rng(4)
    errors, trials = 0, 150
    for _ in range(trials):
        asked = [
            ("lab/a", settings, draws.integers(0, 2, DOCUMENTS).repeat(EACH).astype(float).tolist())
            for settings in list(CONTEXTS.values())[:3]
        ]
        errors += not study(asked).finding.startswith("0 of 3")
    assert errors / trials < 0.1


def test_a_difference_is_named_with_its_contexts() -> None:
    made = study(
        [
            ("lab/a", CONTEXTS["document"], by_document(0.875)),
            ("lab/a", CONTEXTS["none"], by_document(0.125)),
        ]
    )
    assert made.finding.startswith("1 of 1 paired difference is statistically significant")
    assert "lab/a direct: +75.0 points" in made.finding
    assert made.finding.endswith("from none to document.")


def test_searches_that_look_alike_are_spelled_out() -> None:
    more = {**CONTEXTS["retrieved"], "context_chunks": 9}
    made = study(
        [("lab/a", CONTEXTS["retrieved"], by_document(0.5)), ("lab/a", more, by_document(0.5))]
    )
    ((_model, first, second, *_rest),) = rows(made)
    assert first != second
    assert "9 passages" in second


def test_other_settings_are_another_comparison() -> None:
    warm = {**CONTEXTS["document"], "temperature": 1.0}
    with pytest.raises(BadUsage, match="no model here is complete in two contexts"):
        study([("lab/a", CONTEXTS["none"], by_document(0.5)), ("lab/a", warm, by_document(0.5))])
    with pytest.raises(BadUsage, match="no model here is complete in two contexts"):
        study(
            [
                ("lab/a", CONTEXTS["none"], by_document(0.5)),
                ("lab/b", CONTEXTS["document"], by_document(0.5)),
            ]
        )
