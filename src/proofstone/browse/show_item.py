"""Looking closer: one thing whole, and the exact messages, reply and extraction of a question."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import structs

from proofstone.browse.filtered_import import funnel_sentences
from proofstone.browse.show_source import describe_passage, describe_source
from proofstone.build.funnel import funnel_sentence
from proofstone.check.semantic_map import stored_map_lines
from proofstone.correct.bank_moves import facts_elsewhere
from proofstone.method import find_method
from proofstone.records.builds import Build, seats_of
from proofstone.records.ids import short
from proofstone.results.trace import PURGED, history_lines
from proofstone.review.agreement import check_judges
from proofstone.review.section import checked_judges_sentences, review_lines
from proofstone.session.description import Description
from proofstone.store.lookup import Found
from proofstone.store.store import Store


def describe(store: Store, found: Found, *, limit: int = 3) -> Description:
    """A source, passage, fact, bank, item or form, with what it came from."""
    if found.kind == "item":
        return _describe_item(store, found)
    if found.kind == "bank":
        return _describe_bank(store, found, limit)
    if found.kind == "form":
        return _describe_form(store, found, limit)
    if found.kind == "fact":
        fact = _describe_fact(store, found.id)
        return structs.replace(fact, lines=(*fact.lines, *history_lines(store, found)))
    return (
        describe_source(store, found) if found.kind == "source" else describe_passage(store, found)
    )


def _describe_item(store: Store, found: Found) -> Description:
    loaded = store.items.one(found.key)
    method = find_method(loaded.item.kind.partition(".")[0])
    levels = msgspec.structs.astuple(loaded.item.stratum)
    lines = [
        ("item", loaded.item.id.hex()),
        ("id in the file", loaded.label.name),
        ("language", loaded.item.language),
        ("stratum", " / ".join(level for level in levels if level)),
        ("number", str(loaded.item.number)),
        *((name, _plain(value)) for name, value in loaded.label.metadata.items()),
        *history_lines(store, found),
    ]
    return Description(
        title=f"item:{short(found.id)}",
        lines=tuple((name, value) for name, value in lines if name != "id in the file" or value),
        texts=(method.show(loaded),),
    )


def _describe_fact(store: Store, identity: bytes) -> Description:
    fact = store.knowledge.facts_by_id([identity])[identity]
    (built,) = store.knowledge.built_facts([fact])
    payload = msgspec.to_builtins(fact.payload, builtin_types=(bytes,))
    lines = [("fact", fact.id.hex())]
    lines += [(name, _plain(value)) for name, value in payload.items() if value not in ("", None)]
    if built.source is not None:
        lines.append(("source", f"source:{short(built.source.id)}  {built.source.title}"))
        lines.append(("licence", built.source.licence or "not stated"))
    if fact.page:
        lines.append(("page", fact.page))
    if fact.passage is not None and (passage := store.knowledge.passage(fact.passage)) is not None:
        lines.append(("passage", passage.text))
    lines += [(role.role, role.model) for role in built.roles]
    return Description(title=f"fact:{short(identity)}", lines=tuple(lines))


def _describe_bank(store: Store, found: Found, limit: int) -> Description:
    bank = store.knowledge.bank(found.id)
    facts, n_facts = bank.readable_facts(), bank.n_facts()
    books: dict[tuple[str, str], int] = {}
    for fact in facts:
        place = (fact.stratum.book, fact.language)
        books[place] = books.get(place, 0) + 1
    lines = [("bank", found.id.hex()), ("facts", str(n_facts))]
    if len(facts) < n_facts:
        lines.append(("purged", f"{n_facts - len(facts):,} of these"))
    lines += [(f"book {language}", f"{n}  {book}") for (book, language), n in sorted(books.items())]
    for funnel in store.funnels.of_bank(found.id):
        lines += [("funnel", line) for line in funnel_sentences(funnel)]
    for key, build in store.builds.of_bank(found.id):
        counted = store.builds.funnel(key)
        said = "" if counted is None else f"  {funnel_sentence(counted)}"
        lines.append(("build", f"build:{short(build.id)}{said}"))
        lines += _judge_lines(build)
    elsewhere = facts_elsewhere(store, facts)
    if elsewhere:
        follow = f"proofstone edit {found.spelled} --as-placed --reason ..."
        n = f"{len(elsewhere):,} facts stand elsewhere than their source does by now"
        lines.append(("places", f"{n}: {follow}"))
    lines += stored_map_lines(store, found)
    lines += review_lines(store, found)
    if store.reviews.are_of_bank(found.id):  # else all verdicts would be read to say nothing
        checked = checked_judges_sentences(check_judges(store, found))
        lines += [("judges", sentence) for sentence in checked]
    texts = tuple(str(_describe_fact(store, fact.id)) for fact in facts[:limit]) or (PURGED,)
    return Description(title=found.name, lines=tuple(lines), texts=texts)


def _judge_lines(build: Build) -> Iterator[tuple[str, str]]:
    judges = ", ".join(seats_of("judge", build.models).values())
    if judges:
        weighs = f"proofstone show build:{short(build.id)} --judges"
        yield "judged by", f"{judges} (what each said and weighs: {weighs})"


def _describe_form(store: Store, found: Found, limit: int) -> Description:
    form = store.items.item_set(found.id)
    method = find_method(form.method)
    lines = [
        ("form", found.id.hex()),
        (method.items_called, str(form.n_items)),
        ("method", form.method),
    ]
    if form.bank is not None:
        lines += [("bank", f"bank:{short(form.bank)}"), ("seed", str(form.seed))]
    lines += [(name, str(value)) for name, value in form.recipe.items()]
    lines += [*stored_map_lines(store, found), *history_lines(store, found)]
    page = next(store.items.pages(form.id, limit), [])
    texts = [f"item:{short(s.loaded.item.id)}\n{method.show(s.loaded)}" for s in page]
    return Description(title=form.name, lines=tuple(lines), texts=tuple(texts))


def _plain(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value))
    return value.hex() if isinstance(value, bytes) else str(value)
