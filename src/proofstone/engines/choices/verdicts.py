"""Whether a reply calls one statement true or false, and how one can tell.

Order, as for options (``extract``):

1. a verdict stated as the answer ("Answer: False", "答案：错误", "\\boxed{True}"), the last one;
   one on the last line before all else, and a last line that is nothing but a verdict before an
   earlier statement;
2. a conclusion on the last line: "so the statement is incorrect", "因此该说法错误";
3. an opening ("False. The ..."), a closing word, and conclusions elsewhere, where all agree;
4. nothing: unparsed.

What names both ("True or False", "partly true"), and a reply that opens with one and concludes with
the other, decides nothing: tier without a letter. ``Extraction.letter`` is ``true`` or ``false``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from proofstone.engines.choices.anchors import Anchor, anchors_from_end, lowered
from proofstone.engines.choices.extract import UNPARSED, Extraction, Scope, Tier
from proofstone.engines.choices.lines import Line, first_line, last_line
from proofstone.engines.choices.verdict_words import (
    WORD,
    WORD_END,
    Said,
    names_another,
    said_by,
    words_alone,
)

__all__ = ["extract_verdict"]

# Beyond its last lines a text is searched for conclusions only in its end.
_WINDOW = 8192

_LATIN = ("answer", "verdict", "judgment", "judgement", "conclusion", "assessment", "boxed")
_CHINESE = ("答案", "判断", "结论", "判定")
# Of more anchors than this only the last are looked at.
_MOST_ANCHORS = 100

_STATES = r"(?:(?i:is|was|would be|should be|must be)\b|[:：=→>—–\n-]|为|是)"
_BETWEEN = (
    rf"(?:[\s*_`\"'“”‘’(\[{{<（［【「『《〔$~#,，|]|{_STATES}|"
    r"\\(?:text(?:bf|rm|it)?|math(?:bf|rm|sf|bb|it)|bf|rm|,|;| |!|\(|\[)|"
    r"(?i:the|that|this|it|statement|claim|therefore|thus|hence|so|clearly|definitely|is)\b|"
    r"结果|陈述|说法|命题|表述|该|此|这|本|条|个|句|话|应该|应|的|最终|选)"
)
_FORWARD = re.compile(rf"(?P<between>{_BETWEEN}{{0,14}}?){WORD}{WORD_END}")
_FURTHER = re.compile(
    r"(?P<between> (?i:to|for|here|that|in|of)\b[^.!?\n]{1,80}?\b(?:is|be)[\s:*_`\"'“]{1,6})"
    rf"{WORD}{WORD_END}"
)
_NOTHING = re.compile(
    rf"{_BETWEEN}{{0,8}}?(?:(?i:unknown|uncertain|unclear|undetermined|undecidable|n/?a|"
    r"i don['’]t know|cannot be|can['’]t be|not (?:sure|given|clear|known|determin|possible|"
    r"enough))|无法|不确定|不知道|难以)"
)
_STATED = re.compile(_STATES)
_BEGINS = re.compile(
    r"(?:^|[\n.:：*#>|]|\b(?i:is|be|final|correct|my|so|therefore))[\s,*#_`]{0,4}$"
)

_BE = (
    r"(?i:is|was|are|seems(?: to be)?|appears(?: to be)?|must be|should be|would be|can be "
    r"(?:considered|judged)|remains)"
)
_SURELY = (
    r"(?:(?i:indeed|therefore|thus|clearly|definitely|actually|simply|certainly|also|in fact|"
    r"hence|overall|probably|likely|most likely|considered|judged|a|an|entirely|completely|"
    r"factually|generally considered)[\s,]{1,3}){0,3}"
)
_SUBJECT = (
    r"\b(?i:statement|claim|assertion|proposition)\b(?: (?i:above|below|itself|in question|"
    r"as (?:given|written|stated|worded|it stands)))?(?: (?i:about|that|on) [^.;!?\n]{1,120}?)?"
)
_WHO = (
    rf"(?:{_SUBJECT}|(?:^|[.;!?\n] {{0,2}}|\b(?i:so|therefore|thus|hence|overall|conclusion),? )"
    r"(?i:it|this|that))"
)
_CONCLUDES = re.compile(
    rf"(?:(?:{_WHO}(?: {_BE}|['’]s)|\b(?i:mak(?:es|ing) (?:the|this) (?:statement|claim)))"
    rf"[\s*_`\"'“”]{{1,4}}{_SURELY}[*_`\"'“”]{{0,3}}|{_WHO} (?=(?i:is|was)n['’]t)){WORD}{WORD_END}",
    re.MULTILINE,
)
_CONCLUDES_ZH = re.compile(
    r"(?:陈述|说法|表述|命题|论述|句话|描述|叙述|论断)(?:本身|内容)?"
    r"(?:[“”\"'*_`\s]|是|为|属于|应|该|显然|明显|完全|确实|都|就|则|判断|判定|判)"
    rf"{{0,8}}?{WORD}{WORD_END}"
)
# What makes of a conclusion a question or a condition.
_SUPPOSED = re.compile(
    r"(?:\b(?i:if|whether|when|unless|suppose|supposing|assume|assuming|determine|check|decide|"
    r"verify|judge|see|mean|imply|says?|were)\b[^.;!?\n]{0,12}|(?:如果|若|假如|是否|假设|判断|认为|验证|"
    r"要使|为使)[^，。；！？\n]{0,8})$"
)
_CONDITION = re.compile(r"[\s,*_`\"'”]{0,4}(?i:if|only|when|unless|that|of|to|in|about|or false)\b")
_OPENING = re.compile(rf"[\s*_`#>\"'“(\[【]{{0,12}}+{WORD}{WORD_END}")
_TAKEN_BACK = re.compile(r"\b(?i:but|however|although|except|yet)\b|但|然而|不过|可是")
_LAST_SENTENCE = re.compile(
    r"[.。!！?？;；][\s*_`\"'”’)）]{0,6}(?=[^.。!！?？;；]{1,40}[.。!！]?\W{0,8}$)"
)


class _Found(Struct, frozen=True):
    """A verdict in the text: what it says, or that it says "nothing", and where it stands."""

    said: Said | None
    start: int


def extract_verdict(text: str) -> Extraction:
    """The verdict of ``text`` on the one statement it was asked about."""
    line = last_line(text)
    stated = _stated(text)
    if stated is not None and stated.start >= line.start:
        return _read(stated.said, "marked", "last line")
    alone = words_alone(line.text) if line.whole else None
    if alone is not None:
        opening = _opening(text)
        agreed = opening is None or opening == alone or stated is not None
        return _read(alone if agreed else "both", "bare", "last line")
    if stated is not None:
        return _read(stated.said, "marked", "whole text")
    return _concluded(text, line)


def _read(said: Said | None, tier: Tier, scope: Scope) -> Extraction:
    if said is None:
        return UNPARSED
    letter = "" if said == "both" else said
    return Extraction(letter, tier, scope, bool(letter))


# ---------------------------------------------------------------- stated as the answer


def _stated(text: str) -> _Found | None:
    """The last verdict stated as the answer; one that says "nothing" where the last says that."""
    lower = lowered(text)
    words = _LATIN if lower.isascii() else _LATIN + _CHINESE
    for _, anchor in zip(range(_MOST_ANCHORS), anchors_from_end(lower, words), strict=False):
        found = _at(text, anchor)
        if found is not None:
            return found
    return None


def _at(text: str, anchor: Anchor) -> _Found | None:
    """What one anchor states, if anything."""
    match = _FORWARD.match(text, anchor.end)
    if match is None or not _is_stated(text, anchor, match):
        match = _FURTHER.match(text, anchor.end) if anchor.word == "answer" else None
    if match is None:
        nothing = _NOTHING.match(text, anchor.end)
        return None if nothing is None else _Found(None, anchor.start)
    said = said_by(match)
    if names_another(text, match.end(), said) or _denied(text, match.end(), said):
        said = "both"
    return _Found(said, anchor.start)


def _is_stated(text: str, anchor: Anchor, match: re.Match[str]) -> bool:
    between = match["between"]
    if anchor.word == "boxed" or _STATED.search(between):
        return True
    if anchor.word in _CHINESE:
        return anchor.word == "答案" and not match["zh_both"]
    before = text[max(0, anchor.start - 24) : anchor.start]
    return not between.strip(" \n*_`([（") and _BEGINS.search(before) is not None


def _denied(text: str, end: int, said: Said) -> bool:
    """Whether the same line goes on to conclude the opposite: "No, the statement is correct"."""
    stop = text.find("\n", end, end + 200)
    rest = text[end : end + 200 if stop < 0 else stop]
    return any(found.said != said for found in _conclusions(rest))


# ---------------------------------------------------------------- said without an anchor


def _concluded(text: str, line: Line) -> Extraction:
    """What opening, closing and conclusions come to."""
    opening = _opening(text)
    start = max(0, len(text) - _WINDOW)
    conclusions = [_Found(found.said, found.start + start) for found in _conclusions(text[start:])]
    last = conclusions[-1] if conclusions else None
    if last is not None and last.start >= line.start:
        agreed = opening is None or opening == last.said
        return _read(last.said if agreed else "both", "marked", "last line")
    closing = _closing(line)
    if closing is not None and not conclusions:
        agreed = opening is None or opening == closing
        return _read(closing if agreed else "both", "bare", "last line")
    said = {found.said for found in conclusions} | ({opening, closing} - {None})
    if not said:
        return UNPARSED
    tier: Tier = "marked" if conclusions else "bare"
    return _read(said.pop() if len(said) == 1 else "both", tier, "whole text")


def _opening(text: str) -> Said | None:
    """The verdict that the text opens with, unless its line goes on to take it back."""
    line = first_line(text)
    match = _OPENING.match(line.text)
    if match is None:
        return None
    said, end = said_by(match), match.end()
    if names_another(line.text, end, said):
        said = "both"
    concedes = line.text[end : end + 1] in {",", "，"} and _TAKEN_BACK.search(line.text, end)
    # "Right, let us see" opens a reply and judges nothing.
    is_filler = match[0].strip("*_`#> ").lower() in {"right", "correct", "对", "是"} and (
        line.text[end : end + 1] in {",", "，", "-", "—"}
    )
    is_question = said == "both" and "?" in line.text[end : end + 24]
    return None if concedes or is_filler or is_question else said


def _closing(line: Line) -> Said | None:
    """The verdict that is the last sentence of the last line: "... in 1815. False." """
    text = line.text[-400:]
    found = list(_LAST_SENTENCE.finditer(text))
    return words_alone(text[found[-1].end() :]) if found else None


def _conclusions(text: str) -> Iterator[_Found]:
    """What the text concludes of "the statement", in order; suppositions are left out."""
    found: list[_Found] = []
    for pattern in (_CONCLUDES, _CONCLUDES_ZH):
        if pattern is _CONCLUDES_ZH and text.isascii():
            continue
        for match in pattern.finditer(text):
            before = text[max(0, match.start() - 40) : match.start()]
            if _SUPPOSED.search(before) or _CONDITION.match(text, match.end()):
                continue
            said = said_by(match)
            both = names_another(text, match.end(), said)
            found.append(_Found("both" if both else said, match.start()))
    yield from sorted(found, key=lambda one: one.start)
