"""Scoring: from replies to scores, asking no contestant.

The run loop scores each reply as it comes; what it left (replies of an earlier version, a process
that was killed, what only a judge can decide) is scored here from the stored bodies. A scoring
grows with its run; scoring again, or with another judge, makes a new one. One that lacks scores of
finished replies is not whole, and counts nowhere.
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
    """``n`` (item, sample) of a run have scores, ``waiting`` have replies and none."""

    n: int
    waiting: int


class Judging(Struct, frozen=True):
    """Who decides what no rule can, and the ``name`` by which a scoring knows them: its judges and
    how they decide. ``is_stopped`` says whether one of them cannot be asked any more."""

    name: str
    judge: Judge
    is_stopped: Callable[[], bool] = lambda: False


def open_scoring(
    store: Store, method: Method, key: int, run: Run, clock: Clock, judges: str = ""
) -> int:
    """The scoring that a run's scores go to: the newest by this version of the scorer and these
    judges, or a new one. One that was cut off half-way goes on; it is current only once it is
    complete."""
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
    """Scores every finished (item, sample) of a run and returns how many have scores now.

    What its scoring holds already is not done twice; ``again`` begins a new one. Where some must
    wait (for a judge that was not named, or not heard), the scoring stays open.
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
    """Adds what a scoring lacks of a run's finished replies."""
    n_scored, n_done = store.scores.n_scored(scoring), store.runs.count_done(key, run.last_step)
    if n_scored < n_done:
        await _score_missing(store, method, scoring, key, run, judge)
        n_scored = store.scores.n_scored(scoring)
    return Scored(n=n_scored, waiting=max(n_done - n_scored, 0))


class Finished(Struct, frozen=True, gc=False):
    """One item's replies (by step) in one sample, all there."""

    item: StoredItem
    responses: Mapping[str, Response]
    sample: int


async def score_responses(
    store: Store, method: Method, finished: Iterable[Finished], judge: Judge | None = None
) -> list[ScoreRow]:
    """The scores of what is finished, many at once: a scorer is fastest while it is warm. What only
    a judge can decide has none without one."""
    units: list[Unit] = []
    rows: list[UnitRow] = []
    for one in finished:
        for unit in method.units(one.item.loaded, one.responses, one.sample):
            units.append(unit)
            rows.append(unit_row(store, method, one.item.key, unit))
    scores = await method.score(units, judge)
    return [ScoreRow(rows[score.unit], units[score.unit].sample, score) for score in scores]


async def score_units(method: Method, units: Sequence[Unit], judge: Judge | None) -> list[Score]:
    """The scores of units by their places among all, a page of them at a time."""
    found: list[Score] = []
    for start in range(0, len(units), _PAGE):
        scores = await method.score(units[start : start + _PAGE], judge)
        found += [structs.replace(score, unit=score.unit + start) for score in scores]
    return found


def pages_to_score(
    store: Store, key: int, run: Run, scoring: int | None
) -> Iterator[list[Finished]]:
    """The finished (item, sample) of a run that a scoring lacks, all of them where there is none
    yet, a page of items at a time."""
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
    # Stored in a thread while the next page is read and scored; read on the loop, in small pages:
    # in a thread, the driver would wait for the interpreter lock at every row.
    storing: list[asyncio.Task[None]] = []  # none yet, or that of the page before
    for missing in pages_to_score(store, key, run, scoring):
        rows = await score_responses(store, method, missing, judge)
        await asyncio.gather(*storing)
        storing = [asyncio.create_task(asyncio.to_thread(store.scores.add, scoring, rows))]
    await asyncio.gather(*storing)


def _finished(entry: ItemResponses, last_step: str) -> Iterable[tuple[int, dict[str, RawResponse]]]:
    """The replies by step of each sample that has its last step, in the order of samples."""
    samples: dict[int, dict[str, RawResponse]] = {}
    for (sample, step), raw in entry.responses.items():
        samples.setdefault(sample, {})[step] = raw
    return [(sample, samples[sample]) for sample in sorted(samples) if last_step in samples[sample]]


def _response(raw: RawResponse) -> Response:
    return read_response(raw.wire, raw.raw)


def unit_row(store: Store, method: Method, item: int, unit: Unit) -> UnitRow:
    """A unit of the item with this key, as it is stored."""
    answer_key, n_choices = method.answer_key(unit)
    if unit.payload is None:  # the unit is its item
        return UnitRow(item, unit.kind, b"", 1, b"", answer_key, n_choices, unit.clusters)
    version, payload = store.payloads.encode(unit.kind, unit.payload)
    identity = content_id("unit", [unit.kind, unit.payload])
    return UnitRow(
        item, unit.kind, identity, version, payload, answer_key, n_choices, unit.clusters
    )


# The scorings of a run, as people choose among them.


class ScoringShown(Struct, frozen=True, kw_only=True):
    """A whole scoring: by which version of the scorer and by whom besides, of how many replies, and
    if it counts."""

    id: str
    made_at: str
    scorer_version: int
    n_scored: int
    is_current: bool
    judge: str = ""


def list_scorings(session: Session, run: Target) -> list[ScoringShown]:
    """The whole scorings of a run, oldest first."""
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
