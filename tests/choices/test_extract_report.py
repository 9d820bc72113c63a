"""docs/reference/extraction.md says what extraction does with the real replies."""

from __future__ import annotations

import pytest
from tools.extraction_report import PAGE, Reading, Row, kind_of, page, readings

from proofstone.choices.extraction import extract_choice


def _reading(response: str, options: list[str]) -> Reading:
    row = Row(model="m", question_id=1, options=options, answer_key="A", response=response, ref={})
    return Reading(row, extract_choice(response, "ABCD"[: len(options)], options), {})


@pytest.mark.parametrize(
    ("response", "theirs", "kind"),
    [
        ("The answer is (A, B).", "A", "several"),
        ("A dog barks.", "A", "article"),
        ("C = 5", "C", "no answer"),
        ("The answer is (K).", "A", "no option"),
        ("The answer is iron.", "", "content"),
        ("Answer: A\nAnswer: B", "A", "last"),
        ("answer: b", "", "form"),
        ("(B)", "A", "other"),
    ],
)
def test_disagreements_are_of_a_kind(response: str, theirs: str, kind: str) -> None:
    assert kind_of(_reading(response, ["iron", "gold", "tin"]), theirs) == kind


def test_the_page_is_up_to_date() -> None:
    """Compared whole, where the replies lie beside the repository."""
    read = readings()
    if not read:
        pytest.skip("the 903 real replies lie beside the repository, in ../shared, and not here")
    assert PAGE.read_text(encoding="utf-8") == page(read)
