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

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from proofstone.engines.choices.anchors import lowered
from proofstone.engines.choices.contents import named_at, option_by_content
from proofstone.engines.choices.letters import as_labels
from proofstone.engines.choices.lines import Line, last_line
from proofstone.engines.choices.lone_letters import Lone, lone_in_line, lone_in_text
from proofstone.engines.choices.marks import Mark, last_mark

__all__ = ["UNPARSED", "Extraction", "Scope", "Tier", "extract_choice"]

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
