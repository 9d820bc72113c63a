"""An audit as a summary in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from proofstone.report.audited import Audit, FileRead
from proofstone.report.columns import padded, printable, wrapped
from proofstone.report.terminal import render_terminal
from proofstone.wording import paragraph, say, word

__all__ = ["page_step", "render_audit"]

_LABEL = 15


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
    for files in alike.values():
        lines += _files(files, width)
    lines.append("")
    lines += render_terminal(audit.board, width=width, colour=colour).splitlines()
    lines.append("")
    for note in audit.notes:
        lines += _labelled(say("note"), note, width)
    for section in audit.sections:
        said = paragraph(section.finding, section.cannot)
        lines += _labelled(word(section.name), said, width)
    for label, text in next_steps:
        lines += _labelled(word(label), text, width)
    return "".join(f"{line}\n" for line in lines)


def page_step(path: Path | None) -> tuple[str, str]:
    """The next step that names the page, or says how to get one."""
    hint = say("add -o report.html for tables, figures and the reasons")
    return "page", str(path) if path else hint


def _files(files: Sequence[FileRead], width: int) -> Iterator[str]:
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
        yield from _labelled("", said, width)


def _labelled(label: str, text: str, width: int) -> list[str]:
    """The text beside its label, broken at words."""
    room = max(width - _LABEL - 1, 30)
    first, *others = wrapped(printable(text), room) or [""]
    head = f"{padded(label, _LABEL - 1)} {first}"
    return [head, *(" " * _LABEL + line for line in others)]
