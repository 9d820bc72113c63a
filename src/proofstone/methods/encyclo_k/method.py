"""Declare Encyclo-K: its parts, each with the module that implements it."""

from __future__ import annotations

from proofstone.method import Method, PayloadType, later, read_presets
from proofstone.methods.encyclo_k import ask, compose, questions, score, statements
from proofstone.methods.encyclo_k.payloads import (
    ChoiceQuestion,
    ComposedQuestion,
    JudgedStatement,
    SingleStatement,
    Statement,
)

_HERE = "proofstone.methods.encyclo_k"

METHOD = Method(
    name="encyclo_k",
    title="Encyclo-K: dynamically composed knowledge statements",
    scorer_version=score.SCORER_VERSION,
    facts_called="statements",
    payloads={
        "encyclo_k.statement": PayloadType(Statement),
        "encyclo_k.composed": PayloadType(ComposedQuestion),
        "encyclo_k.choice": PayloadType(ChoiceQuestion),
        "encyclo_k.single": PayloadType(SingleStatement),
        "encyclo_k.judged": PayloadType(JudgedStatement),
    },
    builders=later(f"{_HERE}.build:BUILDERS"),
    pipelines=later(f"{_HERE}.extraction:PIPELINES"),
    sift=later(f"{_HERE}.filters:sift"),
    read_facts=statements.read_facts,
    write_fact=statements.write_fact,
    fact_statistics=later(f"{_HERE}.statistics:statement_statistics"),
    parameters=compose.PARAMETERS,
    recipe=compose.recipe,
    compose=compose.compose,
    recognises=questions.recognises,
    read_items=questions.read_items,
    write_item=questions.write_item,
    show=questions.show,
    item_statistics=later(f"{_HERE}.statistics:question_statistics"),
    prompt_methods=questions.PROMPT_METHODS,
    presets=later(lambda: read_presets(_HERE)),
    settings=ask.settings,
    prepare=ask.prepare,
    ask=ask.ask,
    query=questions.query,
    prompts=ask.PROMPTS,
    units=score.units,
    score=score.score,
    answer_key=score.answer_key,
    options_shown=score.options_shown,
    measures=score.MEASURES,
    headline=score.HEADLINE,
    scales=score.SCALES,
    contrasts=later(f"{_HERE}.review:CONTRASTS"),
    reviewing=later(f"{_HERE}.review:REVIEWING"),
    editing=later(f"{_HERE}.edit:EDITING"),
)
