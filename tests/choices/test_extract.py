"""Which option a reply chose: the rules, one reply a line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.engines.choices import Extraction, extract_choice, labels
from proofstone.engines.choices.letters import as_labels, canonical

NOTHING = Extraction("", "", "", False)
SEVERAL_LAST = Extraction("", "marked", "last line", False)

STATED = [
    # English
    ("Answer: B", "B"),
    ("answer: b", "B"),
    ("ANSWER: B", "B"),
    ("Answer:B", "B"),
    ("Answer - B", "B"),
    ("Answers: B", "B"),
    ("Answer = B", "B"),
    ("Answer → B", "B"),
    ("The answer is (B)", "B"),
    ("The answer is B.", "B"),
    ("The answer is b.", "B"),
    ("The answer is a.", "A"),
    ("The answer is (a) text", "A"),
    ("The answer is B because of this.", "B"),
    ("The answer is A because of this.", "A"),
    ("The answer is A", "A"),
    ("The answer is I.", "I"),
    ("The answer is (I), I think", "I"),
    ("The answer is: (B). It follows.", "B"),
    ("The final answer is therefore option B!", "B"),
    ("So the correct answer would be (D).", "D"),
    ("The answer should be (G).", "G"),
    ("The most accurate answer is (J).", "J"),
    ("The answer is most likely C", "C"),
    ("The answer is closest to (I).<EOS_TOKEN>", "I"),
    ("The answer to part (b) is (A).", "A"),
    ("The answer that best reflects this is (A).", "A"),
    ("The answer, given 11.5 and 3.2, is (C).", "C"),
    ("The correct answer is 58_8, 11.11_2, which is option (C).", "C"),
    ("The answer is not listed, but we can round to 3.5, which is choice (E).", "E"),
    ("The ratio is 2:3, or answer (C).", "C"),
    ("Therefore, answer (C).", "C"),
    ("The correct option is (A).", "A"),
    ("The best choice is D, which holds both.", "D"),
    ("The closest option is (H).", "H"),
    ("The answer is not listed, but the closest one is (B).", "B"),
    ("(F) must be the correct answer.", "F"),
    ("B is the correct option here", "B"),
    ("B is the answer.", "B"),
    ("The answer is (J", "J"),
    ("Answer: B) because it holds", "B"),
    ("Answer: B. monumental earthworks", "B"),
    ("Let's see.\n\nAnswer:\n\nB", "B"),
    ('{"answer": "B"}', "B"),
    ("<answer>B</answer>", "B"),
    ("<answer>\nB\n</answer>", "B"),
    # Markdown
    ("**Answer: B**", "B"),
    ("**Answer:** B", "B"),
    ("**Answer**: **B**", "B"),
    ("## Answer\n\n**B**", "B"),
    ("### Final Answer: `B`", "B"),
    ("The answer is `D. 11.7`.", "D"),
    ("```\nAnswer: B\n```", "B"),
    ("> Answer: __B__", "B"),
    ("- **Final answer:** (B)\n---", "B"),
    # LaTeX
    (r"\boxed{B}", "B"),
    (r"$\boxed{B}$", "B"),
    (r"$$\boxed{\text{B}}$$", "B"),
    (r"\[\boxed{\mathrm{B}}\]", "B"),
    (r"\boxed{\textbf{(B)}}", "B"),
    (r"\boxed{B. 12}", "B"),
    ("Answer: $B$", "B"),
    ("The answer is $\\text{B}$.", "B"),
    (r"Final Answer: The final answer is $\boxed{B}$. I hope it is correct.", "B"),
    # Chinese
    ("答案：B", "B"),
    ("答案: B", "B"),
    ("答案是B", "B"),
    ("答案是（B）。", "B"),
    ("答案为 B", "B"),
    ("正确答案应该是选项B。", "B"),
    ("**答案：B**", "B"),
    ("答案选B", "B"),
    ("因此答案是B选项。", "B"),
    ("故选B。", "B"),
    ("故选：B", "B"),
    ("综上所述，应选（C）", "C"),
    ("所以选择D。", "D"),
    ("正确选项是A", "A"),
    ("正确选项：A", "A"),
    ("正确的是B。", "B"),
    ("最终答案：\n\nB", "B"),
    # full width
    ("答案：Ｂ", "B"),
    ("Answer: ｂ", "B"),
    ("答案是【Ｂ】", "B"),
]


@pytest.mark.parametrize(("text", "letter"), STATED)
def test_an_answer_stated_in_words_is_read_however_it_is_written(text: str, letter: str) -> None:
    found = extract_choice(text, "ABCDEFGHIJ")
    assert (found.letter, found.tier, found.is_option) == (letter, "marked", True)


@pytest.mark.parametrize(("text", "letter"), STATED)
def test_what_stands_before_a_stated_answer_does_not_matter(text: str, letter: str) -> None:
    before = "I compared (A) with (C). A common error is option D: the answer is (E).\n\n"
    assert extract_choice(before + text, "ABCDEFGHIJ").letter == letter


BRACKETED = [
    ("(B)", "B"),
    ("[B]", "B"),
    ("【B】", "B"),
    ("（Ｂ）", "B"),
    ("**(B)**", "B"),
    ("(b)", "B"),
    ("The process is called (B).", "B"),
    ("It is 3.2, which is choice (E).", "E"),
    ("He pays the bill (Option J).", "J"),
    ("(C) holds both of them", "C"),
]


@pytest.mark.parametrize(("text", "letter"), BRACKETED)
def test_a_bracketed_letter_that_stands_like_an_answer_is_one(text: str, letter: str) -> None:
    assert extract_choice(text, "ABCDEFGHIJ") == Extraction(letter, "bracketed", "last line", True)


BARE = [
    ("B", "B"),
    ("b", "B"),
    ("B.", "B"),
    ("**B**", "B"),
    ("`B`", "B"),
    ("$B$", "B"),
    ("Ｂ", "B"),
    ("Option B", "B"),
    ("选项B", "B"),
    ("Reasons.\nB", "B"),
    ("F. 4 x m = 12", "F"),
    ("B、二氧化碳", "B"),
    ("This corresponds to option G.", "G"),
    ("Therefore, it must be B.", "B"),
    ("I would go with C", "C"),
    ("So it's B.", "B"),
    ("Option B is correct, as shown.", "B"),
    ("B is correct.", "B"),
    ("因此，B选项正确。", "B"),
    ("所以B项是正确的", "B"),
    ("A", "A"),
    ("I", "I"),
]


@pytest.mark.parametrize(("text", "letter"), BARE)
def test_a_bare_letter_that_stands_like_an_answer_is_one(text: str, letter: str) -> None:
    assert extract_choice(text, "ABCDEFGHIJ") == Extraction(letter, "bare", "last line", True)


UNREAD = [
    "",
    " \n\n",
    "...",
    "A dog barks at the moon.",
    "I think that this is hard.",
    "I cannot tell.",
    "A: Let's think about it",
    "The answer is a matter of taste.",
    "The answer is A dog.",
    "Answer: I think so",
    "The answer is I don't know",
    "The answer is $x$.",
    "The answer is x = 5",
    "The answer is C = 5",
    'The answer is a "function"',
    "The answer is B-cells",
    "The answer is 5 m",
    "The answer is (II).",
    "The answer is i, iii and viii",
    "Answer: I, III, VIII",
    "Answer: (I) and (II)",
    "The answer is not (J).",
    "B is not the correct answer",
    "It is not (B).",
    "Option B is wrong.",
    "Option B is incorrect",
    "不选B",
    "排除选项B",
    "Neither (A) nor (B).",
    "The techniques are (A), (C) and (D)",
    "Consider each option:\n(A) means this\n(B) means that",
    "Options: A. one B. two",
    "选项：A. 一 B. 二",
    "A. one\nB. two\nC. three",
    "I. False\nII. True\nV. True",
    "Answer:\nA. one\nB. two",
    "\\boxed{0.25}",
    "\\boxed{x}",
    "\\boxed{A + B}",
    "\\boxed{C x}",
    "f(A) + g(B)",
    "the area is f(A)",
    "We have eliminated answer B from the list",
    "end your response with 'Answer: $LETTER' where",
    "H\nG\nI",
    "(A) means one\n(B) means two\n(D",
    "The answer is",
    "Answer: ABLE",
    "so it follows that A and B depend on C",
]


@pytest.mark.parametrize("text", UNREAD)
def test_what_no_reader_would_take_for_an_answer_is_none(text: str) -> None:
    """Words A and I, variables, lists, exclusions, Roman numerals, formulas: nothing chosen."""
    assert extract_choice(text, "ABCDEFGHIJ") == NOTHING


@pytest.mark.parametrize(
    "text",
    [
        "The answer is (A, B).",
        "The answer is (A), (C), and (D).",
        "The answer is (D) and (G).",
        "The answer is (a) and (b).",
        "The answer is A or B",
        "Answer: A/B",
        "Answer: option A or option C",
        "The answer is (ACI).",
        "The answer is DE.",
        "答案：ABD",
        "答案是A和C",
        "答案：A、B",
        "The answers are (A) and (F).",
        "The answer that fits best is (A) or (B)",
    ],
)
def test_one_statement_of_several_letters_chooses_none(text: str) -> None:
    """Whoever states several options of a single-choice question has not chosen."""
    assert extract_choice(text, "ABCDEFGHIJ") == SEVERAL_LAST
    assert extract_choice("The answer is (B).\n" + text, "ABCDEFGHIJ") == SEVERAL_LAST


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("The answer is (A).\nThe answer is (C).", "C"),
        ("The answer is (A). No: the answer is (C).", "C"),
        ("The answer is (B) or (I). As (I) says more, the answer is (I).", "I"),
        ("Answer: A\n\nWait. Answer: C", "C"),
        ("The answer is (B). The answer is (B) again, (B) and (B).", "B"),
        ("答案：A。更正，答案：C", "C"),
        (r"\boxed{A} at first, then \boxed{C}", "C"),
        ("The answer is (B), (B)!", "B"),
    ],
)
def test_of_several_statements_the_last_counts(text: str, letter: str) -> None:
    assert extract_choice(text, "ABCDEFGHIJ").letter == letter


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The answer is (A). On reflection, the answer is not listed.", NOTHING),
        ("The answer is (A).\nAnswer: none of the above", NOTHING),
        ("答案：A\n答案无法确定", NOTHING),
        (
            "The answer is not listed. We can round to 3.5, which is choice (E).",
            Extraction("E", "bracketed", "last line", True),
        ),
        (
            "Option (A) is 3. The answer is not listed, so I would say C",
            Extraction("C", "bare", "last line", True),
        ),
        ("The answer is not listed.\n(E)", Extraction("E", "bracketed", "last line", True)),
    ],
)
def test_saying_that_no_option_fits_takes_back_what_was_stated(
    text: str, expected: Extraction
) -> None:
    """Unless the reply goes on to choose."""
    assert extract_choice(text, "ABCDEFGHIJ") == expected


@pytest.mark.parametrize(
    ("text", "letter", "tier"),
    [
        ("Answer: K", "K", "marked"),
        ("The answer is (Z).", "Z", "marked"),
        ("answer: z", "Z", "marked"),
        ("答案：Ｋ", "K", "marked"),
        (r"\boxed{K}", "K", "marked"),
        ("(K)", "K", "bracketed"),
        ("K", "K", "bare"),
        ("The answer is (B).\nThe answer is (K).", "K", "marked"),
    ],
)
def test_a_letter_that_is_no_option_is_kept(text: str, letter: str, tier: str) -> None:
    found = extract_choice(text, "ABCD")
    assert (found.letter, found.tier, found.is_option) == (letter, tier, False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The answer is (B).\nSome more words.", Extraction("B", "marked", "whole text", True)),
        ("Answer: B\nThe energy is E.", Extraction("B", "marked", "whole text", True)),
        ("The answer is (B).\n\nC", Extraction("C", "bare", "last line", True)),
        ("B\n\nIt holds because of this.", Extraction("B", "bare", "whole text", True)),
        ("**B. Carbon**\n\nIt holds.", Extraction("B", "bare", "whole text", True)),
        ("This is (B).\nIt holds.", Extraction("B", "bracketed", "whole text", True)),
        ("Let me see.\n\nB\n\nIt holds.", Extraction("B", "bare", "whole text", True)),
        ("Not (A).\nThis is (B).\nIt holds.", NOTHING),
        ("A\nB\nC\nIt holds.", NOTHING),
        ("The answers are (A) and (B).\nIndeed.", Extraction("", "marked", "whole text", False)),
    ],
)
def test_the_last_line_comes_first_then_the_whole_text(text: str, expected: Extraction) -> None:
    """Where an answer is stated elsewhere, a last line overrules it only as a letter alone."""
    assert extract_choice(text, "ABCDEFGHIJ") == expected


def test_what_generation_leaves_behind_is_no_last_line() -> None:
    text = "Reasons.\n(B)\n\n---\n```\n<|im_end|></s>\n"
    assert extract_choice(text, "ABCD") == Extraction("B", "bracketed", "last line", True)


# ---------------------------------------------------------------- content

ELEMENTS = ("carbon", "Carbon dioxide", "oxygen (O2)", "3.5 m", "None of the above")


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("The answer is carbon.", "A"),
        ("Answer: **Carbon Dioxide**", "B"),
        ("The answer is carbon dioxide, of course", "B"),
        ("Answer: oxygen (O2)", "C"),
        ("答案：3.5 m", "D"),
        ("\\boxed{3.5 m}", "D"),
        ("CARBON DIOXIDE", "B"),
        ("Reasons.\n\ncarbon", "A"),
        ("It is always made of A. carbon", "A"),
        ("Answer: None of the above", "E"),
        ("The best of them is:\n\nB. Carbon dioxide\n\nThe others are wrong.", "B"),
        ("The best of them is:\n\nB. carbon\n\nThe others are wrong.", ""),
        ("The best of them is:\n\nZ. carbon\n\nThe others are wrong.", ""),
        ("The answer is carbon. But no: the answer is not listed.", ""),
        ("Z. carbon dioxide and more", ""),
        ("The answer is carbonate", ""),
        ("The answer is 3.5 mm", ""),
        ("Not carbon but something else", ""),
        ("A. carbon\nB. Carbon dioxide\nC. oxygen (O2)", ""),
    ],
)
def test_an_options_content_behind_an_anchor_or_alone_is_its_letter(text: str, letter: str) -> None:
    found = extract_choice(text, "ABCDE", ELEMENTS)
    assert (found.letter if found.is_option else "") == letter


def test_content_is_the_content_tier() -> None:
    expected = Extraction("B", "content", "whole text", True)
    assert extract_choice("Answer: carbon dioxide", "ABCDE", ELEMENTS) == expected


def test_a_stated_letter_that_begins_an_options_words_is_that_option() -> None:
    """ "A dog" is the option, not letter A; "B cells" neither letter B."""
    animals = ("B cells", "A dog", "A do", "")
    assert extract_choice("The answer is A dog.", "ABCD", animals).letter == "B"
    assert extract_choice("The answer is B cells.", "ABCD", animals).letter == "A"
    assert extract_choice("The answer is B dogs.", "ABCD", animals).letter == "B"
    assert extract_choice("The answer is A dogma", "ABCD", animals).letter == ""
    assert extract_choice("The answer is B cells", "AB", ("B cell", "T cell")).letter == "B"


def test_a_letter_that_is_no_option_may_be_an_options_content() -> None:
    """ "V" is the symbol of an element, among options A to C."""
    symbols = ("V", "K", "He")
    assert extract_choice("The answer is V.", "ABC", symbols).letter == "A"
    assert extract_choice("Answer: (K)", "ABC", symbols).letter == "B"
    assert extract_choice("The answer is H.", "ABC", symbols).letter == "H"


def test_two_options_of_the_same_content_are_no_answer() -> None:
    assert extract_choice("Answer: iron", "ABC", ("iron", "Iron", "gold")) == NOTHING


def test_a_run_of_letters_that_is_an_options_content_is_that_option() -> None:
    """Blood group AB, ACE inhibitors: content, not several letters."""
    assert extract_choice("Answer: AB", "ABCD", ("O", "AB", "A+", "B+")).letter == "B"


SETS = ("i, iii, viii", "ii, iv", "i, iii", "v, vii", "vi, viii", "i, ii, iii, iv", "ix, x")


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("Answer: i, iii, viii", "A"),
        ("The answer is I, III, and VIII.", "A"),
        ("Answer: viii, i and iii", "A"),
        ("答案：ⅰ、ⅲ", "C"),
        ("答案是 i、iii 和 viii。", "A"),
        ("The answer is (ii) and (iv)", "B"),
        ("The correct statements are ii, iv", "B"),
        ("Statements ii and iv are correct.", "B"),
        ("v & vii", "D"),
        ("The answer is statements i, ii, iii, iv.", "F"),
        ("Answer: ix, x", "G"),
        ("Answer: i, ii", ""),
        ("i, iii and viii are true, while ii, iv are false", ""),
        ("i", ""),
    ],
)
def test_lists_of_roman_numerals_are_compared_as_sets(text: str, letter: str) -> None:
    """Order, separators, case and the Unicode numerals do not matter."""
    found = extract_choice(text, "ABCDEFG", SETS)
    assert (found.letter if found.is_option else "") == letter


def test_roman_numerals_are_not_the_letter_i_where_i_is_an_option() -> None:
    """Nine options and more: "i, iii" is content, "I" is the letter."""
    texts = ("i, iii", "ii, iv", "i, v", "i, vi", "ii, v", "ii, vi", "iii, v", "iii, vi", "v, vi")
    assert extract_choice("Answer: i, iii", "ABCDEFGHI", texts).letter == "A"
    assert extract_choice("Answer: I, V", "ABCDEFGHI", texts).letter == "C"
    assert extract_choice("Answer: I", "ABCDEFGHI", texts).letter == "I"
    assert extract_choice("Answer: I. v, vi", "ABCDEFGHI", texts).letter == "I"


def test_an_empty_option_is_no_answer() -> None:
    assert extract_choice("Answer: ", "AB", ("", "...")) == NOTHING


# ---------------------------------------------------------------- arguments


def test_letters_come_as_text_or_one_by_one() -> None:
    assert extract_choice("B", ["A", "B"]) == extract_choice("B", "AB")
    assert extract_choice("B", ("A", "B")).is_option


@pytest.mark.parametrize("letters", ["abc", "A1", "ＡＢ", ["A", "b"]])
def test_other_letters_are_refused(letters: str | list[str]) -> None:
    with pytest.raises(ValueError, match="A to Z"):
        as_labels(letters)


def test_texts_that_are_not_one_a_letter_are_refused() -> None:
    with pytest.raises(ValueError, match="expected 2 option texts, got 3"):
        extract_choice("B", "AB", ("x", "y", "z"))


def test_labels_are_the_first_letters() -> None:
    assert labels(4) == "ABCD"
    assert labels(0) == ""
    assert len(labels(26)) == 26
    with pytest.raises(ValueError, match="0 to 26"):
        labels(27)


# ---------------------------------------------------------------- properties

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
REPLIES = st.one_of(st.text(), st.lists(PIECES, max_size=40).map("".join))


@given(REPLIES, st.sampled_from(["ABCD", "ABCDEFGHIJ"]))
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


@given(REPLIES)
def test_texts_of_options_never_take_away_a_letter(text: str) -> None:
    """Knowing the texts can only add answers, or read a letter as the words it begins."""
    without = extract_choice(text, "ABCDE")
    known = extract_choice(text, "ABCDE", ELEMENTS)
    assert known == without or known.tier == "content"


@given(REPLIES, st.sampled_from([" ", "\n", "\n\n", "\r\n", "\t"]))
def test_white_space_behind_a_reply_changes_nothing(text: str, space: str) -> None:
    assert extract_choice(text.rstrip() + space, "ABCD") == extract_choice(text.rstrip(), "ABCD")
