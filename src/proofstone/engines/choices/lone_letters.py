"""Letters that answer without an anchor: in brackets, "(B)", or bare, "B", "B. text", "option B".

Each rule needs a letter that stands like an answer (alone, labelling the line, closing the
sentence, or named as the option), and gives it only where no other letter stands so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from proofstone.engines.choices.letters import (
    ANY_LETTER,
    CLOSING,
    NEGATES,
    NOT_IN_WORD,
    OPENING,
    UPPER_LETTER,
    canonical,
    opens_roman_list,
)
from proofstone.engines.choices.lines import Line, first_line, last_line

__all__ = ["Lone", "enumerates", "label_and_line", "lone_in_line", "lone_in_text"]

# Beyond the line, letters without an anchor are sought only in the end of a text.
WINDOW = 16_384
# A conclusion fits into this many characters at the end of a line.
LAST_WORDS = 400


class Lone(Struct, frozen=True):
    """A letter that stands for an answer by how it stands."""

    letter: str
    tier: Literal["bracketed", "bare"]


_NAMED = (
    r"(?:(?i:option|choice|answer|opci[oó]n|opç[aã]o|letra|lettre|вариант|الخيار)[ \t]|"
    r"选项?|選択肢|선택지[ \t]?|보기[ \t]?)?"
)
_ALONE = re.compile(
    rf"{OPENING}{{0,12}}+{_NAMED}(?P<letter>{ANY_LETTER})(?![A-Za-z0-9])[.。,，:：;；!]?"
    rf"{CLOSING}{{0,12}}+[.。]?\s*$"
)
_LINE_ALONE = re.compile(
    rf"^[ \t*_`#>$-]{{0,8}}(?:(?P<bare>{UPPER_LETTER})|"
    rf"[(\[（【](?P<inside>{UPPER_LETTER})[)\]）】])"
    r"[.。)*_`$]{0,6}[ \t]{0,4}$",
    re.MULTILINE,
)
_BRACKETED = re.compile(
    rf"(?<![A-Za-z0-9_^\\}}\])\[])[(\[（［【「『][*\s`]{{0,3}}{_NAMED}"
    rf"(?P<letter>{UPPER_LETTER})[*\s`]{{0,3}}[)\]）］】」』]"
)
# A word that leads up to a letter, and what may follow one that ends its sentence.
_LEADS = re.compile(r"(?i:\b(?:is|be|option|choice|answer)|[:：是为选])[\s*_`]{0,3}$")
_ENDS = re.compile(r"[*_`\"'”’ \t]{0,4}[.。!！]?[*_`\"'”’)\]）】 \t]{0,4}(?:$|[\r\n<])")
_LISTED = re.compile(r"[A-Z][)\]）】]\s?(?:[,，、;/&]|\b(?:and|or)\b|[和或与及])[\s\w]{0,6}$")
_LIST_FOLLOWS = re.compile(
    r"[*_`]{0,3}\s?(?:[,，、;/&]|(?:and|or|y|o|et|ou|und|oder|e|и|или)\b|[和或与及])\s?"
    r"[*_`]{0,3}[(\[（【][A-Z][)\]）】]"
)
_TWO_NAMED = re.compile(
    r"\W{0,8}[A-Z]\W{1,4}(?:(?:and|or|y|et|und|e|и)\W{1,4}|[,、]\W{0,3})[A-Z]\W"
)
_DENIED = re.compile(
    r"[\s)\]）】*_`]{0,4}(?:(?i:(?:is|was) (?:not|incorrect|wrong|false)|isn't)|"
    r"(?:选项|项)?(?:是|为)?(?:不正确|错误|不对))"
)
_LABELS = re.compile(
    rf"[\s*_`#>-]{{0,8}}+{_NAMED}[*_`(\[（【]{{0,3}}(?P<letter>{UPPER_LETTER})"
    r"(?:[*_`]{0,3}[.．、:：)）\]】])[*_`]{0,3}(?:\s|[^\x00-\x7f]|$)"
)
_ENUMERATES = re.compile(
    rf"^[ \t*_`#>(\[（【-]{{0,8}}{_NAMED}([A-Z]|[IVX]{{2,4}})[*_`]{{0,3}}[.．、:：)）\]】]",
    re.MULTILINE,
)
_CUED = (
    # "... corresponds to option G.", "option G is correct"
    re.compile(
        rf"(?:(?i:\b(?:option|choice|answer)\s)|选项?)[*_`(\[\"]{{0,4}}(?P<letter>{UPPER_LETTER})"
        rf"{NOT_IN_WORD}(?={CLOSING}{{0,4}}(?:[.。!]?\s*$|\s?(?:(?i:is|must be|would be)\s"
        r"(?i:the\s)?(?i:correct|right|true|best|accurate|most)\b|(?:是|为)?(?:最)?正确)))"
    ),
    # "B is correct", "B项正确"
    re.compile(
        rf"(?<![A-Za-z0-9])(?P<letter>{UPPER_LETTER}){NOT_IN_WORD}{CLOSING}{{0,3}}"
        r"(?=(?:选项|项)?(?:是|为)?(?:最)?正确|(?i:is (?:the )?(?:correct|right|best)\b))"
    ),
    # "Therefore, it must be B."
    re.compile(
        r"(?:(?i:\b(?:(?:it|that|this|which|one|solution|result|pick)\s"
        r"(?:is|must be|should be|would be)|"
        r"(?:must|should|would|has to|have to) be|therefore|thus|so|hence|choose|select|pick|"
        r"(?:go|going|stick|stay) with|would say|(?:it|that|here)['’]s)\b)|[→:：是为选])"
        rf"[,，\s*_`\"]{{0,4}}(?P<letter>{UPPER_LETTER}){NOT_IN_WORD}(?=[*_`\"]{{0,4}}[.。!]?\s*$)"
    ),
)


def enumerates(text: str) -> bool:
    """Whether lines at the text's end are labelled with different letters: a list of options."""
    return len({label for label, _ in _labelled_lines(text[-WINDOW:])}) > 1


def label_and_line(text: str) -> tuple[str, str] | None:
    """The last label that opens a line at the text's end, and what follows it on that line."""
    tail = text[-WINDOW:]
    found = _labelled_lines(tail)
    return (found[-1][0], tail[found[-1][1] :].partition("\n")[0]) if found else None


@lru_cache(maxsize=1)
def _labelled_lines(tail: str) -> list[tuple[str, int]]:
    """The labels that open lines, and where each ends. Several rules ask it of one text."""
    return [(match[1], match.end()) for match in _ENUMERATES.finditer(tail)]


def lone_in_line(line: Line, text: str, letters: str, *, stated: bool) -> Lone | None:
    """The one letter that the last line gives without an anchor, or None.

    ``text`` is all of it and ``letters`` the labels of the options. Where the text has ``stated``
    an answer, only a line that is nothing but a letter stands above it.
    """
    alone = _alone(line, letters)
    if alone is not None:
        before = _alone(last_line(text[: line.start]), letters)
        return None if before is not None and before.letter != alone.letter else alone
    if stated:
        return None
    listed = enumerates(text)
    return (
        _only(_bracketed(line.text, listed), "bracketed")
        or (None if listed else _label(line))
        or _only(_cued(line.text[-LAST_WORDS:]), "bare")
    )


def lone_in_text(text: str, letters: str) -> Lone | None:
    """The one letter that the text gives without an anchor, or None: it opens with it, or its end
    holds one such letter and no other."""
    line = first_line(text)
    tail = text[-WINDOW:]
    lines = [match["bare"] or match["inside"] for match in _LINE_ALONE.finditer(tail)]
    alone = _alone(line, letters)
    if alone is not None or lines:
        return _only([*lines, *([alone.letter] if alone else [])], "bare")
    listed = enumerates(text)
    in_brackets = {match["letter"] for match in _BRACKETED.finditer(tail)}
    return (None if listed else _label(line)) or (
        _only(_bracketed(tail, listed), "bracketed") if len(in_brackets) == 1 else None
    )


def _only(letters: Iterable[str], tier: Literal["bracketed", "bare"]) -> Lone | None:
    """The letter, where all of ``letters`` are the same one."""
    found = set(map(canonical, letters))
    return Lone(found.pop(), tier) if len(found) == 1 else None


def _alone(line: Line, letters: str) -> Lone | None:
    """The letter of a line that holds nothing else; a lower-case one only where it is an option."""
    match = _ALONE.match(line.text) if line.whole else None
    if match is None or (match["letter"].islower() and canonical(match["letter"]) not in letters):
        return None
    if line.text.count("(") > line.text.count(")"):
        return None  # cut off: "(D" opens the next line of a list
    before = line.text[: match.start("letter")].rstrip("*_`$ \t")
    return Lone(canonical(match["letter"]), "bracketed" if before[-1:] in _OPENERS else "bare")


_OPENERS = tuple("([（［【「『")


def _bracketed(text: str, listed: bool) -> Iterator[str]:
    """Letters in brackets that end a sentence or are led up to; or open a line, outside lists."""
    for match in _BRACKETED.finditer(text):
        before = text[max(0, match.start() - 24) : match.start()]
        if NEGATES.search(before) or _DENIED.match(text, match.end()):
            continue
        if (
            _LISTED.search(before)
            or _LIST_FOLLOWS.match(text, match.end())
            or opens_roman_list(text, match.start("letter"))
        ):
            continue
        opens = not listed and not before.rpartition("\n")[2].strip(" \t*_`#>-")
        if opens or _ENDS.match(text, match.end()) or _LEADS.search(before):
            yield match["letter"]


def _label(line: Line) -> Lone | None:
    """The letter that labels the line: "F. 4 x m = 12"."""
    match = _LABELS.match(line.text) if line.whole else None
    # "A:" introduces an answer, and "I." or "A." a name, more often than it labels an option.
    if match is None or line.text[match.start("letter") :][:2] == "A:":
        return None
    if _TWO_NAMED.match(line.text):
        return None  # "[A] and [B] are ..."
    return Lone(canonical(match["letter"]), "bare")


def _cued(text: str) -> Iterator[str]:
    """Letters that the line's words make the answer."""
    for pattern in _CUED:
        for match in pattern.finditer(text):
            before = text[max(0, match.start("letter") - 24) : match.start("letter")]
            if not NEGATES.search(before) and not _DENIED.match(text, match.end()):
                yield match["letter"]
