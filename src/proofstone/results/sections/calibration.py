"""Calibration of models: stated confidence compared with scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from proofstone.choices.likelihood import VARIANTS
from proofstone.page.section import Cell, Figure, Mark, Section, Table, column, points, table_of
from proofstone.records.runs import Estimate
from proofstone.results.measured_scores import Sheet
from proofstone.results.sections.evidence import Evidence, ranked_values
from proofstone.stats.calibration import (
    Calibration,
    ConfidenceBin,
    Interval,
    RiskPoint,
    calibrate,
)
from proofstone.stats.multiple_comparisons import holm
from proofstone.wording.messages import counted, paragraph, say, say_of

# Figures: reliability diagram and risk-coverage curve.

_MOST_DRAWN = 12


def reliability_diagram(known: Sequence[tuple[str, Calibration]]) -> Figure:
    """Return the share correct by mean confidence of each bin, one panel per model, best first."""
    return Figure(
        name="calibration",
        kind="calibration",
        title=say("Share right by stated confidence"),
        subtitle=_subtitle(
            say(
                "a dot a bin with its interval; bars say how many answers it has; on the diagonal "
                "confidence means what it says"
            ),
            len(known),
        ),
        marks=tuple(
            _mark(label, part.confidence, part.accuracy, part)
            for label, found in known[:_MOST_DRAWN]
            for part in found.bins
        ),
        x_axis=say("stated confidence (%)"),
        value_axis=say("correct (%)"),
        table=4,
    )


def risk_curves(known: Sequence[tuple[str, Calibration]]) -> Figure:
    """Return the share wrong by the share answered, most confident responses first."""
    return Figure(
        name="risk-coverage",
        kind="curves",
        title=say("Share wrong by share answered"),
        subtitle=_subtitle(
            say("answering only from some confidence up, surest first; with intervals"), len(known)
        ),
        marks=tuple(
            _mark(label, point.coverage, point.risk, point)
            for label, found in known[:_MOST_DRAWN]
            for point in found.curve
        ),
        x_axis=say("coverage: answered (%)"),
        value_axis=say("wrong answers (%)"),
        table=3,
    )


def _mark(row: str, x: float, value: float, of: ConfidenceBin | RiskPoint) -> Mark:
    return Mark(
        row=row, x=x, value=value, low=of.low, high=of.high, n=of.n, text=points(value),
    )  # fmt: skip


def _subtitle(text: str, n: int) -> str:
    return (
        paragraph(text, say("(the first {n} models)", n=_MOST_DRAWN)) if n > _MOST_DRAWN else text
    )


@dataclass(frozen=True, slots=True)
class _Model:
    """One model's calibration with bins of equal width and of equal mass; ``level`` of its
    intervals."""

    label: str
    by_width: Calibration
    by_mass: Calibration
    level: float

    def estimate(
        self,
        interval: Interval,
        made_by: str,
        *,
        n: int | None = None,
        of: Calibration | None = None,
    ) -> Estimate | None:
        """Return a quantity as an estimate, by default with bins of equal width; None if
        undefined."""
        if math.isnan(interval.value):
            return None
        found = of or self.by_width
        return Estimate(
            value=interval.value,
            n=found.n if n is None else n,
            low=interval.low,
            high=interval.high,
            level=self.level,
            population="answers like these",
            made_by=made_by,
            resampled="items" if found.groups < found.n - 0.5 else "answers",
            effective_n=found.groups,
            flags=("few-groups",) if found.groups < 50 else (),
        )


def calibration_section(evidence: Evidence) -> Section | None:
    """Return overconfidence, calibration error, Brier score, AUROC and selective answering.

    The calibration error is shown with its expectation for a calibrated model. None without stated
    confidence. Rows of rankings are not compared with each other.
    """
    sheet = evidence.sheet
    if sheet is None or sheet.table.confidence is None:
        return None
    stated, level = sheet.table.confidence, evidence.board.confidence
    keys = sheet.keys if evidence.population == "domain" else None
    found = []
    for label, who in _rows(evidence, sheet):
        own = sheet.table.respondent == who
        make = partial(
            calibrate, stated[own], sheet.counted[own], unit=sheet.table.unit[own],
            keys=keys, seed=evidence.seed, level=level,
        )  # fmt: skip
        found.append(_Model(label, make(), make(binning="equal mass"), level))
    known = [each for each in found if each.by_width.n]
    if not known:
        return None
    directions = _directions(known)
    by_label = [(each.label, each.by_width) for each in known]
    return Section(
        name="calibration",
        title=say("Calibration"),
        finding=_finding(known, directions),
        plain=_plain(known, directions),
        cannot=_cannot(known, directions, len(found)),
        how=_how(evidence, known),
        tables=(_by_model(found), _brier(known), _selective(known), _bins(known)),
        figures=(reliability_diagram(by_label), risk_curves(by_label)),
    )


def _rows(evidence: Evidence, sheet: Sheet) -> list[tuple[str, int]]:
    """Return labels and indices of the first ranking's rows and of separate rows with a confidence.

    Option likelihoods always have separate standings.
    """
    first = ranked_values(evidence)
    places = {
        (who.name, who.prompt_method, who.settings, who.simulated): place
        for place, who in enumerate(sheet.table.respondents)
    }
    stated = np.zeros(len(places), dtype=bool)
    if sheet.table.confidence is not None:
        stated[sheet.table.respondent[~np.isnan(sheet.table.confidence)]] = True
    rows = [
        (row.label, places[row.name, row.prompt_method, row.settings, row.simulated], group)
        for group in evidence.board.standings
        for row in group.ranked
    ]
    return [
        (label, place)
        for label, place, group in rows
        if stated[place] or (first is not None and group is first.group)
    ]


def _directions(known: Sequence[_Model]) -> list[int]:
    """Return 1 for each significantly overconfident model, -1 for underconfident, otherwise 0."""
    adjusted = holm(np.array([each.by_width.over_confidence_p for each in known]))
    gaps = [each.by_width.over_confidence.value for each in known]
    return [
        0 if not p < 0.05 else (1 if gap > 0 else -1)
        for p, gap in zip(adjusted.tolist(), gaps, strict=True)
    ]


def _finding(known: Sequence[_Model], directions: Sequence[int]) -> str:
    return say_of(
        directions.count(1),
        "{over} of {models} is significantly overconfident, {under} underconfident "
        "(Holm-adjusted); the others show no significant over- or underconfidence.",
        "{over} of {models} are significantly overconfident, {under} underconfident "
        "(Holm-adjusted); the others show no significant over- or underconfidence.",
        over=directions.count(1),
        under=directions.count(-1),
        models=counted(len(known), "model"),
    )


def _plain(known: Sequence[_Model], directions: Sequence[int]) -> str:
    """Return the largest observed gap, if significant; that it is the largest is not tested."""
    sure = [
        each for each, prompt_method in zip(known, directions, strict=True) if prompt_method > 0
    ]
    if not sure:
        return ""
    worst = max(sure, key=lambda each: each.by_width.over_confidence.value)
    over = worst.by_width.over_confidence
    return say(
        "{model}: mean stated confidence exceeds accuracy by {gap} points [{low}, {high}] "
        "(n = {n:,}).",
        model=worst.label,
        gap=points(over.value),
        low=points(over.low),
        high=points(over.high),
        n=worst.by_width.n,
    )


def _cannot(known: Sequence[_Model], directions: Sequence[int], n: int) -> str:
    parts = []
    if n > len(known):
        parts.append(
            say(
                "The calibration of {models} is not known: they state no confidence.",
                models=counted(n - len(known), "model"),
            )
        )
    alike = sum(
        not prompt_method and each.by_width.ece_p > 0.05
        for each, prompt_method in zip(known, directions, strict=True)
    )
    if alike:
        parts.append(
            say(
                "The data do not show that {models} are miscalibrated: perfectly calibrated ones "
                "would often show as much error on as many answers.",
                models=counted(alike, "model"),
            )
        )
    return paragraph(*parts)


def _how(evidence: Evidence, known: Sequence[_Model]) -> str:
    shared = any(each.by_width.groups < each.by_width.n - 0.5 for each in known)
    depends = say("No two answers share anything that is known, so they count as independent.")
    if shared and evidence.population == "bank":
        depends = say("Answers to one item depend on each other.")
    elif shared:
        depends = say("Answers to one item or one cluster are dependent.")
    rows = [row for group in evidence.board.standings for row in group.ranked]
    is_scored = any(row.prompt_method in VARIANTS for row in rows)
    return paragraph(
        say(
            "Where options were scored, the confidence is the softmax over the options' mean "
            "log-probabilities, at the chosen option. A letter that is not listed counts as 0."
        )
        if is_scored
        else "",
        say(
            "ECE uses ten bins of equal width, adaptive ECE ten bins of equally many answers. "
            "ECE is never below 0, so its expectation for a perfectly calibrated model on as "
            "many answers is also shown. The Brier score is the mean squared difference of "
            "confidence and score."
        ),
        depends,
        say(
            "Means and areas have t and Wilson intervals from the variance over all dependent "
            "pairs. Intervals of errors over bins include the values that sampling error of "
            "that size can produce ({n} samples, seed {seed}).",
            n=known[0].by_width.n_resamples,
            seed=evidence.seed,
        ),
    )


def _by_model(found: Sequence[_Model]) -> Table:
    return table_of(
        say("Calibration by model"),
        found,
        column("model", say("model"), "label"),
        column("n", "n", "by_width.n", help=say("answers with a stated confidence")),
        column("over_confidence", say("over-confidence"),
               lambda m: m.estimate(m.by_width.over_confidence, "t"), unit="points",
               help=say("mean confidence minus the share of correct answers")),
        column("ece", say("ECE"), lambda m: m.estimate(m.by_width.ece, _INVERTED),
               unit="points",
               help=say("mean distance of confidence and score over bins of equal width")),
        column("ece_by_chance", say("by chance"), lambda m: _known(m.by_width.ece_by_chance),
               unit="points", help=say("what a perfectly calibrated model would show")),
        column("ece_p", "p", lambda m: _known(m.by_width.ece_p), unit="probability",
               help=say("how often a perfectly calibrated model would show as much")),
        column("ece_equal_mass", say("adaptive ECE"),
               lambda m: m.estimate(m.by_mass.ece, _INVERTED, of=m.by_mass), unit="points",
               help=say("the same over bins of equally many answers")),
        column("groups", say("groups"),
               lambda m: round(m.by_width.groups, 1) if m.by_width.n else None, digits=0,
               help=say("effective number of independent groups of answers")),
    )  # fmt: skip


def _brier(known: Sequence[_Model]) -> Table:
    return table_of(
        say("Brier score and its parts"),
        known,
        column("model", say("model"), "label"),
        column("brier", say("Brier"), lambda m: m.estimate(m.by_width.brier, _WILSON), digits=3,
               help=say("reliability - resolution + uncertainty + within bins")),
        column("reliability", say("reliability"),
               lambda m: m.estimate(m.by_width.reliability, _INVERTED), digits=3,
               help=say("squared distance of confidence and score over bins; 0 is honest")),
        column("resolution", say("resolution"),
               lambda m: m.estimate(m.by_width.resolution, _INVERTED), digits=3,
               help=say("variance of scores between bins; more is better")),
        column("uncertainty", say("uncertainty"),
               lambda m: m.estimate(m.by_width.uncertainty, "Wilson of the mean"), digits=3,
               help=say("mean score × (1 - mean score)")),
        column("within_bins", say("within bins"),
               lambda m: m.estimate(m.by_width.within_bins, "t"), digits=3,
               help=say("what binning leaves over")),
    )  # fmt: skip


_INVERTED = "noise along the gaps seen"


def _selective(known: Sequence[_Model]) -> Table:
    return table_of(
        say("Answering only when sure"),
        known,
        column("model", say("model"), "label"),
        column("auroc", say("AUROC"),
               lambda m: m.estimate(m.by_width.auroc, _WILSON),
               help=say("probability that a correct answer has higher confidence than a wrong "
                        "one; 0.5 is chance")),
        column("risk_area", say("AURC"),
               lambda m: m.estimate(m.by_width.risk_area, _WILSON), unit="points",
               help=say("mean share wrong over all shares answered, surest first")),
        column("risk", say("wrong of all"), lambda m: _risk_at(m, 1.0), unit="points",
               help=say("share wrong where everything is answered")),
        column("risk_half", say("wrong of the surer half"), lambda m: _risk_at(m, 0.5),
               unit="points"),
    )  # fmt: skip


_WILSON = "Wilson at the effective size"


def _risk_at(model: _Model, coverage: float) -> Cell:
    """Return the risk at the nearest coverage; None if none is near."""
    point = min(model.by_width.curve, key=lambda each: abs(each.coverage - coverage))
    if abs(point.coverage - coverage) > 0.1:
        return None
    interval = Interval(value=point.risk, low=point.low, high=point.high)
    return model.estimate(interval, _WILSON, n=point.n)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _bins(known: Sequence[_Model]) -> Table:
    return table_of(
        say("Stated confidence and share right, by bin"),
        [(each, part) for each in known for part in each.by_width.bins],
        column("model", say("model"), lambda row: row[0].label),
        column("from", say("from"), lambda row: row[1].start, unit="points"),
        column("to", say("to"), lambda row: row[1].end, unit="points"),
        column("n", "n", lambda row: row[1].n),
        column("confidence", say("mean confidence"), lambda row: row[1].confidence, unit="points"),
        column("accuracy", say("correct (%)"), lambda row: _share_right(*row), unit="points"),
    )


def _share_right(model: _Model, part: ConfidenceBin) -> Estimate | None:
    interval = Interval(value=part.accuracy, low=part.low, high=part.high)
    return model.estimate(interval, _WILSON, n=part.n)
