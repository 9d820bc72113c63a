"""Which option a reply chose: the rules, one reply a line."""

from __future__ import annotations

import pytest

from proofstone.choices.extraction import Extraction, extract_choice
from proofstone.choices.options import as_labels, labels

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
