"""The sections there are, in the order of the report; each says by None that it does not apply."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from msgspec import Struct

from proofstone.errors import BadUsage
from proofstone.method import every_method
from proofstone.page.section import Section
from proofstone.records.runs import ESTIMANDS, Estimand
from proofstone.results.audit.consistency import consistency_section, metrics_section
from proofstone.results.sections.agreement import annotators_section, judged_section, panel_section
from proofstone.results.sections.benchmarks import benchmarks_section, study_rankings
from proofstone.results.sections.calibration import calibration_section
from proofstone.results.sections.discrimination import (
    dimension_section,
    discrimination_section,
    item_model_section,
    study_difficulty,
)
from proofstone.results.sections.evidence import Evidence
from proofstone.results.sections.factors import (
    alignment_section,
    factors_section,
    study_alignment,
    study_retrieval,
    study_thinking,
)
from proofstone.results.sections.items import items_section, statements_section
from proofstone.results.sections.judges import roles_section, study_judges
from proofstone.results.sections.lengths import lengths_section, study_lengths
from proofstone.results.sections.pairs import pairs_section, resolution_section
from proofstone.results.sections.parts import Analysis, Interval
from proofstone.results.sections.positions import orders_section, positions_section, study_positions
from proofstone.results.sections.question_forms import (
    study_choices,
    study_levels,
    study_options,
    study_settings,
)
from proofstone.results.sections.samples import best_of_section, samples_section
from proofstone.results.sections.size_and_cost import costs_section, scaling_section
from proofstone.results.sections.stability import stability_section, study_seeds
from proofstone.results.sections.strata import documents_section, strata_section, study_topics

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


# The studies there are, by name; each takes parts and gives an ``Analysis``.


class StudyKind(Struct, frozen=True, kw_only=True):
    """A study: how it parts what it looks at, whether it needs reply lengths, whether it needs to
    know what the questions come from, and which options it takes besides ``estimand`` and
    ``confidence``."""

    help: str
    perform: Callable[..., Analysis]
    parts: Literal["together", "by form", "by judge"] = "together"
    lengths: bool = False
    origins: bool = False
    takes: tuple[str, ...] = ()


STUDIES: Mapping[str, StudyKind] = {
    "seeds": StudyKind(
        help="range, rank changes and tau over forms of different seeds",
        perform=study_seeds,
        parts="by form",
    ),
    "options": StudyKind(
        help="accuracy by number of options, over a sweep", perform=study_options, parts="by form"
    ),
    "position": StudyKind(
        help="accuracy by position of the right option, with a test", perform=study_positions
    ),
    "length": StudyKind(
        help="accuracy against tokens of the reply", perform=study_lengths, lengths=True
    ),
    "levels": StudyKind(
        help="averages by questions, subfields, fields, disciplines", perform=study_levels
    ),
    "thinking": StudyKind(
        help="hybrid models with thinking and without", perform=study_thinking, lengths=True
    ),
    "settings": StudyKind(
        help="single statements, verdicts on each, whole questions, side by side",
        perform=study_settings,
        parts="by form",
    ),
    "judges": StudyKind(
        help="the same replies under several judges: measures, agreement, order of models",
        perform=study_judges,
        parts="by judge",
    ),
    "alignment": StudyKind(
        help="base models beside the chat models made from them, paired",
        perform=study_alignment,
        takes=("pairs",),
    ),
    "rankings": StudyKind(
        help="where the same models stand on another benchmark, and how far ranks agree",
        perform=study_rankings,
        takes=("beside",),
    ),
    "choices": StudyKind(
        help="the same questions over options, over shuffled options, and open",
        perform=study_choices,
        parts="by form",
        origins=True,
    ),
    "retrieval": StudyKind(
        help="every measure without a search and with what one found, and how far models lie apart",
        perform=study_retrieval,
    ),
    "difficulty": StudyKind(
        help="how many models fail each question, by category", perform=study_difficulty
    ),
    "topics": StudyKind(help="the ten best models of each topic, with ties", perform=study_topics),
}


def study_kind(name: str) -> StudyKind:
    """The study of that name. Raises BadUsage with those there are."""
    if name not in STUDIES:
        known = [*STUDIES, *(each for method in every_method() for each in method.studies)]
        raise BadUsage(f"there is no study {name!r}", hint=f"studies: {', '.join(known)}")
    return STUDIES[name]


def asked_options(
    name: str,
    takes: Sequence[str],
    *,
    estimand: Estimand = "knowledge",
    confidence: float = 0.95,
    **more: Any,
) -> dict[str, Any]:
    """The options that were given to a study, with those of its intervals. Raises BadUsage for an
    estimand that is none, and for an option that it does not take."""
    if estimand not in ESTIMANDS:
        known = ", ".join(ESTIMANDS)
        raise BadUsage(f"there is no estimand {estimand!r}", hint=f"estimands: {known}")
    asked = {option: value for option, value in more.items() if value not in (None, (), "", [])}
    strange = [option for option in asked if option not in takes]
    if strange:
        raise BadUsage(f"the study {name} takes no --{strange[0]}")
    return {"estimand": estimand, "confidence": confidence, **asked}


def perform_study(name: str, parts: Sequence[Any], **options: Any) -> Analysis:
    """The study of that name on these parts, with the ``options`` that it takes. Raises BadUsage
    as ``study_kind`` and ``asked_options`` do, and what the study itself refuses."""
    kind = study_kind(name)
    asked = asked_options(name, kind.takes, **options)
    interval = Interval(estimand=asked.pop("estimand"), confidence=asked.pop("confidence"))
    return kind.perform([replace(part, **interval) for part in parts], **asked)
