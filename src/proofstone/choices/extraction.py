"""Extract the chosen option from a response, with the rule that found it.

The order is that of Encyclo-K's tiers (section 4.2), with stricter rules:

1. on the last line: an explicitly stated answer ("The answer is (B)", "答案：B", "\boxed{B}"), a
  bracketed letter, a bare letter;
2. the same in the whole text;
3. an option's content after an anchor word, or alone on the last line;
4. none: unparsed.

The last stated answer counts. One statement with several letters, or one that no option fits,
chooses none unless the same line then makes a choice. Letters count in either case and in full
width. A letter that labels no option is recorded but is not a choice. Words ("A ...", "I ..."),
variables ($x$) and labels in a list of options are not answers.

Every pattern is bounded or possessive, and every search except for anchor words reads a bounded
part of the text: a response of a million characters takes milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal
from unicodedata import normalize

from msgspec import Struct

from proofstone.choices.answers import (
    Line,
    Lone,
    Mark,
    anchors_from_end,
    enumerates,
    label_and_line,
    last_line,
    last_mark,
    lone_in_line,
    lone_in_text,
    lowered,
)
from proofstone.choices.options import as_labels

Tier = Literal["marked", "bracketed", "bare", "content", ""]


Scope = Literal["last line", "whole text", ""]


class Extraction(Struct, frozen=True):
    """The chosen option of a response. ``is_option``: ``letter`` is the label of an option.

    Without a letter and with tier "marked", the response states several; with neither, nothing was
    found.
    """

    letter: str
    tier: Tier
    scope: Scope
    is_option: bool


# These end the text after a letter: no option's words begin with them.
_CLOSED = frozenset(["", ")", "]", "}", "）", "】", "*", "`", "$", "\n", "。"])


UNPARSED = Extraction("", "", "", False)


def extract_choice(
    text: str, letters: str | Sequence[str], options: Sequence[str] = ()
) -> Extraction:
    """Return the option that ``text`` chooses.

    ``letters`` are the labels of the options, A to Z; ``options`` their texts in the same order, if
    known: they enable the content tier. Raises ValueError for other labels, or if the numbers of
    texts and letters differ.
    """
    labels = as_labels(letters)
    if options and len(options) != len(labels):
        raise ValueError(f"expected {len(labels)} option texts, got {len(options)}")
    lower = lowered(text)
    mark = last_mark(text, lower, labels)
    line = last_line(text)
    if mark is not None and mark.start >= line.start and mark.says != "none":
        return _marked(text, mark, "last line", labels, options)
    stated = mark is not None and mark.says != "none"
    if mark is not None and mark.start >= line.start:
        line = Line(text[mark.start : line.start + len(line.text)], mark.start)
    lone = lone_in_line(line, text, labels, stated=stated)
    if lone is not None and (mark is None or lone.letter in labels):
        return _lone(lone, "last line", labels)
    if mark is not None and mark.says != "none":
        return _marked(text, mark, "whole text", labels, options)
    if mark is None and (lone := lone_in_text(text, labels)) is not None:
        return _lone(lone, "whole text", labels)
    since = 0 if mark is None else mark.start
    place = option_by_content(text, lower, line.text, labels, options, since=since)
    return UNPARSED if place is None else Extraction(labels[place], "content", "whole text", True)


def _marked(text: str, mark: Mark, scope: Scope, labels: str, options: Sequence[str]) -> Extraction:
    """Return a stated answer, or the option that the statement then spells out."""
    known = mark.letter in labels
    named = None
    if not known or text[mark.start + 1 : mark.start + 2] not in _CLOSED:
        named = named_at(text, mark.start, options, longer_than=int(known))
    if named is not None:
        return Extraction(labels[named], "content", scope, True)
    return Extraction(mark.letter, "marked", scope, known and mark.says == "one")


def _lone(lone: Lone, scope: Scope, labels: str) -> Extraction:
    return Extraction(lone.letter, lone.tier, scope, lone.letter in labels)


def joined(letters: Sequence[str]) -> str:
    """Return letters as one label: ``"A, C"``."""
    return ", ".join(sorted(set(letters)))


# Answers given by an option's content instead of its letter.

# Number of anchors searched for content.
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
    """Return the index of the one option that ``text`` gives by its content, or None.

    It follows one of the last anchors, at or after position ``since``. Or it is alone on the last
    ``line``, with its label at the line's end, or on the only labeled line.
    """
    keys = _Keys(options)
    if not keys.found:
        return None
    longest = 64 + 2 * max(map(len, options))  # the response may have more spaces or markup
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
    """Return the longest option with more than so many characters at ``start``, if any."""
    best, length = None, longer_than
    for place, option in enumerate(options):
        if len(option) > length and text.startswith(option, start):
            after = text[start + len(option) : start + len(option) + 1]
            if not (after.isalnum() and option[-1].isalnum()):
                best, length = place, len(option)
    return best


def _line_from(text: str, start: int, longest: int) -> str:
    """Return the text from ``start`` to the end of its line, up to so many characters."""
    stop = text.find("\n", start, start + longest)
    return text[start : start + longest if stop < 0 else stop]


def _labelled_at_end(line: str, labels: str, options: Sequence[str]) -> int | None:
    """Return the option with which the last line ends, as label and text: "... entitled to A.
    Dividends".
    """
    line = plain(line)
    for place, option in enumerate(options):
        said = plain(option)
        if said and line.endswith(said):
            before = line[: len(line) - len(said)]
            if re.search(rf"(?<![a-z0-9]){labels[place].lower()}[.):]\s*$", before):
                return place
    return None


def _labelled_alone(text: str, labels: str, options: Sequence[str]) -> int | None:
    """Return the option whose label and text open a line, in a text without other labels."""
    found = label_and_line(text)
    if found is None or found[0] not in labels:
        return None
    place = labels.index(found[0])
    said = plain(options[place])
    return place if said and plain(found[1]).startswith(said) else None


class _Keys:
    """Normalized options; an option that equals another is not an answer."""

    def __init__(self, options: Sequence[str]) -> None:
        sets = [_roman_set(option) for option in options]
        self.roman = bool(options) and all(sets)
        self.found: dict[str, int | None] = {}
        for place, option in enumerate(options):
            key = sets[place] if self.roman else plain(option)
            if key:
                self.found[key] = None if key in self.found else place

    def whole(self, text: str) -> int | None:
        """Return the option equal to ``text``, or whose list is the only one of several numerals in
        it.
        """
        if not self.roman:
            return self.found.get(plain(text))
        lists = [m[0] for m in _ROMAN_LIST.finditer(_unbracketed(text)) if len(_roman(m[0])) > 1]
        return self.found.get(_key(_roman(lists[0]))) if len(lists) == 1 else None

    def alone(self, line: str) -> int | None:
        """Return the option equal to a line, with or without a label before it."""
        found = self.whole(line)
        return self.whole(_LABEL.sub("", line)) if found is None else found

    def opening(self, text: str) -> int | None:
        """Return the longest option that ``text`` begins with."""
        if self.roman:
            match = _ROMAN_LIST.match(_unbracketed(text).lstrip())
            return None if match is None else self.found.get(_key(_roman(match[0])))
        said = plain(text)
        fits = [key for key in self.found if said.startswith(key) and _ends(said, len(key))]
        return self.found[max(fits, key=len)] if fits else None


def _ends(text: str, place: int) -> bool:
    """Return True if no word or number continues at ``place``."""
    after = text[place : place + 2]
    if not after or after[0] == " ":
        return True
    return not (after[0].isalnum() or (after[0] in ".,%°/^" and after[1:].isalnum()))


def plain(text: str) -> str:
    """Return ``text`` without case, width, edge punctuation and repeated spaces."""
    words = _FORMATTING.sub("", normalize("NFKC", text)).casefold().split()
    return " ".join(words).strip(_EDGES)


_BRACKETS = str.maketrans("()[]{}", "      ", "*_`$")


def _unbracketed(text: str) -> str:
    """Return ``text`` with plain numerals, and spaces for brackets, as for lists."""
    return _FORMATTING.sub("", normalize("NFKC", text)).translate(_BRACKETS)


def _roman(text: str) -> frozenset[str]:
    return frozenset(m[0].lower() for m in _NUMERALS.finditer(text))


def _key(numerals: frozenset[str]) -> str:
    return "+".join(sorted(numerals))


@lru_cache(maxsize=1024)
def _roman_set(text: str) -> str:
    """Return the key of a text that is only a list of Roman numerals, or ""."""
    plain_text = normalize("NFKC", text).strip(_EDGES)
    match = _ROMAN_LIST.fullmatch(plain_text)
    return "" if match is None else _key(_roman(plain_text))
