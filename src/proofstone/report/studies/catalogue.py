"""The studies there are, by name; each takes parts and gives a ``Study``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from proofstone.engines.stats import ESTIMANDS, Estimand
from proofstone.errors import BadUsage
from proofstone.report.studies.choices import study_choices
from proofstone.report.studies.lengths import study_lengths
from proofstone.report.studies.levels import study_levels
from proofstone.report.studies.options import study_options
from proofstone.report.studies.parts import Part
from proofstone.report.studies.positions import study_positions
from proofstone.report.studies.seeds import study_seeds
from proofstone.report.studies.settings import study_settings
from proofstone.report.studies.study import Study
from proofstone.report.studies.thinking import study_thinking

__all__ = ["STUDIES", "StudyKind", "perform_study"]


class _Perform(Protocol):
    def __call__(
        self, parts: Sequence[Part], *, estimand: Estimand, confidence: float
    ) -> Study: ...


class StudyKind(Struct, frozen=True, kw_only=True):
    """A study: whether it looks at each form by itself, whether it needs reply lengths, and
    whether it needs to know what the questions come from."""

    help: str
    perform: _Perform
    by_form: bool = False
    lengths: bool = False
    origins: bool = False


STUDIES: Mapping[str, StudyKind] = {
    "seeds": StudyKind(
        help="range, rank changes and tau over forms of different seeds",
        perform=study_seeds,
        by_form=True,
    ),
    "options": StudyKind(
        help="accuracy by number of options, over a sweep", perform=study_options, by_form=True
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
        by_form=True,
    ),
    "choices": StudyKind(
        help="the same questions over options, over shuffled options, and open",
        perform=study_choices,
        by_form=True,
        origins=True,
    ),
}


def perform_study(
    name: str,
    parts: Sequence[Part],
    *,
    estimand: Estimand = "knowledge",
    confidence: float = 0.95,
) -> Study:
    """The study of that name on these parts. Raises BadUsage for a name or estimand that is none,
    and what the study itself refuses."""
    if name not in STUDIES:
        raise BadUsage(f"there is no study {name!r}", hint=f"studies: {', '.join(STUDIES)}")
    if estimand not in ESTIMANDS:
        known = ", ".join(ESTIMANDS)
        raise BadUsage(f"there is no estimand {estimand!r}", hint=f"estimands: {known}")
    return STUDIES[name].perform(parts, estimand=estimand, confidence=confidence)
