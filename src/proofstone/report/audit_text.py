"""An audit as a summary in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from proofstone.report.audited import Audit, FileRead
from proofstone.report.board import Leaderboard
from proofstone.report.columns import cell_width, fitted, padded, printable, wrapped
from proofstone.report.terminal import render_terminal
from proofstone.wording import paragraph, say, word

__all__ = ["page_step", "render_audit"]

_LABEL = 15
_LONGEST_NAME = 60  # cells of a model's name in a sentence


def render_audit(
    audit: Audit,
    *,
    next_steps: Sequence[tuple[str, str]] = (),
    width: int = 100,
    colour: bool = False,
) -> str:
    """What was read, the leaderboard, one finding a section, then what to do next; it ends in a
    newline. Lines are broken at ``width`` cells, those of the table excepted."""
    lines: list[str] = []
    alike: dict[tuple[str, str], list[FileRead]] = {}
    for file in audit.files:
        alike.setdefault((file.kind, file.columns), []).append(file)
    long = _long_names(audit.board)
    for files in alike.values():
        lines += _files(files, width, long)
    lines.append("")
    lines += render_terminal(audit.board, width=width, colour=colour).splitlines()
    lines.append("")
    for note in audit.notes:
        lines += _labelled(say("note"), _shortened(note, long), width)
    for section in audit.sections:
        said = paragraph(section.finding, section.cannot)
        lines += _labelled(word(section.name), _shortened(said, long), width)
    for label, text in next_steps:
        lines += _labelled(word(label), text, width)
    return "".join(f"{line}\n" for line in lines)


def _long_names(board: Leaderboard) -> list[str]:
    """Names of models, and labels of theirs, too long for a sentence; the longest first, since a
    shorter one may be a part of it."""
    rows = [row for group in board.standings for row in (*group.ranked, *group.incomplete)]
    names = {name for row in rows for name in (row.label, row.name)}
    return sorted(
        (name for name in names if cell_width(name) > _LONGEST_NAME), key=len, reverse=True
    )


def _shortened(text: str, long: Sequence[str]) -> str:
    for name in long:
        text = text.replace(name, fitted(name, _LONGEST_NAME))
    return text


def page_step(path: Path | None) -> tuple[str, str]:
    """The next step that names the page, or says how to get one."""
    hint = say("add -o report.html for tables, figures and the reasons")
    return "page", str(path) if path else hint


def _files(files: Sequence[FileRead], width: int, long: Sequence[str]) -> Iterator[str]:
    """Files that are understood alike, each with what it holds; their columns once."""
    for file in files:
        yield from _labelled(
            say("read"),
            say("{name}: {kind}; {holds}", name=file.name, kind=file.kind, holds=file.holds),
            width,
        )
    if files[0].columns:
        columns = files[0].columns
        said = say("each {columns}", columns=columns) if len(files) > 1 else columns
        yield from _labelled("", _shortened(said, long), width)


def _labelled(label: str, text: str, width: int) -> list[str]:
    """The text beside its label, broken at words."""
    room = max(width - _LABEL - 1, 30)
    first, *others = wrapped(printable(text), room) or [""]
    head = f"{padded(label, _LABEL - 1)} {first}"
    return [head, *(" " * _LABEL + line for line in others)]
