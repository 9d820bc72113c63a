"""Find the headings of a PDF's pages, running heads, page numbers and page feet."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from proofstone.documents.pdf_lines import (
    Frame,
    Line,
    Segment,
    Style,
)

# Titles of a page's outline entries, as ``plain_title`` gives them, with their levels from 1.
Titles = Mapping[str, int]


_LARGER = 1.13


_MOST_LINES = 4


_LONGEST = 220


_NUMBER = re.compile(
    r"(?:(?:Chapter|Section|Appendix|Part|Kapitel|Chapitre)\s+)?([A-Z]?\d+(?:\.\d+)*|[A-Z](?:\.\d+)+)"
    r"[.:)]?\s+\S",
    re.IGNORECASE,
)


_CHINESE = re.compile(r"第\s*[一二三四五六七八九十百\d]+\s*([编篇部章节節])")


_CHINESE_LEVELS = {"编": 1, "篇": 1, "部": 1, "章": 1, "节": 2, "節": 2}


_NOT_WORDS = re.compile(r"[\W\d_]+")


_PREFIX = re.compile(
    r"^(?:chapter|section|appendix|part)\s*(?:[\divxlc]+|[a-z])?[.:\s]+", re.IGNORECASE
)


_LETTER = re.compile(r"[^\W\d_]")


def plain_title(text: str) -> str:
    """Return a title without numbers, case, punctuation and spaces, for comparison."""
    return _NOT_WORDS.sub("", _PREFIX.sub("", text.strip()).casefold())


def heading_at(
    lines: Sequence[Line], k: int, style: Style, frame: Frame, titles: Titles
) -> tuple[int, int]:
    """Return the number of lines from ``k`` on that form one heading, and its level, or (0, 0)."""
    found = _in_outline(lines, k, titles) if titles else (0, 0)
    if found[0]:
        return found
    n = _by_type(lines, k, style, frame)
    if not n:
        return 0, 0
    text = " ".join(line.text for line in lines[k : k + n])
    return n, _level(text, lines[k], style)


def _in_outline(lines: Sequence[Line], k: int, titles: Titles) -> tuple[int, int]:
    plain = plain_title(lines[k].text)
    if plain and not any(title.startswith(plain) for title in titles):
        return 0, 0  # a line with a number alone may be above its title
    text = ""
    for n in range(1, min(_MOST_LINES, len(lines) - k) + 1):
        text += " " + lines[k + n - 1].text
        plain = plain_title(text)
        if len(plain) > _LONGEST:
            break
        if plain and plain in titles:
            return n, titles[plain]
    return 0, 0


def _by_type(lines: Sequence[Line], k: int, style: Style, frame: Frame) -> int:
    """Return the number of lines from ``k`` on with the same heading-like type."""
    first = lines[k]
    if not _is_set_apart(lines, k, style, frame):
        return 0
    n = 1
    while k + n < len(lines) and n < _MOST_LINES and _is_set_alike(lines[k + n - 1], lines[k + n]):
        n += 1
    goes_on = (
        n == _MOST_LINES and k + n < len(lines) and _is_set_alike(lines[k + n - 1], lines[k + n])
    )
    text = " ".join(line.text for line in lines[k : k + n])
    if goes_on or len(text) > _LONGEST or len(_LETTER.findall(text)) < 2:
        return 0
    is_larger = first.size >= _LARGER * style.body
    if not is_larger and text.rstrip()[-1:] in ".,;:" and not _NUMBER.match(text):
        return 0
    return n


def _is_set_apart(lines: Sequence[Line], k: int, style: Style, frame: Frame) -> bool:
    line = lines[k]
    if len(line.cells) > 2 or line.share("is_math") > 0.4 or line.share("is_mono") > 0.5:
        return False
    if line.size >= _LARGER * style.body:
        return True
    if not style.is_bold_rare or line.share("is_bold") < 0.9 or line.size < 0.95 * style.body:
        return False
    if style.has_outline and not _NUMBER.match(line.text):
        return False
    above = line.baseline - lines[k - 1].baseline if k else 10 * line.size
    below = lines[k + 1].baseline - line.baseline if k + 1 < len(lines) else 10 * line.size
    roomy = above > 1.25 * frame.leading * line.size
    return roomy and below > 0.5 * line.size and line.n_letters > 2


def _is_set_alike(before: Line, line: Line) -> bool:
    alike = abs(before.size - line.size) <= 0.04 * before.size
    bold = (before.share("is_bold") >= 0.9) == (line.share("is_bold") >= 0.9)
    near = line.baseline - before.baseline <= 1.7 * before.size
    return alike and bold and near and not _NUMBER.match(line.text)


def _level(text: str, line: Line, style: Style) -> int:
    """Return the level from the parts of a heading's number, or from the rank of its size."""
    numbered = _NUMBER.match(text)
    if numbered and (line.share("is_bold") >= 0.5 or line.size >= _LARGER * style.body):
        return min(6, numbered[1].count(".") + 1)
    chinese = _CHINESE.match(text)
    if chinese:
        return _CHINESE_LEVELS[chinese[1]]
    larger = sum(size > line.size * 1.04 for size in style.headings)
    return min(6, larger + 1)


# Repeated page elements: running heads, page numbers, feet.
#
# A row at the edge of a page is one if its page number counts along with nearby pages, or if its
# words are repeated at the edge of nearby pages, or if it is at exactly the height of such rows.

WINDOW = 8  # pages on either side that are compared


_ROWS = 3  # at either edge


_ZONE = 0.2  # of the height: rows further inside are not at an edge


_ROW = 0.65  # ems between baselines: superscripts and accents belong to their row


_SMALL = 0.85  # of a row's largest type


_LEVEL = 2.5  # points by which heights of the same row differ


_FURNITURE_NUMBER = re.compile(r"[\dA-Za-z]*?(\d{1,4})$|^([ivxlcdm]{1,8})$", re.IGNORECASE)


_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}


_DIGITS = re.compile(r"\d+")


_FURNITURE_NOT_WORDS = re.compile(r"[\W_]+")


_ANYWHERE = 5  # pages that agree, wherever their numbers are printed


_ALIKE = 10  # characters at the beginning


_PAGES_ALIKE = 3


_OFF = 1.2  # times the distance of the next two rows


_LONG = 120  # characters: running heads are shorter


class EdgeRow(NamedTuple):
    """A row of segments near an edge: its distance from that edge, height, words and numbers."""

    at_top: bool
    rank: int
    baseline: float
    words: str
    numbers: tuple[int, ...]
    segments: tuple[int, ...]


def edge_rows(segments: Sequence[Segment], height: float) -> list[EdgeRow]:
    """Return the outermost rows at the top and at the bottom of a page, outermost first."""
    rows: list[tuple[float, list[int]]] = []
    for place in sorted(range(len(segments)), key=lambda k: segments[k].baseline):
        segment = segments[place]
        if rows and segment.baseline - rows[-1][0] <= _ROW * segment.size:
            rows[-1][1].append(place)
        else:
            rows.append((segment.baseline, [place]))
    top = [row for row in rows[:_ROWS] if row[0] <= _ZONE * height]
    bottom = [row for row in rows[-_ROWS:][::-1] if row[0] >= (1 - _ZONE) * height]
    if len(top) == len(rows):  # one short page: nothing is at both edges
        bottom = [row for row in bottom if row not in top]
    return [
        *(_edge_row(True, rank, row, segments) for rank, row in enumerate(top)),
        *(_edge_row(False, rank, row, segments) for rank, row in enumerate(bottom)),
    ]


def _edge_row(
    at_top: bool, rank: int, row: tuple[float, list[int]], segments: Sequence[Segment]
) -> EdgeRow:
    inside = sorted((segments[k] for k in row[1]), key=lambda s: s.left)
    text = " ".join(s.text for s in inside)[: 2 * _LONG]
    words = _FURNITURE_NOT_WORDS.sub(" ", _DIGITS.sub("#", text.casefold())).strip()
    # A superscript number is a note's; note numbers count along with the pages as well.
    size = max(s.size for s in inside)
    tokens = " ".join(s.text for s in inside if s.size > _SMALL * size).split()
    ends = {tokens[0], tokens[-1]} if tokens else set()
    numbers = {n for n in map(_number, ends) if n is not None}
    baseline = max(inside, key=lambda s: len(s.text)).baseline
    return EdgeRow(at_top, rank, baseline, words, tuple(sorted(numbers)), tuple(row[1]))


def _number(token: str) -> int | None:
    """Return the page number that a token may be: 12, A-12, xii."""
    found = _FURNITURE_NUMBER.search(token.strip("-–—.|·• "))
    if found is None:
        return None
    return int(found[1]) if found[1] else _roman(found[2].lower())


def _roman(text: str) -> int:
    values = [_ROMAN[letter] for letter in text]
    following = [*values[1:], 0]
    return sum(-a if a < b else a for a, b in zip(values, following, strict=True))


def furniture(page: int, rows: Mapping[int, Sequence[EdgeRow]], n_segments: int) -> set[int]:
    """Return the segments of ``page`` (it has ``n_segments``) that are repeated page elements.

    ``rows`` holds the rows of the page and those around it. The search goes inwards from each edge,
    and ends at the first row of text.
    """
    regular: list[EdgeRow] = []
    for at_top in (True, False):
        for row in (row for row in rows[page] if row.at_top == at_top):
            if not (
                _is_regular(page, row, rows)
                or _stands_level(page, row, rows)
                or _begins_alike(page, row, rows)
            ):
                break
            regular.append(row)
    taken = {segment for row in regular for segment in row.segments}
    if len(taken) < n_segments:
        return taken
    # Nothing else is on the page: repeated words are its text, a head with its number is not.
    counting = [row for row in regular if _counts_along(page, row, rows)]
    return {segment for row in counting for segment in row.segments}


def _others(
    page: int, row: EdgeRow, rows: Mapping[int, Sequence[EdgeRow]]
) -> list[tuple[int, EdgeRow]]:
    return [
        (other, candidate)
        for other, candidates in rows.items()
        if other != page and abs(other - page) <= WINDOW
        for candidate in candidates
        if candidate.at_top == row.at_top
    ]


def _is_regular(page: int, row: EdgeRow, rows: Mapping[int, Sequence[EdgeRow]]) -> bool:
    """Return True if its number counts along with the pages, or its words repeat at its height."""
    return _counts_along(page, row, rows) or _comes_back(page, row, rows)


def _counts_along(page: int, row: EdgeRow, rows: Mapping[int, Sequence[EdgeRow]]) -> bool:
    """Return True if enough rows hold the numbers that its own number leads to.

    Two rows at its height suffice, or five anywhere for a number alone (at the foot of a chapter's
    first page).
    """
    if len(row.words) > _LONG or not row.numbers:
        return False
    others = _others(page, row, rows)
    level = [pair for pair in others if abs(pair[1].baseline - row.baseline) <= _LEVEL]
    needed = 2 if len(rows) > 3 else 1
    if _agree(page, row, level) >= needed:
        return True
    if " " in row.words or row.rank:
        return False
    either = [(other, each) for other, found in rows.items() if other != page for each in found]
    return _agree(page, row, either) >= _ANYWHERE


def _agree(page: int, row: EdgeRow, others: Sequence[tuple[int, EdgeRow]]) -> int:
    """Return the number of pages with a number that counts along with one of the row's."""
    return max(
        len({other for other, each in others if number + other - page in each.numbers})
        for number in row.numbers
    )


def _comes_back(page: int, row: EdgeRow, rows: Mapping[int, Sequence[EdgeRow]]) -> bool:
    if not row.words or len(row.words) > _LONG:
        return False
    same = {
        other
        for other, each in _others(page, row, rows)
        if each.words == row.words and abs(each.baseline - row.baseline) <= _LEVEL
    }
    return len(same) >= (2 if len(rows) > 3 else 1)


def _begins_alike(page: int, row: EdgeRow, rows: Mapping[int, Sequence[EdgeRow]]) -> bool:
    """Return True if outermost rows at its height on three nearby pages begin with the same words.

    An example is a chapter's name before each section's.
    """
    if row.rank or len(row.words) > _LONG or not _stands_off(row, rows[page]):
        return False
    beginning = row.words[: max(_ALIKE, len(row.words) // 3)]
    alike = {
        other
        for other, each in _others(page, row, rows)
        if not each.rank
        and abs(each.baseline - row.baseline) <= 0.5
        and len(beginning) >= _ALIKE
        and each.words.startswith(beginning)
    }
    return len(alike) >= _PAGES_ALIKE


def _stands_off(row: EdgeRow, own: Sequence[EdgeRow]) -> bool:
    """Return True if it is further from the next row than that is from the one after."""
    levels = [each.baseline for each in own if each.at_top == row.at_top]
    if len(levels) < _ROWS:
        return True
    return abs(levels[1] - levels[0]) > _OFF * abs(levels[2] - levels[1])


def _stands_level(page: int, row: EdgeRow, rows: Mapping[int, Sequence[EdgeRow]]) -> bool:
    """Return True if half of the nearby pages have such elements at this height."""
    if row.rank or len(row.words) > _LONG:
        return False
    level = [
        (other, each)
        for other, each in _others(page, row, rows)
        if not each.rank and abs(each.baseline - row.baseline) <= 0.5
    ]
    if len(level) < max(3, (len(rows) - 1) // 2):
        return False
    regular = sum(_is_regular(other, each, rows) for other, each in level)
    return regular >= max(3, 0.7 * len(level))
