"""A method from outside the package: recall what is known of a subject, then answer in a word.

Two calls an item, through ``ports.Method`` alone; found by its entry point.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.method import Method, Parameter, PayloadType
from proofstone.records.banks import BankReader, BuiltFact, Sifter, TokenCounter
from proofstone.records.building import StepBuilder
from proofstone.records.calls import Call, Judge, Message
from proofstone.records.ids import Draws
from proofstone.records.items import Item, ItemSet, LoadedItem, Oracle, Preset, Unit, Way, item_id
from proofstone.records.knowledge import Fact, fact_id
from proofstone.records.runs import Measure, Reply, Scale, Score
from proofstone.records.tables import Column, Row, Tabulation
from proofstone_recall.drills import PIPELINES, Pair


class Asked(Struct, frozen=True, tag="recall.asked"):
    """An item: its one fact is asked as it stands."""

    answer: str


class Recall:
    """Recall, then answer: scored by equality of the last word."""

    name = "recall"
    title = "Recall, then answer"
    scorer_version = 1
    payloads: Mapping[str, PayloadType] = {
        "recall.pair": PayloadType(Pair),
        "recall.asked": PayloadType(Asked),
    }
    ways: Mapping[str, str] = {"recall": "first what is known, then the answer"}
    scales: Mapping[str, Scale] = {}
    measures = (
        Measure(
            name="accuracy",
            of="match",
            counts={"answered": "value", "refused": 0.0, "unparsed": 0.0, "truncated": 0.0},
            denominator="all replies",
        ),
    )
    headline = "accuracy"
    parameters: tuple[Parameter, ...] = ()
    presets: Mapping[str, Preset] = {}
    sift: Sifter | None = None
    pipelines: Mapping[str, StepBuilder] = PIPELINES

    @property
    def builders(self) -> Mapping[str, Any]:
        return {"pairs": (self._build, ())}

    def _build(
        self, inputs: Sequence[str], params: Mapping[str, Any], seed: int
    ) -> Iterable[BuiltFact]:
        for text in inputs:
            question, _, answer = text.partition("=")
            yield BuiltFact(self._fact(question, answer))

    def _fact(self, question: str, answer: str) -> Fact:
        fact = Fact(kind="recall.pair", payload=Pair(question, answer), language="en")
        return msgspec.structs.replace(fact, id=fact_id(fact))

    def recipe(self, params: Mapping[str, Any]) -> dict[str, Any]:
        if params:
            raise BadUsage(f"recall takes no parameters, not {', '.join(params)}")
        return {"composer": 1}

    def compose(self, bank: BankReader, recipe: Mapping[str, Any], seed: int) -> Iterator[Item]:
        for number, fact in enumerate(Draws(seed, 0, "recall").shuffled(bank.facts())):
            item = Item(
                kind="recall.asked",
                payload=Asked(fact.payload.answer),
                facts=(fact.id,),
                language="en",
                number=number,
            )
            yield msgspec.structs.replace(item, id=item_id(item))

    def read_facts(self, rows: Iterable[Row]) -> Sequence[BuiltFact]:
        problems, built = [], []
        for row in rows:
            if row.values.keys() < {"question", "answer"}:
                problems.append(Problem(row.place, "expected question and answer"))
            else:
                fact = self._fact(row.values["question"], row.values["answer"])
                built.append(BuiltFact(fact))
        if problems:
            raise BadInput("bad pairs", problems)
        return built

    def write_fact(self, built: BuiltFact, facts: Mapping[bytes, Fact]) -> dict[str, Any]:
        return {"question": built.fact.payload.question, "answer": built.fact.payload.answer}

    def read_items(self, rows: Iterable[Row]) -> Sequence[Item]:
        raise BadUsage("recall takes no forms made elsewhere")

    def write_item(self, item: LoadedItem) -> dict[str, Any]:
        return {"question": item.facts[0].payload.question, "answer": item.item.payload.answer}

    def settings(self, way: str) -> dict[str, Any]:
        return {"temperature": 0.0, "max_tokens": 64}

    def prepare(self, way: str, shots: int, item_set: ItemSet, bank: BankReader | None) -> Way:
        if way not in self.ways or shots:
            raise BadUsage(f"recall asks only 'recall' without shots, not {way!r}")
        return Way(name=way, last_step="answer", prompt_hash=sha256(b"recall-1").digest())

    async def ask(self, item: LoadedItem, way: Way, call: Call) -> None:
        question = item.facts[0].payload.question
        answer = item.item.payload.answer
        first = Message("user", f"What do you know that bears on this? {question}")
        known = await call("recall", [first], oracle=Oracle(answer, (answer, "nothing")))
        turns = [first, Message("assistant", known.text), Message("user", "Now answer in a word.")]
        await call("answer", turns, oracle=Oracle(answer, (answer, "nothing")))

    def units(self, item: LoadedItem, replies: Mapping[str, Reply], sample: int) -> Sequence[Unit]:
        cluster = ("pair", item.facts[0].id)
        return [Unit(item=item, sample=sample, replies=replies, clusters=(cluster,))]

    async def score(self, units: Sequence[Unit], judge: Judge | None) -> Sequence[Score]:
        scores = []
        for place, unit in enumerate(units):
            word = unit.replies["answer"].text.strip(" .")
            value = float(word == unit.item.item.payload.answer)
            scores.append(
                Score(unit=place, measure="match", outcome="answered", value=value, answer=word)
            )
        return scores

    def gold(self, unit: Unit) -> tuple[str, int]:
        return unit.item.item.payload.answer, 0

    def show(self, item: LoadedItem) -> str:
        return f"{item.facts[0].payload.question} = {item.item.payload.answer}"

    def fact_statistics(self, facts: Iterable[Fact], tokens: TokenCounter) -> Sequence[Tabulation]:
        return ()

    def item_statistics(
        self, items: Iterable[LoadedItem], tokens: TokenCounter
    ) -> Sequence[Tabulation]:
        longest = max(tokens(item.facts[0].payload.question) for item in items)
        columns = (Column(key="longest", name="longest question, tokens"),)
        return (Tabulation(title="Questions", columns=columns, rows=((longest,),)),)


METHOD: Method = Recall()

__all__ = ["METHOD"]
