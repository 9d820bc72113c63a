"""A score table becomes a leaderboard: one pure function."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from msgspec import Struct

from proofstone.engines.stats import ESTIMANDS, Estimand, estimand_name
from proofstone.errors import BadUsage
from proofstone.records.results import OUTCOMES, FormPart, Measure, Scale
from proofstone.records.score_table import ScoreTable
from proofstone.report.board import Leaderboard, LeftOut
from proofstone.report.row_groups import grouped
from proofstone.report.ruler import Ruler
from proofstone.report.sheet import Sheet
from proofstone.report.standing import stand
from proofstone.wording import noted

__all__ = ["count_rows", "leaderboard"]

NOT_COUNTED = noted("not counted")


def leaderboard(
    table: ScoreTable,
    measures: Sequence[Measure],
    headline: str,
    *,
    estimand: Estimand = "knowledge",
    level: str = "sample",
    confidence: float = 0.95,
    group_by: str = "",
    where: str = "",
    left_out: tuple[LeftOut, ...] = (),
    notes: tuple[str, ...] = (),
    more: Mapping[str, ScoreTable] | None = None,
    by_document: bool = False,
) -> Leaderboard:
    """The respondents of ``table`` under the measure ``headline``, best first.

    ``table`` holds the scores that the headline is of, ``more`` others by the name that measures
    are ``of``, for the same respondents in the same order; measures without scores are left out.
    ``level`` is "sample" or a stratum of the table. Complete respondents are ranked on the items
    that all of them have; incomplete ones stand below with bounds; simulated ones stand apart from
    real ones, ways of asking whose scores are on another scale apart from the others, and
    experiments without ranks. A table without respondents gives a leaderboard without standings.
    ``group_by`` is a field of the card, by which rows are arranged but not ranked anew; ``where``,
    ``left_out`` and ``notes`` say what was done before. Means ``by_document`` take milliseconds a
    document, and are made where they are asked for.

    Raises BadUsage for an unknown measure, estimand, level or a confidence outside (0, 1).
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
        estimand=estimand,
        level=level,
        confidence=confidence,
    )
    _check(ruler)
    return Leaderboard(
        measure=measure.name,
        denominator=measure.denominator,
        counts=count_rows(measure),
        estimand=estimand_name(estimand),
        level=level,
        confidence=confidence,
        n_items=len(table.items),
        n_retired=table.n_retired,
        has_documents=table.documents is not None,
        forms=table.forms,
        standings=tuple(
            grouped(
                ruler,
                stand(
                    ruler,
                    respondents,
                    by_document=by_document,
                    **msgspec.structs.asdict(kind),
                ),
                group_by,
            )
            for kind, respondents in _apart(ruler.sheet).items()
        ),
        group_by=group_by,
        where=where,
        left_out=left_out,
        notes=notes,
    )


class _Kind(Struct, frozen=True, kw_only=True):
    """What respondents share that may be ranked against each other."""

    simulated: bool
    experiment: bool
    scale: Scale | None
    judge: str | None
    part: FormPart | None


def _apart(sheet: Sheet) -> dict[_Kind, list[int]]:
    """The respondents that may be ranked against each other: real ones first, and of these first
    those on the items' own scale. Experiments are apart from what is ranked. Those that different
    judges graded are apart; one without scores stands with the judge of most. Those whose limit is
    reached are apart from those who were asked more or less of the form."""
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
    """Whether a limit is why replies are missing, and nothing else."""
    return part is not None and 0 < part.unasked == missing


def count_rows(measure: Measure) -> tuple[tuple[str, str], ...]:
    """What each outcome counts as under a measure, in words, for all outcomes in order."""
    counted = [(name, _worth(measure, name)) for name in OUTCOMES if name != "failed"]
    failed = noted("not counted; asked again, and the run is incomplete until it succeeds")
    return (*counted, ("failed", failed))


def _worth(measure: Measure, outcome: str) -> str:
    worth = {str(name): counts for name, counts in measure.counts.items()}.get(outcome)
    if worth is None:
        return NOT_COUNTED
    if isinstance(worth, str):
        return noted("its score") if worth == "value" else noted("what its score lacks to 1")
    return f"{worth:g}"


def _named(measures: Sequence[Measure], name: str) -> Measure:
    for measure in measures:
        if measure.name == name:
            return measure
    known = ", ".join(measure.name for measure in measures) or "none"
    raise BadUsage(f"there is no measure {name!r}", hint=f"measures: {known}")


def _check(ruler: Ruler) -> None:
    if ruler.estimand not in ESTIMANDS:
        raise BadUsage(
            f"there is no estimand {ruler.estimand!r}", hint=f"estimands: {', '.join(ESTIMANDS)}"
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
