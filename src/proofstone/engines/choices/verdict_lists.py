"""Verdicts on several numbered statements, from one reply.

Read are, in English and Chinese, with Roman numerals in either case or Arabic numbers:

- entries: ``ii: False``, ``(ii) false, since ...``, ``Statement 2 is true``, ``第ii条：错误``,
  several on one line, several labels to a verdict (``i, iii: True``), rows of a table, JSON;
- verdicts with their labels behind them: ``False: ii, iv``;
- exactly as many bare verdicts as there are statements, in order;
- where a statement has none of these, the verdict of the paragraph that its label opens.

A statement called both is called nothing, and nothing is inferred for one that is left out. Of
several lists the last counts alone if it names every statement; else what two lists say of one
statement must agree. Labels that count from 0 name nobody can say what, and are left aside.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from unicodedata import normalize

from msgspec import Struct

from proofstone.engines.choices.verdict_entries import Entry, entries_of_line, label_of_line
from proofstone.engines.choices.verdict_json import entries_of_json
from proofstone.engines.choices.verdict_words import Said, words_alone
from proofstone.engines.choices.verdicts import extract_verdict

__all__ = ["VerdictList", "extract_verdicts"]

# Of a longer reply its start and its end are read, and of these so many lines.
_HEAD, _TAIL = 16_384, 49_152
_HEAD_LINES, _TAIL_LINES = 250, 750
# Of a statement its last paragraphs, and of a paragraph its last characters.
_PARAGRAPHS, _PARAGRAPH = 2, 800

_SPLIT = re.compile(r"[,，、;；|/]|\s{2,}")


class VerdictList(Struct, frozen=True):
    """The verdicts of a reply by place: ``true``, ``false``, or empty where there is none.

    ``both``: places that are called both, and so nothing. ``inferred``: places whose verdict was
    read from a paragraph rather than from a list. ``strays``: labels that number no statement.
    """

    said: tuple[str, ...]
    both: frozenset[int] = frozenset()
    inferred: frozenset[int] = frozenset()
    strays: int = 0


def extract_verdicts(text: str, n: int) -> VerdictList:
    """The verdicts of ``text`` on statements 1 to ``n``."""
    plain = _plain(text)
    lines = _lines(plain)
    lists = [*_lists(_entries(lines)), *_json_list(plain, n)]
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
    """The text, of a long one its start and end, with full-width and circled numbers made plain."""
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD]}\n{text[-_TAIL:]}"
    return text if text.isascii() else normalize("NFKC", text)


def _lines(plain: str) -> list[str]:
    """Its lines, of very many the first and the last; several empty ones in a row are one."""
    lines = re.sub(r"\n\s*\n", "\n\n", plain).splitlines()
    if len(lines) > _HEAD_LINES + _TAIL_LINES:
        lines = [*lines[:_HEAD_LINES], "", *lines[-_TAIL_LINES:]]
    return lines


# ---------------------------------------------------------------- lists


def _entries(lines: Iterable[str]) -> Iterator[Entry | None]:
    """The entries of all lines in order; None where a line has none (and something else)."""
    for line in lines:
        found = entries_of_line(line)
        yield from found
        if not found and line.strip():
            yield None


def _lists(entries: Iterable[Entry | None]) -> Iterator[list[Entry]]:
    """Entries by list: a list ends where a label is not above those before it, with something else
    said between them."""
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


def _json_list(text: str, n: int) -> Iterator[list[Entry]]:
    found = entries_of_json(text, n)
    if found:
        yield found


def _in_order(lines: Sequence[str], n: int) -> list[list[Entry]]:
    """The list of exactly ``n`` bare verdicts and nothing else, a line each or on one line."""
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
    """The lists with those entries alone that number a statement, and how many do not."""
    kept, strays = [], 0
    for found in lists:
        counts_from_0 = any(entry.label == 0 for entry in found)
        sound = [] if counts_from_0 else [entry for entry in found if entry.label <= n]
        strays += len(found) - len(sound)
        if sound:
            kept.append(sound)
    return kept, strays


def _settled(lists: Sequence[list[Entry]], n: int) -> tuple[dict[int, Said], set[int]]:
    """The verdict of each place that has one, and the places that are called both."""
    if lists and len({entry.label for entry in lists[-1]}) == n:
        lists = lists[-1:]
    by_place: dict[int, set[Said]] = {}
    for found in lists:
        for entry in found:
            by_place.setdefault(entry.label - 1, set()).add(entry.said)
    both = {place for place, said in by_place.items() if said == {"both"} or len(said) > 1}
    return {place: said.pop() for place, said in by_place.items() if place not in both}, both


# ---------------------------------------------------------------- paragraphs


def _from_paragraphs(lines: Sequence[str], n: int, known: Iterable[int]) -> dict[int, Said]:
    """The verdicts of the paragraphs that labels open, for statements that have no other."""
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
        said = {_said(reading.letter) for reading in readings if reading.tier}
        if said:
            found[place] = said.pop() if len(said) == 1 else "both"
    return found


def _said(letter: str) -> Said:
    return "true" if letter == "true" else "false" if letter == "false" else "both"


def _end(lines: Sequence[str], at: int) -> int:
    """Where the last paragraph ends: at the first empty line behind what its label opens with."""
    for place in range(at + 2, len(lines)):
        if not lines[place].strip():
            return place
    return len(lines)
