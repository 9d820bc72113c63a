"""Blocks from the lines of a page's columns: paragraphs joined, everything else line by line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from proofstone.engines.ingest.layout import Block, BlockLine
from proofstone.engines.ingest.pdf.headings import Titles, heading_at
from proofstone.engines.ingest.pdf.kinds import (
    Frame,
    Style,
    frame_of,
    is_caption,
    is_indexed,
    is_item,
    is_note,
    line_kinds,
)
from proofstone.engines.ingest.pdf.lines import Line
from proofstone.engines.ingest.pdf.mending import Mender
from proofstone.records import Box, MarkKind

__all__ = ["blocks_of"]

_CELLS = " | "
_NOTE = 0.93  # of the body's size, and smaller
_ENDS = tuple('.!?:;。！？：；…”’")]')
_STOPS = tuple(".!?。！？…:：")


@dataclass(slots=True)
class _Draft:
    """Lines that will be one block."""

    kind: MarkKind
    lines: list[Line] = field(default_factory=list)
    level: int = 0
    frame: Frame | None = None


def blocks_of(
    columns: Sequence[Sequence[Line]], style: Style, titles: Titles, mender: Mender
) -> list[Block]:
    """The blocks of a page, its columns in reading order.

    A paragraph that the end of a column cuts goes on in the next one. ``titles`` are those that the
    outline has on this page.
    """
    drafts: list[_Draft] = []
    for lines in columns:
        if not lines:
            continue
        found = _drafts(lines, style, titles)
        if drafts and found and _goes_on(drafts[-1], found[0]):
            drafts[-1].lines += found.pop(0).lines
        drafts += found
    return [_block(draft, mender) for draft in drafts]


def _drafts(lines: Sequence[Line], style: Style, titles: Titles) -> list[_Draft]:
    frame = frame_of(lines)
    kinds = line_kinds(lines, frame)
    if sum(is_indexed(line.text) for line in lines) > 0.6 * len(lines) > 6:
        kinds = ["contents"] * len(kinds)
    drafts: list[_Draft] = []
    k = 0
    while k < len(lines):
        n, level = (
            heading_at(lines, k, style, frame, titles) if kinds[k] in {"text", "table"} else (0, 0)
        )
        if n:
            drafts.append(_Draft("heading", list(lines[k : k + n]), level, frame))
            k += n
            continue
        _take(drafts, lines[k], kinds[k], style, frame)
        k += 1
    return _with_notes(drafts, style)


def _take(drafts: list[_Draft], line: Line, kind: str, style: Style, frame: Frame) -> None:
    """Puts a line to the block before it, or begins one."""
    last = drafts[-1] if drafts else None
    if kind != "text":
        near = last is not None and line.baseline - last.lines[-1].baseline < 4.5 * line.size
        if last is not None and last.kind == kind and near:
            last.lines.append(line)
        else:
            drafts.append(_Draft(kind, [line], 0, frame))  # type: ignore[arg-type]
        return
    if last is not None and last.kind in {"text", "list", "caption"} and not _begins(last, line):
        last.lines.append(line)
        return
    opened: MarkKind = "text"
    if is_caption(line.text):
        opened = "caption"
    elif is_item(line.text):
        opened = "list"
    drafts.append(_Draft(opened, [line], 0, frame))


def _begins(draft: _Draft, line: Line) -> bool:
    """Whether ``line`` begins a paragraph after the lines of ``draft``."""
    last, frame = draft.lines[-1], draft.frame
    if frame is None or abs(line.size - last.size) > 0.08 * last.size:
        return True
    if line.baseline - last.baseline > (frame.leading + 0.28) * line.size:
        return True
    if is_item(line.text) and (draft.kind == "list" or line.left > frame.left + 0.5 * line.size):
        return True
    if is_note(line.text) and line.size < 0.95 * frame.size:
        return True
    if is_caption(line.text) and last.text.endswith(_ENDS):
        return True
    return _is_indented(draft, line, frame)


def _is_indented(draft: _Draft, line: Line, frame: Frame) -> bool:
    """Whether the left edge of ``line``, and where the line before it ended, begin a paragraph."""
    last, first = draft.lines[-1], draft.lines[0]
    is_full = last.right > frame.right - 0.12 * frame.width
    indent = (line.left - last.left) / line.size
    if draft.kind == "list":
        return indent < -0.6 and line.left < first.left + 0.3 * line.size and not is_full
    if len(draft.lines) > 1 and draft.lines[1].left > first.left + 0.8 * line.size:
        return indent < -0.8  # hanging: the next entry stands out to the left again
    if 0.8 < indent < 6 and last.left < frame.left + 0.6 * line.size:
        return not is_full or last.text.endswith(_ENDS)
    return not is_full and last.text.endswith(_ENDS) and line.text[:1].isupper()


def _with_notes(drafts: list[_Draft], style: Style) -> list[_Draft]:
    """Small type at the foot of a column is its notes."""
    for draft in reversed(drafts):
        if draft.kind in {"equation", "table", "caption"}:
            continue
        if draft.kind not in {"text", "list"} or draft.lines[0].size > _NOTE * style.body:
            break
        draft.kind = "note"
    if all(draft.kind == "note" for draft in drafts):  # a column of small type alone is no note
        for draft in drafts:
            draft.kind = "text"
    return drafts


def _goes_on(before: _Draft, after: _Draft) -> bool:
    """Whether the first paragraph of a column goes on with the last one of the column before."""
    if before.kind not in {"text", "list"} or after.kind != "text":
        return False
    last, first = before.lines[-1].text, after.lines[0].text
    if abs(before.lines[-1].size - after.lines[0].size) > 0.05 * before.lines[-1].size:
        return False
    if last.endswith("-") and first[:1].islower():
        return True
    return not last.endswith(_STOPS) and (first[:1].islower() or "\u4e00" <= first[:1] <= "\u9fff")


def _block(draft: _Draft, mender: Mender) -> Block:
    if draft.kind in {"equation", "code", "table", "contents"}:
        texts = [_row(line, draft.kind) for line in draft.lines]
        return _stacked(draft, texts)
    text = ""
    lines: list[BlockLine] = []
    for line in draft.lines:
        piece = line.text
        if text:
            cut, between = mender.joint(text, piece)
            text = (text[:-cut] if cut else text) + between
        lines.append(BlockLine(len(text), _box(line), line.confidence))
        text += piece
    return Block(draft.kind, text, tuple(lines), draft.level)


def _row(line: Line, kind: MarkKind) -> str:
    if kind == "table":
        return _CELLS.join(text for _left, text in line.cells)
    return "  ".join(text for _left, text in line.cells) if kind == "contents" else line.text


def _stacked(draft: _Draft, texts: Sequence[str]) -> Block:
    """A block that keeps its lines; code keeps how far they are indented."""
    left = min(line.left for line in draft.lines)
    lines: list[BlockLine] = []
    text = ""
    for line, piece in zip(draft.lines, texts, strict=True):
        if text:
            text += "\n"
        shift = round((line.left - left) / (0.55 * line.size)) if draft.kind == "code" else 0
        text += " " * (min(shift, 80) if lines else 0)
        lines.append(BlockLine(len(text), _box(line), line.confidence))
        text += piece
    return Block(draft.kind, text, tuple(lines))


def _box(line: Line) -> Box:
    return Box(line.left, line.top, line.right, line.bottom)
