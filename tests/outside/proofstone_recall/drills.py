"""``drills``: pairs that a model writes about topics, step by step, and another one checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from proofstone.records.builds import (
    BatchRows,
    BatchStep,
    Drop,
    Kept,
    ModelRole,
    Pipeline,
    Step,
    StepBuilder,
    StepContext,
)
from proofstone.records.calls import Message
from proofstone.records.items import Oracle
from proofstone.records.knowledge import BuiltFact, Fact, SourcedPassage, fact_id
from proofstone.records.options import Parameter


class Topic(Struct, frozen=True):
    """What enters."""

    n: int


class Draft(Struct, frozen=True):
    """A pair on its way."""

    n: int
    question: str


class Pair(Struct, frozen=True, tag="recall.pair"):
    """A question and its answer."""

    question: str
    answer: str


def topics(inputs: Sequence[str], _params: Mapping[str, Any]) -> Iterator[Topic]:
    """``200``: the topics 0 to 199; ``40-60``: these."""
    for text in inputs:
        low, dash, high = text.rpartition("-")
        yield from map(Topic, range(int(low) if dash else 0, int(high)))


def make(params: Mapping[str, Any], _models: Mapping[str, str]) -> Pipeline:
    """The pipeline: no round topics, two questions each, checked, none twice."""
    every = params["round"]

    def choose(topic: Topic, _context: StepContext) -> Kept:
        return topic if topic.n % every else Drop("round", str(topic.n))

    return Pipeline(
        steps=(
            Step(
                name="choose", version=1, takes=Topic, work=choose, reasons=("round",),
                config={"round": every},
            ),
            Step(name="write", version=1, takes=Topic, work=write, asks=("writer",)),
            Step(
                name="check", version=1, takes=Draft, work=check, asks=("checker",),
                reasons=("refuted",),
            ),
            BatchStep(name="alike", version=1, takes=Draft, work=alike, reasons=("same words",)),
        ),
        gives=Draft,
        facts=facts,
    )  # fmt: skip


async def write(topic: Topic, context: StepContext) -> Kept:
    """Two questions of one reply."""
    message = Message("user", f"Ask two things about {topic.n}.")
    response = await context.call("write", [message], oracle=Oracle("odd", ("odd", "even")))
    return [Draft(topic.n, f"{response.text.strip()} {topic.n} {part}") for part in "ab"]


async def check(draft: Draft, context: StepContext) -> Kept:
    """Whether the checker says no."""
    message = Message("user", f"Is this about {draft.n}? {draft.question}")
    response = await context.call("check", [message], oracle=Oracle("yes", ("yes", "no")))
    return Drop("refuted", response.text) if "no" in response.text.lower() else draft


def alike(rows: BatchRows, _context: StepContext) -> Mapping[int, Kept]:
    """Drops what was asked in the same words before."""
    seen: set[str] = set()
    made: dict[int, Kept] = {}
    for place, draft in enumerate(rows):
        words = draft.question.rpartition(" ")[0]
        if words in seen:
            made[place] = Drop("same words", words)
        seen.add(words)
    return made


def facts(drafts: Iterable[Draft]) -> Iterator[BuiltFact]:
    """A pair of each draft."""
    for draft in drafts:
        payload = Pair(draft.question, str(draft.n))
        fact = Fact(kind="recall.pair", payload=payload, language="en")
        yield BuiltFact(msgspec.structs.replace(fact, id=fact_id(fact)))


class Excerpt(Struct, frozen=True):
    """A sentence of a passage."""

    text: str
    source: bytes
    passage: bytes


def make_excerpts(_params: Mapping[str, Any], _models: Mapping[str, str]) -> Pipeline:
    """The sentences of passages, as pairs of the sentence and the number of its words."""

    def split(row: SourcedPassage, _context: StepContext) -> Kept:
        parts = [part.strip() for part in row.passage.text.split(".") if part.strip()]
        found = [Excerpt(part, row.source.id, row.passage.id) for part in parts]
        return found or Drop("no sentence")

    async def rate(row: Excerpt, context: StepContext) -> Kept:
        oracle = Oracle("good", ("good", "bad"))
        response = await context.call("rate", [Message("user", f"Rate: {row.text}")], oracle=oracle)
        return Drop("bad", row.text) if "bad" in response.text else row

    def pairs(rows: Iterable[Excerpt]) -> Iterator[BuiltFact]:
        for row in rows:
            payload = Pair(f"How many words: {row.text}", str(len(row.text.split())))
            fact = Fact(
                kind="recall.pair", payload=payload, language="en", source=row.source,
                passage=row.passage,
            )  # fmt: skip
            yield BuiltFact(msgspec.structs.replace(fact, id=fact_id(fact)))

    return Pipeline(
        steps=(
            Step(
                name="split", version=1, takes=SourcedPassage, work=split,
                reasons=("no sentence",),
            ),
            Step(
                name="rate", version=1, takes=Excerpt, work=rate, reasons=("bad",),
                asks=("writer",),
            ),
        ),
        gives=Excerpt,
        facts=pairs,
    )  # fmt: skip


WRITER = ModelRole(help="writes the questions", settings={"temperature": 0.0, "max_tokens": 32})
CHECKER = ModelRole(help="checks them", purpose="judge", settings={"max_tokens": 8})

PIPELINES = {
    "drills": StepBuilder(
        make=make,
        rows=topics,
        roles={"writer": WRITER, "checker": CHECKER},
        parameters=(
            Parameter(name="round", kind="int", default=10, help="Drop multiples of this."),
        ),
        help="Questions about numbers. An INPUT is a count (200) or a range (40-60).",
    ),
    "excerpts": StepBuilder(
        make=make_excerpts, roles={"writer": WRITER}, help="Sentences of sources."
    ),
}
