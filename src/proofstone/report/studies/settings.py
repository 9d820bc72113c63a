"""One knowledge asked in several settings, side by side (Encyclo-K 5.1 and D, Figures 3 and 6).

A setting is what a form holds and how it is asked: single statements, a verdict on each statement
of a question, or the options of the whole question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from proofstone.engines.stats import Estimand
from proofstone.errors import BadUsage
from proofstone.identity import canonical_json
from proofstone.records import LEFT_OUT, PROMPT_NAME
from proofstone.records.results import Estimate
from proofstone.report.numbers import MISSING, points, shown_estimate
from proofstone.report.studies.parts import HowAsked, Part
from proofstone.report.studies.study import Study, point_of

__all__ = ["study_settings"]

_SAID_ONLY = (PROMPT_NAME, LEFT_OUT)  # no option: a file's name, and what a form lacks

_Found = Mapping[tuple[str, str], Estimate]  # by model and setting


def study_settings(parts: Sequence[Part], *, estimand: Estimand, confidence: float) -> Study:
    """One row a model under one group of settings, one column a setting; of several forms of a
    setting the one with most items. Raises BadUsage where fewer than two settings were asked."""
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
            "Runs that differ in any option (thinking, few-shot examples, max_tokens, prompt, "
            "judge) are rows of their own.",
        ),
    )


def _by_setting(
    parts: Sequence[Part], estimand: Estimand, confidence: float
) -> dict[tuple[str, str], Estimate]:
    """The estimates by row and column. A row is a model with all options of its runs; it shows
    those in which rows of the model differ."""
    options: dict[tuple[str, str], dict[str, Any]] = {}  # of a model, by their canonical text
    cells: dict[tuple[str, str, str], Estimate] = {}
    prompts: dict[tuple[str, str, str], set[str]] = {}
    complete = [
        (part, label, part.asked[p]) for part in parts for label, p in part.complete.items()
    ]
    for part, _label, asked in complete:
        prompts.setdefault(_cell(part, asked, _options(asked)), set()).add(asked.prompt)
    for part, label, asked in complete:
        own = _options(asked)
        # Columns have prompts of their own; only two prompts of one column make two rows.
        if len(prompts[_cell(part, asked, own)]) > 1:
            own["prompt"] = asked.prompt[:8]
        cell = _cell(part, asked, own)
        options[cell[:2]] = own
        estimate = part.estimates([label], estimand=estimand, confidence=confidence)[label]
        if cell not in cells or estimate.n > cells[cell].n:
            cells[cell] = estimate
    return {
        (_row(model, options[model, key], _of_model(options, model)), column): estimate
        for (model, key, column), estimate in cells.items()
    }


def _options(asked: HowAsked) -> dict[str, Any]:
    """All that a person may set of a run, beside its model and its way."""
    own = {name: value for name, value in asked.settings.items() if name not in _SAID_ONLY}
    return own | {"replicate": asked.replicate, "judge": asked.judge}


def _cell(part: Part, asked: HowAsked, options: Mapping[str, Any]) -> tuple[str, str, str]:
    """The model, its options and the column of a run."""
    column = f"{part.recipe.get('setting', part.kind)}, {asked.way}"
    return asked.model, canonical_json(options).decode(), column


def _of_model(
    options: Mapping[tuple[str, str], Mapping[str, Any]], model: str
) -> list[Mapping[str, Any]]:
    return [own for (name, _key), own in options.items() if name == model]


def _row(model: str, own: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> str:
    """The model with the options in which its rows differ; one that is not set is left out."""
    names = dict.fromkeys(name for each in others for name in each)
    differing = [
        f"{name}={own[name]}"
        for name in sorted(names)
        if len({canonical_json(each.get(name)) for each in others}) > 1
        and own.get(name) not in (None, "")
    ]
    return " ".join([model, *differing])


def _finding(found: _Found, models: Sequence[str], settings: Sequence[str]) -> str:
    whole = [model for model in models if all((model, s) in found for s in settings)]
    if not whole:
        return "No model is complete in every setting."
    means = {s: float(np.mean([found[model, s].value for model in whole])) for s in settings}
    shown = "; ".join(f"{setting} {points(mean)}" for setting, mean in means.items())
    return f"Mean accuracy of the {len(whole)} models complete in every setting: {shown}."
