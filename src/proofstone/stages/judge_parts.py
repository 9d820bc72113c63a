"""The same replies as several judges graded them: a part of a study for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from proofstone.engines.store import Found, Store
from proofstone.engines.store.scores import ScoringInfo
from proofstone.errors import BadUsage
from proofstone.ports import Method
from proofstone.records import Run, ScoreTable
from proofstone.stages.corrected import View
from proofstone.stages.studies import part_of
from proofstone.stages.summarise import Selection, headline, select_runs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from proofstone.report.studies import Part

__all__ = ["parts_by_judge"]

_ByJudge = dict[str, dict[bytes, ScoringInfo]]  # the judges -> a run's id -> its scoring by them


def parts_by_judge(
    store: Store, find_method: Callable[[str], Method], targets: Sequence[Found]
) -> list[Part]:
    """A part for the judges of each scoring, the newest whole one of theirs a run, in the order in
    which they first judged; as scored, since a person's ruling would hold for all of them.

    Raises BadUsage where no judge graded anything, and what ``select_runs`` does.
    """
    selection = select_runs(store, targets)
    by_judge = _by_judge(store, selection.runs)
    if not by_judge:
        raise BadUsage(
            "no judge graded these replies", hint="proofstone score RUN --judge PROVIDER/NAME"
        )
    method = find_method(selection.method)
    return [
        _part(store, method, selection, judges, scorings) for judges, scorings in by_judge.items()
    ]


def _by_judge(store: Store, runs: Sequence[tuple[int, Run]]) -> _ByJudge:
    found = [
        (scoring, run.id) for key, run in runs for scoring in store.scores.of_run(key)
        if scoring.judge
    ]  # fmt: skip
    by_judge: _ByJudge = {}
    for scoring, run in sorted(found, key=lambda pair: (pair[0].created_at, pair[0].key)):
        by_judge.setdefault(scoring.judge, {})[run] = scoring
    return by_judge


def _part(
    store: Store,
    method: Method,
    selection: Selection,
    judges: str,
    scorings: Mapping[bytes, ScoringInfo],
) -> Part:
    runs = tuple((key, run) for key, run in selection.runs if run.id in scorings)
    asked = {run.item_set for _key, run in runs}
    sets = tuple(item_set for item_set in selection.item_sets if item_set.id in asked)
    view = View(as_scored=True, scorings=tuple(each.id.hex() for each in scorings.values()))
    part = part_of(store, method, Selection(item_sets=sets, runs=runs), view=view)
    measure = headline(method).of
    places = {run: store.scores.judged(scoring.key, measure) for run, scoring in scorings.items()}
    return replace(part, name=judges, judged=_judged(part.table, places))


def _judged(table: ScoreTable, places: Mapping[bytes, set[tuple[bytes, int]]]) -> NDArray[np.bool_]:
    """Of each score whether its reply went to a judge."""
    import numpy as np  # noqa: PLC0415 - not for --help

    known = [
        {place for run in who.runs for place in places.get(run, ())} for who in table.respondents
    ]
    columns = (table.respondent.tolist(), table.unit.tolist(), table.sample.tolist())
    rows = zip(*columns, strict=True)
    return np.array([(table.items[unit], n) in known[who] for who, unit, n in rows], dtype=bool)
