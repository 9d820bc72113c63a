"""What a scoring's triples were verified against, and the text by which it is known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.methods.bequ.records import Against, read_against
from proofstone.records.ids import canonical_json

NAMES = st.from_regex(r"[A-Za-z0-9/._ -]{1,20}", fullmatch=True).map(str.strip).filter(bool)


@given(
    judges=st.lists(NAMES, min_size=1, max_size=3).map(", ".join),
    reference=NAMES,
    sample=st.integers(0, 10_000),
    sampling=st.sampled_from(["entities", "triples"]),
    seed=st.integers(0, 99),
    k=st.integers(1, 50),
    search_method=st.sampled_from(["bm25", "dense", "hybrid"]),
    over=st.sampled_from(["reference", "elicited:1f2e3a4b"]),
    recall=st.sampled_from(["together", "single"]),
    sample_per=st.sampled_from(["all", "domain", "popularity"]),
    questions=st.integers(1, 3),
)
def test_settings_are_read_back_as_they_were_written(**said: object) -> None:
    against = Against(candidates=7, **said)  # type: ignore[arg-type] # drawn by type above
    assert read_against(canonical_json(against)) == against


@pytest.mark.parametrize(
    ("against", "label", "drawn"),
    [
        (
            Against(judges="openai/x", reference="metals-1f2e"),
            "openai/x, reference=metals-1f2e",
            "an entity, then one of its triples, up to 500 per direction, seed 0, recall by "
            "single triples",
        ),
        (
            Against(
                judges="openai/x", reference="metals-1f2e", sample_per="domain", recall="together"
            ),
            "openai/x, reference=metals-1f2e sample_per=domain recall=together",
            "an entity, then one of its triples, up to 500 per direction and domain, seed 0",
        ),
        (
            Against(
                judges="a/x, b/y votes=3", reference="my notes.jsonl-1f2e", sample=80,
                sampling="triples", seed=2,
            ),
            "a/x, b/y votes=3, reference=my notes.jsonl-1f2e sample=80 sampling=triples seed=2",
            "uniformly over triples, up to 80 per direction, seed 2, recall by single triples",
        ),
        (
            Against(judges="a/x", reference="metals-1f2e", sample=0, search_method="hybrid"),
            "a/x, reference=metals-1f2e sample=0 search_method=hybrid",
            "all triples, retrieved by hybrid search, recall by single triples",
        ),
    ],
)  # fmt: skip
def test_a_label_says_only_what_is_not_usual(against: Against, label: str, drawn: str) -> None:
    assert (against.label, against.drawn) == (label, drawn)


def test_other_scorings_have_no_settings() -> None:
    assert read_against(b"") is None
