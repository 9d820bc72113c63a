"""What may stand in a list, from a live wiki; and what the web says of the fictional ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import structs

from proofstone.errors import BadUsage
from proofstone.methods.bequ.listing.candidates import (
    candidates,
    drawn_candidates,
    listed,
    of_list,
    of_page,
    of_row,
    wiki_of,
)
from proofstone.methods.bequ.listing.known import Known
from proofstone.methods.bequ.listing.making_up import is_made_up
from proofstone.methods.bequ.listing.rows import Candidate
from proofstone.methods.bequ.names import is_named
from proofstone.methods.bequ.payloads import Entity
from proofstone.methods.bequ.reference.corpora import WIKI, read_wiki
from proofstone.methods.bequ.reference.online import found_article, query_of
from proofstone.methods.bequ.reference.wanted import article_names
from proofstone.ports import OnlineRows, OnlineTexts, OnlineWanted, WikiText
from proofstone.records import Item

__all__ = ["ONLINE"]

_OFFLINE = ("dump:", "zim:", "folder:")


def wants(
    inputs: Sequence[str], params: Mapping[str, Any], per_input: int | None, seed: int
) -> OnlineWanted | None:
    """Articles that a live wiki draws or has of the entities of lists, with the number of their
    statements, and the web's pages about fictional ones; None where neither is asked. Raises
    BadUsage for two live wikis, for one without a number of pages, and what reading lists does."""
    if any(map(is_made_up, inputs)) and (params["corpus"] or params["search"]):
        raise BadUsage(
            "names are made up first, and then held against a corpus and the web",
            hint="leave --corpus and --search out, export the bank, then build entities FILE "
            "--corpus ... --search ...",
        )
    drawn = [name for name in inputs if read_wiki(name)]
    apis = dict.fromkeys(filter(None, map(read_wiki, (*drawn, params["corpus"]))))
    if not apis and not params["search"]:
        return None
    if len(apis) > 1:
        raise BadUsage(f"one live wiki at a time, not {' and '.join(apis)}")
    if drawn and per_input is None:
        raise BadUsage("of a live wiki so many pages are drawn: say --per-input N")
    items = _of_lists(inputs, per_input, seed)
    if not params["corpus"] and any(not _entity(item).is_fictional for item in items):
        raise BadUsage("entities of lists that are real are looked up in a --corpus: name one")
    fictional = [_entity(item) for item in items if _entity(item).is_fictional]
    return OnlineWanted(
        wiki=next(iter(apis), ""),
        names=tuple(article_names(_entity(item)) for item in items)
        if read_wiki(params["corpus"])
        else (),
        n_drawn=(per_input or 0) if drawn else 0,
        seed=seed,
        statements=True,
        search=params["search"],
        queries=tuple(map(query_of, fictional)) if params["search"] else (),
        n_pages=params["web_pages"],
    )


def rows(
    inputs: Sequence[str],
    params: Mapping[str, Any],
    per_input: int | None,
    seed: int,
    texts: OnlineTexts,
) -> Iterator[tuple[Candidate, bytes]]:
    """A row an article that was drawn, and a row an entity of a list."""
    known = Known(params["known"])
    if any(map(read_wiki, inputs)):
        yield from ((known.added(_of_page(found)), b"") for found in texts.drawn())
    for name in inputs:
        if name.startswith(_OFFLINE) or is_made_up(name):
            offline = (
                candidates([name], params)
                if per_input is None
                else drawn_candidates(name, params, per_input, seed)
            )
            yield from ((row, b"") for row in offline)
    for row in _of_items(_of_lists(inputs, per_input, seed), params["corpus"], texts):
        yield known.added(_held_against(row, texts) if params["search"] else row), b""


def _of_items(items: Sequence[Item], corpus: str, texts: OnlineTexts) -> Iterator[Candidate]:
    if not corpus:
        yield from map(of_row, items)
    elif not read_wiki(corpus):
        yield from of_list(items, wiki_of(corpus))
    else:
        for item in items:
            found = texts.article(article_names(_entity(item)))
            yield (
                of_row(item)
                if found is None
                else _with_numbers(of_row(item, found_article(found)), found)
            )


def _held_against(row: Candidate, texts: OnlineTexts) -> Candidate:
    """A fictional entity with the first page of the web that names it, by what the search shows of
    it or by its text; where there is none, and of others, the row itself."""
    if not row.entity.is_fictional:
        return row
    for page in texts.pages(query_of(row.entity)):
        if is_named(f"{page.title}\n{page.shown}\n{page.text}", row.entity.names):
            return structs.replace(row, against=f"{page.title}, {page.url}")
    return row


def _of_page(found: WikiText) -> Candidate:
    return _with_numbers(of_page(found_article(found)), found)


def _with_numbers(row: Candidate, found: WikiText) -> Candidate:
    """With Wikidata's number and its count of statements, where the list does not say them."""
    entity = row.entity
    if entity.is_fictional:
        return row
    same = entity.wikidata in ("", found.wikidata)
    entity = structs.replace(
        entity,
        wikidata=entity.wikidata or found.wikidata,
        statements=found.statements if entity.statements is None and same else entity.statements,
    )
    return structs.replace(row, entity=entity)


def _of_lists(inputs: Sequence[str], per_input: int | None, seed: int) -> list[Item]:
    lists = [
        name
        for name in inputs
        if not read_wiki(name) and not name.startswith(_OFFLINE) and not is_made_up(name)
    ]
    return [item for name in lists for item in listed(name, per_input, seed)]


def _entity(item: Item) -> Entity:
    entity: Entity = item.payload
    return entity


ONLINE = OnlineRows(wants=wants, rows=rows, names=(WIKI,))
