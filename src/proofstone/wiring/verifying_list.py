"""The runs on one list at work: what their scorings lack is posed, judged and stored."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing

from proofstone.engines.store import Store
from proofstone.identity import content_id
from proofstone.methods.bequ.verification import Decided, Posed, Sampled, decide, posed_questions
from proofstone.ports import Embedder
from proofstone.records.triples import Direction
from proofstone.stages.score import Judging
from proofstone.stages.verified_scoring import verified_row
from proofstone.wiring.gathered_runs import GatheredRuns, VerifiesRuns

__all__ = ["VerifyingList"]


class VerifyingList:
    """Gathered runs and the scoring of each (None: there is none yet). ``waiting`` counts by run
    the triples that were left without a verdict."""

    def __init__(
        self,
        store: Store,
        method: VerifiesRuns,
        found: GatheredRuns,
        scorings: Sequence[int | None],
        embedder: Embedder | None = None,
    ) -> None:
        self.found = found
        self.waiting: Counter[int] = Counter()
        self._store = store
        self._method = method
        self._scorings = scorings
        self._embedder = embedder
        self._places = _Places(store, found, scorings)

    def posed(self) -> Iterator[Posed]:
        """What of the sample has no verdict yet."""
        found = self.found
        return posed_questions(found.gathered, found.plan, self._embedder, self._places.has)

    async def perform(
        self, judging: Judging, stop: asyncio.Event, tell: Callable[[int], None]
    ) -> None:
        """Verifies it, page by page, until a judge cannot be asked any more or ``stop`` is set;
        ``tell`` hears how many more are done."""
        storing: list[asyncio.Task[None]] = []  # none yet, or that of the page before
        async with aclosing(decide(self.posed(), judging.judge)) as pages:
            async for page in pages:
                await asyncio.gather(*storing)
                storing = [asyncio.create_task(asyncio.to_thread(self._store_page, page))]
                tell(len(page))
                if stop.is_set() or judging.is_stopped():
                    break
        await asyncio.gather(*storing)

    def _store_page(self, page: Sequence[Decided]) -> None:
        by_group: dict[int, list[Decided]] = {}
        for each in page:
            if each.verdict.basis == "waiting":
                self.waiting[each.posed.group] += 1
            else:
                by_group.setdefault(each.posed.group, []).append(each)
        for group, decided in by_group.items():
            scoring = self._scorings[group]
            if scoring is not None:
                rows = [
                    verified_row(self._store, self._method, self.found.verified(each))
                    for each in decided
                ]
                self._store.scores.add(scoring, rows)


class _Places:
    """Which triples of the sample have a verdict already: looked up entity by entity."""

    def __init__(self, store: Store, found: GatheredRuns, scorings: Sequence[int | None]) -> None:
        self._store = store
        self._found = found
        self._scorings = scorings
        begun = [key for key in scorings if key is not None]
        self._begun = begun if store.verified.is_any(begun) else []
        self._entity = -1
        self._places: set[tuple[int, str, bytes, int]] = set()

    def has(self, direction: Direction, group: int, entity: int, sampled: Sampled) -> bool:
        """Whether a triple of the sample has its verdict."""
        scoring = self._scorings[group]
        if scoring is None or scoring not in self._begun:
            return False
        if entity != self._entity:
            items = self._found.items_of(entity)
            self._entity, self._places = entity, self._store.verified.places(self._begun, items)
        unit = self._found.unit(direction, group, entity, sampled)
        key = content_id("unit", [unit.kind, unit.payload])
        return (scoring, direction, key, unit.sample) in self._places
