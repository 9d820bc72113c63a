"""One knowledge asked in several settings, side by side (Encyclo-K 5.1 and D, Figures 3 and 6).

A setting is what a form holds and how it is asked: single statements, a verdict on each statement
of a question, or the options of the whole question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from proofstone.engines.stats import Estimand
from proofstone.errors import BadUsage
from proofstone.records.results import Estimate
from proofstone.report.numbers import MISSING, points, shown_estimate
from proofstone.report.studies.parts import Part
from proofstone.report.studies.study import Study, point_of

__all__ = ["study_settings"]

_Found = Mapping[tuple[str, str], Estimate]  # by model and setting


def study_settings(parts: Sequence[Part], *, estimand: Estimand, confidence: float) -> Study:
    """One row a model, one column a setting; of several forms of a setting the one with most
    items. Raises BadUsage where fewer than two settings were asked."""
    found = _by_setting(parts, estimand, confidence)
    settings = sorted(dict.fromkeys(setting for _model, setting in found), reverse=True)
    if len(settings) < 2:
        raise BadUsage(
            "a study of settings takes results in two or more of them",
            hint="build form BANK --setting statements, run it, and run a form of questions with "
            "--ask direct,verdicts; then name the bank or the forms",
        )
    models = list(dict.fromkeys(model for model, _setting in found))
    rows = [
        (
            model,
            *(
                shown_estimate(found[model, setting]) if (model, setting) in found else MISSING
                for setting in settings
            ),
        )
        for model in models
    ]
    return Study(
        name="settings",
        title="Accuracy by setting",
        finding=_finding(found, models, settings),
        columns=("model", *settings),
        rows=tuple(rows),
        x_axis="setting",
        y_axis="accuracy",
        points=tuple(
            point_of(model, setting, found[model, setting])
            for model in models
            for setting in settings
            if (model, setting) in found
        ),
        notes=(
            "Settings hold questions of their own, so columns are not paired; chance is a half "
            "where statements are judged, and one in the number of options elsewhere.",
        ),
    )


def _by_setting(
    parts: Sequence[Part], estimand: Estimand, confidence: float
) -> dict[tuple[str, str], Estimate]:
    found: dict[tuple[str, str], Estimate] = {}
    for part in parts:
        holds = str(part.recipe.get("setting", part.kind))
        for label, place in part.complete.items():
            asked = part.asked[place]
            estimate = part.estimates([label], estimand=estimand, confidence=confidence)[label]
            key = (asked.model, f"{holds}, {asked.way}")
            if key not in found or estimate.n > found[key].n:
                found[key] = estimate
    return found


def _finding(found: _Found, models: Sequence[str], settings: Sequence[str]) -> str:
    whole = [model for model in models if all((model, s) in found for s in settings)]
    if not whole:
        return "No model is complete in every setting."
    means = {s: float(np.mean([found[model, s].value for model in whole])) for s in settings}
    shown = "; ".join(f"{setting} {points(mean)}" for setting, mean in means.items())
    return f"Mean accuracy of the {len(whole)} models complete in every setting: {shown}."
