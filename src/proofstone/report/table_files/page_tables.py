"""Every table of a page, in its order, each under the name of its files."""

from __future__ import annotations

from collections.abc import Iterator

from proofstone.report.page_data import PageData
from proofstone.report.sections.documents import all_documents
from proofstone.report.sections.pairs import all_pairs
from proofstone.report.sections.section import Section
from proofstone.report.table_files.asked_tables import asked_tables
from proofstone.report.table_files.board_tables import board_tables
from proofstone.report.table_files.page_table import PageTable
from proofstone.wording import say

__all__ = ["LONG_TABLES", "long_tables", "page_tables"]

ALL_PAIRS = "pairs-all"
ALL_DOCUMENTS = "documents-all"
LONG_TABLES = (ALL_PAIRS, ALL_DOCUMENTS)


def page_tables(data: PageData) -> tuple[PageTable, ...]:
    """Those of the opening, of the leaderboard, of the sections (``strata-1``, ``strata-2``), and
    of what was asked. Names are the same whatever the language; no two are alike."""
    sections = (table for section in data.sections for table in _of_section(section))
    return (*_of_opening(data), *board_tables(data), *sections, *asked_tables(data))


def long_tables(data: PageData) -> tuple[PageTable, ...]:
    """Tables that are too long for a page and for TeX: all pairs of many models, all of many
    documents."""
    found = {ALL_PAIRS: all_pairs(data.board), ALL_DOCUMENTS: all_documents(data.board)}
    return tuple(PageTable(name=name, table=table) for name, table in found.items() if table)


def _of_opening(data: PageData) -> Iterator[PageTable]:
    tables = [part.table for part in data.opening.parts if part.table is not None]
    for number, table in enumerate(tables, start=1):
        yield PageTable(name=f"opening-{number}", table=table, notes=data.opening.words)


def _of_section(section: Section) -> Iterator[PageTable]:
    notes = tuple(
        filter(None, (*section.notes, section.how and say("How: {how}", how=section.how)))
    )
    for number, table in enumerate(section.tables, start=1):
        yield PageTable(name=f"{section.name}-{number}", table=table, notes=notes)
