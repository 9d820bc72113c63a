"""What may stand in a list: articles of an offline wiki, documents that are each about one entity,
or rows of lists made elsewhere."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct, structs

from proofstone.choices.outcomes import ask_for
from proofstone.documents.wiki import (
    WikiArticle,
    article_keys,
    find_articles,
    read_articles,
)
from proofstone.errors import BadUsage
from proofstone.files.tables import read_checked
from proofstone.methods.bequ.ask import TwoPrompts
from proofstone.methods.bequ.entities import (
    DOMAINS,
    FICTIONS,
    Entity,
    Fiction,
    is_named,
    plain_name,
    read_entities,
)
from proofstone.methods.bequ.reference.corpora import (
    WIKI,
    article_names,
    documents_of,
    found_article,
    query_of,
    read_corpus,
    read_wiki,
)
from proofstone.methods.bequ.reference.facts import Taken
from proofstone.records.builds import (
    Drop,
    Kept,
    OnlineRows,
    OnlineTexts,
    OnlineWanted,
    Step,
    StepContext,
    WikiText,
)
from proofstone.records.calls import Message
from proofstone.records.ids import Draws, digest
from proofstone.records.items import Item
from proofstone.texts.languages import guess_language

# What is on its way while a list of entities is made: something with a name that may be taken.


class Ratings(Struct, frozen=True, gc=False, kw_only=True):
    """A judge's ratings, each from 1 (not at all) to 5 (fully)."""

    informative: int
    clear: int
    suitable: int


class Candidate(Struct, frozen=True, kw_only=True):
    """An entity as its page or its row has it, and the ``lead`` of its article. ``title`` is that
    of the article found, empty where there is none; ``trouble`` says why it cannot be read.
    ``against`` is the page of the web that names what is to be fictional. ``to_make_up`` names are
    to be made up in its place; ``is_made_up``: a model did so."""

    entity: Entity
    language: str = ""
    domain: str = ""
    tier: str = ""
    title: str = ""
    lead: str = ""
    is_meanings: bool = False
    trouble: str = ""
    against: str = ""
    to_make_up: int = 0
    is_made_up: bool = False
    ratings: Ratings | None = None


# What a table says of entities, to be added to what their pages say.


class Known:
    """What a table says of entities (Wikidata's number and count of statements, visits), by the
    names of their articles; a name that several of them have says nothing of any."""

    def __init__(self, file: str) -> None:
        items = read_checked(Path(file), read_entities) if file else ()
        own: dict[str, list[Item]] = {}
        others: dict[str, list[Item]] = {}
        for item in items:
            title, *aliases = article_names(item.payload)
            own.setdefault(plain_name(title), []).append(item)
            for name in {plain_name(each) for each in aliases} - {plain_name(title)}:
                others.setdefault(name, []).append(item)
        self._items = {name: found[0] for name, found in (others | own).items() if len(found) == 1}

    def added(self, candidate: Candidate) -> Candidate:
        """The candidate with what it lacks and the table has."""
        found = self._items.get(plain_name(candidate.title or candidate.entity.name))
        found = found or self._items.get(plain_name(candidate.entity.name))
        if found is None or candidate.entity.is_fictional:
            return candidate
        entity, said = candidate.entity, found.payload
        if entity.wikidata and said.wikidata not in ("", entity.wikidata):
            return candidate
        entity = structs.replace(
            entity,
            description=entity.description or said.description,
            aliases=entity.aliases or said.aliases,
            wikidata=entity.wikidata or said.wikidata,
            statements=said.statements if entity.statements is None else entity.statements,
            popularity=said.popularity if entity.popularity is None else entity.popularity,
        )
        return structs.replace(
            candidate, entity=entity, domain=candidate.domain or found.stratum.discipline
        )


# Names of things that do not exist, made up by a model: plausible ones and absurd ones.
#
# Nothing is checked of them here but that no two are the same: that there is no such thing is found
# by holding the list against a corpus and the web.

_INPUT = "made-up"


_USUAL = 20


_LANGUAGES = ("en", "zh")


_LETTERS = "ABCDEFGHIJKLMNOPRSTUVWZ"


_LONGEST = 200


_PROMPTS = TwoPrompts(str(__package__), "made_up", "", "")


_UNREADABLE = "unreadable reply"


_SCHEMA: Mapping[str, Any] = {
    "title": "names",
    "type": "object",
    "properties": {"names": {"type": "array", "items": {"type": "string"}}},
    "required": ["names"],
    "additionalProperties": False,
}


class _Names(Struct, frozen=True):
    names: tuple[str, ...]


def is_made_up(name: str) -> bool:
    """Whether an input asks for names that are made up: ``made-up:KIND``."""
    return name.partition(":")[0] == _INPUT


def to_make_up(name: str, n: int | None) -> Iterator[Candidate]:
    """A row a domain, with how many names are to be made up for it: ``n`` (else 20) in all, as many
    of each of the ten as can be. ``made-up:plausible``, ``made-up:absurd``; ``made-up:absurd:zh``
    in Chinese. Raises BadUsage for what is none of these."""
    kind, language = _read(name)
    whole, rest = divmod(_USUAL if n is None else n, len(DOMAINS))
    for place, domain in enumerate(DOMAINS):
        if count := whole + (place < rest):
            entity = Entity(name="", is_fictional=True, fiction=kind)
            yield Candidate(entity=entity, domain=domain, language=language, to_make_up=count)


def _read(name: str) -> tuple[Fiction, str]:
    said, _colon, language = name.partition(":")[2].partition(":")
    kind = next((each for each in FICTIONS if each == said), None)
    if kind is None or language not in ("", *_LANGUAGES):
        raise BadUsage(
            f"{name} is nothing that can be made up",
            hint=f"{' or '.join(f'{_INPUT}:{each}' for each in FICTIONS)}; with :zh in Chinese",
        )
    return kind, language or _LANGUAGES[0]


def make_up_step() -> Step:
    """The names that a model makes up, each a fictional entity; others go on as they are."""

    async def make(row: Candidate, context: StepContext) -> Kept:
        if not row.to_make_up:
            return row
        letter = _LETTERS[context.draws("first letter").below(len(_LETTERS))]
        prompt = [Message("user", made_up_prompt(row, letter))]
        found = await ask_for(context.call, "names", prompt, _Names, _SCHEMA)
        if isinstance(found, str):
            return Drop(_UNREADABLE, found)
        names = list(filter(_is_name, (" ".join(each.split()) for each in found.names)))
        made = [_made(row, each) for each in names[: row.to_make_up]]
        return made or Drop(_UNREADABLE, ", ".join(found.names)[:_LONGEST])

    return Step(
        name="made up",
        version=1,
        takes=Candidate,
        work=make,
        reasons=(_UNREADABLE,),
        config={"prompt": _PROMPTS.key()},
        asks=("author",),
        draws=True,
    )


def made_up_prompt(row: Candidate, letter: str) -> str:
    """What the model is sent for a domain."""
    return _PROMPTS.render(
        row.language, "", n=row.to_make_up, domain=row.domain, kind=row.entity.fiction,
        letter=letter,
    )  # fmt: skip


def _made(row: Candidate, name: str) -> Candidate:
    entity = structs.replace(row.entity, name=name)
    return structs.replace(row, entity=entity, to_make_up=0, is_made_up=True)


def _is_name(name: str) -> bool:
    """Whether it can stand in a list: something that can be read, without control signs."""
    return (
        0 < len(name) <= _LONGEST
        and bool(plain_name(name))
        and not any(unicodedata.category(sign) == "Cc" for sign in name)
    )


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
            yield from map(known.added, map(of_page, read_articles(wiki_of(name))))
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


# What may stand in a list, from a live wiki; and what the web says of the fictional ones.

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
