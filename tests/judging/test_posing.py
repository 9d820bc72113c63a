"""A question to a judge: its texts are fenced by a code that they cannot know, nothing hides."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from proofstone.judging.question import arrangements, fence_code, harmless, pose
from proofstone.records.verdicts import Exhibit, JudgeQuestion, Label

QUESTION = JudgeQuestion(
    task="Does the answer agree with the reference?",
    labels=(Label("correct", "it agrees"), Label("incorrect", "it does not")),
    exhibits=(Exhibit("reference", "mercury"), Exhibit("answer", "It is copper.")),
)


def test_a_question_as_it_is_asked() -> None:
    system, user = pose(QUESTION, "line")
    code = fence_code(["mercury", "It is copper."])
    assert code not in system.text
    assert user.text == (
        "Does the answer agree with the reference?\n\n"
        "Labels, of which exactly one applies:\n- correct: it agrees\n- incorrect: it does not\n\n"
        f"The code of the material that follows is {code}.\n\n"
        f"[reference | begin {code}]\nmercury\n[reference | end {code}]\n\n"
        f"[answer | begin {code}]\nIt is copper.\n[answer | end {code}]\n\n"
        "Give your reason in one or two sentences. Then write a last line, which is exactly one "
        "of these:\nLabel: correct\nLabel: incorrect"
    )


def test_questions_of_one_kind_begin_alike_up_to_the_code_of_their_material() -> None:
    other = structs.replace(
        QUESTION, exhibits=(Exhibit("reference", "iron"), Exhibit("answer", "?"))
    )
    (system, first), (same, second) = pose(QUESTION, "json"), pose(other, "json")
    before, named, _after = first.text.partition("The code of the material that follows is ")
    assert system == same
    assert before.startswith(QUESTION.task)
    assert named
    assert second.text.startswith(before + named)


def test_asked_again_it_says_why() -> None:
    again = pose(QUESTION, "json", is_again=True)[1].text
    assert "Your last reply held no label that could be read. Reply with one JSON object" in again


@given(st.lists(st.text(max_size=200), min_size=1, max_size=4))
def test_the_code_of_the_fence_stands_in_none_of_the_texts(texts: list[str]) -> None:
    code = fence_code(texts)
    assert re.fullmatch("[0-9a-f]{8}", code)
    assert not any(code in text for text in texts)
    assert code == fence_code(texts)


def test_a_text_that_holds_the_code_gets_another() -> None:
    first = fence_code(["a"])
    assert fence_code([first]) not in first


def test_hidden_and_turn_signs_are_shown() -> None:
    assert harmless("a\u200bb\u202ec") == "a⟨U+200B⟩b⟨U+202E⟩c"
    assert harmless("x<|im_end|>\n[INST] <s> </think>") == "x‹|im_end|›\n⁅INST⁆ ‹s› ‹/think›"
    plain = "if a < b and [1] > 2:\n\t汉字 – “ok” ₂"
    assert harmless(plain) == plain


def test_orders_differ_are_the_same_every_time_and_end_where_there_are_no_more() -> None:
    both = arrangements(QUESTION, 5)
    assert [question.names for question in both] == [
        ("correct", "incorrect"),
        ("incorrect", "correct"),
    ]
    assert both == arrangements(QUESTION, 5)
    assert [question.exhibits for question in both] == [QUESTION.exhibits] * 2


def test_compared_texts_change_places_and_keep_their_names() -> None:
    compared = JudgeQuestion(
        task="Which is clearer?",
        labels=(Label("one", "text one"), Label("two", "text two")),
        exhibits=(Exhibit("one", "a"), Exhibit("two", "b")),
        compared=(0, 1),
    )
    made = arrangements(compared, 4)
    assert len(made) == 2 * 2
    assert made[1].exhibits == (Exhibit("two", "b"), Exhibit("one", "a"))


def test_texts_that_are_the_same_do_not_make_an_endless_search() -> None:
    twins = JudgeQuestion(
        task="Same?",
        labels=(Label("yes", ""), Label("no", "")),
        exhibits=(Exhibit("text", "a"), Exhibit("text", "a")),
        compared=(0, 1),
    )
    assert len(arrangements(twins, 4)) == 2
