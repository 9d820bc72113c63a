"""Declare Chinese SimpleQA: its parts, each with the module that implements it."""

from __future__ import annotations

from proofstone.choices import likelihood
from proofstone.method import Method, PayloadType, later, read_presets
from proofstone.methods.chinese_simpleqa import ask, compose, questions, sameness, score
from proofstone.methods.chinese_simpleqa.payloads import (
    AskedChoice,
    AskedPair,
    Choice,
    Pair,
    ShortQuestion,
    Twin,
)

_HERE = "proofstone.methods.chinese_simpleqa"

METHOD = Method(
    name="chinese_simpleqa",
    title="Chinese SimpleQA: short factual questions",
    scorer_version=score.SCORER_VERSION,
    payloads={
        "chinese_simpleqa.question": PayloadType(ShortQuestion),
        "chinese_simpleqa.pair": PayloadType(Pair),
        "chinese_simpleqa.asked": PayloadType(AskedPair),
        "chinese_simpleqa.choice": PayloadType(Choice),
        "chinese_simpleqa.twin": PayloadType(Twin),
        "chinese_simpleqa.asked_choice": PayloadType(AskedChoice),
    },
    pipelines=later(f"{_HERE}.build.pipeline:PIPELINES"),
    recognises_facts=questions.recognises_facts,
    read_facts=questions.read_facts,
    write_fact=questions.write_fact,
    fact_statistics=later(f"{_HERE}.payloads:fact_statistics"),
    parameters=compose.PARAMETERS,
    recipe=compose.recipe,
    compose=compose.compose,
    recognises=questions.recognises,
    read_items=questions.read_items,
    write_item=questions.write_item,
    show=ask.show,
    item_statistics=later(f"{_HERE}.payloads:item_statistics"),
    bank_run="--judge PROVIDER/NAME",
    prompt_methods=ask.PROMPT_METHODS,
    presets=later(lambda: read_presets(_HERE)),
    settings=ask.settings,
    prepare=ask.prepare,
    ask=ask.ask,
    query=ask.query,
    prompts=ask.PROMPTS,
    units=score.units,
    score=score.score,
    answer_key=score.answer_key,
    measures=sameness.MEASURES,
    headline=sameness.HEADLINE,
    scales=likelihood.SCALES,
    grouping=compose.GROUPING,
    reviewing=later(f"{_HERE}.review:REVIEWING"),
    grading_files=later(f"{_HERE}.graded_files:FILE_GRADES"),
)
