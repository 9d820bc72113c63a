"""Answers given by an option's content instead of its letter.

Texts are compared without case, spacing and edge punctuation. Where every option is a list of
Roman numerals, as in composed questions, they are compared as sets, however the list is written
(``i, iii and viii``, ``ⅰ、ⅲ``, ``I, III, VIII``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from unicodedata import normalize

from proofstone.choices.answers import anchors_from_end, enumerates, label_and_line

# Anchors looked at for content.
_MOST_ANCHORS = 20


_NUMERAL = r"(?:x{0,3}(?:ix|iv|v?i{1,3}|v)|x{1,3})"


_JOINED = r"(?:\s{0,9}(?:,|、|，|;|；|&|\+|/|\band\b|和|与|及)\s{0,9}){1,2}"


_ROMAN_LIST = re.compile(
    rf"(?<![a-z0-9]){_NUMERAL}(?![a-z0-9])(?:{_JOINED}{_NUMERAL}(?![a-z0-9])){{0,30}}",
    re.IGNORECASE,
)


_NUMERALS = re.compile(rf"(?<![a-z]){_NUMERAL}(?![a-z])", re.IGNORECASE)


_EDGES = " \t\r\n*_`#$\"'“”‘’.。,，;；:：!！()（）[]【】{}"


_SAID = re.compile(
    r"(?:s\b)?[\s*_`\"'“”$(\[{：:=>]*+(?:(?:is|are|be|was|would be|should be|option|choice|the|"
    r"statements?|即|为|是|应为|应该是|项|陈述|说法|"
    r"es|est|ist|lautet|é|correcta|correcte|correta|это|является|は|هي|هو)(?![a-z])[\s*_`\"'“”$(\[{：:=>]*){0,5}",
    re.IGNORECASE,
)


_FORMATTING = re.compile(r"\\(?:text(?:bf|rm|it)?|math(?:rm|bf|it)|boxed)(?![A-Za-z])|[$*`]")


_LABEL = re.compile(r"^[\s*_`#>-]*\(?[A-Z][).:、．]\s*")


def option_by_content(
    text: str, lower: str, line: str, labels: str, options: Sequence[str], *, since: int = 0
) -> int | None:
    """The place of the one option that ``text`` gives by its content, or None.

    It stands behind one of the last anchors, not before the place ``since``; or alone on the last
    ``line``, or with its label at the line's end, or on the one line that is labelled at all.
    """
    keys = _Keys(options)
    if not keys.found:
        return None
    longest = 64 + 2 * max(map(len, options))  # the reply may space or format it more widely
    for _, anchor in zip(range(_MOST_ANCHORS), anchors_from_end(lower), strict=False):
        if anchor.end < since:
            break
        said = _SAID.match(text, anchor.end)
        start = said.end() if said is not None else anchor.end
        found = keys.opening(_line_from(text, start, longest))
        if found is not None:
            return found
    if enumerates(text):
        return None
    found = keys.alone(line)
    if found is None:
        found = _labelled_at_end(line, labels, options)
    return _labelled_alone(text[since:], labels, options) if found is None else found


def named_at(text: str, start: int, options: Sequence[str], *, longer_than: int) -> int | None:
    """The longest option of more than so many characters that stands at ``start``, if any."""
    best, length = None, longer_than
    for place, option in enumerate(options):
        if len(option) > length and text.startswith(option, start):
            after = text[start + len(option) : start + len(option) + 1]
            if not (after.isalnum() and option[-1].isalnum()):
                best, length = place, len(option)
    return best


def _line_from(text: str, start: int, longest: int) -> str:
    """What stands from ``start`` to the end of its line, of a longer one so many characters."""
    stop = text.find("\n", start, start + longest)
    return text[start : start + longest if stop < 0 else stop]


def _labelled_at_end(line: str, labels: str, options: Sequence[str]) -> int | None:
    """The option with whose label and text the last line ends: "... entitled to A. Dividends"."""
    line = plain(line)
    for place, option in enumerate(options):
        said = plain(option)
        if said and line.endswith(said):
            before = line[: len(line) - len(said)]
            if re.search(rf"(?<![a-z0-9]){labels[place].lower()}[.):]\s*$", before):
                return place
    return None


def _labelled_alone(text: str, labels: str, options: Sequence[str]) -> int | None:
    """The option whose label and text open a line, in a text without other labels."""
    found = label_and_line(text)
    if found is None or found[0] not in labels:
        return None
    place = labels.index(found[0])
    said = plain(options[place])
    return place if said and plain(found[1]).startswith(said) else None


class _Keys:
    """The options as they are compared; an option that equals another is no answer."""

    def __init__(self, options: Sequence[str]) -> None:
        sets = [_roman_set(option) for option in options]
        self.roman = bool(options) and all(sets)
        self.found: dict[str, int | None] = {}
        for place, option in enumerate(options):
            key = sets[place] if self.roman else plain(option)
            if key:
                self.found[key] = None if key in self.found else place

    def whole(self, text: str) -> int | None:
        """The option that ``text`` is, or whose list is the only one of several numerals in it."""
        if not self.roman:
            return self.found.get(plain(text))
        lists = [m[0] for m in _ROMAN_LIST.finditer(_unbracketed(text)) if len(_roman(m[0])) > 1]
        return self.found.get(_key(_roman(lists[0]))) if len(lists) == 1 else None

    def alone(self, line: str) -> int | None:
        """The option that a line is, with or without a label before it."""
        found = self.whole(line)
        return self.whole(_LABEL.sub("", line)) if found is None else found

    def opening(self, text: str) -> int | None:
        """The option that ``text`` begins with, the longest where several do."""
        if self.roman:
            match = _ROMAN_LIST.match(_unbracketed(text).lstrip())
            return None if match is None else self.found.get(_key(_roman(match[0])))
        said = plain(text)
        fits = [key for key in self.found if said.startswith(key) and _ends(said, len(key))]
        return self.found[max(fits, key=len)] if fits else None


def _ends(text: str, place: int) -> bool:
    """Whether no word or number goes on at ``place``."""
    after = text[place : place + 2]
    if not after or after[0] == " ":
        return True
    return not (after[0].isalnum() or (after[0] in ".,%°/^" and after[1:].isalnum()))


def plain(text: str) -> str:
    """``text`` without case, width, edge punctuation and repeated spaces, for comparison."""
    words = _FORMATTING.sub("", normalize("NFKC", text)).casefold().split()
    return " ".join(words).strip(_EDGES)


_BRACKETS = str.maketrans("()[]{}", "      ", "*_`$")


def _unbracketed(text: str) -> str:
    """``text`` with plain numerals, and white space for brackets, as lists are read."""
    return _FORMATTING.sub("", normalize("NFKC", text)).translate(_BRACKETS)


def _roman(text: str) -> frozenset[str]:
    return frozenset(m[0].lower() for m in _NUMERALS.finditer(text))


def _key(numerals: frozenset[str]) -> str:
    return "+".join(sorted(numerals))


@lru_cache(maxsize=1024)
def _roman_set(text: str) -> str:
    """The key of a text that is a list of Roman numerals and nothing else; else empty."""
    plain_text = normalize("NFKC", text).strip(_EDGES)
    match = _ROMAN_LIST.fullmatch(plain_text)
    return "" if match is None else _key(_roman(plain_text))
