"""Declare KINA: its parts, each with the module that implements it."""

from __future__ import annotations

from proofstone.method import Method, PayloadType, later, read_games, read_presets
from proofstone.methods.kina import ask, payloads, score
from proofstone.methods.kina.payloads import Asked, Composed, Question, Statement

_HERE = "proofstone.methods.kina"

METHOD = Method(
    name="kina",
    title="KINA: ten options, combinations of statements, by discipline",
    scorer_version=score.SCORER_VERSION,
    payloads={
        "kina.question": PayloadType(Question),
        "kina.statement": PayloadType(Statement, called="statements"),
        "kina.asked": PayloadType(Asked),
        "kina.composed": PayloadType(Composed),
    },
    pipelines=later(f"{_HERE}.pipeline:PIPELINES"),
    recognises_facts=payloads.recognises_facts,
    read_facts=later(f"{_HERE}.questions:read_facts"),
    write_fact=later(f"{_HERE}.questions:write_fact"),
    fact_statistics=later(f"{_HERE}.statistics:fact_statistics"),
    parameters=later(f"{_HERE}.compose:PARAMETERS"),
    recipe=later(f"{_HERE}.compose:recipe"),
    compose=later(f"{_HERE}.compose:compose"),
    recognises=payloads.recognises,
    read_items=later(f"{_HERE}.questions:read_items"),
    write_item=later(f"{_HERE}.questions:write_item"),
    show=ask.show,
    item_statistics=later(f"{_HERE}.statistics:item_statistics"),
    bank_run="",
    prompt_methods=ask.PROMPT_METHODS,
    presets=later(lambda: read_presets(_HERE)),
    games=later(lambda: read_games(_HERE)),
    settings=ask.settings,
    prepare=ask.prepare,
    ask=ask.ask,
    query=ask.query,
    prompts=ask.PROMPTS,
    units=score.units,
    score=score.score,
    answer_key=score.answer_key,
    options_shown=payloads.options_shown,
    measures=score.MEASURES,
    scales=score.SCALES,
    headline=score.HEADLINE,
    rules=later(f"{_HERE}.rules:RULES"),
    grouping=later(f"{_HERE}.compose:GROUPING"),
)
