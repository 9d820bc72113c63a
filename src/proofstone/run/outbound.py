"""What a run would send: how many requests, how much text, and which sources stand behind it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import structs

from proofstone.method import Method, find_method
from proofstone.models.config import ModelConfig
from proofstone.models.registry import leaves_to, open_endpoint
from proofstone.records.items import ItemSet, Way
from proofstone.run.evidence import (
    Retriever,
    passages_behind,
    retrieved_origins,
    spread_items,
)
from proofstone.run.pilot import Pilot
from proofstone.run.plan import PlannedRun, RunSpec, plan_run
from proofstone.run.prompts import first_prompt
from proofstone.session.egress import Load, Loads
from proofstone.session.permits import Outgoing, joined_origins
from proofstone.session.session import Session
from proofstone.store.provenance import Origin
from proofstone.store.store import Store

_AT_ONCE = 500  # positions in one statement


_RENDERED = 24  # questions whose prompts are made to tell how long all are


def what_would_leave(store: Store, method: Method, planned: PlannedRun) -> Outgoing:
    """What is left of a run to send; nothing of a run that is done. Sends nothing."""
    left = planned.total - _done(store, planned)
    if left <= 0:
        return Outgoing()
    items = spread_items(store, planned.way, planned.item_set, planned.n_items, _RENDERED)
    lengths = [
        sum(len(message.content) for message in first_prompt(method, item, planned.way))
        for item in items
    ]
    length = sum(lengths) / len(lengths) if lengths else 0.0
    return _outgoing(store, planned, _of_questions(store, planned), planned.n_asked, left, length)


def cells_would_leave(
    store: Store, planned: PlannedRun, cells: Sequence[tuple[int, int]], length: float
) -> Outgoing:
    """What asking a few (position, sample) of a run sends, each with a prompt of about ``length``
    characters."""
    positions = sorted({position for position, _sample in cells})
    origins = store.origins.of_positions(planned.item_set.id, positions)
    return _outgoing(store, planned, origins, len(positions), len(cells), length)


def _outgoing(
    store: Store,
    planned: PlannedRun,
    questions: Sequence[Origin],
    n_items: int,
    n_requests: int,
    length: float,
) -> Outgoing:
    """So many requests on questions of these origins, with what goes along with them."""
    passages = _of_passages(store, planned)
    shots = _of_shots(store, planned.way, planned.item_set)
    return Outgoing(
        items=n_items,
        requests=n_requests,
        characters=round(n_requests * length),
        origins=joined_origins([*questions, *shots, *_uncounted(passages)], max),
        passages=sum(origin.n_items for origin in passages),
    )


def _done(store: Store, planned: PlannedRun) -> int:
    try:
        key, run = store.runs.run(planned.run.id)
    except KeyError:
        return 0
    limited = planned.n_items < planned.item_set.n_items
    return store.runs.count_done(key, run.last_step, planned.n_items if limited else None)


def _of_questions(store: Store, planned: PlannedRun) -> tuple[Origin, ...]:
    """The origins of the questions that a run asks."""
    item_set, evidence = planned.item_set.id, planned.way.evidence
    if evidence is None or not evidence.left_out:
        return tuple(store.origins.of_set(item_set, planned.n_items))
    asked = [place for place in range(planned.n_items) if place not in evidence.left_out]
    parts = (asked[start : start + _AT_ONCE] for start in range(0, len(asked), _AT_ONCE))
    found = [origin for part in parts for origin in store.origins.of_positions(item_set, part)]
    return joined_origins(found, lambda a, b: a + b)


def _of_shots(store: Store, way: Way, item_set: ItemSet) -> list[Origin]:
    """Worked examples are sent too, and may rest on other sources than the questions."""
    facts = {fact.id for shot in way.shots for fact in shot.facts}
    found = store.origins.of_facts(sorted(facts), item_set.name) if facts else []
    return _uncounted(found)


def _of_passages(store: Store, planned: PlannedRun) -> list[Origin]:
    """The sources whose passages are sent at the most, with how many; a fact may name another one
    than its passage does."""
    if planned.way.retrieved is not None:
        return retrieved_origins(store, planned.way)
    if planned.way.evidence is None:
        return []
    return store.origins.of_passages(passages_behind(store, planned.item_set.id))


def _uncounted(origins: Iterable[Origin]) -> list[Origin]:
    """Origins of what goes along with questions: they are no more questions for it."""
    return [structs.replace(origin, n_items=0) for origin in origins]


def plan_loads(
    session: Session, specs: Sequence[RunSpec], retriever: Retriever | None = None
) -> Loads:
    """What ``specs`` would send to each host that is not this machine; nothing of finished runs.

    Raises what ``open_model`` and ``plan_run`` raise.
    """
    loads: Loads = {}
    store, config = session.store, session.config
    for spec in specs:
        to = leaves_to(spec.model, config)
        model = open_endpoint(spec.model, config, clock=session.clock)
        if to is None or to.is_local or model is None:
            continue
        method = find_method(store.items.item_set(spec.item_set).method)
        planned = plan_run(store, method, spec, model, retriever)
        outgoing = what_would_leave(store, method, planned)
        if outgoing.requests:
            known = loads.get(to, Load())
            loads[to] = known.with_run(spec.model, spec.item_set, outgoing)
    return loads


def pilot_loads(store: Store, pilots: Sequence[Pilot], config: ModelConfig) -> Loads:
    """What pilots would send to each host that is not this machine: of that which they drew, what
    the cache does not have."""
    loads: Loads = {}
    for pilot in pilots:
        model = pilot.group.planned.run.respondent
        to = leaves_to(model, config)
        if to is None or to.is_local:
            continue
        for place, survey in enumerate(pilot.group.surveys):
            cells = [cell for at, cell in pilot.sample if at == place and cell not in survey.cached]
            if cells:
                length = survey.characters / survey.to_ask
                outgoing = cells_would_leave(store, survey.planned, cells, length)
                known = loads.get(to, Load())
                loads[to] = known.with_run(model, survey.planned.item_set.id, outgoing)
    return loads
