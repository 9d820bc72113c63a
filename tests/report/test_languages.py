"""Texts in the language in force: sentences, counted things, lists."""

from __future__ import annotations

import threading

import pytest

from proofstone.wording.messages import (
    counted,
    filled,
    joined,
    language,
    language_tag,
    listed,
    paragraph,
    say,
    say_of,
    speaking,
    word,
)


def test_english_is_spoken_unless_another_language_is_asked_for() -> None:
    assert (language(), say("Chance is {chance}.", chance="25.0%")) == ("en", "Chance is 25.0%.")
    with speaking("zh"):
        assert say("Chance is {chance}.", chance="25.0%") == "随机猜测水平为 25.0%。"
        assert (language(), language_tag()) == ("zh", "zh-Hans")
    assert language_tag() == "en"


def test_a_language_ends_with_its_block_also_when_that_fails() -> None:
    with pytest.raises(ZeroDivisionError), speaking("zh"):
        _ = 1 // 0
    assert language() == "en"


def test_a_language_is_one_thread_s_own() -> None:
    heard = []
    with speaking("zh"):
        thread = threading.Thread(target=lambda: heard.append(language()))
        thread.start()
        thread.join()
    assert heard == ["en"]


@pytest.mark.parametrize(
    ("n", "noun", "english", "chinese"),
    [
        (1, "item", "1 item", "1 道题"),
        (5038, "item", "5,038 items", "5,038 道题"),
        (2, "other", "2 others", "其他 2 个"),
        (3, "volume", "3 volumes", "3 个 volume"),
    ],
)
def test_counted_things_agree_in_number_or_carry_a_measure_word(
    n: int, noun: str, english: str, chinese: str
) -> None:
    """What the catalogue lacks is counted by the general measure word."""
    assert counted(n, noun) == english
    with speaking("zh"):
        assert counted(n, noun) == chinese


def test_one_and_several_have_a_message_each() -> None:
    one, many = "{respondents} is incomplete and not ranked.", "{n} of them"
    assert say_of(1, one, many, respondents="m1", n=1) == "m1 is incomplete and not ranked."
    assert say_of(2, one, many, respondents="m1", n=2) == "2 of them"


def test_lists_and_sentences_are_joined_as_the_language_does() -> None:
    assert (joined([]), joined(["a"]), joined(["a", "b", "c"])) == ("", "a", "a, b and c")
    assert (listed(["a", "b"]), paragraph("One.", "", "Two.")) == ("a, b", "One. Two.")
    with speaking("zh"):
        assert (joined(["a", "b", "c"]), joined(["编写", "筛选"])) == ("a、b 和 c", "编写和筛选")
        assert (listed(["a", "b"]), paragraph("一。", "", "二。")) == ("a、b", "一。二。")


def test_a_name_that_no_catalogue_knows_stays_as_it_is() -> None:
    with speaking("zh"):
        assert (word("accuracy"), word("organic chemistry")) == ("准确率", "organic chemistry")


@pytest.mark.parametrize(
    ("template", "value", "text"),
    [
        ("在{x}上", "physics", "在 physics 上"),
        ("在 {x} 上", "物理", "在物理上"),
        ("{x}在前", "glm-4.6", "glm-4.6 在前"),
        ("{x} 在前", "其中一个", "其中一个在前"),
        ("得分：{x}。", "62.1 [59.8, 64.4]", "得分：62.1 [59.8, 64.4]。"),
        ("共{x:,}题", 5038, "共 5,038 题"),
        ("{x}", " a ", " a "),
    ],
)
def test_latin_text_and_chinese_stand_a_space_apart(
    template: str, value: object, text: str
) -> None:
    """Where a value meets the sentence; what stands within either is nobody's to change."""
    assert filled(template, {"x": value}) == text
