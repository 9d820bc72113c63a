"""What two people, a third and a comparison make of a question: each outcome, and what never
matters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from proofstone.errors import BadInput
from proofstone.methods.chinese_simpleqa.payloads import Pair
from proofstone.methods.chinese_simpleqa.review import (
    authoritative_sites,
    bundled_sites,
    check_answer,
)
from proofstone.records.reviews import (
    ANSWER_STATES,
    AnswerPolicy,
    CheckedAnswer,
    Review,
    ReviewTask,
    review_id,
)

ASKED = Pair(question="Which river runs through Vienna?", answer="Danube", aliases=("Donau",))
POLICY = AnswerPolicy(sources=("baike.baidu.com", "wikipedia.org"))
GOOD = ("https://en.wikipedia.org/wiki/Danube", "https://example.com/rivers")
TARGET = b"q" * 32


def said(
    who: str, answer: str = "", *, task: ReviewTask = "answer", verdict: str = "answered",
    urls: tuple[str, ...] = GOOD, at: float = 0.0, model: str = "", reason: str = "",
) -> Review:  # fmt: skip
    """One person's decision on the question of these tests."""
    one = Review(
        target=TARGET, task=task, verdict=verdict, reviewer=who.encode() * 32, answer=answer,
        urls=urls if verdict == "answered" else (), at=at, reason=reason,
        rubric={"model": model} if model else {},
    )  # fmt: skip
    return structs.replace(one, id=review_id(one))


def third(who: str, answer: str, urls: tuple[str, ...] = (), at: float = 0.0) -> Review:
    return said(who, answer, task="third", urls=urls, at=at)


def compared(who: str, verdict: str, answer: str = "", model: str = "", at: float = 0.0) -> Review:
    return said(who, answer, task="same", verdict=verdict, model=model, at=at)


def unfit(who: str, task: ReviewTask = "answer") -> Review:
    return said(who, task=task, verdict="unfit", reason=f"{who}: which year?")


def check(*reviews: Review) -> CheckedAnswer:
    return check_answer(TARGET, ASKED, reviews, POLICY)


def test_it_waits_for_the_first_then_for_the_second() -> None:
    assert check().state == "waits for a first answer"
    one = check(said("a", "Danube"))
    assert (one.state, one.why) == ("waits for a second answer", "1 of 2 answers given")


def test_two_who_agree_with_the_model_keep_it_by_dress_or_alias() -> None:
    for first, second in (("Danube", "danube."), ("“Danube”", "Donau"), ("Donau", "Donau")):
        found = check(said("a", first), said("b", second))
        assert (found.state, found.why) == ("kept", "")


def test_not_compliant_by_either_discards_whatever_else_is_there() -> None:
    assert check(unfit("a")).state == "not compliant"
    both = check(unfit("b"), said("a", "Danube"), third("c", "Danube"))
    assert (both.state, both.why) == ("not compliant", "b: which year?")
    assert check(unfit("a"), unfit("b")).why == "a: which year?; b: which year?"


def test_a_third_may_find_it_not_compliant_too() -> None:
    differ = said("a", "Danube"), said("b", "Rhine")
    assert check(*differ, unfit("c", "third")).state == "not compliant"


def test_an_answer_rests_on_two_pages_and_the_same_page_twice_is_one() -> None:
    twice = ("https://en.wikipedia.org/wiki/Danube", "http://EN.wikipedia.org:80/wiki/Danube#a")
    found = check(said("a", "Danube", urls=twice))
    assert (found.state, found.why) == ("too few pages", "1 of 2 pages for an answer")
    broken = check(said("a", "Danube", urls=(GOOD[0], "javascript:alert(1)")))
    assert broken.state == "too few pages"


def test_one_of_them_is_of_an_authoritative_source() -> None:
    found = check(said("a", "Danube", urls=("https://b.org/1", "https://notwikipedia.org/x")))
    assert found.state == "no authoritative source"
    assert found.why == "on no list: b.org, notwikipedia.org"


def test_where_they_differ_a_third_decides_and_may_rest_on_the_pages_of_the_one_who_is_right() -> (
    None
):
    differ = said("a", "Danube"), said("b", "Rhine")
    waits = check(*differ)
    assert (waits.state, waits.why) == ("waits for a third person", "they differ: Danube / Rhine")
    assert waits.answers == (("Danube", GOOD), ("Rhine", GOOD))
    assert check(*differ, third("c", "Danube")).state == "kept"
    assert check(*differ, third("c", "Inn")).state == "too few pages"
    assert check(*differ, third("c", "Inn", urls=GOOD)).state == "waits for a comparison"


def test_what_is_not_the_same_by_rule_goes_to_a_further_person_and_never_by_containment() -> None:
    longer = said("a", "the river Danube"), said("b", "the river Danube")
    waits = check(*longer)
    assert (waits.state, waits.answer) == ("waits for a comparison", "the river Danube")
    assert check(*longer, compared("c", "same")).state == "kept"
    differs = check(*longer, compared("c", "differs"))
    assert differs.state == "differs from the model"
    assert differs.why == "people: the river Danube; the model: Danube"


def test_a_comparison_of_other_texts_does_not_count() -> None:
    """An answer, or the model's, was changed after the two were compared."""
    agree = said("a", "the Danube"), said("b", "the Danube")
    assert check(*agree, compared("c", "same", "the Danube", "Danube")).state == "kept"
    for stale in (compared("c", "same", "Rhine"), compared("c", "same", "the Danube", "Rhine")):
        assert check(*agree, stale).state == "waits for a comparison"


def test_one_person_never_counts_twice() -> None:
    """Who answered is neither the second nor the third, and compares nothing."""
    assert check(said("a", "Danube"), said("a", "Danube", at=1.0)).state == (
        "waits for a second answer"
    )
    differ = said("a", "Danube"), said("b", "Rhine")
    again = check(*differ, third("a", "Danube"))
    assert (again.state, again.uncounted) == ("waits for a third person", 1)
    settled = (*differ, third("c", "Inn", urls=GOOD))
    for who in ("a", "c"):
        found = check(*settled, compared(who, "same"))
        assert (found.state, found.uncounted) == ("waits for a comparison", 1)


def test_an_answer_that_was_corrected_no_longer_counts() -> None:
    first = said("b", "Rhine", at=1.0)
    again = structs.replace(said("b", "Danube", at=0.5), corrects=first.id)
    found = check(said("a", "Danube"), first, structs.replace(again, id=review_id(again)))
    assert found.state == "kept"


def test_models_are_no_people() -> None:
    judged = structs.replace(said("b", "Danube"), reviewer=b"", judge="provider/model")
    assert check(said("a", "Danube"), judged).state == "waits for a second answer"


def test_all_of_more_than_two_must_agree() -> None:
    agree = said("a", "Danube"), said("b", "Danube")
    assert check(*agree, said("c", "Donau")).state == "kept"
    assert check(*agree, said("c", "Rhine")).state == "waits for a third person"


def test_an_answer_that_is_only_dress_is_the_same_as_nothing() -> None:
    assert check(said("a", "."), said("b", ".")).state == "waits for a third person"


ANSWERS = st.builds(
    said,
    st.sampled_from("abcd"),
    st.sampled_from(["Danube", "donau", "the Danube", "Rhine", ""]),
    task=st.sampled_from(["answer", "answer", "answer", "third", "same"]),
    verdict=st.sampled_from(["answered", "answered", "answered", "unfit", "same", "differs"]),
    urls=st.sampled_from([GOOD, GOOD, GOOD[:1], ("https://b.org/1", "https://b.org/2")]),
    at=st.sampled_from([0.0, 1.0, 2.0]),
)
REVIEWS = st.lists(
    ANSWERS, max_size=8, unique_by=lambda one: (one.reviewer, one.task, one.at)
)  # one decision of a person on a task at a time


@given(reviews=REVIEWS, data=st.data())
def test_order_and_repeated_rows_never_matter(reviews: list[Review], data: st.DataObject) -> None:
    found = check(*reviews)
    assert found.state in ANSWER_STATES
    again = data.draw(st.permutations([*reviews, *reviews[:3]]))
    assert check(*again) == found


@given(reviews=REVIEWS)
def test_who_is_who_never_matters(reviews: list[Review]) -> None:
    """The same decisions by other people come to the same."""
    others = {name.encode() * 32: name.upper().encode() * 32 for name in "abcd"}
    swapped = [structs.replace(one, reviewer=others[one.reviewer]) for one in reviews]
    assert check(*swapped).state == check(*reviews).state


@given(reviews=REVIEWS)
def test_what_is_kept_was_answered_by_two_who_found_it_compliant(reviews: list[Review]) -> None:
    found = check(*reviews)
    if found.state == "kept":
        newest = {one.reviewer for one in reviews if one.task == "answer"}
        assert len(newest) >= 2
        assert len(found.people) >= 2
        assert found.answer


def test_ones_own_list_adds_and_takes_away() -> None:
    known = ("wikipedia.org",)
    assert authoritative_sites(["# ours", "Intranet.Example.org  # wiki"], "l", known) == (
        "intranet.example.org", "wikipedia.org",
    )  # fmt: skip
    assert authoritative_sites(["-wikipedia.org", "b.org"], "l", known) == ("b.org",)
    assert authoritative_sites(["-*", "b.org"], "l", known) == ("b.org",)
    assert {"wikipedia.org", "baike.baidu.com", ".edu", "gov.cn"} <= set(bundled_sites())


def test_a_list_tells_every_line_that_is_no_site_and_refuses_an_empty_one() -> None:
    with pytest.raises(BadInput) as raised:
        authoritative_sites(["https://a.org/x", "b.org", "com"], "mine.txt", ())
    assert [problem.where for problem in raised.value.problems] == [
        "mine.txt, line 1", "mine.txt, line 3",
    ]  # fmt: skip
    with pytest.raises(BadInput, match="cannot be read"):
        authoritative_sites(["-*"], "mine.txt", ("a.org",))
