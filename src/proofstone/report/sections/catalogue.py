"""The sections there are, in the order of the report; each says by None that it does not apply."""

from __future__ import annotations

from collections.abc import Callable

from proofstone.report.sections.alignment import alignment_section
from proofstone.report.sections.annotators import annotators_section
from proofstone.report.sections.benchmarks import benchmarks_section
from proofstone.report.sections.best_of import best_of_section
from proofstone.report.sections.calibration import calibration_section
from proofstone.report.sections.consistency import consistency_section, metrics_section
from proofstone.report.sections.costs import costs_section
from proofstone.report.sections.dimension import dimension_section
from proofstone.report.sections.discrimination import discrimination_section
from proofstone.report.sections.documents import documents_section
from proofstone.report.sections.factors import factors_section
from proofstone.report.sections.item_model import item_model_section
from proofstone.report.sections.items import items_section
from proofstone.report.sections.judged import judged_section
from proofstone.report.sections.lengths import lengths_section
from proofstone.report.sections.orders import orders_section
from proofstone.report.sections.pairs import pairs_section
from proofstone.report.sections.panel import panel_section
from proofstone.report.sections.positions import positions_section
from proofstone.report.sections.resolution import resolution_section
from proofstone.report.sections.roles import roles_section
from proofstone.report.sections.samples import samples_section
from proofstone.report.sections.scaling import scaling_section
from proofstone.report.sections.section import Evidence, Section
from proofstone.report.sections.stability import stability_section
from proofstone.report.sections.statements import statements_section
from proofstone.report.sections.strata import strata_section

__all__ = ["SECTIONS", "make_sections"]

# A new statistic is one more module here, with one function of the evidence.
SECTIONS: tuple[Callable[[Evidence], Section | None], ...] = (
    pairs_section,
    resolution_section,
    stability_section,
    strata_section,
    documents_section,
    discrimination_section,
    dimension_section,
    samples_section,
    best_of_section,
    items_section,
    statements_section,
    item_model_section,
    positions_section,
    orders_section,
    calibration_section,
    lengths_section,
    factors_section,
    alignment_section,
    scaling_section,
    costs_section,
    benchmarks_section,
    roles_section,
    judged_section,
    annotators_section,
    panel_section,
    metrics_section,
    consistency_section,
)


def make_sections(evidence: Evidence) -> tuple[Section, ...]:
    """The sections that apply."""
    made = (make(evidence) for make in SECTIONS)
    return tuple(section for section in made if section is not None)
