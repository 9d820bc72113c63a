"""Headings: from the document's outline where it has one, else by their type and numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from proofstone.engines.ingest.pdf.kinds import Frame, Style
from proofstone.engines.ingest.pdf.lines import Line

__all__ = ["Titles", "heading_at", "plain_title"]

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
    """A title without numbers, case, signs and spaces, as it is compared."""
    return _NOT_WORDS.sub("", _PREFIX.sub("", text.strip()).casefold())


def heading_at(
    lines: Sequence[Line], k: int, style: Style, frame: Frame, titles: Titles
) -> tuple[int, int]:
    """How many lines from ``k`` on are one heading, and its level; (0, 0) where none begins."""
    found = _in_outline(lines, k, titles) if titles else (0, 0)
    if found[0]:
        return found
    n = _by_type(lines, k, style, frame)
    if not n:
        return 0, 0
    text = " ".join(line.text for line in lines[k : k + n])
    return n, _level(text, lines[k], style)


def _in_outline(lines: Sequence[Line], k: int, titles: Titles) -> tuple[int, int]:
    if not _may_begin(plain_title(lines[k].text), titles):
        return 0, 0
    text = ""
    for n in range(1, min(_MOST_LINES, len(lines) - k) + 1):
        text += " " + lines[k + n - 1].text
        plain = plain_title(text)
        if len(plain) > _LONGEST:
            break
        if plain and plain in titles:
            return n, titles[plain]
    return 0, 0


def _may_begin(plain: str, titles: Titles) -> bool:
    """Whether a title begins with a line; a line of numbers alone may stand above its title."""
    return not plain or any(title.startswith(plain) for title in titles)


def _by_type(lines: Sequence[Line], k: int, style: Style, frame: Frame) -> int:
    """The lines from ``k`` on that are set alike and as headings are."""
    first = lines[k]
    if not _is_set_apart(lines, k, style, frame):
        return 0
    n = 1
    while k + n < len(lines) and n < _MOST_LINES and _goes_on(lines[k + n - 1], lines[k + n]):
        n += 1
    goes_on = n == _MOST_LINES and k + n < len(lines) and _goes_on(lines[k + n - 1], lines[k + n])
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


def _goes_on(before: Line, line: Line) -> bool:
    alike = abs(before.size - line.size) <= 0.04 * before.size
    bold = (before.share("is_bold") >= 0.9) == (line.share("is_bold") >= 0.9)
    near = line.baseline - before.baseline <= 1.7 * before.size
    return alike and bold and near and not _NUMBER.match(line.text)


def _level(text: str, line: Line, style: Style) -> int:
    """From a number's parts; else from the rank of its size among the larger ones."""
    numbered = _NUMBER.match(text)
    if numbered and (line.share("is_bold") >= 0.5 or line.size >= _LARGER * style.body):
        return min(6, numbered[1].count(".") + 1)
    chinese = _CHINESE.match(text)
    if chinese:
        return _CHINESE_LEVELS[chinese[1]]
    larger = sum(size > line.size * 1.04 for size in style.headings)
    return min(6, larger + 1)
