"""A reference has of a passage what it states, and not what its extractor knows from elsewhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.methods.bequ.bank import About, Known, Taken
from proofstone.methods.bequ.reference import grounds_step, is_grounded
from proofstone.records.builds import Drop, StepContext

HOPPER = (
    "Grace Hopper (1906-12-09 to 1992-01-01) worked on the Mark I with Howard Aiken. The US Navy "
    "named a new ship after her. It melts at 1,085 degrees."
)


@pytest.mark.parametrize(
    ("value", "stated"),
    [
        ("1906-12-09", True), ("December 9, 1906", True), ("1906-02-09", False),
        ("Howard  AIKEN", True), ("with Aiken, Howard", True), ("work on the Mark I", True),
        ("New York City, New York, United States", False), ("1085 degrees", True),
        ("1085", True), ("108", False), ("1,906", True), ("C++", False), ("+", True),
        ("1992", True), ("Mark II", True), ("Zuse", False),
    ],
)  # fmt: skip
def test_numbers_stand_there_all_and_words_for_the_most_part(value: str, *, stated: bool) -> None:
    assert is_grounded(value, HOPPER) is stated


@pytest.mark.parametrize(
    ("value", "stated"), [("1085度", True), ("熔点", True), ("沸点", False), ("1084度", False)]
)
def test_chinese_is_compared_by_pairs(value: str, *, stated: bool) -> None:
    assert is_grounded(value, "铜的熔点是1085度。") is stated


@given(st.text(), st.text(), st.text())
def test_what_stands_there_is_stated(before: str, value: str, after: str) -> None:
    assert is_grounded(value, f"{before} {value} {after}")


def test_what_is_from_elsewhere_is_dropped_with_its_words() -> None:
    row = Known(
        about=About(name="Grace Hopper"), taken=Taken(text=HOPPER, source="wiki"), is_asked=True,
        subject="Grace Hopper", predicate="birth place", object="New York City",
    )  # fmt: skip
    context = StepContext(row=b"", calls={})
    assert grounds_step().work(row, context) == Drop(
        "not in the passage", "Grace Hopper: birth place: New York City"
    )
    passage = Known(about=row.about, taken=row.taken)
    assert grounds_step().work(passage, context) is passage
