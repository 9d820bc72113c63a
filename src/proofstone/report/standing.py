"""Estimates, ranks, ties and breakdowns of respondents that may stand against each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import msgspec
import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats import (
    Estimand,
    SharedKeys,
    chance_level,
    measure_spread,
    rank_all,
    tied_runs,
)
from proofstone.records.results import Estimate, FormPart, Scale
from proofstone.report.advice import advise, advise_of_served
from proofstone.report.board import (
    BoardRow,
    NamedEstimate,
    Standings,
)
from proofstone.report.group_estimates import break_down, break_down_by_document
from proofstone.report.hands import hand_of
from proofstone.report.measured import measure_estimates
from proofstone.report.ruler import SAMPLE_WISE, Ruler
from proofstone.report.sentences import chance_sentence
from proofstone.report.sheet import MISSES

__all__ = ["stand"]


def stand(
    ruler: Ruler,
    respondents: Sequence[int],
    *,
    simulated: bool,
    scale: Scale | None = None,
    judge: str | None = None,
    part: FormPart | None = None,
    experiment: bool = False,
    by_document: bool = False,
) -> Standings:
    """The standings of ``respondents`` (indices), all of them simulated or none, all on one scale
    and, where ``judge`` is given, all graded by it, and where ``part`` is, all asked that part.
    Rows of an ``experiment`` are in the order of their estimates, without ranks."""
    ruler = replace(ruler, scale=scale)
    if part is not None:
        ruler = replace(ruler, sheet=replace(ruler.sheet, table=ruler.sheet.table.of_parts()))
    sheet = ruler.sheet
    complete = [r for r in respondents if sheet.is_complete[r]]
    units = np.flatnonzero(~np.isnan(sheet.values[:, complete]).any(axis=1))
    is_common = bool(len(units)) or len(complete) <= 1
    if not complete or not is_common:
        rows = tuple(_own_row(ruler, r) for r in complete)
        base = _unranked(ruler, rows, simulated=simulated, is_common=is_common)
    else:
        base = _ranked(ruler, complete, units, simulated=simulated, by_document=by_document)
    if experiment:
        base = _without_ranks(base)
    # Sample-wise at every level, as the bounds are: which items are missing is not known.
    plain = replace(ruler, level=SAMPLE_WISE)
    short = [_own_row(plain, r) for r in respondents if not sheet.is_complete[r]]
    return msgspec.structs.replace(
        base,
        incomplete=tuple(sorted(short, key=_by_name)),
        scale=scale,
        judge=judge,
        part=part,
        experiment=experiment,
    )


def _ranked(
    ruler: Ruler,
    complete: Sequence[int],
    units: NDArray[np.int64],
    *,
    simulated: bool,
    by_document: bool,
) -> Standings:
    values = ruler.sheet.block(units, complete)
    names = [_name_key(ruler, r) for r in complete]
    means = ruler.weighting(ruler.level, units).group_means(values).mean(axis=0)
    order = sorted(range(len(complete)), key=lambda place: (-means[place], names[place]))
    complete, values = [complete[place] for place in order], values[:, order]
    keys = ruler.sheet.keys.among(units)
    weighting = ruler.weighting(ruler.level, units)
    spread = measure_spread(values, weighting, keys, ruler.estimand)
    ranking = rank_all(spread, confidence=ruler.confidence)
    ties = tied_runs(ranking.better)
    rows = [
        msgspec.structs.replace(
            row,
            rank=ranking.intervals[place],
            ties=tuple(i for i, (low, high) in enumerate(ties) if low <= place <= high),
            hand=hand_of(ruler, complete[place], units, values, keys, column=place),
        )
        for place, row in enumerate(_rows(ruler, complete, units, values, keys))
    ]
    chance = chance_level(ruler.sheet.table.n_options[units], weighting.weights())
    if ruler.scale is not None and ruler.scale.chance is not None:
        chance = ruler.scale.chance
    return Standings(
        simulated=simulated,
        n_items=len(units),
        is_common=True,
        ranked=tuple(rows),
        incomplete=(),
        compared=ranking.comparisons,
        ties=ties,
        chance=chance,
        chance_sentence=chance_sentence(
            chance, [row.estimate for row in rows], unread_are_wrong=_unread_are_wrong(ruler, rows)
        ),
        breakdowns=tuple(break_down(ruler, complete, units, values, keys)),
        documents=break_down_by_document(ruler, units, values, keys) if by_document else None,
    )


def _without_ranks(base: Standings) -> Standings:
    """The same rows, compared with none."""
    rows = (
        msgspec.structs.replace(
            row,
            rank=None,
            ties=(),
            hand=None if row.hand is None else msgspec.structs.replace(row.hand, rank=None),
        )
        for row in base.ranked
    )
    return msgspec.structs.replace(base, ranked=tuple(rows), compared=(), ties=())


def _unread_are_wrong(ruler: Ruler, rows: Sequence[BoardRow]) -> bool:
    """Whether some reply gave no answer, and the measure counts each such outcome 0."""
    counts = ruler.sheet.counts
    are_wrong = all(counts.get(outcome) == 0.0 for outcome in MISSES)
    return are_wrong and any(row.rate("miss").count for row in rows)


def _unranked(
    ruler: Ruler, rows: Sequence[BoardRow], *, simulated: bool, is_common: bool
) -> Standings:
    """Nobody is complete, or the complete ones have no item in common."""
    ranked = sorted(rows, key=lambda row: (-row.estimate.value, *_by_name(row)))
    return Standings(
        simulated=simulated,
        n_items=0,
        is_common=is_common,
        ranked=tuple(ranked),
        incomplete=(),
        compared=(),
        ties=(),
        chance=float("nan"),
        chance_sentence="",
    )


def _rows(
    ruler: Ruler,
    respondents: Sequence[int],
    units: NDArray[np.int64],
    values: NDArray[np.float64],
    keys: SharedKeys,
) -> Iterator[BoardRow]:
    """Rows of respondents (R) by ``values`` (units, R) on the same units."""

    def means(level: str, estimand: Estimand) -> tuple[Estimate, ...]:
        weighting = ruler.weighting(level, units)
        return ruler.estimates(values, weighting, keys, estimand)

    bank, knowledge = means(ruler.level, "bank"), means(ruler.level, "knowledge")
    shown = (SAMPLE_WISE, *reversed(ruler.telling_levels))
    by_level = {level: means(level, ruler.estimand) for level in shown}
    for place, respondent in enumerate(respondents):
        levels = [
            NamedEstimate(name=level, estimate=estimates[place])
            for level, estimates in by_level.items()
        ]
        yield _row(ruler, respondent, bank[place], knowledge[place], levels)


def _own_row(ruler: Ruler, respondent: int) -> BoardRow:
    """The row of a respondent on the items that it has, whoever else has them."""
    units = np.flatnonzero(~np.isnan(ruler.sheet.values[:, respondent]))
    values = ruler.sheet.block(units, [respondent])
    keys = ruler.sheet.keys.among(units)
    row = next(_rows(ruler, [respondent], units, values, keys))
    return msgspec.structs.replace(row, hand=hand_of(ruler, respondent, units, values, keys))


def _row(
    ruler: Ruler,
    respondent: int,
    bank: Estimate,
    knowledge: Estimate,
    levels: Sequence[NamedEstimate],
) -> BoardRow:
    sheet, who = ruler.sheet, ruler.sheet.table.respondents[respondent]
    rates = sheet.rates(respondent)
    return BoardRow(
        name=who.name,
        way=who.way,
        settings=who.settings,
        simulated=who.simulated,
        runs=tuple(run.hex() for run in who.runs),
        estimate=bank if ruler.estimand == "bank" else knowledge,
        bank=bank,
        knowledge=knowledge,
        levels=tuple(levels),
        others=tuple(_other_measures(ruler, respondent)),
        rates=rates,
        n_replies=sheet.n_replies(respondent),
        failed=sheet.n_failed(respondent),
        missing=int(sheet.missing[respondent]),
        bounds=None if sheet.is_complete[respondent] else sheet.bounds(respondent),
        average=sheet.average(respondent),
        warnings=advise(rates, judged=sheet.judged, is_ours=not sheet.table.item_names)
        + advise_of_served(who.served),
        corrections=sheet.corrections(respondent),
        card=who.card,
        spent=who.spent,
        pace=who.pace,
        judge=who.judge,
        part=who.part,
    )


def _other_measures(ruler: Ruler, respondent: int) -> Iterator[NamedEstimate]:
    for name, (measure, sheet) in ruler.others.items():
        units = np.flatnonzero(~np.isnan(sheet.values[:, respondent]))
        if not len(units) and (measure.golds or measure.unit != "item"):
            continue  # nothing of that kind was asked
        yield NamedEstimate(
            name=name,
            denominator=measure.denominator,
            label=measure.label,
            estimate=measure_estimates(
                sheet, units, [respondent], estimand=ruler.estimand, confidence=ruler.confidence
            )[0],
        )


def _by_name(row: BoardRow) -> tuple[str, str, str]:
    return row.name, row.way, row.settings


def _name_key(ruler: Ruler, respondent: int) -> tuple[str, str, str]:
    who = ruler.sheet.table.respondents[respondent]
    return who.name, who.way, who.settings
