"""Do models know when they are right? Stated confidence against scores."""

from __future__ import annotations

import numpy as np

from proofstone.engines.stats import Calibration, SharedKeys, calibrate
from proofstone.engines.stats.calibration import Interval
from proofstone.records.results import Estimate
from proofstone.report.numbers import points
from proofstone.report.sections.ranked_values import RankedValues, ranked_values
from proofstone.report.sections.section import Cell, Column, Evidence, Section, Table
from proofstone.report.sheet import Sheet

__all__ = ["calibration_section"]


def calibration_section(evidence: Evidence) -> Section | None:
    """Over-confidence, calibration error beside what chance gives, Brier score, and how well
    confidence tells right from wrong. None unless confidence was stated."""
    ranked, sheet = ranked_values(evidence), evidence.sheet
    if ranked is None or sheet is None or sheet.table.confidence is None:
        return None
    level, seed = evidence.board.confidence, evidence.seed
    keys = sheet.keys if evidence.estimand == "knowledge" else None
    found = [_calibration(sheet, who, keys, seed, level) for who in ranked.respondents]
    known = [(label, each) for label, each in zip(ranked.labels, found, strict=True) if each.n]
    if not known:
        return None
    return Section(
        name="calibration",
        title="Whether confidence can be trusted",
        finding=_finding(known),
        plain=_plain(known),
        how=(
            "Ten bins of equal width. The calibration error is never below 0: beside it stands "
            "what a perfectly calibrated model would show on as many answers. Brier is the mean "
            "squared distance of confidence and score. Answers of one item, and of items that "
            f"share a key, depend on each other; seed {seed}."
        ),
        tables=(_figures(ranked, found, level), _bins(known)),
    )


def _calibration(
    sheet: Sheet, respondent: int, keys: SharedKeys | None, seed: int, level: float
) -> Calibration:
    rows = np.flatnonzero(sheet.table.respondent == respondent)
    confidence = sheet.table.confidence
    stated = np.full(len(rows), np.nan) if confidence is None else confidence[rows]
    unit = sheet.table.unit[rows]
    return calibrate(stated, sheet.counted[rows], unit=unit, keys=keys, seed=seed, level=level)


def _finding(known: list[tuple[str, Calibration]]) -> str:
    over = sum(1 for _, each in known if each.over_confidence.low > 0)
    under = sum(1 for _, each in known if each.over_confidence.high < 0)
    return (
        f"{over} of {len(known)} models are surer than they are right, {under} less sure; the "
        "others cannot be told from honest."
    )


def _plain(known: list[tuple[str, Calibration]]) -> str:
    label, worst = max(known, key=lambda pair: pair[1].over_confidence.value)
    gap = worst.over_confidence.value
    if worst.over_confidence.low <= 0:
        return ""
    return (
        f"{label} overstates itself most: its stated confidence is on average {points(gap)} points "
        "above its share of right answers."
    )


def _figures(ranked: RankedValues, found: list[Calibration], level: float) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            label,
            each.n,
            _estimate(each.over_confidence, each.n, level),
            _estimate(each.ece, each.n, level),
            each.ece_by_chance,
            _estimate(each.brier, each.n, level),
            _estimate(each.auroc, each.n, level),
        )
        for label, each in zip(ranked.labels, found, strict=True)
    ]
    return Table(
        title="Calibration by model",
        columns=(
            Column(key="model", name="model"),
            Column(key="n", name="n", help="answers with a stated confidence"),
            Column(key="over_confidence", name="over-confidence", unit="points",
                   help="mean confidence less the share of right answers"),
            Column(key="ece", name="calibration error", unit="points",
                   help="mean distance of confidence and score over bins"),
            Column(key="ece_by_chance", name="by chance", unit="points",
                   help="what a perfectly calibrated model would show"),
            Column(key="brier", name="Brier", digits=3),
            Column(key="auroc", name="right told from wrong", digits=2,
                   help="how often a right answer was the surer one; 0.5 is chance"),
        ),
        rows=tuple(rows),
    )  # fmt: skip


def _estimate(interval: Interval, n: int, level: float) -> Estimate:
    return Estimate(
        value=interval.value,
        n=n,
        low=interval.low,
        high=interval.high,
        level=level,
        estimand="answers like these",
        made_by="bootstrap percentiles",
        resampled="answers",
        effective_n=float(n),
    )


def _bins(known: list[tuple[str, Calibration]]) -> Table:
    return Table(
        title="Stated confidence and share right, by bin",
        columns=(
            Column(key="model", name="model"),
            Column(key="from", name="from", unit="points"),
            Column(key="to", name="to", unit="points"),
            Column(key="n", name="n"),
            Column(key="confidence", name="mean confidence", unit="points"),
            Column(key="accuracy", name="share right", unit="points"),
        ),
        rows=tuple(
            (
                label,
                part.start,
                part.end,
                part.n,
                part.confidence,
                Estimate(
                    value=part.accuracy,
                    n=part.n,
                    low=part.low,
                    high=part.high,
                    estimand="answers like these",
                    made_by="Wilson",
                    resampled="answers",
                    effective_n=float(part.n),
                ),
            )
            for label, each in known
            for part in each.bins
        ),
    )
