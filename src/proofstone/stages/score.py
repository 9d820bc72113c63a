"""Scoring: from stored replies to scores, asking nobody. Scoring again makes a new scoring."""

from __future__ import annotations

import asyncio

from proofstone.engines.models import read_reply
from proofstone.engines.store import ItemReplies, RawReply, ScoreRow, Store, UnitRow
from proofstone.identity import content_id
from proofstone.ports import Clock, Method
from proofstone.records import Run, Unit

__all__ = ["score_run"]

_PAGE = 128


async def score_run(
    store: Store, method: Method, key: int, run: Run, *, clock: Clock, again: bool = False
) -> int:
    """Scores every finished (item, sample) of a run and returns how many scores it now has.

    What the current scoring holds already, by the same version of the scorer, is not done twice
    unless ``again``. A scoring cut off half-way is never current.
    """
    measure = _stored_measure(method)
    current = store.scores.current(key)
    if current is not None and current.scorer_version == method.scorer_version and not again:
        n_scored = store.scores.n_scored(current.key, measure)
        if n_scored == store.runs.count_done(key, run.last_step):
            return n_scored
    scoring = store.scores.begin(key, run, method.scorer_version, "", clock.now())
    # Stored in a thread while the next page is read and scored; read on the loop, in small pages:
    # in a thread, the driver would wait for the interpreter lock at every row.
    storing: asyncio.Task[None] | None = None
    for page in store.runs.reply_pages(key, run.item_set, _PAGE):
        rows = await _score_page(store, method, run, page)
        if storing is not None:
            await storing
        storing = asyncio.create_task(asyncio.to_thread(store.scores.add, scoring, rows))
    if storing is not None:
        await storing
    store.scores.complete(scoring, clock.now())
    return store.scores.n_scored(scoring, measure)


async def _score_page(
    store: Store, method: Method, run: Run, page: list[ItemReplies]
) -> list[ScoreRow]:
    units: list[Unit] = []
    rows: list[UnitRow] = []
    for entry in page:
        for sample, steps in sorted(_finished(entry, run.last_step).items()):
            replies = {step: read_reply(raw.wire, raw.raw) for step, raw in steps.items()}
            for unit in method.units(entry.item.loaded, replies, sample):
                units.append(unit)
                rows.append(_unit_row(store, method, entry.item.key, unit))
    scores = await method.score(units, None)
    return [ScoreRow(rows[score.unit], units[score.unit].sample, score) for score in scores]


def _finished(entry: ItemReplies, last_step: str) -> dict[int, dict[str, RawReply]]:
    """The replies by step of each sample that has its last step."""
    samples: dict[int, dict[str, RawReply]] = {}
    for (sample, step), raw in entry.replies.items():
        samples.setdefault(sample, {})[step] = raw
    return {sample: steps for sample, steps in samples.items() if last_step in steps}


def _unit_row(store: Store, method: Method, item: int, unit: Unit) -> UnitRow:
    gold, n_choices = method.gold(unit)
    if unit.payload is None:  # the unit is its item
        return UnitRow(item, unit.kind, b"", 1, b"", gold, n_choices, unit.clusters)
    version, payload = store.payloads.encode(unit.kind, unit.payload)
    identity = content_id("unit", [unit.kind, unit.payload])
    return UnitRow(item, unit.kind, identity, version, payload, gold, n_choices, unit.clusters)


def _stored_measure(method: Method) -> str:
    return next(m.of for m in method.measures if m.name == method.headline)
