"""What holds of any text that an answer is read from."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from choices.test_extract_contents import ELEMENTS
from proofstone.choices.extraction import Extraction, extract_choice
from proofstone.choices.options import canonical

LETTERS = st.sampled_from("ABCDEFGHIJ")


STYLES = st.sampled_from(
    [
        "Answer: {}",
        "answer: {}",
        "The answer is ({}).",
        "**Answer:** {}",
        "答案：{}",
        "故选{}。",
        "\\boxed{{{}}}",
        "$\\boxed{{\\text{{{}}}}}$",
        "<answer>{}</answer>",
        "Final answer: **{}**",
        "The correct option is {}.",
    ]
)


WIDTHS = st.sampled_from(["", "full"])


@given(LETTERS, STYLES, WIDTHS, st.text(max_size=200))
def test_a_stated_answer_on_its_own_last_line_is_read_behind_any_text(
    letter: str, style: str, width: str, before: str
) -> None:
    written = chr(ord(letter) + 0xFEE0) if width else letter
    found = extract_choice(f"{before}\n{style.format(written)}", "ABCDEFGHIJ")
    assert found == Extraction(letter, "marked", "last line", True)


# fmt: off
PIECES = st.sampled_from([
    "answer", " is ", "option", "the ", "(", ")", "A", "B", "I", "i", "z", ".", ",", "\n", " ", "*",
    "\\boxed{", "}", "$", "答案", "选", "项", "：", "正确", "Ｂ", "not ", "and ", "Answer: ", "ii",
    "carbon", "choice", "closest", "K", "</s>", "None", "-", "、", "3.5 m", "İ", "\u0000",
])


# fmt: on
RESPONSES = st.one_of(st.text(), st.lists(PIECES, max_size=40).map("".join))


@given(RESPONSES, st.sampled_from(["ABCD", "ABCDEFGHIJ"]))
def test_any_text_is_read_consistently(text: str, letters: str) -> None:
    """Never an error; a letter that is one, an option only where it labels one, a scope with it."""
    found = extract_choice(text, letters)
    assert found.is_option == (found.letter != "" and found.letter in letters)
    assert (found.tier == "") == (found.scope == "")
    assert found.letter == "" or found.tier
    assert found.letter == "" or any(found.letter == _letter(c) for c in text)


def _letter(character: str) -> str:
    try:
        return canonical(character)
    except KeyError:
        return ""


@given(RESPONSES)
def test_texts_of_options_never_take_away_a_letter(text: str) -> None:
    """Knowing the texts can only add answers, or read a letter as the words it begins."""
    without = extract_choice(text, "ABCDE")
    known = extract_choice(text, "ABCDE", ELEMENTS)
    assert known == without or known.tier == "content"


@given(RESPONSES, st.sampled_from([" ", "\n", "\n\n", "\r\n", "\t"]))
def test_white_space_behind_a_reply_changes_nothing(text: str, space: str) -> None:
    assert extract_choice(text.rstrip() + space, "ABCD") == extract_choice(text.rstrip(), "ABCD")
