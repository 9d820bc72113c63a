"""BeQu as everything else sees it: what it is made of, by the module that knows it."""

from __future__ import annotations

from proofstone.method import Method, PayloadType, later, read_presets
from proofstone.methods.bequ import ask, bank, entities, measures, score
from proofstone.methods.bequ.entities import ElicitedTriple, Entity, KnownTriple
from proofstone.methods.bequ.reference import facts

_HERE = "proofstone.methods.bequ"

METHOD = Method(
    name="bequ",
    title="BeQu: open elicitation of triples",
    scorer_version=score.SCORER_VERSION,
    items_called="entities",
    facts_called="triples",
    payloads={
        "bequ.entity": PayloadType(Entity),
        "bequ.triple": PayloadType(ElicitedTriple),
        "bequ.known": PayloadType(KnownTriple),
        "bequ.reference": PayloadType(facts.ReferenceFact),
    },
    pipelines=later(f"{_HERE}.reference.pipeline:PIPELINES"),
    recognises_facts=facts.recognises,
    read_facts=bank.read_facts,
    write_fact=bank.write_fact,
    parameters=bank.PARAMETERS,
    recipe=bank.recipe,
    compose=bank.compose,
    recognises=entities.recognises,
    read_items=entities.read_entities,
    write_item=entities.write_entity,
    show=later(f"{_HERE}.entity_views:show_entity"),
    item_statistics=later(f"{_HERE}.entity_views:entity_statistics"),
    bank_run="",
    ways=ask.WAYS,
    ranges=later(lambda: tuple(ask.ranges())),
    presets=later(lambda: read_presets(_HERE, shared="all")),
    settings=ask.settings,
    prepare=ask.prepare,
    ask=ask.ask,
    query=entities.query,
    prompts=ask.PROMPTS,
    units=score.units,
    score=score.score,
    gold=score.gold,
    measures=measures.MEASURES,
    headline=measures.HEADLINE,
    verifying=later(f"{_HERE}.entity_views:VERIFYING"),
)
