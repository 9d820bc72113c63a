"""Options that are sets of positions: enumeration, random selection and order.

A question has ``places`` numbered things, some of them correct: the answer key. An option is a set
of positions of a permitted size. A distractor has at least one position outside the answer key.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from math import comb
from string import ascii_uppercase
from typing import NamedTuple, TypeAlias

# Option letters as written in responses: upper case, lower case or full width, read as A to Z.
#
# All patterns here are possessive or bounded, so that none can backtrack further than its window.

UPPER_LETTER = "[A-ZＡ-Ｚ]"


ANY_LETTER = "[A-Za-zＡ-Ｚａ-ｚ]"


# End of a letter: no Latin letter, digit, apostrophe, hyphenated word or formula follows. Chinese
# characters may follow directly (B正确), so this is not \b.
NOT_IN_WORD = r"(?![A-Za-z0-9]|['’-][A-Za-z]|_[A-Za-z0-9{]|[ \t]{0,9}+[=+^≈≤≥±×·])"


# Allowed around a letter: white space, Markdown, quotes, brackets, LaTeX.
_COMMAND = r"\\(?:boxed|fbox|text(?:bf|rm|it)?|math(?:bf|rm|sf|bb|it)|bf|rm|quad|,|;| |!|\(|\[)"


OPENING = rf"(?:[\s*_`\"'“”‘’(\[{{<（［【「『《〔$~#]|{_COMMAND})"


CLOSING = r"[\s*_`\"'“”‘’)\]}>）］】」』》〕$~]"


# End of the clause after the letter: end of text or line, punctuation, a bracket, a tag.
CLAUSE_END = (
    r"(?=[ \t]{0,9}+(?:$|[\r\n,，;；:：!！?？。、)\]}）］】」』》*_`\"”’'$<|\\]|\.(?![A-Za-z0-9])))"
)


# Separators of list members.
PAD = r"[\s*_`\"'“”‘’()（）\[\]{}$【】]{0,8}+"


# Words before a letter that say that it is not the answer.
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
    """Return the upper-case ASCII letter of a letter as written (``b``, ``Ｂ``)."""
    return _CANONICAL[letter]


def opens_roman_list(text: str, start: int) -> bool:
    """Return True if the I, V or X at ``start`` opens a list of numerals: "I, III" or "(i),
    (v)".
    """
    return _ROMAN_LIST.match(text, start) is not None


def is_label(text: str) -> bool:
    """Return True if ``text`` is a letter A to Z as used for option labels."""
    return len(text) == 1 and "A" <= text <= "Z"


def labels(n: int) -> str:
    """Return the letters of ``n`` options, 0 <= n <= 26: ``labels(4) == "ABCD"``; ValueError
    beyond.
    """
    if not 0 <= n <= len(ascii_uppercase):
        raise ValueError(f"expected 0 to 26 options, got {n}")
    return ascii_uppercase[:n]


def as_labels(letters: str | Sequence[str]) -> str:
    """Return letters, given as text or one by one, as one text; ValueError if one is not A to Z."""
    return _checked(letters if isinstance(letters, str) else "".join(letters))


@lru_cache(maxsize=64)
def _checked(text: str) -> str:
    if not all(map(is_label, text)):
        raise ValueError(f"expected option letters A to Z, got {text!r}")
    return text


# Lower-case Roman numerals, which number the statements of a question.

_PARTS = (
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
)


@lru_cache(maxsize=256)
def roman(number: int) -> str:
    """Return the numeral of a number from 1 to 3999: ``roman(8) == "viii"``; ValueError beyond."""
    if not 1 <= number <= 3999:
        raise ValueError(f"a Roman numeral needs a number from 1 to 3999, got {number}")
    text = ""
    for value, letters in _PARTS:
        repeats, number = divmod(number, value)
        text += letters * repeats
    return text


MOST_OPTIONS = 26  # letters


MOST_PLACES = 20  # with MOST_TOGETHER: tables of at most C(20, 6) = 38,760 subsets


MOST_TOGETHER = 6


class Subset(NamedTuple):
    """A set of positions as a bit mask and as an ascending tuple."""

    mask: int
    places: tuple[int, ...]


class OptionSet(NamedTuple):
    """Hold the options in the order shown, and the index of the correct one."""

    options: tuple[tuple[int, ...], ...]
    answer_key: int


@lru_cache(maxsize=256)
def subsets(places: int, size: int) -> tuple[Subset, ...]:
    """Return all subsets of ``size`` of ``places`` positions, in lexicographic order."""
    return tuple(
        Subset(sum(1 << place for place in chosen), chosen)
        for chosen in combinations(range(places), size)
    )


def option_text(option: tuple[int, ...]) -> str:
    """Return an option's displayed text: ``option_text((0, 2, 7)) == "i, iii, viii"``."""
    return ", ".join([roman(place + 1) for place in option])


def distractor_supply(places: int, answer_key: int, sizes: range, *, forbid_subsets: bool) -> int:
    """Return how many distractors are always available with an answer key of this size.

    With ``forbid_subsets`` no option may be a proper subset of another. Options of one size never
    are, so the size with the most candidates gives a guaranteed number (draw_options uses it).
    """
    if forbid_subsets:
        first = Subset((1 << answer_key) - 1, tuple(range(answer_key)))
        return max(len(group) for group in _apart(_candidates(places, first, sizes), first.mask))
    return sum(comb(places, size) - comb(answer_key, size) for size in sizes)


def draw_options(
    words: Iterator[int],
    places: int,
    answer_key: Subset,
    count: int,
    sizes: range,
    *,
    forbid_subsets: bool = False,
) -> OptionSet:
    """Return the correct option among ``count`` - 1 random distractors, in uniformly random order.

    The random numbers for ``count`` options are the first of those for ``count`` + 1. So the
    shorter set is the longer one without its last distractor, in the same relative order. A
    distractor's size is uniform over the sizes that have any left, then its set is uniform over
    those left of that size. Needs 2 <= count <= 1 + distractor_supply(...).
    """
    if forbid_subsets:
        return _draw_apart(words, places, answer_key, count, sizes)
    outside = ~answer_key.mask
    tables, left = _tables(places, len(answer_key.places), sizes)
    options = [answer_key.places]
    at = 0
    used = set()
    while len(options) < count:
        word, which = divmod(next(words), len(tables))
        table = tables[which]
        word, rank = divmod(word, len(table))
        mask, distractor = table[rank]
        if not mask & outside or mask in used:
            continue
        used.add(mask)
        position = word % (len(options) + 1)
        options.insert(position, distractor)
        if position <= at:
            at += 1
        if len(used) >= left[which]:
            tables, left = _without_exhausted(tables, left, used)
    return OptionSet(tuple(options), at)


def _draw_apart(
    words: Iterator[int], places: int, answer_key: Subset, count: int, sizes: range
) -> OptionSet:
    """Return the same with no option a proper subset of another.

    A candidate is skipped if it could leave too few for MOST_OPTIONS options (or the maximum). So
    the last ones are always available, and the first ones do not depend on ``count``.
    """
    groups = _apart(_candidates(places, answer_key, sizes), answer_key.mask)
    wanted = min(MOST_OPTIONS, 1 + max(map(len, groups)))
    options = [answer_key.places]
    at = 0
    while len(options) < count:
        some = [group for group in groups if group]
        word, which = divmod(next(words), len(some))
        word, rank = divmod(word, len(some[which]))
        mask, distractor = some[which][rank]
        remaining = _apart(groups, mask)
        if len(options) + 1 + max(map(len, remaining)) < wanted:
            continue
        groups = remaining
        position = word % (len(options) + 1)
        options.insert(position, distractor)
        if position <= at:
            at += 1
    return OptionSet(tuple(options), at)


_Tables: TypeAlias = tuple[tuple[Subset, ...], ...]


@lru_cache(maxsize=256)
def _tables(places: int, answer_key: int, sizes: range) -> tuple[_Tables, tuple[int, ...]]:
    """Return, by size that has a distractor, all subsets and the number of distractors."""
    counts = [(size, comb(places, size) - comb(answer_key, size)) for size in sizes]
    some = [(size, count) for size, count in counts if count > 0]
    return tuple(subsets(places, size) for size, _ in some), tuple(count for _, count in some)


def _without_exhausted(
    tables: _Tables, left: tuple[int, ...], used: set[int]
) -> tuple[_Tables, tuple[int, ...]]:
    """Return the tables that have an unused distractor.

    It is cheap: it is called only once as many are used as the smallest table has.
    """
    drawn = Counter(mask.bit_count() for mask in used)
    kept = [
        (table, count)
        for table, count in zip(tables, left, strict=True)
        if drawn[len(table[0].places)] < count
    ]
    return tuple(table for table, _ in kept), tuple(count for _, count in kept)


def _candidates(places: int, answer_key: Subset, sizes: range) -> list[list[Subset]]:
    outside = ~answer_key.mask
    return [[one for one in subsets(places, size) if one[0] & outside] for size in sizes]


def _apart(groups: list[list[Subset]], mask: int) -> list[list[Subset]]:
    """Return the subsets of each group that neither contain ``mask`` nor are contained in it."""
    return [[one for one in group if one[0] & mask not in (mask, one[0])] for group in groups]
