"""Extract true/false verdicts from a response, with the rule that found them.

The order for one statement:

1. the last verdict stated as the answer ("Answer: False", "答案：错误", "\\boxed{True}"). One on
  the last line comes first, and a last line that is only a verdict precedes an earlier statement;
2. a conclusion on the last line: "so the statement is incorrect", "因此该说法错误";
3. an opening ("False. The ..."), a closing word, and conclusions elsewhere, if all agree;
4. none: unparsed.

A text that names both ("True or False", "partly true"), or that opens with one and concludes with
the other, is undecided: a tier without a letter. ``Extraction.letter`` is ``true`` or ``false``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Literal
from unicodedata import normalize

from msgspec import Struct

from proofstone.choices.answers import (
    Anchor,
    Line,
    anchors_from_end,
    first_line,
    last_line,
    lowered,
)
from proofstone.choices.extraction import UNPARSED, Extraction, Scope, Tier
from proofstone.choices.options import roman

# Words that call a statement true or false, in English and Chinese.
#
# A negated word is one word: "not correct" and 不正确 call it false, "not wrong" and 没有错误
# call it true. A word that does neither fully ("partly true", 部分正确) calls it both. All patterns
# are bounded.

Said = Literal["true", "false", "both"]


_RIGHT = "true|correct|right|accurate|valid"


_WRONG = "false|incorrect|wrong|inaccurate|untrue|invalid|erroneous|mistaken"


_FULLY = (
    "entirely|completely|fully|strictly|quite|wholly|totally|actually|factually|exactly|really|"
    "always|necessarily|at all|technically|historically|literally"
)


_PARTLY = "partially|partly|half|mostly|largely|somewhat|generally|sometimes|both|neither|nearly"


_PAD = r"[\s\"'“”‘’*_`-]{1,4}"


_NOT = rf"(?:not|(?:is|was)n['’]t|never){_PAD}(?:(?:{_FULLY}){_PAD})?(?:a{_PAD})?"


# Ordered so that a longer reading comes before its parts.
WORD = (
    r"(?:(?<![A-Za-z0-9_])(?i:"
    rf"(?P<both>(?:{_PARTLY}){_PAD}(?:{_RIGHT}|{_WRONG}))|"
    rf"(?P<no>{_NOT}(?:{_RIGHT})|{_WRONG}|no)|"
    rf"(?P<yes>{_NOT}(?:{_WRONG})|{_RIGHT}|yes))(?![A-Za-z0-9_]|['’-][A-Za-z])|"
    r"(?<![A-Za-z0-9_])(?P<t>[TtＴ]|(?P<f>[FfＦ]))(?![A-Za-z0-9_'’])|"
    r"(?P<tick>[✓✔✅☑√])|(?P<cross>[✗✘❌✖❎×])|"
    r"(?P<zh_both>(?:部分|基本|大致|大体|一半|半)(?:是)?(?:正确|错误|对|错|准确|属实))|"
    r"(?P<zh_no>(?:不|并不|并非|不是|不完全|不太|不够|不尽)(?:完全|是)?"
    r"(?:正确|对|准确|属实|成立|真实|真|符合事实)|错误|有误|不实|失实|虚假|错|假|否|不是)|"
    r"(?P<zh_yes>(?:没有|没|无|毫无)(?:任何)?(?:错误|错|误)|正确|准确|属实|成立|真实|符合事实|"
    r"对|真|是))"
)


# May follow a verdict word, unlike in a longer expression ("correct option", "no longer", 对于,
# 是否).
WORD_END = (
    r"(?:的|了|无误)?(?=[ \t\u3000]{0,9}(?:$|[\r\n,，;；:：!！?？。、()\[\]{}（）［］【】「」『』]|"
    r"[《》*_`\"“”‘’'$<>|\\/=—–…✓✔✅✗✘❌-]|\.(?![A-Za-z0-9])|"
    r"(?i:because|since|as|due|given|but|and|or|so|for|by)\b|因为|由于|或|还是))"
)


_GROUPS: tuple[tuple[str, Said], ...] = (
    ("no", "false"), ("yes", "true"), ("f", "false"), ("t", "true"), ("zh_no", "false"),
    ("zh_yes", "true"), ("tick", "true"), ("cross", "false"), ("both", "both"),
    ("zh_both", "both"),
)  # fmt: skip


_MARKUP = r"[\s*_`\"'“”‘’()\[\]{}（）［］【】「」『』《》<>$~#|\\]"


_ANOTHER = re.compile(
    rf"{_MARKUP}{{0,8}}+(?:[/,，、;；|-]|(?i:or|and)\b|[或和与]|还是){_MARKUP}{{0,8}}+"
    rf"(?:(?i:or|and)\b{_MARKUP}{{0,4}}+)?{WORD}{WORD_END}"
)


def said_by(match: re.Match[str]) -> Said:
    """Return the verdict of a match of a pattern with one WORD."""
    return next(said for group, said in _GROUPS if match[group] is not None)


def names_another(text: str, end: int, said: Said) -> bool:
    """Return True if a list continues at ``end`` with a verdict other than ``said``."""
    match = _ANOTHER.match(text, end)
    return match is not None and said_by(match) != said


_ALONE = re.compile(
    rf"{_MARKUP}{{0,16}}+(?:(?i:it['’]?s|it is|this is|statement is)\s|[这此该]是|为)?"
    rf"{_MARKUP}{{0,8}}+{WORD}(?:的|了)?[.。!！,，;；:：]{{0,2}}{_MARKUP}{{0,16}}+[.。!！]?\s*$"
)


def words_alone(line: str) -> Said | None:
    """Return the verdict that is the whole line: ``**False.**``, ``错误。``; None for others."""
    match = _ALONE.match(line)
    return None if match is None else said_by(match)


# Except on its last lines, a text is searched for conclusions only at its end.
_WINDOW = 8192


_LATIN = ("answer", "verdict", "judgment", "judgement", "conclusion", "assessment", "boxed")


_CHINESE = ("答案", "判断", "结论", "判定")


# Only so many of the last anchors are used.
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


# Turns a conclusion into a question or a condition.
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
    """A verdict in the text (or "nothing", meaning undecided) and its position."""

    said: Said | None
    start: int


def extract_verdict(text: str) -> Extraction:
    """Return the verdict of ``text`` on the one statement it was asked about."""
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
    """Return the last verdict stated as the answer; "nothing" if the last one says that."""
    lower = lowered(text)
    words = _LATIN if lower.isascii() else _LATIN + _CHINESE
    for _, anchor in zip(range(_MOST_ANCHORS), anchors_from_end(lower, words), strict=False):
        found = _at(text, anchor)
        if found is not None:
            return found
    return None


def _at(text: str, anchor: Anchor) -> _Found | None:
    """Return the verdict at one anchor, if any."""
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
    """Return True if the same line concludes the opposite: "No, the statement is correct"."""
    stop = text.find("\n", end, end + 200)
    rest = text[end : end + 200 if stop < 0 else stop]
    return any(found.said != said for found in _conclusions(rest))


# ---------------------------------------------------------------- without an anchor


def _concluded(text: str, line: Line) -> Extraction:
    """Return the joint verdict of opening, closing and conclusions."""
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
    said = {found.said for found in conclusions} | {opening, closing}
    tier: Tier = "marked" if conclusions else "bare"
    return _read(_agreed({each for each in said if each is not None}), tier, "whole text")


def _opening(text: str) -> Said | None:
    """Return the verdict that the text opens with, unless its line retracts it."""
    line = first_line(text)
    match = _OPENING.match(line.text)
    if match is None:
        return None
    said, end = said_by(match), match.end()
    if names_another(line.text, end, said):
        said = "both"
    concedes = line.text[end : end + 1] in {",", "，"} and _TAKEN_BACK.search(line.text, end)
    # "Right, let us see" opens a response without a verdict.
    is_filler = match[0].strip("*_`#> ").lower() in {"right", "correct", "对", "是"} and (
        line.text[end : end + 1] in {",", "，", "-", "—"}
    )
    is_question = said == "both" and "?" in line.text[end : end + 24]
    return None if concedes or is_filler or is_question else said


def _closing(line: Line) -> Said | None:
    """Return the verdict that is the last sentence of the last line: "... in 1815. False." """
    text = line.text[-400:]
    found = list(_LAST_SENTENCE.finditer(text))
    return words_alone(text[found[-1].end() :]) if found else None


def _conclusions(text: str) -> Iterator[_Found]:
    """Yield conclusions about "the statement", in order, without suppositions."""
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


# Entries of a list of verdicts: one or several labels, and true or false, on a line.
#
# The text is normalized (NFKC): brackets, colons and digits are plain. A line is read from its
# start while it consists of entries; the rest is an explanation.

# Upper bound on the number of statements.
_MOST = 99


_LONGEST_LINE = 4096


class Entry(Struct, frozen=True):
    """A statement's number in the response (from 1) and its verdict."""

    label: int
    said: Said


_VERDICT_ENTRIES_MARKUP = r"[\s*_`\"'>#•-]{0,12}+"


_NUMERAL = r"(?:[ivx]{1,5}|[IVX]{1,5}|\d{1,2})(?![A-Za-z0-9])"


_JOIN = r"(?:[\s()\[\]\"'*_`]{0,4}(?:,|、|;|&|/|\band\b|和|与|及)[\s()\[\]\"'*_`]{0,4}){1,2}"


_LIST = rf"{_NUMERAL}(?:{_JOIN}{_NUMERAL}){{0,24}}"


_NOUN = (
    r"(?:(?i:statements?|items?|claims?|number|no\.?|nos\.?)[ \t]{0,2}#?|"
    r"#|第|陈述|说法|命题|语句|句)"
)


_SMALL = (
    r"(?:(?i:is|are|was|were|all|both|the|this|these|statement|claim|it|verdict|answer|"
    r"judge?ment)\b|判断|结果|该|此|陈述|说法|[是为均都])"
)


_LABELS = (
    rf"(?P<noun>{_NOUN}[ \t*_`]{{0,3}})?(?P<open>[(\[【]\s{{0,2}})?(?P<labels>{_LIST})"
    r"(?P<close>\s{0,2}[)\]】])?(?P<counter>[条项句个号](?:陈述|说法)?)?"
)


_ENTRY = re.compile(
    rf"{_VERDICT_ENTRIES_MARKUP}{_LABELS}(?P<gap>[\s*_`\"'|:.=→>,—–、()\[\]-]{{0,12}}"
    rf"(?:{_SMALL}[\s:*_`\"'=-]{{0,6}}){{0,4}}?){WORD}{WORD_END}"
)


# "True: i, iii" and 错误的有：ii、iv; the whole line.
_GROUPED = re.compile(
    rf"{_VERDICT_ENTRIES_MARKUP}(?:(?i:the)\s)?{WORD}(?:的)?(?:\s?(?i:statements?|ones|items|claims))?"
    rf"(?:陈述|说法)?(?:有|是|为|包括)?\s?(?i:are|is)?[\s*_`]{{0,4}}[:=(—–-][\s*_`\"'(\[]{{0,6}}"
    rf"(?:{_NOUN}\s?)?(?P<labels>{_LIST})[\s*_`\"')\].。]{{0,8}}$"
)


_LEAD = re.compile(r"[\s*_`#>]{0,8}+[A-Za-z\u4e00-\u9fff][\w \u4e00-\u9fff]{0,40}:[\s*_`\[{(]{0,4}")


_BULLET = re.compile(
    rf"\s{{0,8}}\d{{1,2}}[.)]\s{{1,4}}(?={_VERDICT_ENTRIES_MARKUP}(?:{_NOUN})?[(\[]?[ivxIVX])"
)


_VERDICT_ENTRIES_STATES = re.compile(r"[:.=→>|,—–、)\]-]|(?i:\b(?:is|are|was|were)\b)|[是为均都]")


_VERDICT_ENTRIES_BETWEEN = re.compile(r"[\s,;|.。、}\]]{0,8}+(?:(?i:and)\b\s?|和)?")


_ONE = re.compile(r"[ivx]{1,5}|[IVX]{1,5}|\d{1,2}")


_LINE_LABEL = re.compile(
    rf"{_VERDICT_ENTRIES_MARKUP}{_LABELS}(?=[\s*_`]{{0,4}}(?:[:.)、—–|]|$|-\s))"
)


# A verdict that ends a line which repeats its statement: "i. Iron is a metal - **True**".
_AT_END = re.compile(
    rf"(?:[:—–→=;|(。]|\.\s|\s-|[.]?\*\*)[\s*_`\"'(\[]{{0,6}}{WORD}[\s*_`\"')\].。!|]{{0,8}}$"
)


def entries_of_line(line: str) -> list[Entry]:
    """Return all entries of a line, in order; empty if it does not begin with one."""
    line = line[:_LONGEST_LINE]
    if line.count("|") > 1:
        return _entries_of_row(line)
    if (grouped := _GROUPED.match(line)) is not None:
        return _entries(grouped["labels"], said_by(grouped))
    bullet = _BULLET.match(line)
    start = 0 if bullet is None else bullet.end()
    found = _run(line, start)
    if not found and (lead := _LEAD.match(line, start)) is not None:
        found = _run(line, lead.end())
    return found or _at_end(line, start)


def label_of_line(line: str) -> int | None:
    """Return the one label that opens a line, or None."""
    match = _LINE_LABEL.match(line[:200])
    if match is None:
        return None
    labels = _ONE.findall(match["labels"])
    return read_label(labels[0]) if len(labels) == 1 else None


def read_label(text: str) -> int | None:
    """Return the number of a label, Roman in either case or Arabic, or None."""
    if text.isdecimal() and text.isascii():
        return int(text) if int(text) <= _MOST else None
    return _numerals().get(text.lower())


@cache
def _numerals() -> dict[str, int]:
    return {roman(number): number for number in range(1, _MOST + 1)}


def _run(line: str, start: int) -> list[Entry]:
    """Return the consecutive entries from ``start``."""
    found: list[Entry] = []
    while (match := _ENTRY.match(line, start)) is not None and _is_sound(line, match):
        said = said_by(match)
        end = match.end()
        # A comma is followed by the next entry or an explanation: "i: True, ii: False".
        following = _ENTRY.match(line, _after(line, end))
        if following is None and names_another(line, end, said):
            said = "both"
        found += _entries(match["labels"], said)
        start = _after(line, end)
    return found


def _after(line: str, end: int) -> int:
    match = _VERDICT_ENTRIES_BETWEEN.match(line, end)
    return end if match is None else match.end()


def _is_sound(line: str, match: re.Match[str]) -> bool:
    """Return True if label and verdict are separated.

    Not required if the label is in brackets, the line has no other content, or the verdict is
    Chinese: "I am right" is not an entry.
    """
    if (
        _VERDICT_ENTRIES_STATES.search(match["gap"])
        or match["counter"]
        or (match["open"] and match["close"])
    ):
        return True
    if match["close"] or match["zh_yes"] or match["zh_no"] or match["zh_both"]:
        return True
    return not line[match.end() :].strip(" \t*_`.。,;")


def _agreed(said: set[Said]) -> Said | None:
    """Return the one verdict that all give, "both" if they differ, None if there is none."""
    return None if not said else next(iter(said)) if len(said) == 1 else "both"


def _entries(labels: str, said: Said | None) -> list[Entry]:
    if said is None:
        return []
    numbers = [read_label(label) for label in _ONE.findall(labels)]
    return [Entry(number, said) for number in numbers if number is not None]


def _at_end(line: str, start: int) -> list[Entry]:
    """Return the entry of a line that opens with a label and ends with a verdict."""
    label = label_of_line(line[start:])
    match = None if label is None else _AT_END.search(line[-80:])
    if label is None or match is None:
        return []
    return [Entry(label, said_by(match))]


# ---------------------------------------------------------------- tables


def _entries_of_row(line: str) -> list[Entry]:
    """Return the entry of a table row: a label first, and cells that are only a verdict.

    Cells must agree, otherwise the verdict is "both".
    """
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    labels = re.fullmatch(rf"{_VERDICT_ENTRIES_MARKUP}{_LABELS}[\s*_`.:]{{0,6}}", cells[0])
    if labels is None:
        return []
    said = {verdict for cell in cells[1:] if (verdict := words_alone(cell)) is not None}
    if not said:
        return _entries_in_cells(labels["labels"], cells[1:])
    return _entries(labels["labels"], _agreed(said))


def _entries_in_cells(labels: str, cells: list[str]) -> list[Entry]:
    """Return the same for a cell that begins with a verdict and explains it."""
    found = [match for cell in cells if (match := _CELL.match(cell)) is not None]
    return _entries(labels, _agreed({said_by(match) for match in found}))


_CELL = re.compile(rf"{_VERDICT_ENTRIES_MARKUP}{WORD}{WORD_END}")


# Verdicts as JSON: an object by label, a list in order, or a list of objects.

_LONGEST = 32_768


_FENCED = re.compile(r"```(?:json|JSON)?[ \t]*\n(.{2,32768}?)\n[ \t]*```", re.DOTALL)


_OPENS = re.compile(r"^[ \t]*[\[{]", re.MULTILINE)


_MOST_TRIED = 8


_LABEL = re.compile(
    r"\s*(?:(?i:statement|item|claim|number|no\.?|s)[ _#.-]{0,2}|第|陈述|说法)?[(\[]?"
    r"(?P<label>[ivx]{1,5}|[IVX]{1,5}|\d{1,2})[)\]]?[条项句]?[.:]?\s*"
)


# Names under which a true value means the opposite, or nothing.
_NEGATIVE = re.compile(r"(?i:false|incorrect|wrong|error|untrue)|错|误|假")


def entries_of_json(text: str, n: int) -> list[Entry]:
    """Return the entries of the last JSON value in ``text`` that has any.

    A list of bare verdicts must have exactly ``n``.
    """
    for piece in _pieces(text):
        try:
            value = json.loads(piece, object_pairs_hook=_Pairs)
        except (ValueError, RecursionError):
            continue
        found = list(_verdict_json_entries(value, n, 0))
        if found:
            return found
    return []


class _Pairs(list[tuple[str, Any]]):
    """An object as pairs, so that repeated keys are visible."""


def _pieces(text: str) -> Iterator[str]:
    """Yield texts that may be JSON: fenced ones, last first; then from a line's bracket to the
    last.
    """
    if "```" in text:
        yield from reversed([match[1] for match in _FENCED.finditer(text)][-_MOST_TRIED:])
    stop = max(text.rfind("}"), text.rfind("]")) + 1
    if stop == 0:
        return
    window = text[max(0, stop - _LONGEST) : stop]
    starts = [match.end() - 1 for match in _OPENS.finditer(window)]
    first = min((at for at in (window.find("{"), window.find("[")) if at >= 0), default=None)
    if first is not None and first not in starts:
        starts.append(first)
    for start in starts[:_MOST_TRIED]:
        yield window[start:]


def _verdict_json_entries(value: Any, n: int, depth: int) -> Iterator[Entry]:
    if isinstance(value, _Pairs):
        yield from _of_object(value, n, depth)
    elif isinstance(value, list):
        yield from _of_list(value, n)


def _of_object(pairs: _Pairs, n: int, depth: int) -> Iterator[Entry]:
    """Yield verdicts by label; without labels, those of the only object or list."""
    labelled = [(_label(key), _verdict(value)) for key, value in pairs]
    found = [Entry(label, said) for label, said in labelled if label is not None and said]
    if found:
        yield from found
        return
    inner = [value for _key, value in pairs if isinstance(value, list)]
    if len(inner) == 1 and depth < 2:
        yield from _verdict_json_entries(inner[0], n, depth + 1)


def _of_list(values: list[Any], n: int) -> Iterator[Entry]:
    if all(isinstance(value, _Pairs) for value in values):
        for pairs in values:
            yield from _of_record(pairs)
        return
    said = [_verdict(value) for value in values]
    if len(said) == n and all(said):
        yield from (Entry(place, one) for place, one in enumerate(said, start=1) if one)


def _of_record(pairs: _Pairs) -> Iterator[Entry]:
    """Yield the entry of an object with one label and one verdict among its values; without one,
    that of its pair."""
    labels = {label for _key, value in pairs if (label := _label(value)) is not None}
    said = {said for key, value in pairs if (said := _named_verdict(key, value)) is not None}
    if len(labels) == 1 and said:
        yield Entry(labels.pop(), said.pop() if len(said) == 1 else "both")
    elif len(pairs) == 1:
        key, value = pairs[0]
        label, verdict = _label(key), _verdict(value)
        if label is not None and verdict:
            yield Entry(label, verdict)


def _label(value: Any) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value if 0 <= value <= 99 else None
    match = _LABEL.fullmatch(value) if isinstance(value, str) and len(value) < 40 else None
    return None if match is None else read_label(match["label"])


def _verdict(value: Any) -> Said | None:
    """Return the verdict of a value: a boolean, a verdict word, or an object with one of these."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and len(value) < 80:
        return words_alone(value)
    if isinstance(value, _Pairs):
        said = {said for key, inner in value if (said := _named_verdict(key, inner)) is not None}
        return _agreed(said)
    return None


def _named_verdict(key: str, value: Any) -> Said | None:
    """Return the verdict of a value, given its name."""
    if not isinstance(value, bool | str) or _label(value) is not None:
        return None
    if isinstance(value, bool) and _NEGATIVE.search(key):
        return "false" if value else "true"
    return _verdict(value)


# Verdicts on several numbered statements, from one response.
#
# Read are, in English and Chinese, with Roman numerals in either case or Arabic numbers:
#
# - entries: ``ii: False``, ``(ii) false, since ...``, ``Statement 2 is true``, ``第ii条：错误``,
#   several on one line, several labels to a verdict (``i, iii: True``), rows of a table, JSON;
# - verdicts followed by their labels: ``False: ii, iv``;
# - exactly as many bare verdicts as there are statements, in order;
# - for a statement without any of these, the verdict of the paragraph that its label opens.
#
# A statement called both has no verdict, and nothing is inferred for a missing one. Of several
# lists, only the last counts if it covers every statement; otherwise all must agree. Labels that
# count from 0 are ambiguous and ignored.

# Only the start and the end of a longer response are read, and so many of their lines.
_HEAD, _TAIL = 16_384, 49_152


_HEAD_LINES, _TAIL_LINES = 250, 750


# A statement's last paragraphs, and the last characters of a paragraph.
_PARAGRAPHS, _PARAGRAPH = 2, 800


_SPLIT = re.compile(r"[,，、;；|/]|\s{2,}")


class VerdictList(Struct, frozen=True):
    """The verdicts of a response by position: ``true``, ``false``, or empty.

    ``both``: positions called both, so without a verdict. ``inferred``: positions whose verdict was
    read from a paragraph rather than from a list. ``strays``: labels without a statement.
    """

    said: tuple[str, ...]
    both: frozenset[int] = frozenset()
    inferred: frozenset[int] = frozenset()
    strays: int = 0


def extract_verdicts(text: str, n: int) -> VerdictList:
    """Return the verdicts of ``text`` on statements 1 to ``n``."""
    plain = _plain(text)
    lines = _lines(plain)
    lists = [*_lists(_verdict_lists_entries(lines)), entries_of_json(plain, n)]
    lists = [found for found in lists if found] or _in_order(lines, n)
    lists, strays = _numbered(lists, n)
    said, both = _settled(lists, n)
    inferred: dict[int, Said] = {}
    if len(said) + len(both) < n:
        inferred = _from_paragraphs(lines, n, said.keys() | both)
    known = {**said, **{place: verdict for place, verdict in inferred.items() if verdict != "both"}}
    return VerdictList(
        said=tuple(known.get(place, "") for place in range(n)),
        both=frozenset(both | {place for place, verdict in inferred.items() if verdict == "both"}),
        inferred=frozenset(inferred),
        strays=strays,
    )


def _plain(text: str) -> str:
    """Return the text, or a long one's start and end, with plain numbers for full-width and
    circled.
    """
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD]}\n{text[-_TAIL:]}"
    return text if text.isascii() else normalize("NFKC", text)


def _lines(plain: str) -> list[str]:
    """Return its lines, the first and last of very many, with empty ones collapsed."""
    lines = re.sub(r"\n\s*\n", "\n\n", plain).splitlines()
    if len(lines) > _HEAD_LINES + _TAIL_LINES:
        lines = [*lines[:_HEAD_LINES], "", *lines[-_TAIL_LINES:]]
    return lines


# ---------------------------------------------------------------- lists


def _verdict_lists_entries(lines: Iterable[str]) -> Iterator[Entry | None]:
    """Yield the entries of all lines in order; None for a line with other content."""
    for line in lines:
        found = entries_of_line(line)
        yield from found
        if not found and line.strip():
            yield None


def _lists(entries: Iterable[Entry | None]) -> Iterator[list[Entry]]:
    """Yield entries by list.

    A list ends where a label is not above the previous ones and other text lies between.
    """
    current: list[Entry] = []
    seen = 0
    broken = False
    for entry in entries:
        if entry is None:
            broken = True
            continue
        if current and broken and entry.label <= seen:
            yield current
            current, seen = [], 0
        current.append(entry)
        seen, broken = max(seen, entry.label), False
    yield current


def _in_order(lines: Sequence[str], n: int) -> list[list[Entry]]:
    """Return the list of exactly ``n`` bare verdicts, one per line or on one line."""
    said = [line for line in lines if line.strip(" \t*_`#>-|")]
    if len(said) == 1:
        said = _SPLIT.split(said[0].strip(" \t[](){}.。"))
    if len(said) != n or n < 2:
        return []
    verdicts = [words_alone(part) for part in said]
    if not all(verdicts):
        return []
    return [[Entry(place, said) for place, said in enumerate(verdicts, start=1) if said]]


def _numbered(lists: Sequence[list[Entry]], n: int) -> tuple[list[list[Entry]], int]:
    """Return the lists with only the entries that number a statement, and how many do not."""
    kept, strays = [], 0
    for found in lists:
        counts_from_0 = any(entry.label == 0 for entry in found)
        sound = [] if counts_from_0 else [entry for entry in found if entry.label <= n]
        strays += len(found) - len(sound)
        if sound:
            kept.append(sound)
    return kept, strays


def _settled(lists: Sequence[list[Entry]], n: int) -> tuple[dict[int, Said], set[int]]:
    """Return the verdict of each position that has one, and the positions called both."""
    if lists and len({entry.label for entry in lists[-1]}) == n:
        lists = lists[-1:]
    by_place: dict[int, set[Said]] = {}
    for found in lists:
        for entry in found:
            by_place.setdefault(entry.label - 1, set()).add(entry.said)
    both = {place for place, said in by_place.items() if said == {"both"} or len(said) > 1}
    return {place: said.pop() for place, said in by_place.items() if place not in both}, both


# ---------------------------------------------------------------- paragraphs


_SAID: dict[str, Said] = {"true": "true", "false": "false"}


def _from_paragraphs(lines: Sequence[str], n: int, known: Iterable[int]) -> dict[int, Said]:
    """Return the verdicts of paragraphs opened by labels, for statements without another."""
    opened: list[tuple[int, int]] = []
    for at, line in enumerate(lines):
        label = label_of_line(line) if line else None
        if label is not None and 1 <= label <= n:
            opened.append((at, label - 1))
    stops = [at for at, _place in opened[1:]] + ([_end(lines, opened[-1][0])] if opened else [])
    paragraphs: dict[int, list[str]] = {}
    for (at, place), stop in zip(opened, stops, strict=True):
        paragraphs.setdefault(place, []).append("\n".join(lines[at:stop])[-_PARAGRAPH:])
    found: dict[int, Said] = {}
    for place in paragraphs.keys() - set(known):
        readings = [extract_verdict(text) for text in paragraphs[place][-_PARAGRAPHS:]]
        said = {_SAID.get(reading.letter, "both") for reading in readings if reading.tier}
        if (agreed := _agreed(said)) is not None:
            found[place] = agreed
    return found


def _end(lines: Sequence[str], at: int) -> int:
    """Return where the last paragraph ends: at the first empty line after its label's opening."""
    for place in range(at + 2, len(lines)):
        if not lines[place].strip():
            return place
    return len(lines)
