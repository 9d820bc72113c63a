"""Columns of plain text that align, also where a character takes two cells of the terminal."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from proofstone.records.tables import Cell, Column, Tabulation
from proofstone.wording.messages import counted, listed, say

_ELLIPSIS = "\u2026"


# A wide character with the closing marks behind it, or a run of others up to its space.
_WIDE = "\u3000-\u303f\u3400-\u4dbf\u4e00-\u9fff\uff00-\uffef"


_CLOSING = "\u3001\u3002\u201d\uff01\uff09\uff0c\uff1a\uff1b\uff1f"


_BREAKS = re.compile(rf"[{_WIDE}\u201c][{_CLOSING}]*\s*|[^\s{_WIDE}]+[{_CLOSING}]*\s*|\s+")


def cell_width(text: str) -> int:
    """How many terminal cells ``text`` takes: two for wide characters, none for combining ones."""
    return sum(_cells(character) for character in text)


def padded(text: str, width: int, *, right: bool = False) -> str:
    """``text`` filled with spaces to ``width`` cells; longer text stays as it is."""
    space = " " * max(0, width - cell_width(text))
    return space + text if right else text + space


def fitted(text: str, width: int) -> str:
    """``text`` in at most ``width`` >= 1 cells; cut at its start, for a model's name ends with
    what tells it from others."""
    if cell_width(text) <= width:
        return text
    n_kept = fitting_end(text[::-1], width - 1)
    return _ELLIPSIS + (text[-n_kept:] if n_kept else "")


def fitting_end(text: str, width: int) -> int:
    """How many of the first characters of ``text`` stand in ``width`` cells."""
    taken = 0
    for end, character in enumerate(text):
        taken += _cells(character)
        if taken > width:
            return end
    return len(text)


def printable(text: str) -> str:
    """``text`` without what could move the cursor or reorder a line: shown as a replacement."""
    return "".join(
        "\ufffd" if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} else character
        for character in text
    )


def wrapped(text: str, width: int) -> list[str]:
    """``text`` in lines of at most ``width`` cells, broken at spaces and before or after wide
    characters (never before a closing mark); a longer word keeps a line of its own."""
    lines, line = [], ""
    for piece in _BREAKS.findall(text):
        if line and cell_width(line) + cell_width(piece.rstrip()) > width:
            lines.append(line.rstrip())
            line = ""
        line += piece
    return [*lines, line.rstrip()] if line.strip() else lines


# Where a name may break: behind these signs.
_PIECES = re.compile(r"[^\s/_=?&,:;.@-]*[/_=?&,:;.@-]*\s*")


def broken(text: str, width: int) -> str:
    """Return ``text`` in lines of at most ``width`` >= 1 cells, all of it kept.

    Lines end at spaces or behind signs such as ``/`` and ``-``; a longer piece is split.
    """
    lines, line = [], ""
    for piece in filter(None, _PIECES.findall(text)):
        rest = piece
        if line and cell_width(line) + cell_width(rest.rstrip()) > width:
            lines.append(line.rstrip())
            line = ""
        while not line and cell_width(rest.rstrip()) > width:
            end = max(fitting_end(rest, width), 1)
            lines.append(rest[:end])
            rest = rest[end:]
        line += rest
    return "\n".join([*lines, line.rstrip()] if line.strip() or not lines else lines)


def aligned(rows: Sequence[Sequence[str]], *, left: Sequence[int], gap: str = "  ") -> list[str]:
    """Each row as a line; columns are as wide as their widest cell, right-aligned but ``left``.

    All rows have the same number of cells. No row gives no line. A row with a cell of several lines
    is a text of several lines.
    """
    widest = widths(rows)
    return ["\n".join(_row_lines(row, widest, left, gap)) for row in rows]


def _row_lines(
    row: Sequence[str], widest: Sequence[int], left: Sequence[int], gap: str
) -> Iterator[str]:
    for parts in zip_longest(*(cell.split("\n") for cell in row), fillvalue=""):
        cells = (padded(part, widest[i], right=i not in left) for i, part in enumerate(parts))
        yield gap.join(cells).rstrip()


def widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """The cells that each column takes; none without a row."""
    return [
        max(cell_width(part) for cell in column for part in cell.split("\n"))
        for column in zip(*rows, strict=True)
    ]


def without_empty(rows: Sequence[Sequence[str]], *, first: int = 1) -> list[list[str]]:
    """The rows without those columns behind the ``first`` ones of which only the head says
    something."""
    used = [at for at in range(len(rows[0])) if at < first or any(row[at] for row in rows[1:])]
    return [[row[at] for at in used] for row in rows]


def fits(rows: Sequence[Sequence[str]], width: int) -> bool:
    """Whether aligned rows stand in ``width`` cells, two between columns."""
    widest = widths(rows)
    return sum(widest) + 2 * (len(widest) - 1) <= width


_NARROWEST_NAME = 12


def narrowed(rows: Sequence[Sequence[str]], name: int, width: int) -> list[list[str]]:
    """The rows with the column ``name`` broken over lines so far that the widest row fits in
    ``width`` cells, but never below 12."""
    widest = widths(rows)
    others = sum(widest) - widest[name] + 2 * (len(widest) - 1)
    limit = max(_NARROWEST_NAME, width - others)
    return [[broken(c, limit) if i == name else c for i, c in enumerate(row)] for row in rows]


def folded_table(rows: Sequence[Sequence[str]], width: int) -> list[list[str]]:
    """The rows with the cells of the widest columns broken over lines, so that rows fit in
    ``width`` cells; no column gets narrower than 12."""
    limits = widths(rows)
    while sum(limits) + 2 * (len(limits) - 1) > width and max(limits) > _NARROWEST_NAME:
        limits[limits.index(max(limits))] -= 1
    return [[broken(cell, limit) for cell, limit in zip(row, limits, strict=True)] for row in rows]


_LABELLED = re.compile(r"\s*\S.*?\s{2,}(?=\S)")
_MOST_INDENT = 24


def folded(text: str, width: int) -> str:
    """``text`` with longer lines broken at spaces: beside their label, or below their indent.

    A command to paste (``Next: proofstone ...``) continues behind a backslash.
    """
    return "\n".join(part for line in text.split("\n") for part in _folded(line, width))


def _folded(line: str, width: int) -> list[str]:
    if cell_width(line) <= width:
        return [line]
    label = _LABELLED.match(line)
    indent = cell_width(label[0]) if label else 0
    if not 0 < indent <= _MOST_INDENT:
        indent = len(line) - len(line.lstrip()) + 2
    end = " \\" if re.match(r"\s*(Next|help): proofstone ", line) else ""
    first, *others = wrapped(line, width - len(end)) or [line]
    rest = wrapped(line[len(first) :].lstrip(), width - indent - len(end)) if others else []
    lines = [first, *(" " * indent + each for each in rest)]
    return [*(f"{each}{end}" for each in lines[:-1]), lines[-1]]


def labelled_lines(label: str, text: str, width: int, column: int) -> list[str]:
    """``text`` beside its label from ``column`` on, in lines of at most ``width`` cells (of 30 at
    least), broken at words."""
    first, *others = wrapped(printable(text), max(width - column, 30)) or [""]
    return [f"{padded(label, column)}{first}".rstrip(), *(" " * column + line for line in others)]


_YELLOW, _PLAIN = "\x1b[33m", "\x1b[0m"


def tinted(text: str, colour: bool) -> str:
    """A warning in yellow, where the terminal shows colours."""
    return f"{_YELLOW}{text}{_PLAIN}" if colour else text


def _cells(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


# What items share, in words: facts and statements of our own; of a file, keys in its columns.


def key_column(columns: Sequence[str]) -> str:
    """The columns by name, as one; empty for items of our own, which have none."""
    return listed(columns)


def counted_keys(n: int, columns: Sequence[str]) -> str:
    """``12 statements``; of a file ``12 keys in book``."""
    if not columns:
        return counted(n, "statement")
    return say("{keys} in {column}", keys=counted(n, "key"), column=key_column(columns))


def counted_sources(n: int, columns: Sequence[str]) -> str:
    """``12 sources or facts``; of a file ``12 keys in book``."""
    if not columns:
        return counted(n, "source or fact", "sources or facts")
    return counted_keys(n, columns)


# Any text as a reader may see it: nothing in it moves, hides or turns what stands beside it.

# A longer text is cut here, and it is said how much is left out.
MOST_CHARACTERS = 20_000


def visible(text: str) -> str:
    """``text`` that no control or direction character can rearrange, cut at 20,000 characters."""
    if len(text) <= MOST_CHARACTERS and text.isprintable():
        return str(text)  # nearly all are
    shown = "".join(_visible_character(character) for character in text[:MOST_CHARACTERS])
    left_out = len(text) - MOST_CHARACTERS
    if left_out <= 0:
        return shown
    return f"{shown}\n{say('[... {n:,} more characters]', n=left_out)}"


def _visible_character(character: str) -> str:
    if character in "\n\t" or unicodedata.category(character) not in {"Cc", "Cf", "Cs"}:
        return character
    return f"\u27e8U+{ord(character):04X}\u27e9"


# Tabulations of a method: heads of groups above, numbers as people read them.

_DASH = "\u2013"


_GAP = "  "


def tabulation_text(table: Tabulation) -> str:
    """The title, the table, and its notes below."""
    cells = [[column.name for column in table.columns]]
    cells += [
        [_shown(cell, column) for cell, column in zip(row, table.columns, strict=True)]
        for row in table.rows
    ]
    left = [
        place
        for place in range(len(table.columns))
        if any(isinstance(row[place], str) for row in table.rows)
    ]
    lines = aligned(cells, left=left, gap=_GAP)
    groups = (
        [_group_line(table.columns, widths(cells))] if any(c.group for c in table.columns) else []
    )
    notes = ["", *table.notes] if table.notes else []
    return "\n".join([table.title, "", *groups, *lines, *notes])


def _shown(cell: Cell, column: Column) -> str:
    if cell is None:
        return _DASH
    if isinstance(cell, str):
        return printable(cell)
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:z,.{column.digits}f}"


def _group_line(columns: Sequence[Column], widths: Sequence[int]) -> str:
    """Each group's name at the left end of its columns; a name gives way to the next group."""
    line = ""
    start = 0
    for place, (column, width) in enumerate(zip(columns, widths, strict=True)):
        if column.group and (place == 0 or columns[place - 1].group != column.group):
            line = line.ljust(start)[:start] + column.group
        start += width + len(_GAP)
    return line.rstrip()
