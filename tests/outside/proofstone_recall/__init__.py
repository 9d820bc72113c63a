"""A method from outside the package: recall what is known of a subject, then answer in a word.

Two calls an item, through ``proofstone.method`` alone; found by its entry point.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.method import Method, PayloadType, later
from proofstone.records.calls import Call, Judge, Message, TokenCounter
from proofstone.records.ids import Draws
from proofstone.records.items import Item, ItemSet, LoadedItem, Oracle, PromptMethod, Unit, item_id
from proofstone.records.knowledge import BankReader, BuiltFact, Fact, fact_id
from proofstone.records.runs import Measure, Response, Score
from proofstone.records.tables import Column, Row, Tabulation
from proofstone_recall.drills import PIPELINES, Pair


class Asked(Struct, frozen=True, tag="recall.asked"):
    """An item: its one fact is asked as it stands."""

    answer: str


def _build(inputs: Sequence[str], params: Mapping[str, Any], seed: int) -> Iterable[BuiltFact]:
    for text in inputs:
        question, _, answer = text.partition("=")
        yield BuiltFact(_fact(question, answer))


def _fact(question: str, answer: str) -> Fact:
    fact = Fact(kind="recall.pair", payload=Pair(question, answer), language="en")
    return msgspec.structs.replace(fact, id=fact_id(fact))


def recipe_of(params: Mapping[str, Any]) -> dict[str, Any]:
    if params:
        raise BadUsage(f"recall takes no parameters, not {', '.join(params)}")
    return {"composer": 1}


def compose(bank: BankReader, recipe: Mapping[str, Any], seed: int) -> Iterator[Item]:
    for number, fact in enumerate(Draws(seed, 0, "recall").shuffled(bank.facts())):
        item = Item(
            kind="recall.asked",
            payload=Asked(fact.payload.answer),
            facts=(fact.id,),
            language="en",
            number=number,
        )
        yield msgspec.structs.replace(item, id=item_id(item))


def read_facts(rows: Iterable[Row]) -> Sequence[BuiltFact]:
    problems, built = [], []
    for row in rows:
        if row.values.keys() < {"question", "answer"}:
            problems.append(Problem(row.place, "expected question and answer"))
        else:
            fact = _fact(row.values["question"], row.values["answer"])
            built.append(BuiltFact(fact))
    if problems:
        raise BadInput("bad pairs", problems)
    return built


def write_fact(built: BuiltFact, facts: Mapping[bytes, Fact]) -> dict[str, Any]:
    return {"question": built.fact.payload.question, "answer": built.fact.payload.answer}


def read_items(rows: Iterable[Row]) -> Sequence[Item]:
    raise BadUsage("recall takes no forms made elsewhere")


def write_item(item: LoadedItem) -> dict[str, Any]:
    return {"question": item.facts[0].payload.question, "answer": item.item.payload.answer}


def settings_of(prompt_method: str) -> dict[str, Any]:
    return {"temperature": 0.0, "max_tokens": 64}


def prepare(
    prompt_method: str, shots: int, item_set: ItemSet, bank: BankReader | None
) -> PromptMethod:
    if prompt_method != "recall" or shots:
        raise BadUsage(f"recall asks only 'recall' without shots, not {prompt_method!r}")
    return PromptMethod(
        name=prompt_method, last_step="answer", prompt_hash=sha256(b"recall-1").digest()
    )


async def ask_twice(item: LoadedItem, prompt_method: PromptMethod, call: Call) -> None:
    question = item.facts[0].payload.question
    answer = item.item.payload.answer
    first = Message("user", f"What do you know that bears on this? {question}")
    known = await call("recall", [first], oracle=Oracle(answer, (answer, "nothing")))
    turns = [first, Message("assistant", known.text), Message("user", "Now answer in a word.")]
    await call("answer", turns, oracle=Oracle(answer, (answer, "nothing")))


def units(item: LoadedItem, responses: Mapping[str, Response], sample: int) -> Sequence[Unit]:
    cluster = ("pair", item.facts[0].id)
    return [Unit(item=item, sample=sample, responses=responses, clusters=(cluster,))]


async def score_words(units: Sequence[Unit], judge: Judge | None) -> Sequence[Score]:
    scores = []
    for place, unit in enumerate(units):
        word = unit.responses["answer"].text.strip(" .")
        value = float(word == unit.item.item.payload.answer)
        scores.append(
            Score(unit=place, measure="match", outcome="answered", value=value, answer=word)
        )
    return scores


def answer_key(unit: Unit) -> tuple[str, int]:
    return unit.item.item.payload.answer, 0


def show(item: LoadedItem) -> str:
    return f"{item.facts[0].payload.question} = {item.item.payload.answer}"


def item_statistics(items: Iterable[LoadedItem], tokens: TokenCounter) -> Sequence[Tabulation]:
    longest = max(tokens(item.facts[0].payload.question) for item in items)
    columns = (Column(key="longest", name="longest question, tokens"),)
    return (Tabulation(title="Questions", columns=columns, rows=((longest,),)),)


METHOD = Method(
    name="recall",
    title="Recall, then answer",
    scorer_version=1,
    payloads={"recall.pair": PayloadType(Pair), "recall.asked": PayloadType(Asked)},
    builders={"pairs": (_build, ())},
    pipelines=PIPELINES,
    read_facts=read_facts,
    write_fact=write_fact,
    recipe=recipe_of,
    compose=compose,
    read_items=read_items,
    write_item=write_item,
    show=show,
    item_statistics=item_statistics,
    prompt_methods={"recall": "first what is known, then the answer"},
    settings=settings_of,
    prepare=prepare,
    ask=ask_twice,
    units=units,
    score=score_words,
    answer_key=answer_key,
    measures=(
        Measure(
            name="accuracy",
            of="match",
            counts={"answered": "value", "refused": 0.0, "unparsed": 0.0, "truncated": 0.0},
            denominator="all replies",
        ),
    ),
    headline="accuracy",
    query=lambda item: str(item.facts[0].payload.question),
    sections=later("proofstone_recall.checks:SECTIONS"),
    commands=later("proofstone_recall.checks:COMMANDS"),
    contrasts=later("proofstone_recall.checks:CONTRASTS"),
    reviewing=later("proofstone_recall.checks:REVIEWING"),
    verifying=later("proofstone_recall.checks:VERIFYING"),
)
