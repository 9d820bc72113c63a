"""Aligned columns of plain text, also with characters that take two terminal cells."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from proofstone.records.tables import Cell, Column, Tabulation
from proofstone.wording.messages import counted, listed, say

_ELLIPSIS = "\u2026"


# A wide character with following closing marks, or a run of other characters up to a space.
_WIDE = "\u3000-\u303f\u3400-\u4dbf\u4e00-\u9fff\uff00-\uffef"


_CLOSING = "\u3001\u3002\u201d\uff01\uff09\uff0c\uff1a\uff1b\uff1f"


# Where a line may break: at spaces, but not within an interval, and around wide characters.
_BREAKS = re.compile(
    rf"\[\S+, \S+\]\S*\s*|[{_WIDE}\u201c][{_CLOSING}]*\s*|[^\s{_WIDE}]+[{_CLOSING}]*\s*|\s+"
)


def cell_width(text: str) -> int:
    """Return the number of terminal cells: two for wide characters, none for combining ones."""
    return sum(_cells(character) for character in text)


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Return ``text`` padded with spaces to ``width`` cells; longer text is unchanged."""
    space = " " * max(0, width - cell_width(text))
    return space + text if right else text + space


def fitted(text: str, width: int) -> str:
    """Return ``text`` in at most ``width`` >= 1 cells, truncated at its start.

    The end of a model's name distinguishes it from others.
    """
    if cell_width(text) <= width:
        return text
    n_kept = fitting_end(text[::-1], width - 1)
    return _ELLIPSIS + (text[-n_kept:] if n_kept else "")


def fitting_end(text: str, width: int) -> int:
    """Return how many of the first characters of ``text`` fit in ``width`` cells."""
    taken = 0
    for end, character in enumerate(text):
        taken += _cells(character)
        if taken > width:
            return end
    return len(text)


def printable(text: str) -> str:
    """Return ``text`` with cursor and direction controls replaced."""
    return "".join(
        "\ufffd" if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} else character
        for character in text
    )


def wrapped(text: str, width: int) -> list[str]:
    """Return ``text`` in lines of at most ``width`` cells.

    Lines are broken at spaces and around wide characters, never before a closing mark. A longer
    word has a separate line.
    """
    lines, line = [], ""
    for piece in _BREAKS.findall(text):
        if line and cell_width(line) + cell_width(piece.rstrip()) > width:
            lines.append(line.rstrip())
            line = ""
        line += piece
    return [*lines, line.rstrip()] if line.strip() else lines


# Where a name may break: behind these signs, but not within a number.
_PIECES = re.compile(r"(?:[^\s/_=?&,:;.@-]|(?<=\d)[.,](?=\d))*[/_=?&,:;.@-]*\s*")


def broken(text: str, width: int) -> str:
    """Return ``text`` in lines of at most ``width`` >= 1 cells, all of it kept.

    Lines end at spaces or behind signs such as ``/`` and ``-``; a longer piece is split.
    """
    lines, line = [], ""
    for piece in filter(None, _PIECES.findall(text)):
        rest = piece
        if line and cell_width(line) + cell_width(rest.rstrip()) > width:
            lines += [line.rstrip()] if line.strip() else []
            line = ""
        while rest and not line and cell_width(rest.rstrip()) > width:
            end = max(fitting_end(rest, width), 1)
            lines.append(rest[:end])
            rest = rest[end:]
        line += rest
    return "\n".join([*lines, line.rstrip()] if line.strip() or not lines else lines)


def aligned(rows: Sequence[Sequence[str]], *, left: Sequence[int], gap: str = "  ") -> list[str]:
    """Return each row as a line; columns are right-aligned except ``left``.

    All rows have the same number of cells. No rows give no lines. A row whose cells have several
    lines becomes several lines.
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
    """Return the width of each column in cells; empty without rows."""
    return [
        max(cell_width(part) for cell in column for part in cell.split("\n"))
        for column in zip(*rows, strict=True)
    ]


def without_empty(rows: Sequence[Sequence[str]], *, first: int = 1) -> list[list[str]]:
    """Return the rows without empty columns (header only) after the ``first`` ones."""
    used = [at for at in range(len(rows[0])) if at < first or any(row[at] for row in rows[1:])]
    return [[row[at] for at in used] for row in rows]


def fits(rows: Sequence[Sequence[str]], width: int) -> bool:
    """Return True if aligned rows fit in ``width`` cells, with two between columns."""
    widest = widths(rows)
    return sum(widest) + 2 * (len(widest) - 1) <= width


_NARROWEST_NAME = 12


def narrowed(rows: Sequence[Sequence[str]], name: int, width: int) -> list[list[str]]:
    """Return the rows with the column ``name`` wrapped so that rows fit in ``width`` cells.

    Never below 12 cells.
    """
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
    """``text`` with longer lines broken at spaces: next to their label, or below their indent.

    A command to paste (``Next: proofstone ...``) continues behind a backslash.
    """
    return "\n".join(part for line in text.split("\n") for part in _folded(line, width))


def _folded(line: str, width: int) -> list[str]:
    if cell_width(line) <= width:
        return [line]
    label = _LABELLED.match(line)
    indent = cell_width(label[0]) if label else 0
    if not 0 < indent <= _MOST_INDENT:
        indent = min(len(line) - len(line.lstrip()) + 2, _MOST_INDENT, width // 2)
    end = " \\" if re.match(r"\s*(Next|Fill in|help): proofstone ", line) else ""
    first, *others = wrapped(line, width - len(end)) or [line]
    rest = wrapped(line[len(first) :].lstrip(), width - indent - len(end)) if others else []
    if not end:  # a command is pasted, so its words stay whole
        rest = [part for each in rest for part in broken(each, width - indent).split("\n")]
    lines = [first, *(" " * indent + each for each in rest)]
    return [*(f"{each}{end}" for each in lines[:-1]), lines[-1]]


def labelled_lines(label: str, text: str, width: int, column: int) -> list[str]:
    """Return ``text`` from ``column`` on, next to its label, in lines of at most ``width`` cells.

    Lines have at least 30 cells and are broken at words.
    """
    first, *others = wrapped(printable(text), max(width - column, 30)) or [""]
    return [f"{padded(label, column)}{first}".rstrip(), *(" " * column + line for line in others)]


_YELLOW, _PLAIN = "\x1b[33m", "\x1b[0m"


def tinted(text: str, colour: bool) -> str:
    """Return a warning in yellow, if the terminal shows colors."""
    return f"{_YELLOW}{text}{_PLAIN}" if colour else text


def _cells(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


# Names of cluster keys: facts and statements of the workspace, or keys in columns of a file.


def key_column(columns: Sequence[str]) -> str:
    """Return the names of the columns as one; empty for items of the workspace."""
    return listed(columns)


def counted_keys(n: int, columns: Sequence[str]) -> str:
    """Return ``12 statements``, or ``12 keys in book`` for a file."""
    if not columns:
        return counted(n, "statement")
    return say("{keys} in {column}", keys=counted(n, "key"), column=key_column(columns))


def counted_sources(n: int, columns: Sequence[str]) -> str:
    """Return ``12 sources or facts``, or ``12 keys in book`` for a file."""
    if not columns:
        return counted(n, "source or fact", "sources or facts")
    return counted_keys(n, columns)


# Texts for display, in which no character moves, hides or reorders adjacent text.

# A longer text is truncated, with the number of omitted characters.
MOST_CHARACTERS = 20_000


def visible(text: str) -> str:
    """Return ``text`` without effective control and direction characters, truncated at 20,000."""
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


# Tabulations of a method, with headers of column groups.

_DASH = "\u2013"


_GAP = "  "


def tabulation_text(table: Tabulation) -> str:
    """Return the title, the table, and its notes."""
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
    """Return each group's name at the left end of its columns, truncated before the next one."""
    line = ""
    start = 0
    for place, (column, width) in enumerate(zip(columns, widths, strict=True)):
        if column.group and (place == 0 or columns[place - 1].group != column.group):
            line = line.ljust(start)[:start] + column.group
        start += width + len(_GAP)
    return line.rstrip()
