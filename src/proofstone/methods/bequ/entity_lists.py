"""Build lists of entities: candidates from wikis, documents, lists and models, and filters."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from pathlib import Path
from typing import Annotated, Any, TypeVar

from msgspec import Meta, Struct, structs

from proofstone.choices.outcomes import TEXT, ask_for, list_of, object_of_all
from proofstone.documents.wiki import (
    WikiArticle,
    article_keys,
    find_articles,
    read_articles,
)
from proofstone.errors import BadUsage
from proofstone.files.tables import read_checked
from proofstone.judging.question import fence
from proofstone.method import read_asked
from proofstone.methods.bequ.entities import (
    DOMAINS,
    FICTIONS,
    Entity,
    NamedRow,
    is_named,
    plain_name,
    read_entities,
    same_entities,
)
from proofstone.methods.bequ.reference import PIPELINES as REFERENCE
from proofstone.methods.bequ.reference import (
    WIKI,
    article_names,
    documents_of,
    found_article,
    query_of,
    read_corpus,
    read_wiki,
)
from proofstone.records.builds import (
    BatchRows,
    BatchStep,
    Drop,
    Kept,
    OnlineRows,
    OnlineTexts,
    OnlineWanted,
    Pipeline,
    Step,
    StepBuilder,
    StepContext,
    WikiText,
    slots_of,
)
from proofstone.records.calls import Message
from proofstone.records.ids import Draws, digest
from proofstone.records.items import Item
from proofstone.records.knowledge import BuiltFact, Fact, Role, Stratum, fact_id
from proofstone.texts.languages import guess_language, is_chinese
from proofstone.texts.templates import Prompts

# What is on its way while a list of entities is made: something with a name that may be taken.


class Ratings(Struct, frozen=True, gc=False, kw_only=True):
    """Hold a judge's ratings, each from 1 (not at all) to 5 (fully)."""

    informative: int
    clear: int
    suitable: int


class Candidate(Struct, frozen=True, kw_only=True):
    """Hold a candidate entity from a page or row, and the ``lead`` of its article.

    ``title`` is that of the article found, empty if there is none; ``trouble`` says why it cannot
    be read. ``against`` is the web page that mentions a supposedly non-existent entity.
    ``to_make_up`` names are to be generated in its place. ``is_made_up``: a model generated it.
    """

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
    """Hold table data (Wikidata number, statement count, page views) by article name.

    A name shared by several entities is ignored.
    """

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
        """Fill the candidate's missing fields from the table."""
        found = self._items.get(plain_name(candidate.title or candidate.entity.name))
        found = found or self._items.get(plain_name(candidate.entity.name))
        if found is None or candidate.entity.is_nonexistent:
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


_PROMPTS = Prompts(__package__)


_UNREADABLE = "unreadable reply"


_SCHEMA = object_of_all({"names": list_of(TEXT)}, title="names")


class _Names(Struct, frozen=True):
    names: tuple[str, ...]


def is_made_up(name: str) -> bool:
    """Return True if an input asks for generated names: ``made-up:KIND``."""
    return name.partition(":")[0] == _INPUT


def to_make_up(name: str, n: int | None) -> Iterator[Candidate]:
    """Yield one row per domain with the number of names to generate.

    ``n`` (default: 20) names are divided over the ten domains as evenly as possible. Inputs are
    ``made-up:plausible`` and ``made-up:absurd``; append ``:zh`` for Chinese. Raises BadUsage for
    other inputs.
    """
    said, _colon, language = name.partition(":")[2].partition(":")
    kind = next((each for each in FICTIONS if each == said), None)
    if kind is None or language not in ("", *_LANGUAGES):
        raise BadUsage(
            f"{name} is nothing that can be made up",
            hint=f"{' or '.join(f'{_INPUT}:{each}' for each in FICTIONS)}; with :zh in Chinese",
        )
    whole, rest = divmod(_USUAL if n is None else n, len(DOMAINS))
    for place, domain in enumerate(DOMAINS):
        if count := whole + (place < rest):
            entity = Entity(name="", is_nonexistent=True, fiction=kind)
            yield Candidate(
                entity=entity, domain=domain, language=language or _LANGUAGES[0], to_make_up=count
            )


def make_up_step() -> Step:
    """Generate names with a model, each a non-existent entity; other rows pass unchanged."""

    async def make(row: Candidate, context: StepContext) -> Kept:
        if not row.to_make_up:
            return row
        letter = _LETTERS[context.draws("first letter").below(len(_LETTERS))]
        prompt = [Message("user", made_up_prompt(row, letter))]
        found = await ask_for(context.call, "names", prompt, _Names, _SCHEMA)
        if isinstance(found, str):
            return Drop(_UNREADABLE, found)
        plain = (" ".join(each.split()) for each in found.names)
        names = [
            name  # that can stand in a list: something that can be read, without control signs
            for name in plain
            if 0 < len(name) <= _LONGEST
            and plain_name(name)
            and not any(unicodedata.category(sign) == "Cc" for sign in name)
        ]
        made = [
            structs.replace(
                row,
                entity=structs.replace(row.entity, name=name),
                to_make_up=0,
                is_made_up=True,
            )
            for name in names[: row.to_make_up]
        ]
        return made or Drop(_UNREADABLE, ", ".join(found.names)[:_LONGEST])

    return Step(
        name="made up",
        version=1,
        takes=Candidate,
        work=make,
        reasons=(_UNREADABLE,),
        config={"prompt": _PROMPTS.key("made_up")},
        asks=("author",),
        draws=True,
    )


def made_up_prompt(row: Candidate, letter: str) -> str:
    """Return the prompt for a domain."""
    return _PROMPTS.render(
        "made_up",
        row.language,
        n=row.to_make_up,
        domain=row.domain,
        kind=row.entity.fiction,
        letter=letter,
    )


T = TypeVar("T")


_LEAD = 1500  # characters of an article that its rating rests on


_WIKIS = ("dump", "zim")


_FOLDER = "folder"


def candidates(inputs: Sequence[str], params: Mapping[str, Any]) -> Iterator[Candidate]:
    """Yield candidates from all inputs, one at a time.

    An article of a wiki (``dump:FILE``, ``zim:FILE``), a document of a folder (``folder:DIR``) and
    an entity of a list are one row each. A domain with names to generate is one row. Data from
    ``--known`` is added. Raises BadUsage for lists without a corpus to check them against, and
    errors of reading files.
    """
    known = Known(params["known"])
    for name in filter(_is_offline, inputs):
        yield from map(known.added, _of_input(name))
    if lists := [name for name in inputs if not _is_offline(name)]:
        items = [item for name in lists for item in listed(name)]
        yield from map(known.added, of_list(items, wiki_of(params["corpus"])))


def listed(name: str, n: int | None = None, seed: int = 0) -> Sequence[Item]:
    """Return the entities of a list, or a random sample of ``n``. Raises errors of reading it."""
    items = read_checked(Path(name), read_entities)
    if n is None:
        return items
    return _drawn(items, lambda item: f"{item.payload.name}\n{item.payload.description}", n, seed)


def drawn_candidates(
    name: str, params: Mapping[str, Any], n: int, seed: int
) -> Iterator[Candidate]:
    """Sample ``n`` candidates of one input with the seed, before any article is read.

    The order of sampling depends on the title or name alone. Raises as ``candidates``.
    """
    known = Known(params["known"])
    if _is_offline(name):
        yield from map(known.added, _of_input(name, n, seed))
    else:
        yield from map(known.added, of_list(listed(name, n, seed), wiki_of(params["corpus"])))


def _of_input(name: str, n: int | None = None, seed: int = 0) -> Iterator[Candidate]:
    """Yield the candidates of a non-list input, or a random sample of ``n``."""
    if is_made_up(name):
        return to_make_up(name, n)
    if name.startswith(f"{_FOLDER}:"):
        rows = _of_documents(name)
        return rows if n is None else iter(_drawn(rows, lambda each: each.entity.name, n, seed))
    path = wiki_of(name)
    keys = None if n is None else set(_drawn(article_keys(path), str, n, seed))
    return map(of_page, read_articles(path, keys))


def _drawn(things: Iterable[T], named: Callable[[T], str], n: int, seed: int) -> list[T]:
    def drawn_at(thing: T) -> float:
        number = int.from_bytes(digest(named(thing).encode("utf-8", "surrogatepass"))[:8], "big")
        return Draws(seed, number, "enters a list").uniform()

    return nsmallest(n, things, key=drawn_at)


def wiki_of(text: str) -> Path:
    """Return the file of ``dump:FILE`` or ``zim:FILE``. Raises as ``read_corpus``, and BadUsage for
    a folder.
    """
    kind, path = read_corpus(text)
    if kind not in _WIKIS:
        raise BadUsage(
            f"entities are looked up in a wiki, and {text} is a {kind}",
            hint="--corpus dump:FILE or zim:FILE",
        )
    return path


def _of_documents(name: str) -> Iterator[Candidate]:
    """Yield one entity per document of ``folder:DIR``, by its title or its file name."""
    _kind, folder = read_corpus(name)
    for file, taken in documents_of(folder):
        title = taken.title.strip() or file
        yield Candidate(
            entity=Entity(name=title, length=len(taken.text)),
            language=taken.language or guess_language([taken.text]),
            title=title,
            lead=taken.text[:_LEAD],
        )


def of_page(article: WikiArticle) -> Candidate:
    """Build an entity from its article."""
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
    """Yield entities without an article first, then those with one, in wiki order."""
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
    """Build a candidate from a list entry, with its article if there is one."""
    entity: Entity = item.payload
    bare = Candidate(
        entity=entity, language=item.language, domain=item.stratum.discipline,
        tier=item.stratum.field,
    )  # fmt: skip
    if article is None:
        return bare
    if not entity.is_nonexistent:
        entity = structs.replace(
            entity,
            wikipedia=entity.wikipedia or article.url,
            page_id=entity.page_id or article.page_id,
            length=len(article.text),
        )
    return _with_article(structs.replace(bare, entity=entity), article)


# What may stand in a list, from a live wiki; and what the web says of the fictional ones.


def wants(
    inputs: Sequence[str], params: Mapping[str, Any], per_input: int | None, seed: int
) -> OnlineWanted | None:
    """Return the requests to a live wiki and to web search; None if neither is needed.

    The wiki returns random articles or those of listed entities, with statement counts. The web is
    searched for non-existent entities. Raises BadUsage for two live wikis or a wiki without a page
    count, and errors of reading lists.
    """
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
    if not params["corpus"] and any(not item.payload.is_nonexistent for item in items):
        raise BadUsage("entities of lists that are real are looked up in a --corpus: name one")
    nonexistent = [item.payload for item in items if item.payload.is_nonexistent]
    return OnlineWanted(
        wiki=next(iter(apis), ""),
        names=tuple(article_names(item.payload) for item in items)
        if read_wiki(params["corpus"])
        else (),
        n_drawn=(per_input or 0) if drawn else 0,
        seed=seed,
        statements=True,
        search=params["search"],
        queries=tuple(map(query_of, nonexistent)) if params["search"] else (),
        n_pages=params["web_pages"],
    )


def rows(
    inputs: Sequence[str],
    params: Mapping[str, Any],
    per_input: int | None,
    seed: int,
    texts: OnlineTexts,
) -> Iterator[tuple[Candidate, bytes]]:
    """Yield one row per sampled article, and one row per entity of a list."""
    known = Known(params["known"])
    if any(map(read_wiki, inputs)):
        yield from (
            (known.added(_with_numbers(of_page(found_article(found)), found)), b"")
            for found in texts.drawn()
        )
    for name in filter(_is_offline, inputs):
        yield from ((known.added(row), b"") for row in _of_input(name, per_input, seed))
    for row in _of_items(_of_lists(inputs, per_input, seed), params["corpus"], texts):
        yield known.added(_held_against(row, texts) if params["search"] else row), b""


def _of_items(items: Sequence[Item], corpus: str, texts: OnlineTexts) -> Iterator[Candidate]:
    if not corpus:
        yield from map(of_row, items)
    elif not read_wiki(corpus):
        yield from of_list(items, wiki_of(corpus))
    else:
        for item in items:
            found = texts.article(article_names(item.payload))
            yield (
                of_row(item)
                if found is None
                else _with_numbers(of_row(item, found_article(found)), found)
            )


def _held_against(row: Candidate, texts: OnlineTexts) -> Candidate:
    """Attach the first web page that mentions a non-existent entity, in its snippet or its text.

    Other rows, and entities without such a page, pass unchanged.
    """
    if not row.entity.is_nonexistent:
        return row
    for page in texts.pages(query_of(row.entity)):
        if is_named(f"{page.title}\n{page.shown}\n{page.text}", row.entity.names):
            return structs.replace(row, against=f"{page.title}, {page.url}")
    return row


def _with_numbers(row: Candidate, found: WikiText) -> Candidate:
    """Add the Wikidata number and the statement count if the list lacks them."""
    entity = row.entity
    if entity.is_nonexistent:
        return row
    same = entity.wikidata in ("", found.wikidata)
    entity = structs.replace(
        entity,
        wikidata=entity.wikidata or found.wikidata,
        statements=found.statements if entity.statements is None and same else entity.statements,
    )
    return structs.replace(row, entity=entity)


def _of_lists(inputs: Sequence[str], per_input: int | None, seed: int) -> list[Item]:
    lists = [name for name in inputs if not read_wiki(name) and not _is_offline(name)]
    return [item for name in lists for item in listed(name, per_input, seed)]


def _is_offline(name: str) -> bool:
    """Return True if an input is neither a list nor a live wiki."""
    return name.partition(":")[0] in (*_WIKIS, _FOLDER, _INPUT)


ONLINE = OnlineRows(wants=wants, rows=rows, names=(WIKI,))


# How many of each kind a list holds: thirds by what is known of them, so many of a domain.

TIERS = ("0-33%", "33-66%", "66-100%")  # of popularity, from the least known on


_UNKNOWN, _NOT_DRAWN, _NO_DOMAIN = "statements unknown", "not drawn", "no domain"


def thirds_step(per_tier: int) -> BatchStep:
    """Label each entity with its third by Wikidata statement count, and sample each third.

    The sample size is per third (0: all). Thirds are computed over the candidates of this step;
    ties are ordered by name. Candidates without a count are dropped. Non-existent entities pass
    unchanged.
    """

    def place(rows: BatchRows, context: StepContext) -> Mapping[int, Kept]:
        made: dict[int, Kept] = {}
        counted: list[tuple[int, str, int]] = []
        listed = list(rows)
        for number, row in enumerate(listed):
            if row.entity.is_nonexistent:
                continue
            if row.entity.statements is None:
                made[number] = Drop(_UNKNOWN, row.entity.name)
            else:
                counted.append((row.entity.statements, plain_name(row.entity.name), number))
        groups: dict[str, list[int]] = {tier: [] for tier in TIERS}
        for rank, (_n, _name, number) in enumerate(sorted(counted)):
            tier = TIERS[rank * len(TIERS) // len(counted)]
            made[number] = structs.replace(listed[number], tier=tier)
            groups[tier].append(number)
        return made | _not_drawn(groups.values(), listed, per_tier, context, "tier")

    return BatchStep(
        name="thirds", version=1, takes=Candidate, work=place, reasons=(_UNKNOWN, _NOT_DRAWN),
        config={"per_tier": per_tier, "tiers": TIERS}, draws=True,
    )  # fmt: skip


def domains_step(per_domain: int) -> BatchStep:
    """Sample this many entities per domain, and drop those without one.

    Non-existent entities pass unchanged.
    """

    def draw(rows: BatchRows, context: StepContext) -> Mapping[int, Kept]:
        made: dict[int, Kept] = {}
        groups: dict[str, list[int]] = {}
        listed = list(rows)
        for number, row in enumerate(listed):
            if row.entity.is_nonexistent:
                continue
            if row.domain:
                groups.setdefault(row.domain, []).append(number)
            else:
                made[number] = Drop(_NO_DOMAIN, row.entity.name)
        return made | _not_drawn(groups.values(), listed, per_domain, context, "domain")

    return BatchStep(
        name="domains", version=1, takes=Candidate, work=draw, reasons=(_NO_DOMAIN, _NOT_DRAWN),
        config={"per_domain": per_domain}, draws=True,
    )  # fmt: skip


def _not_drawn(
    groups: Iterable[Sequence[int]],
    listed: Sequence[Candidate],
    n: int,
    context: StepContext,
    purpose: str,
) -> dict[int, Kept]:
    """Return the rows of a group that are not in its random sample of ``n`` (0: no row).

    The order of sampling depends on the seed and the name alone, so a larger ``n`` keeps the
    sample.
    """

    def drawn_at(number: int) -> tuple[float, int]:
        name = plain_name(listed[number].entity.name).encode("utf-8", "surrogatepass")
        key = int.from_bytes(digest(name)[:8], "big")
        return Draws(context.seed, key, purpose).uniform(), number

    return {
        number: Drop(_NOT_DRAWN, listed[number].entity.name)
        for group in groups
        if n
        for number in sorted(group, key=drawn_at)[n:]
    }


# Whether models can be asked about an entity: a judge rates it, and names its domain.

_MATERIAL, _UNRATED = ("article", "条目"), "not rated"


_LOW = {"informative": "too little to say", "clear": "ambiguous", "suitable": "not suitable"}


_SEVERAL = "not of one domain"


_RATING = {"type": "integer", "minimum": 1, "maximum": 5}


_RATE_SCHEMA = object_of_all(
    {**dict.fromkeys(_LOW, _RATING), "domains": list_of({**TEXT, "enum": list(DOMAINS)})},
    title="ratings",
)


_Likert = Annotated[int, Meta(ge=1, le=5)]


class _Rated(Struct, frozen=True):
    informative: _Likert
    clear: _Likert
    suitable: _Likert
    domains: tuple[str, ...]


def rate_step(least: int, *, one_domain: bool) -> Step:
    """Keep candidates whose three ratings are all at least ``least``, and add a unique domain.

    With ``one_domain``, candidates with several domains are dropped. Non-existent entities have no
    article and are not rated.
    """

    async def rate(row: Candidate, context: StepContext) -> Kept:
        if row.entity.is_nonexistent:
            return row
        prompt = [Message("user", rate_prompt(row))]
        found = await ask_for(context.call, "ratings", prompt, _Rated, _RATE_SCHEMA)
        if isinstance(found, str):
            return Drop(_UNRATED, found)
        for name, reason in _LOW.items():
            if getattr(found, name) < least:
                return Drop(reason, f"{row.entity.name}: {getattr(found, name)} of 5")
        named = {each.strip().casefold() for each in found.domains}
        domains = [domain for domain in DOMAINS if domain in named]
        if one_domain and len(domains) != 1:
            return Drop(_SEVERAL, f"{row.entity.name}: {', '.join(domains) or 'none'}")
        ratings = Ratings(informative=found.informative, clear=found.clear, suitable=found.suitable)
        domain = row.domain or (domains[0] if len(domains) == 1 else "")
        return structs.replace(row, ratings=ratings, domain=domain)

    return Step(
        name="ratings",
        version=1,
        takes=Candidate,
        work=rate,
        reasons=(_UNRATED, *_LOW.values(), *([_SEVERAL] if one_domain else [])),
        config={
            "least": least,
            "one_domain": one_domain,
            "prompt": _PROMPTS.key("rate"),
        },
        asks=("judge",),
    )


def rate_prompt(row: Candidate) -> str:
    """Return the judge's prompt, in Chinese for Chinese articles, otherwise in English."""
    return _PROMPTS.render(
        "rate",
        row.language,
        name=row.entity.name,
        description=row.entity.description,
        domains=DOMAINS,
        passage=fence(_MATERIAL[is_chinese(row.language)], row.lead, row.language),
    )


# What a list refuses by rule: pages that are no articles, short ones, names that come again.

_NONE, _UNREAD, _MEANINGS = "no article", "unreadable article", "article of meanings"


_SHORT, _FEW, _EXISTS = "article too short", "too few statements", "no fiction"


_AGAIN = "named before"


def filter_step(least_length: int, least_statements: int) -> Step:
    """Keep entities with an article of the minimum length that is not a disambiguation page.

    Entities with a known statement count also need the minimum count. Non-existent entities are
    kept if they have no article and no web page mentions them.
    """

    def look(row: Candidate, _context: StepContext) -> Kept:
        entity = row.entity
        if row.to_make_up:
            raise BadUsage(
                "no model is named that makes names up", hint="name it: -m author=PROVIDER/NAME"
            )
        if entity.is_nonexistent:
            found = row.title or row.against
            return Drop(_EXISTS, f"{entity.name}: {found}") if found else row
        if not row.title:
            return Drop(_NONE, entity.name)
        if row.trouble or row.is_meanings:
            unread = Drop(_UNREAD, f"{row.title}: {row.trouble}")
            return unread if row.trouble else Drop(_MEANINGS, row.title)
        if (entity.length or 0) < least_length:
            return Drop(_SHORT, f"{row.title}: {entity.length or 0} characters")
        if entity.statements is not None and entity.statements < least_statements:
            return Drop(_FEW, f"{row.title}: {entity.statements} statements")
        return row

    return Step(
        name="filters",
        version=2,
        takes=Candidate,
        work=look,
        reasons=(_EXISTS, _NONE, _UNREAD, _MEANINGS, _SHORT, _FEW),
        config={"length": least_length, "statements": least_statements},
    )


def once_step() -> BatchStep:
    """Merge duplicates by Wikidata number, name, or a name among another's aliases."""

    def fold(rows: BatchRows, _context: StepContext) -> Mapping[int, Kept]:
        named = [
            NamedRow("", each.name, each.description, each.aliases, each.wikidata)
            for each in (row.entity for row in rows)
        ]
        again: dict[int, Kept] = {}
        for first, *others in same_entities(named, []):
            again |= {n: Drop(_AGAIN, f"{named[n].name}: {named[first].name}") for n in others}
        return again

    return BatchStep(name="once", version=1, takes=Candidate, work=fold, reasons=(_AGAIN,))


_UNCHECKED = (
    "nobody looked whether what was made up exists: export the bank, then build entities FILE "
    "--corpus zim:FILE --search ENGINE keeps what neither knows"
)


_ASKED = read_asked(__package__, "entities")


def make_pipeline(params: Mapping[str, Any], models: Mapping[str, str]) -> Pipeline:
    """Return the steps for these parameters. Raises BadUsage for invalid ones."""
    _check(params)
    makes_up = bool(slots_of("author", models))
    steps: list[Step | BatchStep] = [make_up_step()] if makes_up else []
    steps += [filter_step(params["least_length"], params["least_statements"]), once_step()]
    if params["least_rating"]:
        steps.append(rate_step(params["least_rating"], one_domain=params["per_domain"] > 0))
    if params["thirds"]:
        steps.append(thirds_step(params["per_third"]))
    if params["per_domain"]:
        steps.append(domains_step(params["per_domain"]))
    notes = (_UNCHECKED,) if makes_up else ()
    return Pipeline(steps=tuple(steps), gives=Candidate, facts=facts_by(models), notes=notes)


def _check(params: Mapping[str, Any]) -> None:
    for name in ("least_length", "least_statements", "per_domain", "per_third"):
        if params[name] < 0:
            raise BadUsage(f"--{name.replace('_', '-')} is 0 or more, not {params[name]}")
    if not 0 <= params["least_rating"] <= 5:
        raise BadUsage(f"--least-rating is 1 to 5, or 0, not {params['least_rating']}")
    if params["per_domain"] and not params["least_rating"]:
        raise BadUsage("--per-domain needs the judge that --least-rating 0 leaves out")
    if params["per_third"] and not params["thirds"]:
        raise BadUsage("--per-third needs --thirds")


def facts_by(models: Mapping[str, str]) -> Callable[[Iterable[Candidate]], Iterator[BuiltFact]]:
    """Return the facts of candidates: their entities.

    The judge checked those that it rated; the author model wrote those that it generated.
    """
    checked = tuple(Role("checked", model) for model in slots_of("judge", models).values())
    wrote = tuple(Role("wrote", model) for model in slots_of("author", models).values())

    def facts(rows: Iterable[Candidate]) -> Iterator[BuiltFact]:
        for row in rows:
            fact = Fact(
                kind="bequ.entity",
                payload=row.entity,
                language=row.language,
                stratum=Stratum(row.domain, row.tier),
            )
            roles = (wrote if row.is_made_up else ()) + (checked if row.ratings else ())
            yield BuiltFact(structs.replace(fact, id=fact_id(fact)), roles=roles)

    return facts


PIPELINES = {
    "entities": StepBuilder(
        make=make_pipeline,
        roles=_ASKED.roles,
        parameters=_ASKED.parameters,
        rows=candidates,
        drawn=drawn_candidates,
        online=ONLINE,
        lists=True,
        next="run {bank} -m PROVIDER/NAME",
        help="Entities to elicit triples for. An INPUT is a wiki (dump:FILE, zim:FILE, or the "
        "live wiki), of which --per-input pages are sampled; folder:DIR with one document "
        "per entity; or a list that is looked up in --corpus. Short articles, "
        "disambiguation pages and entities with few statements are left out, then entities "
        "that a judge rates low. Non-existent entities are left out if an article or a web "
        "page names them. made-up:plausible and made-up:absurd let a model invent "
        "--per-input names.",
    ),
    **REFERENCE,
}
