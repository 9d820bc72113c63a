"""What an audit found, as records: terminal, JSON and page show the same."""

from __future__ import annotations

from msgspec import Struct

from proofstone.records.audience import Audience
from proofstone.report.board import Leaderboard
from proofstone.report.opening.opening import Opening
from proofstone.report.sections.item_work import WorkRow
from proofstone.report.sections.section import Section
from proofstone.report.trust.trust import TrustLine

__all__ = ["Audit", "FileRead", "FileSkipped"]


class FileRead(Struct, frozen=True, kw_only=True):
    """A file that was read: its ``kind`` (wide table, lm-eval samples, ...), how its columns were
    understood, and what it holds."""

    name: str
    kind: str
    columns: str
    holds: str


class FileSkipped(Struct, frozen=True, kw_only=True):
    """A file of a folder that was not read, and why."""

    name: str
    why: str


class Audit(Struct, frozen=True, kw_only=True):
    """The files read, those of a folder that were ``skipped``, the leaderboard of what they hold,
    and the sections that apply. ``opening`` is the half page that says it plainly, ``trust`` how
    far to believe it, ``notes`` what limits all of it. ``work_list`` are all items to look at,
    gravest first. ``seed`` is that of all draws; ``version`` of the program that made it.
    ``methods`` are the paragraphs of a methods text. One for the ``audience`` "public" holds no
    text of items or replies."""

    audience: Audience = "internal"
    title: str
    files: tuple[FileRead, ...]
    skipped: tuple[FileSkipped, ...] = ()
    board: Leaderboard
    opening: Opening = Opening()
    trust: tuple[TrustLine, ...] = ()
    notes: tuple[str, ...] = ()
    sections: tuple[Section, ...]
    seed: int
    version: str
    work_list: tuple[WorkRow, ...] = ()
    methods: tuple[str, ...] = ()
