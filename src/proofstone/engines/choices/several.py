"""Which options a reply chose where several may be right: the set of all letters that it states."""

from __future__ import annotations

import re
from collections.abc import Sequence

from proofstone.engines.choices.anchors import lowered
from proofstone.engines.choices.extract import UNPARSED, Extraction, Scope
from proofstone.engines.choices.letters import as_labels
from proofstone.engines.choices.lines import last_line
from proofstone.engines.choices.marks import last_mark

__all__ = ["extract_choices", "joined"]

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
