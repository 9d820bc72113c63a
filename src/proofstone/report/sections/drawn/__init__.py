"""Figures made from leaderboards and other records: what each shows, not how it is drawn."""

from proofstone.report.sections.drawn.compared import (
    LengthBin,
    dumbbells_figure,
    lengths_figure,
    moves_figure,
)
from proofstone.report.sections.drawn.composition import composition_figure
from proofstone.report.sections.drawn.distributions import (
    high_scorers_figure,
    ridges_figure,
    violins_figure,
)
from proofstone.report.sections.drawn.leaderboards import (
    chance_levels,
    cost_figure,
    leaderboard_figure,
    strips_figure,
)
from proofstone.report.sections.drawn.precision_recall import Scored, precision_recall_figure
from proofstone.report.sections.drawn.repeated import samples_figure
from proofstone.report.sections.drawn.sizes import SizedFamily, sizes_figure

__all__ = [
    "LengthBin",
    "Scored",
    "SizedFamily",
    "chance_levels",
    "composition_figure",
    "cost_figure",
    "dumbbells_figure",
    "high_scorers_figure",
    "leaderboard_figure",
    "lengths_figure",
    "moves_figure",
    "precision_recall_figure",
    "ridges_figure",
    "samples_figure",
    "sizes_figure",
    "strips_figure",
    "violins_figure",
]
