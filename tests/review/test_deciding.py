"""From reviews to one decision: the paper's three, quorum, ties, different changes, corrections."""

from __future__ import annotations

from msgspec import structs

from proofstone.records.reviews import (
    Review,
    ReviewDecision,
    ReviewPolicy,
    ReviewTask,
    latest,
    review_id,
)
from proofstone.results.fact_check import found_otherwise
from proofstone.review.agreement import rate, shared_targets
from proofstone.review.state import decide

PAPER = ReviewPolicy(quorum=3)


def said(
    who: str, verdict: str, *, text: str = "", task: ReviewTask = "format", at: float = 0.0
) -> Review:
    """One reviewer's decision on the statement of these tests."""
    one = Review(
        target=b"s" * 32, task=task, verdict=verdict, judge=who, at=at,
        changes={"text": text} if text else {},
        reason=f"{who} says so" if verdict == "drop" else "",
    )  # fmt: skip
    return structs.replace(one, id=review_id(one))


def decided(policy: ReviewPolicy, *reviews: Review) -> ReviewDecision:
    (one,) = decide(reviews, policy)
    return one


def test_two_of_three_drop_it_and_one_of_three_does_not() -> None:
    two = decided(PAPER, said("a", "drop"), said("b", "keep"), said("c", "drop"))
    assert (two.outcome, two.why) == ("drop", "a says so; c says so")
    assert decided(PAPER, said("a", "drop"), said("b", "keep"), said("c", "keep")).outcome == "keep"


def test_below_the_quorum_it_is_open() -> None:
    one = decided(PAPER, said("a", "keep"), said("b", "keep"))
    assert (one.outcome, one.why) == ("open", "2 of 3 reviews done")


def test_half_against_half_is_what_the_tie_rule_says() -> None:
    halves = said("a", "drop"), said("b", "keep")
    for tie in ("open", "keep", "drop"):
        assert decided(ReviewPolicy(quorum=2, tie=tie), *halves).outcome == tie


def test_any_one_and_all_of_them() -> None:
    mixed = said("a", "drop"), said("b", "keep"), said("c", "keep")
    assert decided(ReviewPolicy(drop="any"), *mixed).outcome == "drop"
    assert decided(ReviewPolicy(drop="all"), *mixed, said("d", "drop")).outcome == "keep"
    assert decided(ReviewPolicy(drop="all"), said("a", "drop"), said("d", "drop")).outcome == "drop"


def test_a_fix_counts_as_wanting_to_keep_it() -> None:
    fix = decided(PAPER, said("a", "fix", text="x"), said("b", "keep"), said("c", "drop"))
    assert (fix.outcome, fix.changes) == ("fix", {"text": "x"})
    strict = structs.replace(PAPER, fix="all")
    kept = decided(strict, said("a", "fix", text="x"), said("b", "keep"), said("c", "drop"))
    assert kept.outcome == "keep"


def test_different_changes_leave_it_open() -> None:
    one = decided(ReviewPolicy(), said("a", "fix", text="x"), said("b", "fix", text="y"))
    assert (one.outcome, one.why) == ("open", "reviewers request different changes")
    same = decided(ReviewPolicy(), said("a", "fix", text="x"), said("b", "fix", text="x"))
    assert same.outcome == "fix"


def test_the_newest_decision_of_a_reviewer_counts() -> None:
    first = said("a", "drop", at=1.0)
    assert decided(ReviewPolicy(), first, said("a", "keep", at=2.0)).outcome == "keep"
    # One that names the former counts, even if a clock went backwards.
    second = structs.replace(said("a", "keep", at=0.5), corrects=first.id)
    assert latest([first, second]) == [second]


def test_order_and_repeats_of_reviews_change_nothing() -> None:
    reviews = [said("a", "drop"), said("b", "fix", text="x"), said("c", "keep")]
    one = decided(PAPER, *reviews)
    assert decided(PAPER, *reversed(reviews), *reviews).outcome == one.outcome
    assert decided(PAPER, *reversed(reviews), *reviews).votes == one.votes


def test_truth_is_apart_from_format_and_unsure_decides_nothing() -> None:
    reviews = [
        said("a", "true", task="truth"), said("b", "unsure", task="truth"), said("c", "keep")
    ]  # fmt: skip
    assert [one.outcome for one in decide(reviews, ReviewPolicy())] == ["keep"]
    (false,) = found_otherwise(reviews, {b"s" * 32: "false"}, "truth")
    assert (false.state, false.votes) == ("otherwise", {"true": 1, "unsure": 1})
    (true,) = found_otherwise(reviews, {b"s" * 32: "true"}, "truth")
    assert true.state == "as meant"
    split = [said("a", "true", task="truth"), said("b", "false", task="truth")]
    assert found_otherwise(split, {b"s" * 32: "true"}, "truth")[0].state == "unsure"
    assert found_otherwise(reviews, {}, "truth") == []


def test_ratings_hold_each_reviewers_newest_verdict() -> None:
    other = structs.replace(said("a", "keep"), target=b"t" * 32)
    ratings = rate([said("a", "drop"), said("b", "keep"), other], "format")
    assert ratings.codes.tolist() == [[2, 0], [0, -1]]
    assert shared_targets(ratings) == ([0], [0])
