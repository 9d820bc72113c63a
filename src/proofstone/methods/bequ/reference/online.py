"""Texts about entities from a live wiki and from searches of the web."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proofstone.engines.ingest import WikiArticle
from proofstone.errors import BadUsage
from proofstone.methods.bequ.reference.corpora import (
    missing_text,
    of_article,
    read_wiki,
    texts_of,
)
from proofstone.methods.bequ.reference.rows import EntityText, Taken
from proofstone.methods.bequ.reference.wanted import Wanted, read_wanted
from proofstone.ports import OnlineRows, OnlineTexts, OnlineWanted, WebText, WikiText

__all__ = ["ONLINE", "found_article", "query_of"]


def wants(
    inputs: Sequence[str], params: Mapping[str, Any], per_input: int | None, _seed: int
) -> OnlineWanted | None:
    """The articles of all entities of the lists, and the web's pages about each, where a live wiki
    or a search is named; of fictional ones nothing. Raises BadUsage, and what reading lists does.
    """
    api, search = read_wiki(params["corpus"]), str(params["search"])
    if not api and not search:
        return None
    if per_input is not None:
        raise BadUsage("--per-input does not go with a live wiki or a search", hint="--limit N")
    if params["web_pages"] < 1:
        raise BadUsage(f"--web-pages is 1 or more, not {params['web_pages']}")
    wanted = read_wanted(inputs)
    real = [n for n, entity in enumerate(wanted.entities) if not entity.is_fictional]
    return OnlineWanted(
        wiki=api,
        names=tuple(wanted.names[n] for n in real) if api else (),
        search=search,
        queries=tuple(query_of(wanted.abouts[n]) for n in real) if search else (),
        n_pages=params["web_pages"],
    )


def query_of(named: Any) -> str:
    """What the web is searched for: an entity's name with its description."""
    return " ".join(f"{named.name} {named.description}".split())


def rows(
    inputs: Sequence[str],
    params: Mapping[str, Any],
    _per_input: int | None,
    _seed: int,
    texts: OnlineTexts,
) -> Iterator[tuple[EntityText, bytes]]:
    """A row a text about an entity: those of the corpus, then those of the web."""
    wanted = read_wanted(inputs)
    if read_wiki(params["corpus"]):
        yield from ((row, b"") for row in _of_live_wiki(wanted, texts))
    elif params["corpus"]:
        yield from ((row, b"") for row in texts_of(wanted, params["corpus"]))
    if params["search"]:
        yield from _of_web(wanted, texts, alone=not params["corpus"])


def _of_live_wiki(wanted: Wanted, texts: OnlineTexts) -> Iterator[EntityText]:
    of_title: dict[str, list[int]] = {}
    for number, entity in enumerate(wanted.entities):
        if entity.is_fictional:
            yield EntityText(about=wanted.abouts[number], missing="fictional")
        elif title := texts.title(wanted.names[number]):
            of_title.setdefault(title, []).append(number)
        else:
            yield missing_text(wanted, number)
    for whose in of_title.values():
        found = texts.article(wanted.names[whose[0]])
        if found is not None:
            article = found_article(found)
            yield from (of_article(wanted, number, article, whose) for number in whose)


def found_article(found: WikiText) -> WikiArticle:
    """An article of a live wiki as one of an offline wiki."""
    return WikiArticle(
        key=found.title, title=found.title, text=found.text, page_id=found.page_id,
        language=found.language, date=found.date, url=found.url,
        is_meanings=found.is_meanings, trouble=found.trouble,
    )  # fmt: skip


def _of_web(
    wanted: Wanted, texts: OnlineTexts, *, alone: bool
) -> Iterator[tuple[EntityText, bytes]]:
    """Pages that could not be read are told one by one; where the web stands ``alone``, fictional
    entities too."""
    for about, entity in zip(wanted.abouts, wanted.entities, strict=True):
        if entity.is_fictional:
            if alone:
                yield EntityText(about=about, missing="fictional"), b""
            continue
        query, n_read = query_of(about), 0
        for page in texts.pages(query):
            if page.problem:
                sought = f"{page.url}: {page.problem} ({page.detail})"
                yield EntityText(about=about, missing="unreadable page", sought=sought), b""
            else:
                n_read += 1
                yield EntityText(about=about, taken=_taken(page)), page.source
        if not n_read:
            yield EntityText(about=about, missing="no page", sought=f"searched for {query}"), b""


def _taken(page: WebText) -> Taken:
    return Taken(
        text=page.text, source="web", title=page.title, url=page.url, date=page.date,
        content=page.content, language=page.language, source_id=page.source,
    )  # fmt: skip


ONLINE = OnlineRows(wants=wants, rows=rows)
