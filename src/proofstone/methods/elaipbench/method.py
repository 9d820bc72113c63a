"""Declare ELAIPBench: its parts, each with the module that implements it."""

from __future__ import annotations

from proofstone.choices import likelihood
from proofstone.method import (
    Method,
    PayloadType,
    later,
    read_error_labels,
    read_games,
    read_presets,
)
from proofstone.methods.elaipbench import ask, compose, payloads, questions, score
from proofstone.methods.elaipbench.payloads import AskedQuestion, PaperQuestion

_HERE = "proofstone.methods.elaipbench"

METHOD = Method(
    name="elaipbench",
    title="ELAIPBench: questions over whole papers",
    scorer_version=score.SCORER_VERSION,
    payloads={
        "elaipbench.question": PayloadType(PaperQuestion),
        "elaipbench.asked": PayloadType(AskedQuestion),
    },
    pipelines=later(f"{_HERE}.checks:PIPELINES"),
    recognises_facts=questions.recognises_facts,
    place_evidence=questions.place_evidence,
    read_facts=questions.read_facts,
    write_fact=questions.write_fact,
    evidence=payloads.evidence,
    usual_context="document",
    fact_statistics=later(f"{_HERE}.statistics:fact_statistics"),
    parameters=compose.PARAMETERS,
    recipe=compose.recipe,
    compose=compose.compose,
    recognises=questions.recognises,
    read_items=questions.read_items,
    write_item=questions.write_item,
    show=ask.show,
    item_statistics=later(f"{_HERE}.statistics:item_statistics"),
    bank_run="",
    prompt_methods=ask.PROMPT_METHODS,
    presets=later(lambda: read_presets(_HERE)),
    games=later(lambda: read_games(_HERE)),
    error_labels=later(lambda: read_error_labels(_HERE)),
    settings=ask.settings,
    prepare=ask.prepare,
    ask=ask.ask,
    query=ask.query,
    web_query=ask.web_query,
    prompts=ask.PROMPTS,
    units=score.units,
    score=score.score,
    answer_key=score.answer_key,
    options_shown=payloads.options_shown,
    measures=score.MEASURES,
    scales=likelihood.SCALES,
    headline=score.HEADLINE,
    grouping=compose.GROUPING,
    people=compose.PEOPLE,
)
