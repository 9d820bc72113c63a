"""Types of error: the paper's six, in every spelling that files are likely to have."""

from __future__ import annotations

import pytest

from proofstone.methods.encyclo_k.payloads import (
    ERROR_TYPES,
    Statement,
    error_type_of,
    read_error_type,
)


def test_they_are_the_papers() -> None:
    assert ERROR_TYPES == (
        "concept substitution",
        "causal inversion",
        "detail falsification",
        "temporal dislocation",
        "logical paradox",
        "scope change",
    )


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        # 3.1.2 of the paper, and its prompt (A.2), which has other names for four of them.
        ("scope modification", "scope change"),
        ("Detail Alteration", "detail falsification"),
        ("chronological displacement", "temporal dislocation"),
        ("logical gaps", "logical paradox"),
        ("scope expansion/contraction", "scope change"),
        # As identifiers, titles and fragments of sentences.
        ("CONCEPT_SUBSTITUTION", "concept substitution"),
        ("causal-inversion", "causal inversion"),
        ("Causal inversion error.", "causal inversion"),
        ("anachronism", "temporal dislocation"),
        # Chinese.
        ("偷换概念", "concept substitution"),
        ("因果倒置", "causal inversion"),
        ("细节篡改", "detail falsification"),
        ("时间错位", "temporal dislocation"),
        ("逻辑悖论", "logical paradox"),
        ("范围扩大/缩小", "scope change"),
        ("范围扩大或缩小", "scope change"),
    ],
)
def test_usual_spellings_are_read(spelling: str, name: str) -> None:
    assert read_error_type(spelling) == name


@pytest.mark.parametrize("text", ["", "typo", "substitution", "concept", "概念", "error"])
def test_other_names_are_not_guessed(text: str) -> None:
    assert read_error_type(text) is None


def perturbed(reason: str = "", error_type: str = "") -> Statement:
    return Statement(
        text="Water boils at 90 °C.", correct=False, reason=reason, error_type=error_type
    )


@pytest.mark.parametrize(
    ("reason", "name"),
    [
        ("Error Type: Detail Alteration. Key Concept: boiling.", "detail falsification"),
        ("**Error type**: scope expansion, because ...", "scope change"),
        ("错误类型：概念替换。考查点：沸点。", "concept substitution"),
        ("Type of error: causal inversion (cause and effect change places)", "causal inversion"),
        ("The error is one of detail.", None),
        ("Error type: something else. ...", None),
        ("", None),
    ],
)
def test_a_reason_that_opens_with_its_type_says_it(reason: str, name: str | None) -> None:
    """The form that the paper's prompt asks the falsifier for."""
    assert error_type_of(perturbed(reason)) == name


def test_the_stated_type_goes_before_the_reasons() -> None:
    both = perturbed("Error type: scope change. ...", "causal inversion")
    assert error_type_of(both) == "causal inversion"


def test_a_correct_statement_has_no_type() -> None:
    assert (
        error_type_of(Statement(text="So.", correct=True, reason="Error type: scope change."))
        is None
    )
