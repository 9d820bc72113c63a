"""What goes when a source is purged: its passages, and everything that was made from its text.

Sources with the same content under another title or license are copies, and go with it. Derived
from a source are its passages; facts of it or of them; facts that correct such a fact or
name one in their payload (a falsified statement names its true one); facts without a source, and
items, that quote it or what builds made of it (exports that were imported again); items that rest
on such facts; rows of builds (``purged_builds``); and the prompts and replies in which those items
were asked and those rows were worked on. Beyond that every stored prompt and reply is searched for
the texts: worked examples and builders quote them too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

import msgspec
from sqlalchemy import Connection, Table, func, select, tuple_

from proofstone.engines.store import schema
from proofstone.engines.store.calls import decompress
from proofstone.engines.store.lookup import Found
from proofstone.engines.store.payloads import is_purged
from proofstone.engines.store.purged_builds import calls_for_rows, derived_build_rows
from proofstone.engines.store.purged_images import images_in
from proofstone.engines.store.purged_text import Finder, ids_in, said_in, sentences, strings_of
from proofstone.engines.store.rows import chunks
from proofstone.records import requests_named

__all__ = ["PurgePlan", "copies_of", "derived_rows", "plan_purge"]

_CHUNK = 4000
_WORDS_OF_LINE = 5  # of a document's line without a sentence's mark: beyond a heading
_WORDS_OF_TEXT = 10  # of any other text without one: beyond the name of an organisation
_ASKED_BY_ALL = 3  # facts that ask one question, none made from another: no one's own words
_QUESTION_ENDS = ("?", "？")
_PAGE = 500  # bodies held at once while they are searched


class PurgePlan(msgspec.Struct, frozen=True):
    """The keys of the rows whose texts go. ``facts``, ``items`` and ``units`` are all that rest on
    the source; ``texts_of_...`` those of them that still hold text themselves, and units besides
    that quote it. ``verdicts`` are other units on which a verdict does."""

    passages: frozenset[int]
    facts: frozenset[int]
    texts_of_facts: frozenset[int]
    items: frozenset[int]
    texts_of_items: frozenset[int]
    units: frozenset[int]
    texts_of_units: frozenset[int]
    prompts: frozenset[int]
    replies: frozenset[int]
    images: frozenset[int] = frozenset()
    rows: frozenset[int] = frozenset()
    texts_of_rows: frozenset[int] = frozenset()
    pages: frozenset[int] = frozenset()
    verdicts: frozenset[int] = frozenset()

    def counts(self) -> dict[str, int]:
        """How many texts of each kind go."""
        pages = {"pages": len(self.pages)} if self.pages else {}
        texts = {
            **pages,
            "passages": len(self.passages),
            "facts": len(self.texts_of_facts),
            "item texts": len(self.texts_of_items) + len(self.texts_of_units),
            "prompts": len(self.prompts),
            "replies": len(self.replies),
        }
        rare = {
            "images": len(self.images),
            "rows of builds": len(self.texts_of_rows),
            "verdicts": len(self.verdicts),
        }
        return texts | {kind: n for kind, n in rare.items() if n}


def copies_of(connection: Connection, source: int) -> list[Found]:
    """A source, and after it the others with the same content."""
    table = schema.source
    content = select(table.c.content).where(table.c.id == source).scalar_subquery()
    query = select(table.c.id, table.c.hash, table.c.title).where(table.c.content == content)
    rows = connection.execute(query.order_by(table.c.id != source, table.c.id))
    return [Found("source", *row) for row in rows]


def plan_purge(connection: Connection, sources: Collection[int]) -> PurgePlan:
    """What still holds text of the sources with these keys, which are copies of each other."""
    passage, page, fact = schema.passage, schema.page, schema.fact
    passages = _texts(connection, passage, passage.c.text, passage.c.source_id.in_(sources))
    pages = _texts(connection, page, page.c.text, page.c.source_id.in_(sources))
    facts = _derived_facts(connection, sources, set(passages))
    payloads = _payloads(connection, fact, facts)
    texts = {
        part
        for text in (*passages.values(), *pages.values())
        for part in said_in(text, words=_WORDS_OF_LINE)
    }
    texts |= _made_texts(payloads.values()) - _asked_by_all(connection, facts)
    own = _own_texts(connection, texts, facts, sources)
    finder = Finder(own)
    rows = derived_build_rows(
        connection, sources, _ids(connection, sources, passages, facts), finder
    )
    if made := _made_texts(_payloads(connection, schema.build_row, rows).values()):
        finder = Finder(own | _own_texts(connection, made, facts, sources))
    copies = _without_source(connection, _quoting(connection, fact, fact.c.id, finder) - facts)
    facts |= copies
    payloads |= _payloads(connection, fact, copies)
    items = _items_on(connection, facts)
    items |= _quoting(connection, schema.item, schema.item.c.id, finder)
    items |= _quoting(
        connection, schema.item_label, schema.item_label.c.item_id, finder, body="metadata"
    )
    units = set(_in(connection, schema.unit.c.id, schema.unit.c.item_id, items))
    rows |= derived_build_rows(
        connection, sources, _ids(connection, sources, passages, facts), finder
    )
    asked = _calls_on(connection, items) | calls_for_rows(connection, rows)
    asked |= _calls_reading(connection, sources)
    prompts, replies = _bodies(connection, asked, finder)
    of_rows = _payloads(connection, schema.build_row, rows)
    quoting = _quoting(connection, schema.unit, schema.unit.c.id, finder)
    verdicts = _quoting(connection, schema.score_verdict, schema.score_verdict.c.unit_id, finder)
    return PurgePlan(
        passages=frozenset(key for key, text in passages.items() if text),
        facts=frozenset(facts),
        texts_of_facts=frozenset(key for key, body in payloads.items() if not is_purged(body)),
        items=frozenset(items),
        texts_of_items=frozenset(_with_text(_payloads(connection, schema.item, items))),
        units=frozenset(units),
        texts_of_units=frozenset(_with_text(_payloads(connection, schema.unit, units)) | quoting),
        prompts=frozenset(prompts),
        replies=frozenset(replies),
        images=frozenset(images_in(connection, prompts, of_rows.values())),
        rows=frozenset(rows),
        texts_of_rows=frozenset(key for key, body in of_rows.items() if body),
        pages=frozenset(key for key, text in pages.items() if text),
        verdicts=frozenset(verdicts - units),
    )


def derived_rows(connection: Connection, source: int) -> tuple[frozenset[int], frozenset[int]]:
    """The keys of the facts and items that rest on a source, purged or not."""
    passage = schema.passage
    passages = set(connection.scalars(select(passage.c.id).where(passage.c.source_id == source)))
    facts = _derived_facts(connection, [source], passages)
    return frozenset(facts), frozenset(_items_on(connection, facts))


def _ids(
    connection: Connection, sources: Iterable[int], passages: Iterable[int], facts: Iterable[int]
) -> frozenset[bytes]:
    """The ids by which rows name sources and what was made of them."""
    s = schema
    named = ((s.source, sources), (s.passage, passages), (s.fact, facts))
    return frozenset(
        identity
        for table, keys in named
        for identity in _in(connection, table.c.hash, table.c.id, keys)
    )


def _derived_facts(
    connection: Connection, sources: Collection[int], passages: set[int]
) -> set[int]:
    """The keys of all facts derived from the sources, over any number of steps."""
    fact = schema.fact
    query = select(
        fact.c.id, fact.c.hash, fact.c.source_id, fact.c.passage_id, fact.c.corrects_id,
        fact.c.payload,
    )  # fmt: skip
    found: set[int] = set()
    hashes: set[bytes] = set()
    named: dict[int, tuple[int | None, frozenset[bytes]]] = {}
    identity: dict[int, bytes] = {}
    for row in connection.execute(query):
        identity[row.id] = row.hash
        if row.source_id in sources or row.passage_id in passages:
            found.add(row.id)
            hashes.add(row.hash)
        else:
            named[row.id] = (row.corrects_id, frozenset(ids_in(row.payload)))
    while True:
        more = {
            key
            for key, (corrects, ids) in named.items()
            if corrects in found or not hashes.isdisjoint(ids)
        }
        if not more:
            return found
        found |= more
        hashes |= {identity[key] for key in more}
        for key in more:
            del named[key]


def _items_on(connection: Connection, facts: set[int]) -> set[int]:
    """Items that rest on these facts, and those that correct such items."""
    found = set(_in(connection, schema.item_fact.c.item_id, schema.item_fact.c.fact_id, facts))
    more = found
    while more:
        more = set(_in(connection, schema.item.c.id, schema.item.c.corrects_id, more)) - found
        found |= more
    return found


def _calls_on(connection: Connection, items: set[int]) -> set[int]:
    """The calls in which these items were asked, answered or not."""
    found: set[int] = set()
    for table in (schema.response, schema.failure, schema.pilot_call):
        found |= set(_in(connection, table.c.call_id, table.c.item_id, items))
    return found


def _calls_reading(connection: Connection, sources: Collection[int]) -> set[int]:
    """The calls in which models were asked for pages of the sources."""
    page, call = schema.page, schema.call
    details = connection.scalars(select(page.c.detail).where(page.c.source_id.in_(sources)))
    named = {request for detail in details for request in requests_named(detail)}
    found: set[int] = set()
    for hashes in chunks(sorted(named), _CHUNK):
        found |= set(connection.scalars(select(call.c.id).where(call.c.request_hash.in_(hashes))))
    return found


def _without_source(connection: Connection, facts: Iterable[int]) -> set[int]:
    """Those of some facts that state no source: an export of the source that was imported again
    may have lost it."""
    fact = schema.fact
    return set(_in(connection, fact.c.id, fact.c.id, facts, fact.c.source_id.is_(None)))


def _quoting(
    connection: Connection, table: Table, key: Any, finder: Finder, *, body: str = "payload"
) -> set[int]:
    """The keys of the rows whose payloads hold the texts: what was said in their words or rests on
    them, as triples of a reference and verdicts do."""
    primary = list(table.primary_key.columns)
    found: set[int] = set()
    after: tuple[Any, ...] = ()
    while True:
        query = (
            select(*primary, key.label("of"), table.c[body].label("body"))
            .order_by(*primary)
            .limit(_PAGE)
        )
        if after:
            query = query.where(tuple_(*primary) > tuple_(*after))
        page = connection.execute(query).all()
        if not page:
            return found
        found |= {row.of for row in page if row.body and _holds(finder, row.body)}
        after = tuple(page[-1][: len(primary)])


def _made_texts(bodies: Iterable[bytes]) -> set[str]:
    """The sentences that payloads hold, whole ones only: names of categories and the like are
    nobody's own."""
    return {
        part
        for body in bodies
        if body
        for text in strings_of(body)
        for part in said_in(text, words=_WORDS_OF_TEXT)
    }


def _asked_by_all(connection: Connection, facts: set[int]) -> set[str]:
    """Questions that several facts ask which were not made from each other, as "Which of these is
    true?": phrases, whose options only say something."""
    fact = schema.fact
    first: dict[int | bytes, int | bytes] = {}  # a fact by its hash or key, and what it began as
    asking: dict[str, set[int | bytes]] = {}
    for chunk in chunks(sorted(facts), _CHUNK):
        columns = (fact.c.id, fact.c.hash, fact.c.corrects_id, fact.c.payload)
        query = select(*columns).where(fact.c.id.in_(chunk)).order_by(fact.c.id)
        for key, identity, corrects, body in connection.execute(query):
            named = corrects if corrects is not None else next(ids_in(body), key)
            first[key] = first[identity] = first.get(named, named)
            for part in _made_texts([body]):
                if part.rstrip().endswith(_QUESTION_ENDS):
                    asking.setdefault(part, set()).add(first[key])
    return {part for part, begun in asking.items() if len(begun) >= _ASKED_BY_ALL}


def _own_texts(
    connection: Connection, texts: Iterable[str], facts: set[int], sources: Collection[int]
) -> set[str]:
    """Those of some sentences that only these sources hold: what others hold as well stays theirs.
    A fact that states no source is none of these others."""
    own = set(texts)
    fact = schema.fact
    stated = select(fact.c.id, fact.c.payload).where(fact.c.source_id.is_not(None))
    for key, body in connection.execute(stated):
        if key not in facts and body:
            own.difference_update(part for s in strings_of(body) for part in sentences(s))
    for table in (schema.passage, schema.page):
        query = select(table.c.text).where(table.c.source_id.not_in(sources))
        for text in connection.scalars(query):
            own.difference_update(sentences(text))
    return own


def _bodies(connection: Connection, asked: set[int], finder: Finder) -> tuple[set[int], set[int]]:
    """The prompts and the calls whose bodies go: of ``asked``, and wherever the texts stand."""
    prompt, call = schema.prompt, schema.call
    prompts = set(_in(connection, call.c.prompt_id, call.c.id, asked))
    for key, body in _bodies_of(connection, prompt.c.id, prompt.c.body):
        if key not in prompts and _holds(finder, body):
            prompts.add(key)
    replies = asked | set(_in(connection, call.c.id, call.c.prompt_id, prompts))
    for key, raw in _bodies_of(connection, call.c.id, call.c.raw):
        if key not in replies and _holds(finder, raw):
            replies.add(key)
    full = (func.length(call.c.raw) > 0) | (call.c.detail != "")
    return (
        set(_in(connection, prompt.c.id, prompt.c.id, prompts, func.length(prompt.c.body) > 0)),
        set(_in(connection, call.c.id, call.c.id, replies, full)),
    )


def _bodies_of(connection: Connection, key: Any, body: Any) -> Iterator[tuple[int, bytes]]:
    after = 0
    while True:
        query = select(key, body).where(key > after).order_by(key).limit(_PAGE)
        page = connection.execute(query).all()
        if not page:
            return
        yield from ((row[0], decompress(row[1])) for row in page)
        after = page[-1][0]


def _holds(finder: Finder, body: bytes) -> bool:
    return any(finder.finds(text) for text in strings_of(body)) if body else False


def _texts(connection: Connection, table: Any, column: Any, condition: Any) -> dict[int, str]:
    query = select(table.c.id, column).where(condition)
    return {row[0]: row[1] for row in connection.execute(query)}


def _payloads(connection: Connection, table: Any, keys: Iterable[int]) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    for chunk in chunks(keys, _CHUNK):
        query = select(table.c.id, table.c.payload).where(table.c.id.in_(chunk))
        found |= {row[0]: row[1] for row in connection.execute(query)}
    return found


def _with_text(payloads: dict[int, bytes]) -> set[int]:
    """Payloads that hold words of their own; a question that only counts places holds none."""
    return {key for key, body in payloads.items() if body and any(strings_of(body))}


def _in(
    connection: Connection, wanted: Any, column: Any, keys: Iterable[int], *more: Any
) -> Iterator[Any]:
    """``wanted`` of the rows whose ``column`` is one of ``keys``."""
    for chunk in chunks(keys, _CHUNK):
        yield from connection.scalars(select(wanted).where(column.in_(chunk), *more).distinct())
