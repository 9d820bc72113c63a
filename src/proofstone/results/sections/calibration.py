"""Do models know when they are right? Stated confidence against scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from proofstone.page.section import Cell, Column, Figure, Mark, Section, Table, points
from proofstone.records.runs import Estimate
from proofstone.results.measured_scores import Sheet
from proofstone.results.sections.evidence import Evidence, ranked_values
from proofstone.stats.calibration import Calibration, Interval, calibrate
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.intervals import holm
from proofstone.wording.messages import counted, paragraph, say, say_of

# Stated confidence as figures: the reliability diagram, and risk against coverage.

_MOST_DRAWN = 12


def reliability_diagram(known: Sequence[tuple[str, Calibration]]) -> Figure:
    """The share right of each bin by its mean confidence, a panel a model, best first."""
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
            Mark(
                row=label,
                x=part.confidence,
                value=part.accuracy,
                low=part.low,
                high=part.high,
                n=part.n,
                text=points(part.accuracy),
            )
            for label, found in known[:_MOST_DRAWN]
            for part in found.bins
        ),
        x_axis=say("stated confidence"),
        value_axis=say("share right"),
        table=4,
    )


def risk_curves(known: Sequence[tuple[str, Calibration]]) -> Figure:
    """The share wrong by the share answered, surest first."""
    return Figure(
        name="risk-coverage",
        kind="curves",
        title=say("Share wrong by share answered"),
        subtitle=_subtitle(
            say("answering only from some confidence up, surest first; with intervals"), len(known)
        ),
        marks=tuple(
            Mark(
                row=label,
                x=point.coverage,
                value=point.risk,
                low=point.low,
                high=point.high,
                n=point.n,
                text=points(point.risk),
            )
            for label, found in known[:_MOST_DRAWN]
            for point in found.curve
        ),
        x_axis=say("share answered"),
        value_axis=say("share wrong"),
        table=3,
    )


def _subtitle(text: str, n: int) -> str:
    return (
        paragraph(text, say("(the first {n} models)", n=_MOST_DRAWN)) if n > _MOST_DRAWN else text
    )


@dataclass(frozen=True, slots=True)
class _Model:
    """One model's calibration, in bins of equal width and of equal mass."""

    label: str
    by_width: Calibration
    by_mass: Calibration


def calibration_section(evidence: Evidence) -> Section | None:
    """Over-confidence, calibration error beside what chance gives, the Brier score and its parts,
    how well confidence tells right from wrong, and what answering only when sure gives. None unless
    confidence was stated."""
    ranked, sheet = ranked_values(evidence), evidence.sheet
    if ranked is None or sheet is None or sheet.table.confidence is None:
        return None
    keys = sheet.keys if evidence.estimand == "knowledge" else None
    found = [
        _model(evidence, sheet, label, who, keys)
        for label, who in zip(ranked.labels, ranked.respondents, strict=True)
    ]
    known = [each for each in found if each.by_width.n]
    if not known:
        return None
    level = evidence.board.confidence
    by_label = [(each.label, each.by_width) for each in known]
    return Section(
        name="calibration",
        title=say("Calibration of stated confidence"),
        finding=_finding(known),
        plain=_plain(known),
        cannot=_cannot(known, len(found)),
        how=_how(evidence, known),
        tables=(
            _figures(found, level),
            _brier(known, level),
            _selective(known, level),
            _bins(known, level),
        ),
        figures=(reliability_diagram(by_label), risk_curves(by_label)),
    )


def _model(
    evidence: Evidence, sheet: Sheet, label: str, respondent: int, keys: SharedKeys | None
) -> _Model:
    rows = np.flatnonzero(sheet.table.respondent == respondent)
    confidence = sheet.table.confidence
    stated = np.full(len(rows), np.nan) if confidence is None else confidence[rows]
    scores, unit = sheet.counted[rows], sheet.table.unit[rows]
    level, seed = evidence.board.confidence, evidence.seed
    by_width = calibrate(stated, scores, unit=unit, keys=keys, seed=seed, level=level)
    by_mass = calibrate(
        stated, scores, unit=unit, keys=keys, binning="equal mass", seed=seed, level=level
    )
    return _Model(label, by_width, by_mass)


def _directions(known: Sequence[_Model]) -> list[int]:
    """1 for each model that is significantly overconfident, -1 for underconfident, else 0."""
    adjusted = holm(np.array([each.by_width.over_confidence_p for each in known]))
    gaps = [each.by_width.over_confidence.value for each in known]
    return [
        0 if not p < 0.05 else (1 if gap > 0 else -1)
        for p, gap in zip(adjusted.tolist(), gaps, strict=True)
    ]


def _finding(known: Sequence[_Model]) -> str:
    directions = _directions(known)
    over, under = directions.count(1), directions.count(-1)
    return say_of(
        over,
        "{over} of {models} is significantly overconfident, {under} underconfident "
        "(Holm-adjusted); the others show no significant over- or underconfidence.",
        "{over} of {models} are significantly overconfident, {under} underconfident "
        "(Holm-adjusted); the others show no significant over- or underconfidence.",
        over=over,
        under=under,
        models=counted(len(known), "model"),
    )


def _plain(known: Sequence[_Model]) -> str:
    """The largest gap seen, where it is significant; that it is the largest is not tested."""
    sure = [each for each, way in zip(known, _directions(known), strict=True) if way > 0]
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


def _cannot(known: Sequence[_Model], n: int) -> str:
    alike = sum(
        not way and each.by_width.ece_p > 0.05
        for each, way in zip(known, _directions(known), strict=True)
    )
    parts = [
        say(
            "The calibration of {models} is not known: they state no confidence.",
            models=counted(n - len(known), "model"),
        )
        if n > len(known)
        else "",
        say(
            "The data do not show that {models} are miscalibrated: perfectly calibrated ones would "
            "often show as much error on as many answers.",
            models=counted(alike, "model"),
        )
        if alike
        else "",
    ]
    return paragraph(*parts)


def _how(evidence: Evidence, known: Sequence[_Model]) -> str:
    shared = any(each.by_width.groups < each.by_width.n - 0.5 for each in known)
    depends = say("No two answers share anything that is known, so they count as independent.")
    if shared and evidence.estimand == "bank":
        depends = say("Answers to one item depend on each other.")
    elif shared:
        depends = say("Answers to one item, and to items that share a key, depend on each other.")
    return paragraph(
        say(
            "Ten bins of equal width, and of equally many answers. The calibration error is never "
            "below 0: beside it stands what a perfectly calibrated model would show on as many "
            "answers. Brier is the mean squared distance of confidence and score."
        ),
        depends,
        say(
            "Means and areas have t and Wilson intervals from the variance over all dependent "
            "pairs. Intervals of errors over bins include the values that sampling error of "
            "that size can produce ({n} samples, seed {seed}).",
            n=known[0].by_width.n_draws,
            seed=evidence.seed,
        ),
    )


def _figures(found: Sequence[_Model], level: float) -> Table:
    return Table(
        title=say("Calibration by model"),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="n", name="n", help=say("answers with a stated confidence")),
            Column(key="over_confidence", name=say("over-confidence"), unit="points",
                   help=say("mean confidence less the share of right answers")),
            Column(key="ece", name=say("calibration error"), unit="points",
                   help=say("mean distance of confidence and score over bins of equal width")),
            Column(key="ece_by_chance", name=say("by chance"), unit="points",
                   help=say("what a perfectly calibrated model would show")),
            Column(key="ece_p", name="p", unit="probability",
                   help=say("how often a perfectly calibrated model would show as much")),
            Column(key="ece_equal_mass", name=say("error, equal bins"), unit="points",
                   help=say("the same over bins of equally many answers")),
            Column(key="groups", name=say("groups"), digits=0,
                   help=say("effective number of independent groups of answers")),
        ),
        rows=tuple(_row(each, level) for each in found),
    )  # fmt: skip


def _row(model: _Model, level: float) -> tuple[Cell, ...]:
    each = model.by_width
    return (
        model.label,
        each.n,
        _estimate(each, each.over_confidence, level, "t"),
        _estimate(each, each.ece, level, _INVERTED),
        _known(each.ece_by_chance),
        _known(each.ece_p),
        _estimate(model.by_mass, model.by_mass.ece, level, _INVERTED),
        round(each.groups, 1) if each.n else None,
    )


def _brier(known: Sequence[_Model], level: float) -> Table:
    return Table(
        title=say("Brier score and its parts"),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="brier", name=say("Brier"), digits=3,
                   help=say("reliability - resolution + uncertainty + within bins")),
            Column(key="reliability", name=say("reliability"), digits=3,
                   help=say("squared distance of confidence and score over bins; 0 is honest")),
            Column(key="resolution", name=say("resolution"), digits=3,
                   help=say("how far bins differ in score; more is better")),
            Column(key="uncertainty", name=say("uncertainty"), digits=3,
                   help=say("what the share of right answers alone leaves open")),
            Column(key="within_bins", name=say("within bins"), digits=3,
                   help=say("what binning leaves over")),
        ),
        rows=tuple(
            (
                each.label,
                *(
                    _estimate(each.by_width, interval, level, how)
                    for interval, how in _parts(each.by_width)
                ),
            )
            for each in known
        ),
    )  # fmt: skip


_INVERTED = "noise along the gaps seen"


def _parts(found: Calibration) -> list[tuple[Interval, str]]:
    return [
        (found.brier, "Wilson at the effective size"),
        (found.reliability, _INVERTED),
        (found.resolution, _INVERTED),
        (found.uncertainty, "Wilson of the mean"),
        (found.within_bins, "t"),
    ]


def _selective(known: Sequence[_Model], level: float) -> Table:
    return Table(
        title=say("Answering only when sure"),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="auroc", name=say("right told from wrong"), digits=2,
                   help=say("how often a right answer was the surer one; 0.5 is chance")),
            Column(key="risk_area", name=say("risk over coverages"), unit="points",
                   help=say("mean share wrong over all shares answered, surest first")),
            Column(key="risk", name=say("wrong of all"), unit="points",
                   help=say("share wrong where everything is answered")),
            Column(key="risk_half", name=say("wrong of the surer half"), unit="points"),
        ),
        rows=tuple(
            (
                each.label,
                _estimate(each.by_width, each.by_width.auroc, level, _WILSON),
                _estimate(each.by_width, each.by_width.risk_area, level, _WILSON),
                *(_risk_at(each.by_width, coverage, level) for coverage in (1.0, 0.5)),
            )
            for each in known
        ),
    )  # fmt: skip


_WILSON = "Wilson at the effective size"


def _risk_at(found: Calibration, coverage: float, level: float) -> Cell:
    """The risk at the coverage nearest to this one; None where none is near."""
    point = min(found.curve, key=lambda each: abs(each.coverage - coverage))
    if abs(point.coverage - coverage) > 0.1:
        return None
    interval = Interval(value=point.risk, low=point.low, high=point.high)
    return _estimate(found, interval, level, _WILSON, n=point.n)


def _estimate(
    found: Calibration, interval: Interval, level: float, made_by: str, *, n: int | None = None
) -> Estimate | None:
    if math.isnan(interval.value):
        return None
    shared = found.groups < found.n - 0.5
    return Estimate(
        value=interval.value,
        n=found.n if n is None else n,
        low=interval.low,
        high=interval.high,
        level=level,
        estimand="answers like these",
        made_by=made_by,
        resampled="items" if shared else "answers",
        effective_n=found.groups,
        flags=("few-groups",) if found.groups < 50 else (),
    )


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _bins(known: Sequence[_Model], level: float) -> Table:
    return Table(
        title=say("Stated confidence and share right, by bin"),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="from", name=say("from"), unit="points"),
            Column(key="to", name=say("to"), unit="points"),
            Column(key="n", name="n"),
            Column(key="confidence", name=say("mean confidence"), unit="points"),
            Column(key="accuracy", name=say("share right"), unit="points"),
        ),
        rows=tuple(
            (
                each.label,
                part.start,
                part.end,
                part.n,
                part.confidence,
                _estimate(
                    each.by_width,
                    Interval(value=part.accuracy, low=part.low, high=part.high),
                    level,
                    _WILSON,
                    n=part.n,
                ),
            )
            for each in known
            for part in each.by_width.bins
        ),
    )
