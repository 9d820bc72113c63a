"""Every table of a page, in its order, each under the name of its files."""

from __future__ import annotations

from collections.abc import Iterator

from proofstone.page.section import Section
from proofstone.page.table import PageTable
from proofstone.results.board_tables import asked_tables, board_tables
from proofstone.results.page_parts import PageData
from proofstone.results.sections.documents import all_documents
from proofstone.results.sections.pairs import all_pairs
from proofstone.wording.messages import say

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
