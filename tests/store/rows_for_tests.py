"""Small records of every kind, and a payload type of no method, for the store's tests."""

from __future__ import annotations

from hashlib import sha256

import msgspec
from msgspec import Struct

from proofstone.method import PayloadType
from proofstone.records.calls import CallRecord
from proofstone.records.items import Item, ItemSet, imported_set_id, item_id
from proofstone.records.knowledge import BuiltFact, Fact, Role, Source, Stratum, fact_id, source_id
from proofstone.records.runs import Run, Usage
from proofstone.store.store import Store


class Note(Struct, frozen=True, tag="test.note"):
    """A payload: one text."""

    text: str


def open_store(url: str) -> Store:
    """A store that knows the payload kind of these tests."""
    return Store(url, lambda kind: {"test.note": PayloadType(Note)}[kind])


def source(title: str = "A book") -> Source:
    made = Source(kind="document", title=title, content=sha256(title.encode()).digest())
    return msgspec.structs.replace(made, id=source_id(made))


def built(text: str, roles: tuple[Role, ...] = (), corrects: bytes | None = None) -> BuiltFact:
    book = source()
    fact = Fact(
        kind="test.note",
        payload=Note(text),
        language="en",
        stratum=Stratum("Science", "Chemistry", "Elements", "A book"),
        source=book.id,
        page="12",
        corrects=corrects,
    )
    return BuiltFact(msgspec.structs.replace(fact, id=fact_id(fact)), book, roles)


def item(text: str, facts: tuple[bytes, ...] = (), number: int = 0) -> Item:
    made = Item(kind="test.note", payload=Note(text), facts=facts, language="en", number=number)
    return msgspec.structs.replace(made, id=item_id(made))


def item_set(items: list[Item], name: str = "a form") -> ItemSet:
    identity = imported_set_id("test", tuple(i.id for i in items))
    return ItemSet(id=identity, name=name, kind="imported", method="test", n_items=len(items))


def run(of: ItemSet, respondent: str = "scripted/one") -> Run:
    identity = sha256(of.id + respondent.encode()).digest()
    return Run(
        id=identity,
        item_set=of.id,
        method="test",
        respondent=respondent,
        prompt_method="direct",
        prompt_hash=bytes(32),
        settings={"temperature": 0.0},
    )


def call(text: str, *, model: str = "scripted/one", state: str = "complete") -> CallRecord:
    prompt = f'[{{"content":"{text}","role":"user"}}]'.encode()
    return CallRecord(
        request_hash=sha256(model.encode() + prompt).digest(),
        model=model,
        endpoint="http://127.0.0.1/v1",
        wire="openai-chat",
        prompt_hash=sha256(prompt).digest(),
        prompt=prompt,
        settings_asked={"temperature": 0.0, "seed": 1},
        settings_sent={"temperature": 0.0},
        settings_dropped=("seed",),
        state=state,
        error="" if state == "complete" else "timeout",
        raw=b'{"choices":[{"message":{"content":"Answer: A"}}]}' if state == "complete" else b"",
        usage=Usage(prompt=10, completion=3),
        cost_usd=0.25,
        reported_model="one-2026",
        latency_s=0.5,
        started_at=1000.0 + len(text),
    )
