"""Estimates, ranks, ties and breakdowns of models that may be ranked against each other."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.records.runs import (
    OUTCOMES,
    POPULATIONS,
    Estimate,
    FormPart,
    Measure,
    Population,
    Scale,
    population_name,
    values_kind,
)
from proofstone.records.scores import Respondent, ScoreTable
from proofstone.results.board import (
    BoardRow,
    Breakdown,
    BreakdownGroup,
    GroupMeasure,
    LeftOut,
    NamedEstimate,
    Standings,
)
from proofstone.results.board_text import Leaderboard, advise, advise_of_reported
from proofstone.results.measured_scores import (
    MISSES,
    SAMPLE_WISE,
    Ruler,
    Sheet,
    grouped,
    measure_estimates,
    self_evaluation_of,
)
from proofstone.results.sentences import chance_sentence
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.estimates import measure_spread
from proofstone.stats.intervals import chance_level, equal_weights
from proofstone.stats.ranks import rank_all, tied_runs
from proofstone.wording.messages import noted

# Models by groups of items: by strata, by what the method groups by, by answer key position.

NOT_GIVEN = "(not given)"


_Grouping = tuple[str, str, NDArray[np.int32], tuple[str, ...]]  # by, level, codes (U), names


@dataclass(frozen=True)
class _Block:
    """Models (R) on units that all of them have."""

    ruler: Ruler
    respondents: Sequence[int]
    units: NDArray[np.int64]

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """Return the values (units, R)."""
        return self.ruler.sheet.block(self.units, self.respondents)

    @cached_property
    def keys(self) -> SharedKeys:
        """Return the clusters of the units."""
        return self.ruler.sheet.keys.among(self.units)

    def means(self, level: str, population: Population) -> tuple[Estimate, ...]:
        """Return the means of all units at a level."""
        weighting = self.ruler.weighting(level, self.units)
        return self.ruler.estimates(self.values, weighting, self.keys, population)

    def group(
        self, name: str, places: NDArray[np.int64], others: Sequence[GroupMeasure] = ()
    ) -> BreakdownGroup:
        """Return the means of the units at ``places``."""
        estimates = self.ruler.estimates(
            self.values[places], equal_weights(len(places)), self.keys.among(places)
        )
        return BreakdownGroup(name=name, n=len(places), estimates=estimates, others=tuple(others))


def _break_down(block: _Block) -> Iterator[Breakdown]:
    """Yield one breakdown per grouping, including measures that are shown by group."""
    for by, level, codes, names in _groupings(block.ruler):
        of_units = codes[block.units]
        found = []
        for code in np.unique(of_units).tolist():
            places = np.flatnonzero(of_units == code)
            others = _others(block.ruler, block.units[places], block.respondents)
            found.append(block.group(names[code] or NOT_GIVEN, places, list(others)))
        yield Breakdown(
            by=by, level=level, groups=tuple(sorted(found, key=lambda group: group.name))
        )


def _break_down_by_document(block: _Block) -> Breakdown | None:
    """Return the breakdown by the documents of units, largest first, units without one last.

    None if no document is known. A unit counts in each of its documents.
    """
    table, units = block.ruler.sheet.table, block.units
    documents = table.documents
    if documents is None:
        return None
    place = np.full(len(table.items), -1, dtype=np.int64)
    place[units] = np.arange(len(units))
    edges = np.unique(np.stack([documents.document, place[documents.unit]]), axis=1)
    edges = edges[:, edges[1] >= 0]
    if not edges.size:
        return None
    codes, starts = np.unique(edges[0], return_index=True)
    parts = [
        (documents.names[code], places)
        for code, places in zip(codes.tolist(), np.split(edges[1], starts[1:]), strict=True)
    ]
    parts.sort(key=lambda part: (-len(part[1]), part[0]))
    rest = np.setdiff1d(np.arange(len(units)), edges[1])
    parts += [(NOT_GIVEN, rest)] if len(rest) else []
    return Breakdown(by="document", groups=tuple(block.group(*part) for part in parts))


def _others(
    ruler: Ruler, units: NDArray[np.int64], respondents: Sequence[int]
) -> Iterator[GroupMeasure]:
    for name, (measure, sheet) in ruler.others.items():
        if measure.by_group and sheet.table.items == ruler.sheet.table.items:
            estimates = measure_estimates(
                sheet, units, respondents, population=ruler.population, confidence=ruler.confidence
            )
            yield GroupMeasure(name=name, label=measure.label or name, estimates=estimates)


def _groupings(ruler: Ruler) -> Iterator[_Grouping]:
    """Yield strata levels with several groups, the method's groups, then the answer key.

    The answer key is grouped by position, or by label if answers are not letters.
    """
    table = ruler.sheet.table
    for level in ruler.telling_levels:
        by = table.level_names.get(level, level)
        yield by, level, table.strata[level], table.stratum_names[level]
    for name, codes in table.groups.items():
        if any(table.group_names[name]):
            yield name, "", codes, table.group_names[name]
    has_places = table.order is None  # otherwise a letter was in several positions
    if any(table.answer_keys) and not values_kind(ruler.scale) and has_places:
        are_letters = all(len(answer_key) <= 1 for answer_key in table.answer_keys)
        yield (
            "answer key position" if are_letters else "truth",
            "",
            table.answer_key,
            table.answer_keys,
        )


class _Kind(Struct, frozen=True, kw_only=True):
    """What models that may be ranked against each other have in common.

    All or none are simulated, and all are on one scale. With ``judge``, all were graded by it. With
    ``part``, all were asked that part. An ``experiment`` is not ranked.
    """

    simulated: bool
    experiment: bool
    scale: Scale | None
    judge: str | None
    part: FormPart | None


def _stand(
    ruler: Ruler, respondents: Sequence[int], kind: _Kind, *, by_document: bool
) -> Standings:
    """Return the standings of ``respondents`` (indices) of a kind.

    Rows of an experiment are sorted by estimate, without ranks.
    """
    ruler = replace(ruler, scale=kind.scale)
    if kind.part is not None:
        ruler = replace(ruler, sheet=replace(ruler.sheet, table=ruler.sheet.table.of_parts()))
    sheet = ruler.sheet
    complete = [r for r in respondents if sheet.is_complete[r]]
    units = np.flatnonzero(~np.isnan(sheet.values[:, complete]).any(axis=1))
    is_common = bool(len(units)) or len(complete) <= 1
    # Sample-wise at every level, like the bounds: the missing items are not known.
    plain = replace(ruler, level=SAMPLE_WISE)
    short = [_own_row(plain, r) for r in respondents if not sheet.is_complete[r]]
    base = Standings(
        n_items=0,
        is_common=is_common,
        ranked=(),
        incomplete=tuple(sorted(short, key=_by_name)),
        compared=(),
        ties=(),
        chance=float("nan"),
        chance_sentence="",
        **structs.asdict(kind),
    )
    if complete and is_common:
        return _ranked(base, ruler, complete, units, by_document=by_document)
    rows = [_own_row(ruler, r) for r in complete]
    rows.sort(key=lambda row: (-row.estimate.value, *_by_name(row)))
    return structs.replace(
        base, ranked=tuple(map(_without_rank, rows) if kind.experiment else rows)
    )


def _ranked(
    base: Standings,
    ruler: Ruler,
    complete: Sequence[int],
    units: NDArray[np.int64],
    *,
    by_document: bool,
) -> Standings:
    """Return the standings with the models in ``complete``, on the units common to them."""
    weighting = ruler.weighting(ruler.level, units)
    means = weighting.group_means(ruler.sheet.block(units, complete)).mean(axis=0)
    who = [ruler.sheet.table.respondents[r] for r in complete]
    names = [(each.name, each.prompt_method, each.settings) for each in who]
    order = sorted(range(len(complete)), key=lambda place: (-means[place], names[place]))
    block = _Block(ruler, [complete[place] for place in order], units)
    spread = measure_spread(block.values, weighting, block.keys, ruler.population)
    ranking = rank_all(spread, confidence=ruler.confidence)
    ties = tied_runs(ranking.better)
    rows = [
        structs.replace(
            row,
            rank=ranking.intervals[place],
            ties=tuple(i for i, (low, high) in enumerate(ties) if low <= place <= high),
            self_evaluation=self_evaluation_of(
                ruler, block.respondents[place], units, block.values, block.keys, column=place
            ),
        )
        for place, row in enumerate(_rows(block))
    ]
    chance = chance_level(ruler.sheet.table.n_options[units], weighting.weights())
    if ruler.scale is not None and ruler.scale.chance is not None:
        chance = ruler.scale.chance
    # True if some response gave no answer and the measure counts each such outcome 0.
    are_wrong = all(ruler.sheet.counts.get(outcome) == 0.0 for outcome in MISSES)
    unread = are_wrong and any(row.rate("no answer").count for row in rows)
    return structs.replace(
        base,
        n_items=len(units),
        ranked=tuple(map(_without_rank, rows) if base.experiment else rows),
        compared=() if base.experiment else ranking.comparisons,
        ties=() if base.experiment else ties,
        chance=chance,
        chance_sentence=chance_sentence(
            chance, [row.estimate for row in rows], unread_are_wrong=unread
        ),
        breakdowns=tuple(_break_down(block)),
        documents=_break_down_by_document(block) if by_document else None,
        people=tuple(_people(ruler, units)) if base.scale is None else (),
        people_note=ruler.sheet.table.people_note if base.scale is None else "",
    )


def _people(ruler: Ruler, units: NDArray[np.int64]) -> Iterator[NamedEstimate]:
    """Yield the results of people on those of the units that record them."""
    for name, values in ruler.sheet.table.people.items():
        known = units[~np.isnan(values[units])]
        if len(known):
            (estimate,) = ruler.estimates(
                values[known][:, np.newaxis],
                ruler.weighting(ruler.level, known),
                ruler.sheet.keys.among(known),
            )
            yield NamedEstimate(name=name, estimate=estimate)


def _without_rank(row: BoardRow) -> BoardRow:
    self_evaluation = (
        None if row.self_evaluation is None else structs.replace(row.self_evaluation, rank=None)
    )
    return structs.replace(row, rank=None, ties=(), self_evaluation=self_evaluation)


def _rows(block: _Block) -> Iterator[BoardRow]:
    """Yield one row per model of the block."""
    ruler = block.ruler
    bank, knowledge = block.means(ruler.level, "bank"), block.means(ruler.level, "domain")
    shown = (SAMPLE_WISE, *reversed(ruler.telling_levels))
    by_level = {level: block.means(level, ruler.population) for level in shown}
    for place, respondent in enumerate(block.respondents):
        levels = [
            NamedEstimate(name=level, estimate=estimates[place])
            for level, estimates in by_level.items()
        ]
        yield _row(ruler, respondent, bank[place], knowledge[place], levels)


def _own_row(ruler: Ruler, respondent: int) -> BoardRow:
    """Return the row of a model on its own items, regardless of other models."""
    units = np.flatnonzero(~np.isnan(ruler.sheet.values[:, respondent]))
    block = _Block(ruler, [respondent], units)
    self_evaluation = self_evaluation_of(ruler, respondent, units, block.values, block.keys)
    return structs.replace(next(_rows(block)), self_evaluation=self_evaluation)


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
        prompt_method=who.prompt_method,
        settings=who.settings,
        simulated=who.simulated,
        runs=tuple(run.hex() for run in who.runs),
        estimate=bank if ruler.population == "bank" else knowledge,
        bank=bank,
        knowledge=knowledge,
        levels=tuple(levels),
        others=tuple(_other_measures(ruler, respondent)),
        rates=rates,
        n_responses=sheet.n_responses(respondent),
        failed=sheet.n_failed(respondent),
        missing=int(sheet.missing[respondent]),
        unscored=sheet.n_unscored(respondent),
        not_asked=min(who.not_asked, int(sheet.missing[respondent])),
        bounds=None if sheet.is_complete[respondent] else sheet.bounds(respondent),
        average=sheet.average(respondent),
        warnings=advise(rates, judged=sheet.judged, is_ours=not sheet.table.item_names)
        + advise_of_reported(who.reported),
        corrections=sheet.corrections(respondent),
        card=who.card,
        spent=who.spent,
        pace=who.pace,
        judge=who.judge,
        part=who.part,
        is_setting_shared=_is_setting_shared(sheet.table.respondents),
    )


def _is_setting_shared(respondents: Sequence[Respondent]) -> bool:
    """Return True if the models share prompting method and settings, and differ in their names."""
    settings = {(who.prompt_method, who.settings) for who in respondents}
    names = {who.name for who in respondents}
    return len(settings) == 1 and len(names) == len(respondents)


def _other_measures(ruler: Ruler, respondent: int) -> Iterator[NamedEstimate]:
    for name, (measure, sheet) in ruler.others.items():
        units = np.flatnonzero(~np.isnan(sheet.values[:, respondent]))
        if not len(units) and (measure.answer_keys or measure.unit != "item"):
            continue  # no such question was asked
        yield NamedEstimate(
            name=name,
            denominator=measure.denominator,
            label=measure.label,
            estimate=measure_estimates(
                sheet, units, [respondent], population=ruler.population, confidence=ruler.confidence
            )[0],
        )


def _by_name(row: BoardRow) -> tuple[str, str, str]:
    return row.name, row.prompt_method, row.settings


# From a score table to a leaderboard, without side effects.

NOT_COUNTED = noted("not counted")


def leaderboard(
    table: ScoreTable,
    measures: Sequence[Measure],
    headline: str,
    *,
    population: Population = "domain",
    level: str = "sample",
    confidence: float = 0.95,
    group_by: str = "",
    where: str = "",
    left_out: tuple[LeftOut, ...] = (),
    notes: tuple[str, ...] = (),
    more: Mapping[str, ScoreTable] | None = None,
    by_document: bool = False,
) -> Leaderboard:
    """Rank the models of ``table`` under the measure ``headline``, best first.

    ``table`` holds the scores of the headline. ``more`` holds other scores by the name that
    measures are ``of``, for the same models in the same order. Measures without scores are omitted.
    ``level`` is "sample" or a stratum of the table.

    Complete models are ranked on their common items. Incomplete ones follow with bounds. Simulated
    models, prompting methods with another score scale, and experiments (without ranks) have
    separate standings. A table without models gives no standings. ``group_by`` is a card field that
    groups rows without changing ranks. ``where``, ``left_out`` and ``notes`` describe a previous
    filter. Means ``by_document`` take milliseconds per document and are computed on request.

    Raises BadUsage for an unknown measure, population or level, or a confidence outside (0, 1).
    """
    measure = _named(measures, headline)
    tables = {**(more or {}), measure.of: table}
    ruler = Ruler(
        sheet=Sheet.of(table, measure),
        others={
            other.name: (other, Sheet.of(tables[other.of], other))
            for other in measures
            if other.name != headline and other.of in tables
        },
        population=population,
        level=level,
        confidence=confidence,
    )
    _check(ruler)
    return Leaderboard(
        measure=measure.name,
        denominator=measure.denominator,
        counts=count_rows(measure),
        population=population_name(population),
        level=level,
        confidence=confidence,
        n_items=table.n_asked or len(table.items),
        n_excluded=table.n_excluded,
        has_documents=table.documents is not None,
        forms=table.asked_forms or table.forms,
        standings=tuple(
            grouped(
                ruler,
                _stand(ruler, respondents, kind, by_document=by_document),
                group_by,
            )
            for kind, respondents in _apart(ruler.sheet).items()
        ),
        group_by=group_by,
        where=where,
        left_out=left_out,
        notes=notes,
    )


def _apart(sheet: Sheet) -> dict[_Kind, list[int]]:
    """Group the models that may be ranked against each other, real ones on the items' scale first.

    Experiments are separate from ranked models. Models graded by different judges are separate; one
    without scores joins the most frequent judge. Models that reached a limit are separate from
    those asked another part of the form.
    """
    table = sheet.table
    scored = set(np.unique(table.respondent).tolist())
    by_judge = Counter(table.respondents[place].judge for place in sorted(scored))
    most = by_judge.most_common(1)[0][0] if by_judge else ""
    kinds = [
        _Kind(
            simulated=who.simulated,
            experiment=who.experiment,
            scale=who.scale,
            judge=None if len(by_judge) < 2 else who.judge if place in scored else most,
            part=who.part if _has_reached(who.part, int(sheet.missing[place])) else None,
        )
        for place, who in enumerate(table.respondents)
    ]

    def place_of(kind: _Kind) -> tuple[bool, bool, str, int, str, int]:
        judge, scale, part = kind.judge or "", kind.scale, kind.part
        asked = part.n_asked if part else sys.maxsize
        scale_name = scale.name if scale else ""
        return kind.simulated, kind.experiment, scale_name, -by_judge[judge], judge, -asked

    order = sorted(set(kinds), key=place_of)
    return {kind: [r for r, own in enumerate(kinds) if own == kind] for kind in order}


def _has_reached(part: FormPart | None, missing: int) -> bool:
    """Return True if a limit explains all missing responses."""
    return part is not None and 0 < part.unasked == missing


def count_rows(measure: Measure) -> tuple[tuple[str, str], ...]:
    """Return the value of each outcome under a measure as text, for all outcomes in order."""
    counted = [(name, _worth(measure, name)) for name in OUTCOMES if name != "failed"]
    failed = noted("not counted; asked again, and the run is incomplete until it succeeds")
    return (*counted, ("failed", failed))


def _worth(measure: Measure, outcome: str) -> str:
    worth = {str(name): counts for name, counts in measure.counts.items()}.get(outcome)
    if worth is None:
        return NOT_COUNTED
    if isinstance(worth, str):
        return noted("its score") if worth == "value" else noted("1 minus its score")
    return f"{worth:g}"


def _named(measures: Sequence[Measure], name: str) -> Measure:
    for measure in measures:
        if measure.name == name:
            return measure
    known = ", ".join(measure.name for measure in measures) or "none"
    raise BadUsage(f"there is no measure {name!r}", hint=f"measures: {known}")


def _check(ruler: Ruler) -> None:
    if ruler.population not in POPULATIONS:
        raise BadUsage(
            f"there is no estimand {ruler.population!r}",
            hint=f"estimands: {', '.join(POPULATIONS)}",
        )
    if ruler.level not in ruler.levels:
        raise BadUsage(
            f"these results cannot be averaged by {ruler.level!r}",
            hint=f"levels here: {', '.join(ruler.levels)}",
        )
    if not 0.0 < ruler.confidence < 1.0:
        raise BadUsage(
            f"a confidence of {ruler.confidence:g} is none", hint="give one between 0 and 1: 0.95"
        )
