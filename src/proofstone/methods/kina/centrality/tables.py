"""Print what a build of a representative set found: its certificate, and how it depends on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from proofstone.methods.kina.centrality.representatives import UNCOVERED, ForPeople, Report
from proofstone.records.tables import Cell, Column, Tabulation
from proofstone.wording.messages import say

_ID = 12  # characters of an id
_SHOWN = 10  # references that the next question should be about, of each discipline


def report_tables(reports: Sequence[Report], left: Sequence[ForPeople]) -> tuple[Tabulation, ...]:
    """Return the tables of all disciplines; none without a report."""
    if not reports:
        return ()
    every = [
        _certificates(reports), _left(left), _gains(reports), _concepts(reports), _anchors(reports),
        _next(reports), _calibration(reports), _agreement(reports), _sensitivity(reports),
    ]  # fmt: skip
    return tuple(table for table in every if table.rows)


def _certificates(reports: Sequence[Report]) -> Tabulation:
    rows = []
    for each in reports:
        proof = each.certificate
        rows.append(
            (
                each.discipline, each.n_pool, each.n_aligned, each.n_bank, each.n_shortlist,
                len(proof["picks"]), proof["value"], proof["upper_bound"], 100 * proof["ratio"],
                100 * proof["share"], proof["how"], proof["bound_by"],
            )
        )  # fmt: skip
    return Tabulation(
        title=say("Certificate by discipline"),
        columns=(
            *_counts(
                ("discipline", say("Discipline")), ("pool", say("Questions")),
                ("aligned", say("Aligned")), ("bank", say("References")),
                ("shortlist", say("Shortlist")), ("chosen", say("Chosen")),
            ),
            Column(key="value", name="F", digits=4),
            Column(key="upper_bound", name=say("Upper bound"), digits=4),
            Column(key="ratio", name=say("At least, % of the best"), digits=2),
            Column(key="share", name=say("Coverage, %"), digits=1),
            Column(key="how", name=say("Chosen by")),
            Column(key="bound_by", name=say("Bound by")),
        ),
        rows=tuple(rows),
        notes=(
            say(
                "F is the weighted mean of the best pair score of each reference with a chosen "
                "question (equation 2). No choice of as many questions has an F above the bound."
            ),
            say("F is a score of the fitted models. It does not measure the discipline itself."),
        ),
    )  # fmt: skip


def _left(left: Sequence[ForPeople]) -> Tabulation:
    return Tabulation(
        title=say("Disciplines left to people"),
        columns=(
            *_counts(("discipline", say("Discipline")), ("n", say("Questions"))),
            Column(key="why", name=say("Reason")),
        ),
        rows=tuple((each.discipline, each.n, each.why) for each in left),
        notes=(say("No question of these disciplines was chosen or refused by a score."),),
    )


def _gains(reports: Sequence[Report]) -> Tabulation:
    rows: list[tuple[Cell, ...]] = []
    for each in reports:
        for number, pick in enumerate(each.certificate["picks"], start=1):
            rows.append((each.discipline, number, pick["item"][:_ID], pick["gain"], pick["value"]))
    return Tabulation(
        title=say("Marginal gains"),
        columns=(
            *_counts(("discipline", say("Discipline")), ("place", say("Place"))),
            Column(key="question", name=say("Question")),
            Column(key="gain", name=say("Gain"), digits=4),
            Column(key="value", name="F", digits=4),
        ),
        rows=tuple(rows),
    )


def _concepts(reports: Sequence[Report]) -> Tabulation:
    rows = [
        (
            each.discipline, one["concept"], one["n_references"], one["n_uncovered"],
            100 * one["covered"] if one["n_references"] else None, len(one["items"]),
        )
        for each in reports
        for one in each.certificate["concepts"]
    ]  # fmt: skip
    return Tabulation(
        title=say("Coverage of the experts' concepts"),
        columns=(
            *_counts(
                ("discipline", say("Discipline")), ("concept", say("Concept")),
                ("references", say("References")), ("uncovered", say("Uncovered")),
            ),
            Column(key="covered", name=say("Mean coverage, %"), digits=1),
            Column(key="chosen", name=say("Chosen"), digits=0),
        ),
        rows=tuple(rows),
        notes=(
            say(
                "A reference is uncovered if no chosen question has a pair score of {bar} or more "
                "with it.",
                bar=f"{UNCOVERED:g}",
            ),
        ),
    )  # fmt: skip


def _anchors(reports: Sequence[Report]) -> Tabulation:
    rows = tuple(
        (each.discipline, one.anchor[:_ID], one.covered)
        for each in reports
        for one in each.anchors
        if one.covered < UNCOVERED
    )
    return Tabulation(
        title=say("Anchors left uncovered"),
        columns=(
            Column(key="discipline", name=say("Discipline")),
            Column(key="anchor", name=say("Question")),
            Column(key="covered", name=say("Best pair score"), digits=3),
        ),
        rows=rows,
    )


def _next(reports: Sequence[Report]) -> Tabulation:
    rows = tuple(
        (
            each.discipline, one["reference"][:_ID], 100 * one["covered"],
            one["uncovered_weight"], one["best"][:_ID] or None,
        )
        for each in reports
        for one in each.certificate["next"][:_SHOWN]
    )  # fmt: skip
    return Tabulation(
        title=say("References to cover next"),
        columns=(
            Column(key="discipline", name=say("Discipline")),
            Column(key="reference", name=say("Reference")),
            Column(key="covered", name=say("Coverage, %"), digits=1),
            Column(key="uncovered_weight", name=say("Uncovered weight"), digits=4),
            Column(key="best", name=say("Best candidate left")),
        ),
        rows=rows,
        notes=(say("References with the largest weight that is not covered come first."),),
    )


def _calibration(reports: Sequence[Report]) -> Tabulation:
    rows = tuple(
        (
            each.discipline, one.what, one.n, 100 * one.positive, one.brier, one.brier_by_rate,
            100 * one.ece, 100 * one.ece_by_chance,
        )
        for each in reports
        for one in each.calibration
    )  # fmt: skip
    return Tabulation(
        title=say("Reliability of the calibrators"),
        columns=(
            *_counts(
                ("discipline", say("Discipline")), ("what", say("Label")), ("n", say("Labels")),
            ),
            Column(key="positive", name=say("Positive, %"), digits=1),
            Column(key="brier", name=say("Brier score"), digits=3),
            Column(key="brier_by_rate", name=say("Brier score of the rate"), digits=3),
            Column(key="ece", name="ECE, %", digits=1),
            Column(key="ece_by_chance", name=say("ECE if calibrated, %"), digits=1),
        ),
        rows=rows,
        notes=(
            say(
                "Each probability is by a model that did not see the labels of its question or "
                "pair. A Brier score below that of the rate shows that the features help."
            ),
        ),
    )  # fmt: skip


def _agreement(reports: Sequence[Report]) -> Tabulation:
    rows: list[tuple[Cell, ...]] = []
    for each in reports:
        rows += [
            (
                each.discipline, one.what, one.n_units, one.n_shared, one.n_experts,
                _percent(one.observed), one.kappa,
            )
            for one in each.agreement
        ]  # fmt: skip
        rows += [
            (each.discipline, f"prototype: {name}", None, None, None, 100 * share, None)
            for name, share in each.prototype_agreement.items()
        ]
    return Tabulation(
        title=say("Agreement of the experts"),
        columns=(
            *_counts(
                ("discipline", say("Discipline")), ("what", say("Label")),
                ("units", say("Labeled")), ("shared", say("Labeled twice or more")),
                ("experts", say("Experts")),
            ),
            Column(key="observed", name=say("Observed agreement, %"), digits=1),
            Column(key="kappa", name=say("Cohen's kappa"), digits=2),
        ),
        rows=tuple(rows),
        notes=(
            say("Rows of the prototype give the share of its entries that all experts stated."),
        ),
    )  # fmt: skip


def _sensitivity(reports: Sequence[Report]) -> Tabulation:
    return Tabulation(
        title=say("Sensitivity to the settings"),
        columns=(
            *_counts(
                ("discipline", say("Discipline")), ("setting", say("Setting")),
                ("value", say("Value")), ("bank", say("References")),
                ("shortlist", say("Shortlist")),
            ),
            Column(key="shared", name=say("Same questions, %"), digits=1),
            Column(key="retained", name=say("F retained, %"), digits=1),
            Column(key="trouble", name=say("Problem")),
        ),
        rows=tuple(_changed(reports)),
        notes=(
            say(
                "One setting is changed at a time, and questions are chosen by greedy. F retained "
                "is the value of the new choice under the unchanged objective, relative to "
                "greedy's choice without the change."
            ),
        ),
    )  # fmt: skip


def _changed(reports: Sequence[Report]) -> Iterator[tuple[Cell, ...]]:
    for each in reports:
        for one in each.sensitivity:
            yield (
                each.discipline, one.setting, one.value, one.n_bank, one.n_shortlist,
                _percent(one.shared), _percent(one.retained), one.trouble or None,
            )  # fmt: skip


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value


def _counts(*columns: tuple[str, Any]) -> tuple[Column, ...]:
    return tuple(Column(key=key, name=name, digits=0) for key, name in columns)
