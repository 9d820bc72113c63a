"""What may stand in a list: articles of an offline wiki, documents that are each about one entity,
or rows of lists made elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from pathlib import Path
from typing import Any, TypeVar

from msgspec import structs

from proofstone.draws import Draws
from proofstone.engines.ingest import (
    WikiArticle,
    article_keys,
    each_article,
    find_articles,
    guess_language,
    read_articles,
    read_checked,
)
from proofstone.errors import BadUsage
from proofstone.identity import digest
from proofstone.methods.bequ.entity_rows import read_entities
from proofstone.methods.bequ.listing.known import Known
from proofstone.methods.bequ.listing.making_up import is_made_up, to_make_up
from proofstone.methods.bequ.listing.rows import Candidate
from proofstone.methods.bequ.names import plain_name
from proofstone.methods.bequ.payloads import Entity
from proofstone.methods.bequ.reference.corpora import documents_of, read_corpus
from proofstone.methods.bequ.reference.rows import Taken
from proofstone.methods.bequ.reference.wanted import article_names
from proofstone.records import Item

__all__ = [
    "candidates",
    "drawn_candidates",
    "listed",
    "of_list",
    "of_page",
    "of_row",
    "wiki_of",
]

T = TypeVar("T")

_LEAD = 1500  # characters of an article that its rating rests on
_WIKIS = ("dump", "zim")
_FOLDER = "folder"


def candidates(inputs: Sequence[str], params: Mapping[str, Any]) -> Iterator[Candidate]:
    """A row an article of each wiki (``dump:FILE``, ``zim:FILE``) and a document of each folder
    (``folder:DIR``), one at a time, a row a domain of names that are to be made up, and a row an
    entity of each list; what ``--known`` says of them is added. Raises BadUsage where lists come
    without a corpus to hold them against, and what reading files does."""
    known = Known(params["known"])
    lists = [name for name in inputs if not (_is_corpus(name) or is_made_up(name))]
    for name in inputs:
        if is_made_up(name):
            yield from to_make_up(name, None)
        elif _is_folder(name):
            yield from map(known.added, _of_documents(name))
        elif _is_wiki(name):
            yield from map(known.added, map(of_page, each_article(wiki_of(name))))
    if lists:
        items = [item for name in lists for item in listed(name)]
        yield from map(known.added, of_list(items, wiki_of(params["corpus"])))


def listed(name: str, n: int | None = None, seed: int = 0) -> Sequence[Item]:
    """The entities of a list, or ``n`` of them, drawn by the seed. Raises as reading it does."""
    items = read_checked(Path(name), read_entities)
    return items if n is None else _drawn(items, _name_of, n, seed)


def drawn_candidates(
    name: str, params: Mapping[str, Any], n: int, seed: int
) -> Iterator[Candidate]:
    """``n`` of the candidates of one input, drawn by the seed before any article is read. A place
    in the draw rests on the title or the name alone. Raises as ``candidates``."""
    known = Known(params["known"])
    if is_made_up(name):
        yield from to_make_up(name, n)
        return
    if _is_folder(name):
        drawn = _drawn(_of_documents(name), lambda each: each.entity.name, n, seed)
        yield from map(known.added, drawn)
        return
    if _is_wiki(name):
        path = wiki_of(name)
        keys = set(_drawn(article_keys(path), str, n, seed))
        yield from map(known.added, map(of_page, read_articles(path, keys)))
        return
    yield from map(known.added, of_list(listed(name, n, seed), wiki_of(params["corpus"])))


def _drawn(things: Iterable[T], named: Callable[[T], str], n: int, seed: int) -> list[T]:
    def drawn_at(thing: T) -> float:
        number = int.from_bytes(digest(named(thing).encode("utf-8", "surrogatepass"))[:8], "big")
        return Draws(seed, number, "enters a list").uniform()

    return nsmallest(n, things, key=drawn_at)


def _name_of(item: Item) -> str:
    entity: Entity = item.payload
    return f"{entity.name}\n{entity.description}"


def wiki_of(text: str) -> Path:
    """The file of ``dump:FILE`` or ``zim:FILE``. Raises as ``read_corpus``, and BadUsage for a
    folder."""
    kind, path = read_corpus(text)
    if kind not in _WIKIS:
        raise BadUsage(
            f"entities are looked up in a wiki, and {text} is a {kind}",
            hint="--corpus dump:FILE or zim:FILE",
        )
    return path


def _is_wiki(name: str) -> bool:
    return name.partition(":")[0] in _WIKIS


def _is_folder(name: str) -> bool:
    return name.partition(":")[0] == _FOLDER


def _is_corpus(name: str) -> bool:
    return _is_wiki(name) or _is_folder(name)


def _of_documents(name: str) -> Iterator[Candidate]:
    """An entity a document of ``folder:DIR``, by its title, else by its file's name."""
    _kind, folder = read_corpus(name)
    for file, taken in documents_of(folder):
        yield _of_document(file, taken)


def _of_document(file: str, taken: Taken) -> Candidate:
    title = taken.title.strip() or file
    return Candidate(
        entity=Entity(name=title, length=len(taken.text)),
        language=taken.language or guess_language([taken.text]),
        title=title,
        lead=taken.text[:_LEAD],
    )


def of_page(article: WikiArticle) -> Candidate:
    """An entity that has an article."""
    entity = Entity(
        name=article.title, wikipedia=article.url, page_id=article.page_id,
        length=len(article.text),
    )  # fmt: skip
    return _with_article(Candidate(entity=entity), article)


def _with_article(candidate: Candidate, article: WikiArticle) -> Candidate:
    return structs.replace(
        candidate,
        language=candidate.language or article.language or guess_language([article.text]),
        title=article.title,
        lead=article.text[:_LEAD],
        is_meanings=article.is_meanings,
        trouble=article.trouble,
    )


def of_list(items: Sequence[Item], path: Path) -> Iterator[Candidate]:
    """Those without an article first, then those with one, in the order of the wiki."""
    names = [article_names(item.payload) for item in items]
    of_key: dict[str, list[Item]] = {}
    for item, key in zip(items, find_articles(path, names, plain_name), strict=True):
        if key is None:
            yield of_row(item)
        else:
            of_key.setdefault(key, []).append(item)
    for article in read_articles(path, of_key):
        for item in of_key[article.key]:
            yield of_row(item, article)


def of_row(item: Item, article: WikiArticle | None = None) -> Candidate:
    """An entity of a list, with its article where it has one."""
    entity: Entity = item.payload
    bare = Candidate(
        entity=entity, language=item.language, domain=item.stratum.discipline,
        tier=item.stratum.field,
    )  # fmt: skip
    if article is None:
        return bare
    if not entity.is_fictional:
        entity = structs.replace(
            entity,
            wikipedia=entity.wikipedia or article.url,
            page_id=entity.page_id or article.page_id,
            length=len(article.text),
        )
    return _with_article(structs.replace(bare, entity=entity), article)
