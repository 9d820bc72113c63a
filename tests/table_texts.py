"""A section's tables as their cells are printed."""

from __future__ import annotations

from proofstone.page.section import Section, text_cells


def heads(section: Section, place: int = 0) -> tuple[str, ...]:
    return tuple(text_cells(section.tables[place])[0])


def rows(section: Section, place: int = 0) -> list[tuple[str, ...]]:
    return [tuple(cells) for cells in text_cells(section.tables[place])[1:]]
