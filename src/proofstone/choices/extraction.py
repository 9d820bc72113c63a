"""Which option a reply chose, and how one can tell.

Order (the tiers of Encyclo-K, section 4.2, made stricter where it reads what no reader would):

1. on the last line: an answer stated in words ("The answer is (B)", "答案：B", "\\boxed{B}"), a
   bracketed letter, a bare letter;
2. the same in the whole text;
3. an option's content behind an anchor word, or alone on the last line;
4. nothing: unparsed.

Of several stated answers the last counts. One statement that names several letters chooses none,
and so does one that says no option fits, unless the same line goes on to choose. Letters count in
either case and in full width; a letter that labels no option is kept and is no choice. What is
not an answer: a word ("A ...", "I ..."), a variable ($x$), a label in a list of options.

Every pattern is bounded or possessive, and every search but that for anchor words looks at a
bounded part of the text: a reply of a million characters costs milliseconds, whatever is in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from proofstone.choices.answers import (
    Line,
    Lone,
    Mark,
    last_line,
    last_mark,
    lone_in_line,
    lone_in_text,
    lowered,
)
from proofstone.choices.option_text import named_at, option_by_content
from proofstone.choices.options import as_labels

Tier = Literal["marked", "bracketed", "bare", "content", ""]


Scope = Literal["last line", "whole text", ""]


class Extraction(Struct, frozen=True):
    """What a reply chose. ``is_option``: ``letter`` is the label of an option.

    Without a letter and with tier "marked", the reply states several at once; with neither,
    nothing was found.
    """

    letter: str
    tier: Tier
    scope: Scope
    is_option: bool


# Behind a letter these end it: no option's words begin with it.
_CLOSED = frozenset(["", ")", "]", "}", "）", "】", "*", "`", "$", "\n", "。"])


UNPARSED = Extraction("", "", "", False)


def extract_choice(
    text: str, letters: str | Sequence[str], options: Sequence[str] = ()
) -> Extraction:
    """The option that ``text`` chooses.

    ``letters`` are the labels of the options, A to Z; ``options`` their texts in the same order,
    where known: they allow the content tier. Raises ValueError for other labels, or where there
    are texts but not one a letter.
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
    """A stated answer; where the statement goes on to spell out an option, that option."""
    known = mark.letter in labels
    named = None
    if not known or text[mark.start + 1 : mark.start + 2] not in _CLOSED:
        named = named_at(text, mark.start, options, longer_than=int(known))
    if named is not None:
        return Extraction(labels[named], "content", scope, True)
    return Extraction(mark.letter, "marked", scope, known and mark.says == "one")


def _lone(lone: Lone, scope: Scope, labels: str) -> Extraction:
    return Extraction(lone.letter, lone.tier, scope, lone.letter in labels)


# Which options a reply chose where several may be right: the set of all letters that it states.

_EDGE = r"[\s*_`\"'“”‘’()（）\[\]【】{}$]{0,8}+"


_AND = r"(?:[,，、;；/&+]|(?i:and|y|e|et|und|и)\b|[和与及と와과و])"


_SET = re.compile(
    rf"{_EDGE}(?P<letters>[A-Za-z](?:{_EDGE}(?:{_AND}{_EDGE}){{1,2}}[A-Za-z](?![A-Za-z])){{0,25}})"
    r"(?![A-Za-z])"
)


_RUN = re.compile(rf"{_EDGE}(?P<letters>[A-Z]{{2,26}})(?![A-Za-z])")


_OPEN = re.compile(
    rf"{_EDGE},?\s?(?:(?i:or|oder|ou|o)\b|[或か]|또는|أو|или\b)\s?{_EDGE}[A-Z](?![A-Za-z])"
)


_HEAD = re.compile(r"[\s*_`#>-]{0,8}(?:(?i:answers?|options?)\s?[:：]|答案\s?[:：]|选)?")


_WORDS = re.compile(r"[A-Za-z]+")


def extract_choices(text: str, letters: str | Sequence[str]) -> Extraction:
    """The options that ``text`` chooses, as ``"A, C"``: those of the last statement of an answer,
    else of a last line that is nothing but letters. A choice that is left open ("A or C") and a
    letter that is no option choose nothing."""
    labels = as_labels(letters)
    mark = last_mark(text, lowered(text), labels)
    if mark is not None and mark.says == "none":
        return UNPARSED
    if mark is not None:
        return _stated(text, mark.start, labels, is_whole=False)
    line = last_line(text)
    head = _HEAD.match(line.text)
    return _stated(line.text, head.end() if head else 0, labels, is_whole=True)


def joined(letters: Sequence[str]) -> str:
    """Letters as one label: ``"A, C"``."""
    return ", ".join(sorted(set(letters)))


def _stated(text: str, start: int, labels: str, *, is_whole: bool) -> Extraction:
    run = _RUN.match(text, start)
    match = run or _SET.match(text, start)
    if match is None:
        return UNPARSED
    if is_whole and text[match.end() :].strip(" \t*_`\"'”’.。!)）]】}$"):
        return UNPARSED
    if _OPEN.match(text, match.end()):
        return Extraction("", "marked", "whole text", False)
    said = match["letters"]
    named = list(said) if run else [one for one in _WORDS.findall(said) if len(one) == 1]
    if any(one.isupper() for one in named):  # "A y C", "A e C": a word, and no letter
        named = [one for one in named if one.isupper()]
    found = [letter.upper() for letter in named]
    if run is not None and found != sorted(set(found)):
        return UNPARSED
    is_option = all(letter in labels for letter in found)
    scope: Scope = "last line" if is_whole else "whole text"
    return Extraction(joined(found), "bare" if is_whole else "marked", scope, is_option)
