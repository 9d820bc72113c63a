"""Stored runs on one list of entities, gathered to be verified: triples beside a reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from typing import Protocol

from msgspec import Struct

from proofstone.engines.store import Store, StoredItem
from proofstone.methods.bequ.payloads import ElicitedTriple
from proofstone.methods.bequ.verification import (
    Asked,
    Decided,
    Gathered,
    GivenTriple,
    ReferenceRow,
    Sampled,
    Spool,
    VerifyPlan,
    VerifySettings,
    known_triples,
    make_plan,
)
from proofstone.methods.bequ.verified_units import known_unit, said_unit
from proofstone.ports import Elicits, Method, Row, Verifies
from proofstone.records import Run, Unit
from proofstone.records.triples import Direction, Group
from proofstone.stages.score import Finished, pages_to_score
from proofstone.stages.verified_scoring import VerifiedTriple
from proofstone.wiring.references import Reference

__all__ = ["GatheredRuns", "VerifiesRuns", "gathered_runs"]

_PAGE = 500


class VerifiesRuns(Verifies, Elicits, Method, Protocol):
    """A method whose replies hold triples that can be verified."""


class SaidAt(Struct, frozen=True, gc=False, array_like=True):
    """A triple as it was said, and where: the key of its item, and the sample."""

    item: int
    sample: int
    triple: ElicitedTriple


Said = Spool[tuple[int, int], SaidAt]


class GatheredRuns:
    """Runs on one list with a reference, and the sample of their triples. A group is a run, by its
    place in ``runs``. What is said of entities that do not exist is made up whatever it says: it is
    not among them."""

    def __init__(self, runs: Sequence[tuple[int, Run]], gathered: Gathered, said: Said) -> None:
        self.runs = runs
        self.gathered = gathered
        self.plan: VerifyPlan
        self._said = said
        self._items: dict[int, StoredItem] = {}
        self._entities: dict[int, int] = {}  # the entity that an item means, by the item's key
        self._meaning: dict[int, list[int]] = {}  # the other way
        self._fictional: set[int] = set()
        self._known = lru_cache(maxsize=4)(lambda entity: known_triples(gathered, entity))
        # Of each run the item and sample of the first reply about an entity.
        self._replied: list[dict[int, tuple[int, int]]] = [{} for _run in runs]

    def n_of(self, group: int) -> int:
        """How many triples of a run are in the sample, of both directions."""
        return self.plan.n_of(group)

    def items_of(self, entity: int) -> list[int]:
        """The keys of the items that mean an entity."""
        return self._meaning.get(entity, [])

    def unit(self, direction: Direction, group: int, entity: int, sampled: Sampled) -> Unit:
        """The unit of a triple of the sample."""
        return self._found(direction, group, entity, sampled)[1]

    def verified(self, decided: Decided) -> VerifiedTriple:
        """A triple with its verdict, as it is scored."""
        posed = decided.posed
        item, unit = self._found(posed.direction, posed.group, posed.entity, posed.sampled)
        return VerifiedTriple(
            direction=posed.direction,
            item=item,
            unit=unit,
            drawn=posed.sampled.drawn,
            verdict=decided.verdict,
            said=decided.said,
        )

    def take(self, store: Store, method: VerifiesRuns, reference: Reference) -> None:
        """Reads the reference, the list, and what the runs said."""
        reference.take(self.gathered.take_reference)
        for page in store.items.pages(self.runs[0][1].item_set, _PAGE):
            for stored in page:
                facts = method.entity_facts(stored.loaded)
                self._items[stored.key] = stored
                if facts.is_fictional:
                    self._fictional.add(stored.key)
                entity = self.gathered.find_entity(
                    facts.name, facts.identity, facts.domain, facts.popularity
                )
                self._entities[stored.key] = entity
                self._meaning.setdefault(entity, []).append(stored.key)
        for key, run in self.runs:
            group = self.gathered.begin_group(Group(run.respondent, run.way))
            for finished_page in pages_to_score(store, key, run, None):
                for finished in finished_page:
                    self._take_reply(method, group, finished)

    def draw(self, settings: VerifySettings) -> None:
        """Draws the sample."""
        asked = Asked(frozenset(self._entities.values()), self._replied)
        self.plan = make_plan(self.gathered, settings, asked)

    def _take_reply(self, method: VerifiesRuns, group: int, finished: Finished) -> None:
        item = finished.item.key
        entity = self._entities[item]
        self._replied[group].setdefault(entity, (item, finished.sample))
        if item in self._fictional:
            return
        rows = method.triple_rows(finished.item.loaded, finished.replies)
        self.gathered.take_elicited(
            (Row(f"reply {finished.item.position}", row) for row in rows), group=group
        )
        for row in rows:
            triple = ElicitedTriple(
                subject=row["subject"], predicate=row["predicate"], object=row["object"]
            )
            self._said.add((group, entity), SaidAt(item, finished.sample, triple))

    def _found(
        self, direction: Direction, group: int, entity: int, sampled: Sampled
    ) -> tuple[int, Unit]:
        if direction == "precision":
            said = self._said.read((group, entity), sampled.place)
            loaded = self._items[said.item].loaded
            return said.item, said_unit(loaded, said.triple, said.sample)
        item, sample = self._replied[group][entity]
        known = self._known(entity)[sampled.place]
        loaded = self._items[item].loaded
        return item, known_unit(loaded, known, sampled.place, sample)


@contextmanager
def gathered_runs(
    store: Store,
    method: VerifiesRuns,
    runs: Sequence[tuple[int, Run]],
    reference: Reference,
    settings: VerifySettings,
) -> Iterator[GatheredRuns]:
    """Runs of one list, read and drawn. Raises BadInput for a reference that cannot be read."""
    with ExitStack() as stack:
        given = stack.enter_context(Spool[tuple[int, int], GivenTriple](GivenTriple))
        known = stack.enter_context(Spool[int, ReferenceRow](ReferenceRow))
        said = stack.enter_context(Said(SaidAt))
        found = GatheredRuns(runs, Gathered(given, known), said)
        found.take(store, method, reference)
        found.draw(settings)
        yield found
