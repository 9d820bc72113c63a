"""Hybrid models thinking against not (Encyclo-K 5.1, Figure 3 right; lengths: Figure 7)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from proofstone.engines.stats import Estimand
from proofstone.errors import BadUsage
from proofstone.identity import canonical_json
from proofstone.report.numbers import MISSING, shown_estimate
from proofstone.report.studies.changes import Change, change_between
from proofstone.report.studies.lengths import mean_lengths
from proofstone.report.studies.parts import HowAsked, Part
from proofstone.report.studies.study import Point, Study, point_of

__all__ = ["study_thinking"]

_OF_THINKING = ("thinking", "max_tokens")


def study_thinking(parts: Sequence[Part], *, estimand: Estimand, confidence: float) -> Study:
    """One row a model asked in both ways and in nothing else differently: accuracy without and
    with thinking, the paired difference, tokens of replies and of reasoning; smallest models
    first. Raises BadUsage where no model was asked in both."""
    (part,) = parts
    pairs = sorted(_pairs(part), key=lambda pair: (_size(pair[0]), pair[0].model))
    if not pairs:
        raise BadUsage(
            "no model here was asked both with thinking and without",
            hint="proofstone run TARGET -m MODEL --thinking on,off",
        )
    rows: list[tuple[str, ...]] = []
    marks: list[Point] = []
    changes: list[Change] = []
    for asked, off, on in pairs:
        found = part.estimates([off, on], estimand=estimand, confidence=confidence)
        change = change_between(part, off, on, estimand=estimand, confidence=confidence)
        name = f"{asked.model} {asked.way}"
        size = MISSING if asked.parameters_b is None else f"{asked.parameters_b:g}"
        lengths = (_tokens(part, off), _tokens(part, on), _tokens(part, on, reasoning=True))
        scores = (shown_estimate(found[off]), shown_estimate(found[on]))
        rows.append((name, size, *scores, change.shown, *lengths))
        x = name if asked.parameters_b is None else asked.parameters_b
        marks += [
            point_of("without thinking", x, found[off]),
            point_of("with thinking", x, found[on]),
        ]
        changes.append(change)
    return Study(
        name="thinking",
        title="Accuracy with thinking and without",
        finding=_finding(changes),
        columns=("model", "B", "without", "with", "difference", "tokens without", "tokens with",
                 "reasoning"),
        rows=tuple(rows),
        x_axis="parameters, billions",
        y_axis="accuracy",
        points=tuple(marks),
        notes=(
            "difference: with thinking less without, on the same questions. tokens: mean of a "
            "reply, reasoning included where the endpoint counts it.",
        ),
    )  # fmt: skip


_Asked = tuple[HowAsked, str]  # how a respondent was asked, and its label


def _pairs(part: Part) -> list[tuple[HowAsked, str, str]]:
    """(how asked, label without, label with) of models that were asked both ways and are whole.

    Told to think, a model has room for it: the longest reply may differ, nothing else. Where there
    are several, one of the same longest reply is taken.
    """
    alike: dict[bytes, dict[str, list[_Asked]]] = {}
    for label, place in part.complete.items():
        asked = part.asked[place]
        word = str(asked.settings.get("thinking", ""))
        others = {n: value for n, value in asked.settings.items() if n not in _OF_THINKING}
        key = canonical_json([asked.model, asked.way, others])
        alike.setdefault(key, {}).setdefault(word, []).append((asked, label))
    return [
        (without[0], without[1], label)
        for by_word in alike.values()
        for asked, label in by_word.get("on", [])
        if (without := _nearest(asked, by_word.get("off", []))) is not None
    ]


def _nearest(asked: HowAsked, without: Sequence[_Asked]) -> _Asked | None:
    """Of the same longest reply, else the first."""
    most = asked.settings.get("max_tokens")
    same = [each for each in without if each[0].settings.get("max_tokens") == most]
    return next(iter([*same, *without]), None)


def _size(asked: HowAsked) -> float:
    return float("inf") if asked.parameters_b is None else asked.parameters_b


def _tokens(part: Part, label: str, *, reasoning: bool = False) -> str:
    lengths = mean_lengths(part, label, reasoning=reasoning)
    return MISSING if lengths is None else f"{float(np.nanmean(lengths)):,.0f}"


def _finding(changes: Sequence[Change]) -> str:
    middle = float(np.median([change.value for change in changes]))
    rises = sum(change.is_rise for change in changes)
    falls = sum(change.is_drop for change in changes)
    return (
        f"Thinking changes accuracy by {100 * middle:+z.1f} points in the median of "
        f"{len(changes)} models; it helps {rises} and harms {falls} of them resolvably."
    )
