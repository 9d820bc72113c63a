"""The parts of a report after its leaderboard, each made by one module."""

from proofstone.report.sections.catalogue import make_sections
from proofstone.report.sections.section import Cell, Column, Evidence, Figure, Mark, Section, Table

__all__ = [
    "Cell",
    "Column",
    "Evidence",
    "Figure",
    "Mark",
    "Section",
    "Table",
    "make_sections",
]
