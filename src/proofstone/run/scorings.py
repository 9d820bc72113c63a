"""Compute scores from stored responses, without calling evaluated models.

The run loop scores each response as it arrives. The rest is scored here from the stored responses:
those of an earlier version, of a killed process, or those that only a judge can score. A scoring
grows with its run. Scoring again, or with another judge, makes a new one. A scoring that lacks
scores of finished responses is incomplete and never used.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, structs

from proofstone.method import Method
from proofstone.models.responses import read_response
from proofstone.records.calls import Clock, Judge
from proofstone.records.ids import content_id, short
from proofstone.records.items import Unit
from proofstone.records.runs import Response, Run, Score
from proofstone.run.prompts import format_of, in_format, kept_prompt
from proofstone.session.session import Session, Target
from proofstone.session.terminal import minute
from proofstone.store.items import StoredItem
from proofstone.store.runs import ItemResponses, RawResponse
from proofstone.store.scores import ScoreRow, UnitRow
from proofstone.store.store import Store

_PAGE = 128


class Scored(Struct, frozen=True):
    """``n`` (item, sample) of a run have scores; ``waiting`` have responses and no score."""

    n: int
    waiting: int


class Judging(Struct, frozen=True):
    """Who decides what no rule can, and the ``name`` that scorings store: judges and rules.

    ``is_stopped`` returns True if one of them cannot be asked any more.
    """

    name: str
    judge: Judge
    is_stopped: Callable[[], bool] = lambda: False


def open_scoring(
    store: Store, method: Method, key: int, run: Run, clock: Clock, judges: str = ""
) -> int:
    """Return the scoring for a run's scores: the newest of this scorer version and these judges.

    Makes a new one if there is none. An interrupted scoring is continued; it becomes current once
    complete.
    """
    newest = store.scores.newest(key, method.scorer_version, judges)
    if newest is not None:
        return newest.key
    return store.scores.begin(key, run, method.scorer_version, judges, clock.now())


async def score_run(
    store: Store,
    method: Method,
    key: int,
    run: Run,
    *,
    clock: Clock,
    again: bool = False,
    judging: Judging | None = None,
) -> Scored:
    """Score every finished (item, sample) of a run; return how many have scores now.

    Existing scores are kept; ``again`` starts a new scoring. If some must wait for a judge, the
    scoring stays open.
    """
    judges = "" if judging is None else judging.name
    if again:
        scoring = store.scores.begin(key, run, method.scorer_version, judges, clock.now())
    else:
        scoring = open_scoring(store, method, key, run, clock, judges)
    scored = await fill_scoring(
        store, method, scoring, key, run, None if judging is None else judging.judge
    )
    if not scored.waiting:
        store.scores.complete(scoring, clock.now())
    return scored


async def fill_scoring(
    store: Store, method: Method, scoring: int, key: int, run: Run, judge: Judge | None = None
) -> Scored:
    """Add the missing scores of a run's finished responses to a scoring."""
    n_scored, n_done = store.scores.n_scored(scoring), store.runs.count_done(key, run.last_step)
    if n_scored < n_done:
        await _score_missing(store, method, scoring, key, run, judge)
        n_scored = store.scores.n_scored(scoring)
    return Scored(n=n_scored, waiting=max(n_done - n_scored, 0))


class Finished(Struct, frozen=True, gc=False):
    """All responses of one item (by step) in one sample."""

    item: StoredItem
    responses: Mapping[str, Response]
    sample: int


async def score_responses(
    store: Store, method: Method, finished: Iterable[Finished], judge: Judge | None = None
) -> list[ScoreRow]:
    """Return the scores of finished items, many together: a scorer is fastest in batches.

    Without a judge, responses that only a judge can score have none.
    """
    units: list[Unit] = []
    rows: list[UnitRow] = []
    for one in finished:
        for unit in method.units(one.item.loaded, one.responses, one.sample):
            units.append(unit)
            rows.append(unit_row(store, method, one.item.key, unit))
    scores = await method.score(units, judge)
    return [ScoreRow(rows[score.unit], units[score.unit].sample, score) for score in scores]


async def score_units(method: Method, units: Sequence[Unit], judge: Judge | None) -> list[Score]:
    """Return the scores of units by their positions, a page at a time."""
    found: list[Score] = []
    for start in range(0, len(units), _PAGE):
        scores = await method.score(units[start : start + _PAGE], judge)
        found += [structs.replace(score, unit=score.unit + start) for score in scores]
    return found


def pages_to_score(
    store: Store, key: int, run: Run, scoring: int | None
) -> Iterator[list[Finished]]:
    """Yield the finished (item, sample) of a run without a score in a scoring, a page at a time.

    Yields all of them if there is no scoring yet.
    """
    stated = format_of(kept_prompt(store, run), run.settings)
    for page in store.runs.response_pages(key, run.item_set, _PAGE):
        keys = [entry.item.key for entry in page]
        scored = set() if scoring is None else store.scores.scored_among(scoring, keys)
        yield [
            Finished(
                entry.item,
                in_format({step: _response(raw) for step, raw in steps.items()}, stated),
                sample,
            )
            for entry in page
            for sample, steps in _finished(entry, run.last_step)
            if (entry.item.key, sample) not in scored
        ]


async def _score_missing(
    store: Store, method: Method, scoring: int, key: int, run: Run, judge: Judge | None
) -> None:
    # Stored in a thread while the next page is read and scored. Pages are read on the event loop
    # and small: in a thread, the driver would wait for the interpreter lock at every row.
    storing: list[asyncio.Task[None]] = []  # none yet, or that of the previous page
    for missing in pages_to_score(store, key, run, scoring):
        rows = await score_responses(store, method, missing, judge)
        await asyncio.gather(*storing)
        storing = [asyncio.create_task(asyncio.to_thread(store.scores.add, scoring, rows))]
    await asyncio.gather(*storing)


def _finished(entry: ItemResponses, last_step: str) -> Iterable[tuple[int, dict[str, RawResponse]]]:
    """Yield the responses by step of each sample that has its last step, in sample order."""
    samples: dict[int, dict[str, RawResponse]] = {}
    for (sample, step), raw in entry.responses.items():
        samples.setdefault(sample, {})[step] = raw
    return [(sample, samples[sample]) for sample in sorted(samples) if last_step in samples[sample]]


def _response(raw: RawResponse) -> Response:
    return read_response(raw.wire, raw.raw)


def unit_row(store: Store, method: Method, item: int, unit: Unit) -> UnitRow:
    """Return a unit of the item with this key, as it is stored."""
    answer_key, n_choices = method.answer_key(unit)
    if unit.payload is None:  # the unit is its item
        return UnitRow(item, unit.kind, b"", 1, b"", answer_key, n_choices, unit.clusters)
    version, payload = store.payloads.encode(unit.kind, unit.payload)
    identity = content_id("unit", [unit.kind, unit.payload])
    return UnitRow(
        item, unit.kind, identity, version, payload, answer_key, n_choices, unit.clusters
    )


# List the scorings of a run, to choose among them.


class ScoringShown(Struct, frozen=True, kw_only=True):
    """A complete scoring: scorer version, judges, number of responses, and if it is current."""

    id: str
    made_at: str
    scorer_version: int
    n_scored: int
    is_current: bool
    judge: str = ""


def list_scorings(session: Session, run: Target) -> list[ScoringShown]:
    """Return the complete scorings of a run, oldest first."""
    store, key = session.store, session.find(run, "run").key
    current = store.scores.current(key)
    return [
        ScoringShown(
            id=short(scoring.id),
            made_at=minute(scoring.created_at),
            scorer_version=scoring.scorer_version,
            n_scored=store.scores.n_scored(scoring.key),
            is_current=current is not None and scoring.key == current.key,
            judge=scoring.judge,
        )
        for scoring in store.scores.of_run(key)
    ]
