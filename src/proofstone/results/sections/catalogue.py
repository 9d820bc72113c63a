"""All sections in the order of the report; each returns None if it does not apply."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from msgspec import Struct

from proofstone.errors import BadUsage
from proofstone.method import every_method
from proofstone.page.section import Section
from proofstone.records.runs import POPULATIONS, Population
from proofstone.results.audit.consistency import consistency_section, metrics_section
from proofstone.results.sections.agreement import annotators_section, judged_section, panel_section
from proofstone.results.sections.answers_held import analyze_answers_held
from proofstone.results.sections.benchmarks import analyze_rankings, benchmarks_section
from proofstone.results.sections.calibration import calibration_section
from proofstone.results.sections.contexts import analyze_contexts
from proofstone.results.sections.discrimination import (
    analyze_difficulty,
    dimension_section,
    discrimination_section,
    item_model_section,
)
from proofstone.results.sections.evidence import Evidence
from proofstone.results.sections.factors import (
    alignment_section,
    analyze_alignment,
    analyze_retrieval,
    analyze_thinking,
    factors_section,
)
from proofstone.results.sections.group_spread import analyze_spread
from proofstone.results.sections.items import items_section, statements_section
from proofstone.results.sections.judges import analyze_judges, roles_section
from proofstone.results.sections.lengths import analyze_lengths, lengths_section
from proofstone.results.sections.lifetime import analyze_drift, analyze_refresh
from proofstone.results.sections.model_sets import analyze_sets
from proofstone.results.sections.pairs import pairs_section, resolution_section
from proofstone.results.sections.panel_filter import analyze_panel
from proofstone.results.sections.parts import Analysis, Interval
from proofstone.results.sections.positions import (
    analyze_positions,
    orders_section,
    positions_section,
)
from proofstone.results.sections.question_costs import analyze_costs
from proofstone.results.sections.question_forms import (
    analyze_choices,
    analyze_levels,
    analyze_options,
    analyze_settings,
)
from proofstone.results.sections.retrieved_evidence import analyze_evidence
from proofstone.results.sections.samples import best_of_section, samples_section
from proofstone.results.sections.size_and_cost import costs_section, scaling_section
from proofstone.results.sections.stability import analyze_seeds, stability_section
from proofstone.results.sections.strata import analyze_topics, documents_section, strata_section
from proofstone.results.sections.web_search import analyze_tools

# A new section is a function of the evidence, in a module of this folder.
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
    """Return the sections that apply."""
    made = (make(evidence) for make in SECTIONS)
    return tuple(section for section in made if section is not None)


# All analyses by name; each takes parts and returns an ``Analysis``.


class AnalysisKind(Struct, frozen=True, kw_only=True):
    """An analysis.

    ``parts`` sets how targets are split. ``lengths``, ``origins``, ``found``, ``paths`` and
    ``searched`` say whether it needs response lengths, the origins of questions, the evidence in
    prompts, the answers held along reasoning, and the provider's own web searches.
    ``takes`` are its options in addition to ``population`` and ``confidence``.
    """

    help: str
    perform: Callable[..., Analysis]
    parts: Literal["together", "by form", "by judge"] = "together"
    lengths: bool = False
    origins: bool = False
    found: bool = False
    paths: bool = False
    searched: bool = False
    takes: tuple[str, ...] = ()


ANALYSES: Mapping[str, AnalysisKind] = {
    "seeds": AnalysisKind(
        help="range, rank changes and tau over forms of different seeds",
        perform=analyze_seeds,
        parts="by form",
    ),
    "options": AnalysisKind(
        help="accuracy by number of options, over a sweep", perform=analyze_options, parts="by form"
    ),
    "position": AnalysisKind(
        help="accuracy by position of the right option, with a test", perform=analyze_positions
    ),
    "length": AnalysisKind(
        help="accuracy against tokens of the reply", perform=analyze_lengths, lengths=True
    ),
    "levels": AnalysisKind(
        help="averages by questions, subfields, fields, disciplines", perform=analyze_levels
    ),
    "thinking": AnalysisKind(
        help="hybrid models with thinking and without", perform=analyze_thinking, lengths=True
    ),
    "settings": AnalysisKind(
        help="single statements, verdicts on each, whole questions, side by side",
        perform=analyze_settings,
        parts="by form",
    ),
    "judges": AnalysisKind(
        help="the same replies under several judges: measures, agreement, order of models",
        perform=analyze_judges,
        parts="by judge",
    ),
    "alignment": AnalysisKind(
        help="base models beside the chat models made from them, paired",
        perform=analyze_alignment,
        takes=("pairs",),
    ),
    "rankings": AnalysisKind(
        help="where the same models stand on another benchmark, and how far ranks agree",
        perform=analyze_rankings,
        takes=("beside",),
    ),
    "choices": AnalysisKind(
        help="the same questions over options, over shuffled options, and open",
        perform=analyze_choices,
        parts="by form",
        origins=True,
    ),
    "retrieval": AnalysisKind(
        help="every measure without a search and with what one found, and how far models lie apart",
        perform=analyze_retrieval,
    ),
    "contexts": AnalysisKind(
        help="every two contexts of each model on the same questions, paired",
        perform=analyze_contexts,
    ),
    "evidence": AnalysisKind(
        help="recall and nDCG of searches, and what evidence that they miss costs",
        perform=analyze_evidence,
        found=True,
    ),
    "reasoning": AnalysisKind(
        help="the answer held along the reasoning, and correct answers that were left",
        perform=analyze_answers_held,
        paths=True,
    ),
    "tools": AnalysisKind(
        help="the same questions with the provider's web search and without, paired; searches",
        perform=analyze_tools,
        searched=True,
    ),
    "difficulty": AnalysisKind(
        help="how many models fail each question, by category", perform=analyze_difficulty
    ),
    "topics": AnalysisKind(
        help="the ten best models of each topic, with ties", perform=analyze_topics
    ),
    "refresh": AnalysisKind(
        help="the strongest model's accuracy against the limit at which new items are due",
        perform=analyze_refresh,
        takes=("threshold",),
    ),
    "drift": AnalysisKind(
        help="the change on the items that two versions share, for the models of both",
        perform=analyze_drift,
        parts="by form",
    ),
    "panel": AnalysisKind(
        help="a panel on the items that it admits, by held-out answers",
        perform=analyze_panel,
        takes=("panel", "least_wrong"),
    ),
    "sets": AnalysisKind(
        help="items by the set of models that reach a threshold on them (UpSet)",
        perform=analyze_sets,
        takes=("threshold", "level"),
    ),
    "cost": AnalysisKind(
        help="what single questions cost by model, and the share of the dearest tenth",
        perform=analyze_costs,
        lengths=True,
    ),
    "spread": AnalysisKind(
        help="each model's scores over the groups of a level, and what sampling explains",
        perform=analyze_spread,
        takes=("level",),
    ),
}


def analysis_kind(name: str) -> AnalysisKind:
    """Return the analysis with that name. Raises BadUsage listing all names."""
    if name not in ANALYSES:
        known = [*ANALYSES, *(each for method in every_method() for each in method.analyses)]
        raise BadUsage(f"there is no study {name!r}", hint=f"studies: {', '.join(known)}")
    return ANALYSES[name]


def asked_options(
    name: str,
    takes: Sequence[str],
    *,
    population: Population = "domain",
    confidence: float = 0.95,
    **more: Any,
) -> dict[str, Any]:
    """Return the given options of an analysis, with those of its intervals.

    Raises BadUsage for an unknown population, and for an option that the analysis does not have.
    """
    if population not in POPULATIONS:
        known = ", ".join(POPULATIONS)
        raise BadUsage(f"there is no estimand {population!r}", hint=f"estimands: {known}")
    asked = {option: value for option, value in more.items() if value not in (None, (), "", [])}
    strange = [option for option in asked if option not in takes]
    if strange:
        raise BadUsage(f"analysis '{name}' takes no --{_FLAGS.get(strange[0], strange[0])}")
    return {"population": population, "confidence": confidence, **asked}


# Flags of options that are not named for their field.
_FLAGS = {"pairs": "base-models", "least_wrong": "least-wrong"}


def perform_analysis(name: str, parts: Sequence[Any], **options: Any) -> Analysis:
    """Run an analysis on these parts with its ``options``.

    Raises BadUsage as ``analysis_kind`` and ``asked_options`` do, and as the analysis itself does.
    """
    kind = analysis_kind(name)
    asked = asked_options(name, kind.takes, **options)
    interval = Interval(population=asked.pop("population"), confidence=asked.pop("confidence"))
    return kind.perform([replace(part, **interval) for part in parts], **asked)
