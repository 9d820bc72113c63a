"""Entries of a list of verdicts: a label or several, and true or false, on a line.

The text has been normalised (NFKC): brackets, colons and digits are plain ones. A line is read
from its start as far as it is entries; what follows is an explanation.
"""

from __future__ import annotations

import re
from functools import cache

from msgspec import Struct

from proofstone.engines.choices.roman import roman
from proofstone.engines.choices.verdict_words import (
    WORD,
    WORD_END,
    Said,
    names_another,
    said_by,
    words_alone,
)

__all__ = ["Entry", "entries_of_line", "label_of_line", "read_label"]

# Statements are never more.
_MOST = 99
_LONGEST_LINE = 4096


class Entry(Struct, frozen=True):
    """A statement's number as the reply gave it (from 1) and what it is called."""

    label: int
    said: Said


_MARKUP = r"[\s*_`\"'>#•-]{0,12}+"
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
    rf"{_MARKUP}{_LABELS}(?P<gap>[\s*_`\"'|:.=→>,—–、()\[\]-]{{0,12}}"
    rf"(?:{_SMALL}[\s:*_`\"'=-]{{0,6}}){{0,4}}?){WORD}{WORD_END}"
)
# "True: i, iii" and 错误的有：ii、iv; the whole line.
_GROUPED = re.compile(
    rf"{_MARKUP}(?:(?i:the)\s)?{WORD}(?:的)?(?:\s?(?i:statements?|ones|items|claims))?"
    rf"(?:陈述|说法)?(?:有|是|为|包括)?\s?(?i:are|is)?[\s*_`]{{0,4}}[:=(—–-][\s*_`\"'(\[]{{0,6}}"
    rf"(?:{_NOUN}\s?)?(?P<labels>{_LIST})[\s*_`\"')\].。]{{0,8}}$"
)
_LEAD = re.compile(r"[\s*_`#>]{0,8}+[A-Za-z\u4e00-\u9fff][\w \u4e00-\u9fff]{0,40}:[\s*_`\[{(]{0,4}")
_BULLET = re.compile(rf"\s{{0,8}}\d{{1,2}}[.)]\s{{1,4}}(?={_MARKUP}(?:{_NOUN})?[(\[]?[ivxIVX])")
_STATES = re.compile(r"[:.=→>|,—–、)\]-]|(?i:\b(?:is|are|was|were)\b)|[是为均都]")
_BETWEEN = re.compile(r"[\s,;|.。、}\]]{0,8}+(?:(?i:and)\b\s?|和)?")
_ONE = re.compile(r"[ivx]{1,5}|[IVX]{1,5}|\d{1,2}")
_LINE_LABEL = re.compile(rf"{_MARKUP}{_LABELS}(?=[\s*_`]{{0,4}}(?:[:.)、—–|]|$|-\s))")
# A verdict that ends a line which repeats its statement: "i. Iron is a metal - **True**".
_AT_END = re.compile(
    rf"(?:[:—–→=;|(。]|\.\s|\s-|[.]?\*\*)[\s*_`\"'(\[]{{0,6}}{WORD}[\s*_`\"')\].。!|]{{0,8}}$"
)


def entries_of_line(line: str) -> list[Entry]:
    """All entries of a line, in order; none where it does not begin with one."""
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
    """The one label that opens a line, or None."""
    match = _LINE_LABEL.match(line[:200])
    if match is None:
        return None
    labels = _ONE.findall(match["labels"])
    return read_label(labels[0]) if len(labels) == 1 else None


def read_label(text: str) -> int | None:
    """The number of a label, Roman in either case or Arabic; None for what is neither."""
    if text.isdecimal() and text.isascii():
        return int(text) if int(text) <= _MOST else None
    return _numerals().get(text.lower())


@cache
def _numerals() -> dict[str, int]:
    return {roman(number): number for number in range(1, _MOST + 1)}


def _run(line: str, start: int) -> list[Entry]:
    """The entries that follow one another from ``start``."""
    found: list[Entry] = []
    while (match := _ENTRY.match(line, start)) is not None and _is_sound(line, match):
        said = said_by(match)
        end = match.end()
        # After a comma comes the next entry or an explanation: "i: True, ii: False".
        following = _ENTRY.match(line, _after(line, end))
        if following is None and names_another(line, end, said):
            said = "both"
        found += _entries(match["labels"], said)
        start = _after(line, end)
    return found


def _after(line: str, end: int) -> int:
    match = _BETWEEN.match(line, end)
    return end if match is None else match.end()


def _is_sound(line: str, match: re.Match[str]) -> bool:
    """Whether something parts label and verdict, unless the label stands in brackets, the line is
    nothing else, or the verdict is Chinese: "I am right" labels nothing."""
    if _STATES.search(match["gap"]) or match["counter"] or (match["open"] and match["close"]):
        return True
    if match["close"] or match["zh_yes"] or match["zh_no"] or match["zh_both"]:
        return True
    return not line[match.end() :].strip(" \t*_`.。,;")


def _entries(labels: str, said: Said) -> list[Entry]:
    numbers = [read_label(label) for label in _ONE.findall(labels)]
    return [Entry(number, said) for number in numbers if number is not None]


def _at_end(line: str, start: int) -> list[Entry]:
    """The entry of a line that opens with a label and ends with a verdict."""
    label = label_of_line(line[start:])
    match = None if label is None else _AT_END.search(line[-80:])
    if label is None or match is None:
        return []
    return [Entry(label, said_by(match))]


# ---------------------------------------------------------------- tables


def _entries_of_row(line: str) -> list[Entry]:
    """The entry of a table's row: a label first, and cells that are nothing but a verdict, which
    agree or call it both."""
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    labels = re.fullmatch(rf"{_MARKUP}{_LABELS}[\s*_`.:]{{0,6}}", cells[0])
    if labels is None:
        return []
    said = {verdict for cell in cells[1:] if (verdict := words_alone(cell)) is not None}
    if not said:
        return _entries_in_cells(labels["labels"], cells[1:])
    return _entries(labels["labels"], said.pop() if len(said) == 1 else "both")


def _entries_in_cells(labels: str, cells: list[str]) -> list[Entry]:
    """The same where a cell begins with a verdict and explains it."""
    found = [match for cell in cells if (match := _CELL.match(cell)) is not None]
    said = {said_by(match) for match in found}
    if not said:
        return []
    return _entries(labels, said.pop() if len(said) == 1 else "both")


_CELL = re.compile(rf"{_MARKUP}{WORD}{WORD_END}")
