"""The six experiments by name; each makes a section of verified runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from proofstone.errors import BadUsage
from proofstone.report.sections.section import Section
from proofstone.report.triples.experiments.domains import domains_section
from proofstone.report.triples.experiments.evidence import Experiment
from proofstone.report.triples.experiments.popularity import popularity_section
from proofstone.report.triples.experiments.ranking import random_section
from proofstone.report.triples.experiments.varied import (
    effort_section,
    prompts_section,
    ranges_section,
)

__all__ = ["EXPERIMENTS", "experiment_sections"]

EXPERIMENTS: Mapping[str, Callable[[Experiment], Section]] = {
    "random": random_section,
    "effort": effort_section,
    "domains": domains_section,
    "prompts": prompts_section,
    "ranges": ranges_section,
    "popularity": popularity_section,
}


def experiment_sections(found: Experiment) -> tuple[Section, ...]:
    """Every experiment that these runs can carry, in the order of the paper."""
    return tuple(made for make in EXPERIMENTS.values() if (made := _made(make, found)) is not None)


def _made(make: Callable[[Experiment], Section], found: Experiment) -> Section | None:
    try:
        return make(found)
    except BadUsage:
        return None
