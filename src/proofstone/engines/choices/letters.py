"""Option letters as replies write them: upper case, lower case or full width, read as A to Z.

All patterns here are possessive or bounded, so that none can backtrack further than its window.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from string import ascii_uppercase

__all__ = [
    "ANY_LETTER",
    "CLAUSE_END",
    "CLOSING",
    "NEGATES",
    "NOT_IN_WORD",
    "OPENING",
    "PAD",
    "UPPER_LETTER",
    "as_labels",
    "canonical",
    "is_label",
    "labels",
    "opens_roman_list",
]

UPPER_LETTER = "[A-ZＡ-Ｚ]"
ANY_LETTER = "[A-Za-zＡ-Ｚａ-ｚ]"

# A letter ends here: no Latin letter, digit, apostrophe or hyphened word goes on, and no formula.
# Chinese characters may follow at once (B正确), so this is not \b.
NOT_IN_WORD = r"(?![A-Za-z0-9]|['’-][A-Za-z]|_[A-Za-z0-9{]|[ \t]{0,9}+[=+^≈≤≥±×·])"

# What may stand around a letter: white space, Markdown, quotes, brackets, LaTeX.
_COMMAND = r"\\(?:boxed|fbox|text(?:bf|rm|it)?|math(?:bf|rm|sf|bb|it)|bf|rm|quad|,|;| |!|\(|\[)"
OPENING = rf"(?:[\s*_`\"'“”‘’(\[{{<（［【「『《〔$~#]|{_COMMAND})"
CLOSING = r"[\s*_`\"'“”‘’)\]}>）］】」』》〕$~]"

# The clause is over after the letter: end of text or line, punctuation, a bracket, a tag.
CLAUSE_END = (
    r"(?=[ \t]{0,9}+(?:$|[\r\n,，;；:：!！?？。、)\]}）］】」』》*_`\"”’'$<|\\]|\.(?![A-Za-z0-9])))"
)

# What may stand between two members of a list.
PAD = r"[\s*_`\"'“”‘’()（）\[\]{}$【】]{0,8}+"
# What says before a letter that it is not the answer.
NEGATES = re.compile(
    r"(?:(?i:\bnot|n't|\bnor|\bneither|\bincorrect|\bwrong|\bno es|\bnicht|\bn['’]est pas|\bnão é)|"
    r"不是|非|不选|排除|\bне)"
    r"[\s(*]{0,3}(?:(?i:option|choice)|选项?)?[\s(*]{0,3}$"
)
_ROMAN_LIST = re.compile(
    rf"([IVXivx]){PAD}(?:(?:[,，、;&+]|(?i:and)\b|[和与及]){PAD}){{1,2}}"
    r"(?:[IVXivx]{2,5}|(?!\1)[IVXivx])(?![A-Za-z])"
)

_WIDE = "".join(chr(ord(letter) + 0xFEE0) for letter in ascii_uppercase)
_CANONICAL = {
    **{letter: letter for letter in ascii_uppercase},
    **{letter.lower(): letter for letter in ascii_uppercase},
    **dict(zip(_WIDE, ascii_uppercase, strict=True)),
    **{chr(ord(wide) + 32): letter for wide, letter in zip(_WIDE, ascii_uppercase, strict=True)},
}


def canonical(letter: str) -> str:
    """The upper-case ASCII letter of one letter as written (``b``, ``Ｂ``)."""
    return _CANONICAL[letter]


def opens_roman_list(text: str, start: int) -> bool:
    """Whether the I, V or X at ``start`` is the first numeral of a list: "I, III" or "(i), (v)"."""
    return _ROMAN_LIST.match(text, start) is not None


def is_label(text: str) -> bool:
    """Whether ``text`` is a letter A to Z as an option is labelled."""
    return len(text) == 1 and "A" <= text <= "Z"


def labels(n: int) -> str:
    """The letters of ``n`` options, 0 <= n <= 26: ``labels(4) == "ABCD"``; ValueError beyond."""
    if not 0 <= n <= len(ascii_uppercase):
        raise ValueError(f"expected 0 to 26 options, got {n}")
    return ascii_uppercase[:n]


def as_labels(letters: str | Sequence[str]) -> str:
    """Letters given as text or one by one, as one text; ValueError where one is not A to Z."""
    return _checked(letters if isinstance(letters, str) else "".join(letters))


@lru_cache(maxsize=64)
def _checked(text: str) -> str:
    if not all(map(is_label, text)):
        raise ValueError(f"expected option letters A to Z, got {text!r}")
    return text
