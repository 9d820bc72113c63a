"""Build a reference knowledge base from a corpus: texts, passages, and triples."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from msgspec import structs

from proofstone.documents.folders import find_files
from proofstone.documents.passages import sentence_spans
from proofstone.documents.reader import GuardedReader, Job, Opened, PageRead, Refused
from proofstone.documents.sources import bare_name
from proofstone.documents.wiki import WikiArticle, find_articles, read_articles
from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.files.csv import missing_file
from proofstone.files.tables import read_checked
from proofstone.judging.question import fence
from proofstone.method import read_asked
from proofstone.methods.bequ.bank import (
    MISSING,
    About,
    EntityText,
    Known,
    Taken,
    facts_by,
)
from proofstone.methods.bequ.entities import Entity, is_named, plain_name, read_entities
from proofstone.methods.bequ.records import ReadTriples, fold_triples, plain_triple
from proofstone.methods.bequ.response_json import read_triples
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
)
from proofstone.records.calls import FoundText, Message
from proofstone.records.ids import digest
from proofstone.records.items import Item
from proofstone.search.bm25 import TERMS_VERSION, terms_of
from proofstone.search.chunks import CHUNKS_VERSION, Chunking, cut_chunks, tokens_by_bytes
from proofstone.texts.languages import guess_language, is_chinese, passage_language
from proofstone.texts.templates import Prompts

# Entities whose reference is built, and the names of their articles.


class Wanted:
    """Hold entities in their order.

    ``names[n]`` are candidate article names of the n-th entity, best first: page title, name with
    its description in brackets, name, aliases. A name of several entities matches none of them.
    """

    def __init__(self, entities: Sequence[Entity], abouts: Sequence[About]) -> None:
        self.entities = entities
        self.abouts = abouts
        named = Counter(
            name for entity in entities for name in {plain_name(each) for each in entity.names}
        )
        self._shared = {name for name, n in named.items() if n > 1}
        self.names = [article_names(entity, self._shared) for entity in entities]

    def shares(self, number: int) -> tuple[str, ...]:
        """Return the entity's names that other entities share."""
        names = self.entities[number].names
        return tuple(name for name in names if plain_name(name) in self._shared)


def article_names(entity: Entity, shared: Collection[str] = ()) -> tuple[str, ...]:
    """Return candidate article names of an entity, best first, see ``Wanted``.

    Normalized names in ``shared`` are left out.
    """
    page = title_of_address(entity.wikipedia)
    told = f"{entity.name} ({entity.description})" if entity.description else ""
    own = (name for name in entity.names if plain_name(name) not in shared)
    return tuple(dict.fromkeys(filter(None, (page, told, *own))))


def read_wanted(inputs: Sequence[str]) -> Wanted:
    """Read the entities of list files.

    Raises BadInput with every problem, and for entities with the same name and no Wikidata number.
    References are found by name.
    """
    items = [item for name in inputs for item in read_checked(Path(name), read_entities)]
    items = list({item.id: item for item in items}.values())
    _check_told_apart(items)
    entities: list[Entity] = [item.payload for item in items]
    abouts = [
        About(
            name=entity.name,
            description=entity.description,
            aliases=entity.aliases,
            wikidata=entity.wikidata,
            domain=item.stratum.discipline,
            tier=item.stratum.field,
        )
        for item, entity in zip(items, entities, strict=True)
    ]
    return Wanted(entities, abouts)


def title_of_address(address: str) -> str:
    """Return the page title from a wiki address (``.../wiki/TITLE``); empty for other addresses."""
    head, sign, title = urlsplit(address).path.partition("/wiki/")
    return unquote(title).replace("_", " ").strip() if sign and not head else ""


def _check_told_apart(items: Sequence[Item]) -> None:
    groups: dict[str, list[Entity]] = {}
    for item in items:
        groups.setdefault(plain_name(item.payload.name), []).append(item.payload)
    problems = [
        Problem(
            f'entity "{same[0].name}"',
            f"names {len(same)} entities "
            f"({'; '.join(each.description or 'no description' for each in same)}), not all "
            "with a Wikidata number; verification would mix up their triples",
        )
        for same in groups.values()
        if len({each.wikidata for each in same} - {""}) < len(same) > 1
    ]
    if problems:
        raise BadInput("Some entities have the same name.", problems)


KINDS = ("dump", "zim", "folder")


SOURCES = "sources"


WIKI = "wiki"  # a live one


_LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z]{2,8})*")  # as in the names of Wikipedias


def read_corpus(text: str) -> tuple[str, Path]:
    """Parse ``KIND:PATH``.

    ``sources`` (of the workspace) and ``wiki`` (live) have no path. Raises BadUsage for an unknown
    kind, NotFound for a missing path.
    """
    if text == SOURCES:
        return SOURCES, Path()
    if read_wiki(text):
        return WIKI, Path()
    kind, _sign, rest = text.partition(":")
    if kind not in KINDS or not rest:
        known = ", ".join(f"{each}:PATH" for each in KINDS) + f", {SOURCES}, {WIKI}:LANGUAGE"
        came = repr(text) if text else "nothing"
        raise BadUsage(f"--corpus must be one of {known}, got {came}")
    path = Path(rest)
    if not path.exists():
        raise missing_file(path)
    if path.is_dir() != (kind == "folder"):
        raise BadUsage(
            f"expected {path} to be a {kind}, got {'a folder' if path.is_dir() else 'a file'}"
        )
    return kind, path


def read_wiki(text: str) -> str:
    """Return the API address of a live wiki; empty for other corpora.

    ``wiki`` is the English Wikipedia, ``wiki:LANGUAGE`` another one, ``wiki:https://.../api.php``
    any wiki. Raises BadUsage for other values.
    """
    kind, colon, rest = text.partition(":")
    if kind != WIKI:
        return ""
    if rest.startswith(("https://", "http://")):
        return rest
    language = rest if colon else "en"
    if not _LANGUAGE.fullmatch(language):
        raise BadUsage(
            f"{text} names no wiki",
            hint="wiki, wiki:de (a Wikipedia by its language) or wiki:https://.../api.php",
        )
    return f"https://{language}.wikipedia.org/w/api.php"


def entity_texts(inputs: Sequence[str], params: Mapping[str, Any]) -> Iterator[EntityText]:
    """Yield one row per text about an entity, one text at a time, entities without one first.

    Raises the errors of reading lists and corpora.
    """
    return texts_of(read_wanted(inputs), params["corpus"])


def texts_of(wanted: Wanted, corpus: str) -> Iterator[EntityText]:
    """Yield ``entity_texts`` of entities already read. A live wiki has none here."""
    kind, path = read_corpus(corpus)
    if kind == WIKI:
        return
    if kind == SOURCES:
        yield from _to_search(wanted)
    else:
        yield from _of_folder(wanted, path) if kind == "folder" else _of_wiki(wanted, path)


def _to_search(wanted: Wanted) -> Iterator[EntityText]:
    """Yield the entities alone; a later step searches the workspace for texts that mention them."""
    for number, entity in enumerate(wanted.entities):
        about = wanted.abouts[number]
        if entity.is_nonexistent:
            yield EntityText(about=about, missing="nonexistent")
        elif wanted.names[number]:
            yield EntityText(about=about, names=wanted.names[number])
        else:
            yield missing_text(wanted, number)


# ---------------------------------------------------------------- an offline wiki


def _of_wiki(wanted: Wanted, path: Path) -> Iterator[EntityText]:
    found = find_articles(path, wanted.names, plain_name)
    of_key: dict[str, list[int]] = {}
    for number, key in enumerate(found):
        if wanted.entities[number].is_nonexistent:
            yield EntityText(about=wanted.abouts[number], missing="nonexistent", sought=key or "")
        elif key is None:
            yield missing_text(wanted, number)
        else:
            of_key.setdefault(key, []).append(number)
    unread = set(of_key)
    for article in read_articles(path, of_key):
        unread.discard(article.key)
        yield from (of_article(wanted, n, article, of_key[article.key])
                    for n in of_key[article.key])  # fmt: skip
    for key in sorted(unread):
        yield from (missing_text(wanted, number, f"a redirect to {key}, which does not exist")
                    for number in of_key[key])  # fmt: skip


def of_article(
    wanted: Wanted, number: int, article: WikiArticle, whose: Sequence[int]
) -> EntityText:
    """Return an article's text for entity ``number``, or the reason why it does not count.

    ``whose`` are all entities that the article matches.
    """
    about = wanted.abouts[number]
    if len(whose) > 1:
        others = ", ".join(wanted.abouts[each].name for each in whose if each != number)
        return EntityText(
            about=about, missing="article of several entities", sought=f"{article.title}: {others}"
        )
    if article.trouble:
        sought = f"{article.title}: {article.trouble}"
        return EntityText(about=about, missing="unparsed article", sought=sought)
    if article.is_meanings:
        return EntityText(about=about, missing="article of meanings", sought=article.title)
    taken = Taken(
        text=article.text, source="wiki", title=article.title, url=article.url, date=article.date,
        content=article.content, language=article.language,
    )  # fmt: skip
    return EntityText(about=about, taken=taken)


def missing_text(wanted: Wanted, number: int, why: str = "") -> EntityText:
    """Return a row that says that no text was found, with the names looked up."""
    told = [f"looked up {', '.join(wanted.names[number]) or 'no name'}"]
    if shared := wanted.shares(number):
        told.append(f"not {', '.join(shared)}, shared with other entities")
    if why:
        told.append(why)
    return EntityText(about=wanted.abouts[number], missing="no article", sought="; ".join(told))


# ---------------------------------------------------------------- a folder of documents


def _of_folder(wanted: Wanted, folder: Path) -> Iterator[EntityText]:
    """Match a document to the entity in its title or file name."""
    of_name: dict[str, set[int]] = {}
    for number, names in enumerate(wanted.names):
        for each in names:
            of_name.setdefault(plain_name(each), set()).add(number)
    numbers = {name: min(of) for name, of in of_name.items() if len(of) == 1}
    seen: set[int] = set()
    for name, taken in documents_of(folder):
        for number in dict.fromkeys(
            numbers[each] for each in (plain_name(name), plain_name(taken.title)) if each in numbers
        ):
            seen.add(number)
            if not wanted.entities[number].is_nonexistent:
                yield EntityText(about=wanted.abouts[number], taken=taken)
    for number, entity in enumerate(wanted.entities):
        if entity.is_nonexistent:
            yield EntityText(about=wanted.abouts[number], missing="nonexistent")
        elif number not in seen:
            yield missing_text(wanted, number)


def documents_of(folder: Path) -> Iterator[tuple[str, Taken]]:
    """Return the documents of a folder with their file names, in name order.

    Raises BadInput for a folder without documents, or for one that cannot be read.
    """
    files = find_files([folder]).files
    if not files:
        raise BadInput(f"{folder} has no documents.")
    jobs = [Job(path=str(file.path), root=str(file.root)) for file in files]
    opened: Opened | None = None
    texts: list[str] = []
    at = 0
    with GuardedReader(n_processes=1) as reader:
        for place, event in reader.read(jobs):
            if isinstance(event, Refused):
                raise BadInput(f"{files[place].inside}: {event.message}", hint=event.hint)
            if isinstance(event, Opened):
                if opened is not None:
                    yield _document(files[at].path, opened, texts)
                opened, texts, at = event, [], place
            elif isinstance(event, PageRead):
                texts.append(event.text)
    if opened is not None:
        yield _document(files[at].path, opened, texts)


def _document(path: Path, opened: Opened, texts: Sequence[str]) -> tuple[str, Taken]:
    text = "\n\n".join(filter(None, texts))
    changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    taken = Taken(
        text=text, source="documents", title=opened.title, url=opened.origin,
        date=changed.date().isoformat(), content=sha256(text.encode()).hexdigest(),
        language=opened.language,
    )  # fmt: skip
    return bare_name(path), taken


# Texts about entities from a live wiki and from web search.


def wants(
    inputs: Sequence[str], params: Mapping[str, Any], per_input: int | None, _seed: int
) -> OnlineWanted | None:
    """Return the articles and web pages to fetch for the listed entities.

    Applies if a live wiki or web search is set; non-existent entities are skipped. Raises BadUsage,
    and the errors of reading lists.
    """
    api, search = read_wiki(params["corpus"]), str(params["search"])
    if not api and not search:
        return None
    if per_input is not None:
        raise BadUsage(
            ("--per-input cannot be combined with a live wiki or a search"), hint="--limit N"
        )
    if params["web_pages"] < 1:
        raise BadUsage(f"--web-pages must be 1 or more, got {params['web_pages']}")
    wanted = read_wanted(inputs)
    real = [n for n, entity in enumerate(wanted.entities) if not entity.is_nonexistent]
    return OnlineWanted(
        wiki=api,
        names=tuple(wanted.names[n] for n in real) if api else (),
        search=search,
        queries=tuple(query_of(wanted.abouts[n]) for n in real) if search else (),
        n_pages=params["web_pages"],
    )


def query_of(named: Any) -> str:
    """Return the web query: an entity's name with its description."""
    return " ".join(f"{named.name} {named.description}".split())


def rows(
    inputs: Sequence[str],
    params: Mapping[str, Any],
    _per_input: int | None,
    _seed: int,
    texts: OnlineTexts,
) -> Iterator[tuple[EntityText, bytes]]:
    """Yield one row per text about an entity: from the corpus, then from the web."""
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
        if entity.is_nonexistent:
            yield EntityText(about=wanted.abouts[number], missing="nonexistent")
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
    """Convert a live wiki's article to the form of an offline one."""
    return WikiArticle(
        key=found.title, title=found.title, text=found.text, page_id=found.page_id,
        language=found.language, date=found.date, url=found.url,
        is_meanings=found.is_meanings, trouble=found.trouble,
    )  # fmt: skip


def _of_web(
    wanted: Wanted, texts: OnlineTexts, *, alone: bool
) -> Iterator[tuple[EntityText, bytes]]:
    """Yield rows for web pages; pages that could not be read are reported one by one.

    If web search is used ``alone``, non-existent entities are included.
    """
    for about, entity in zip(wanted.abouts, wanted.entities, strict=True):
        if entity.is_nonexistent:
            if alone:
                yield EntityText(about=about, missing="nonexistent"), b""
            continue
        query, n_read = query_of(about), 0
        for page in texts.pages(query):
            if page.problem:
                sought = f"{page.url}: {page.problem} ({page.detail})"
                yield EntityText(about=about, missing="unparsed page", sought=sought), b""
            else:
                n_read += 1
                taken = Taken(
                    text=page.text, source="web", title=page.title, url=page.url, date=page.date,
                    content=page.content, language=page.language, source_id=page.source,
                )  # fmt: skip
                yield EntityText(about=about, taken=taken), page.source
        if not n_read:
            yield EntityText(about=about, missing="no page", sought=f"searched for {query}"), b""


ONLINE = OnlineRows(wants=wants, rows=rows)


# Texts about entities in the workspace's sources: passages that mention them.

SEARCH = "search:bm25"


_NO_ARTICLE = "no article"


def search_step(most: int) -> Step:
    """Retrieve passages that mention an entity, at most ``most`` per name, the nearest first.

    Other rows pass unchanged.
    """

    async def search(row: EntityText, context: StepContext) -> Kept:
        if not row.names or context.search is None:
            return row
        found: dict[tuple[bytes, int], FoundText] = {}
        for name in row.names:
            for each in await context.search(name, most):
                if is_named(f"{each.title}\n{each.text}", row.names):
                    found.setdefault((each.passage, each.start), each)
        if not found:
            return Drop(_NO_ARTICLE, f"{row.about.name}: looked up {', '.join(row.names)}")
        taken = (
            Taken(
                text=each.text, source="documents", title=each.title, url=each.address,
                content=sha256(each.text.encode()).hexdigest(),
                source_id=each.source, passage_id=each.passage,
            )
            for each in found.values()
        )  # fmt: skip
        return [structs.replace(row, taken=each, names=()) for each in taken]

    return Step(
        name="search",
        version=1,
        takes=EntityText,
        work=search,
        reasons=(_NO_ARTICLE,),
        config={"most": most},
        reads=(SEARCH,),
    )


# Entity texts as passages, for the reference and for triple extraction.

_NO_TEXT = "no text in it"


def passages_step(most: int) -> Step:
    """Split each text into passages of whole sentences with at most ``most`` tokens.

    Each passage is emitted twice: unchanged, and for triple extraction. Entities without a text end
    here.
    """

    def cut(row: EntityText, _context: StepContext) -> Kept:
        if row.taken is None:
            return Drop(row.missing or _NO_TEXT, f"{row.about.name}: {row.sought}")
        passages = list(_passages(row.taken, most))
        made = [
            Known(about=row.about, taken=each, is_asked=is_asked)
            for each in passages
            for is_asked in (False, True)
        ]
        return made or Drop(_NO_TEXT, f"{row.about.name}: {row.taken.title}")

    return Step(
        name="passages",
        version=1,
        takes=EntityText,
        work=cut,
        reasons=(*MISSING, _NO_TEXT),
        config={"most": most, "chunks": CHUNKS_VERSION},
    )


def _passages(taken: Taken, most: int) -> Iterator[Taken]:
    """Split into distinct passages that contain a letter or digit."""
    language = taken.language or guess_language([taken.text])
    seen: set[str] = set()
    chunking = Chunking(most=most)
    for chunk in cut_chunks(taken.text, chunking, count=tokens_by_bytes, sentences=sentence_spans):
        text = taken.text[chunk.start : chunk.end]
        if text not in seen and any(sign.isalnum() for sign in text):
            seen.add(text)
            yield structs.replace(taken, text=text, language=passage_language(text, language))


# Triples whose object occurs in their passage: models also add facts from memory.
#
# A small model took a birth place from a passage that names none, and changed 1906-12-09 to
# 1906-02-09 (decision 0019).

_ELSEWHERE = "not in the passage"


_NUMBER = re.compile(r"\d+")


_GROUPED = re.compile(r"(?<=\d)[,' \u00a0\u202f](?=\d{3}(?!\d))")  # 1,085 is 1085


_STEM = 5  # prefix length for comparing words: melts and melting match


def grounds_step() -> Step:
    """Keep triples whose object occurs in the passage, see ``is_grounded``; passages pass
    unchanged.
    """

    def look(row: Known, _context: StepContext) -> Kept:
        if not row.is_asked or is_grounded(row.object, row.taken.text):
            return row
        return Drop(_ELSEWHERE, f"{row.about.name}: {row.predicate}: {row.object}")

    return Step(
        name="grounds",
        version=1,
        takes=Known,
        work=look,
        reasons=(_ELSEWHERE,),
        config={"terms": TERMS_VERSION, "stem": _STEM},
    )


def is_grounded(value: str, passage: str) -> bool:
    """Return True if a passage states a value.

    The value occurs literally, or the passage has each of its numbers and at least half of its
    numbers and words. Words are compared by their first five letters. Values without words and
    numbers count as stated.
    """
    if is_named(passage, [value]):
        return True
    numbers, words = _numbers(value), _words(value)
    if not numbers <= _numbers(passage):
        return False
    n_found = len(numbers) + len(words & _words(passage))
    return 2 * n_found >= len(numbers) + len(words)


def _numbers(text: str) -> set[int]:
    """Return the whole numbers in a text, including parts of dates and decimals."""
    plain = _GROUPED.sub("", unicodedata.normalize("NFKC", text))
    return {int(found[0]) for found in _NUMBER.finditer(plain) if len(found[0]) < 20}


def _words(text: str) -> set[str]:
    return {term[:_STEM] for term in terms_of(text) if not term[0].isdigit()}


# Triples extracted from passages by a model, of the right subject, without duplicates.

_UNREADABLE, _NONE = "unparsed response", "no triple in it"


_OTHER, _AGAIN = "of something else", "said before"


_TRIES = 2


_PROMPTS = Prompts(__package__)


_MATERIAL = ("passage", "文字")


def triples_step(reads: tuple[str, ...] = ()) -> Step:
    """Extract triples from each passage with a model; other rows pass unchanged.

    ``reads`` names the retrieval sources, since any of their texts may be sent to the model.
    """

    async def take(row: Known, context: StepContext) -> Kept:
        if not row.is_asked:
            return row
        prompt = [Message("user", take_prompt(row))]
        read, text = ReadTriples(), ""
        for reask in range(_TRIES):
            response = await context.call("triples", prompt, reask=reask)
            text = "" if response.thinking_unclosed else response.text
            read = read_triples(text, names=row.about.names, is_cut=response.finish == "length")
            if read.triples or read.says_nothing:
                break
        if read.says_nothing and not read.triples:
            return Drop(_NONE, row.taken.text[:200])
        if not read.triples:
            return Drop(_UNREADABLE, text)
        return [
            structs.replace(row, subject=said.subject, predicate=said.predicate, object=said.object)
            for said in (folded.first for folded in fold_triples(read.triples))
        ]

    return Step(
        name="triples",
        version=1,
        takes=Known,
        work=take,
        reasons=(_UNREADABLE, _NONE),
        config={"prompt": _PROMPTS.key("triples")},
        asks=("author",),
        reads=reads,
    )


def subjects_step() -> Step:
    """Keep triples whose subject is the entity, by name or alias."""

    def told_apart(row: Known, _context: StepContext) -> Kept:
        names = {plain_name(name) for name in row.about.names}
        if not row.is_asked or plain_name(row.subject) in names:
            return row
        return Drop(_OTHER, f"{row.subject}: {row.predicate}: {row.object}")

    return Step(name="subject", version=1, takes=Known, work=told_apart, reasons=(_OTHER,))


def once_step() -> BatchStep:
    """Keep each triple of an entity and source kind once, from its first passage."""

    def fold(rows: BatchRows, _context: StepContext) -> Mapping[int, Kept]:
        seen: set[bytes] = set()
        again: dict[int, Kept] = {}
        for place, row in enumerate(rows):
            if not row.is_asked:
                continue
            said = plain_triple("", row.predicate, row.object)
            whose = (row.about.name, row.about.wikidata, row.taken.source)
            key = digest("\0".join((*whose, *said)).encode("utf-8", "surrogatepass"))[:16]
            if key in seen:
                again[place] = Drop(_AGAIN, f"{row.subject}: {row.predicate}: {row.object}")
            seen.add(key)
        return again

    return BatchStep(name="once", version=1, takes=Known, work=fold, reasons=(_AGAIN,))


def take_prompt(row: Known) -> str:
    """Return the prompt for a passage, in Chinese for Chinese texts, otherwise in English."""
    about, language = row.about, row.taken.language
    return _PROMPTS.render(
        "triples",
        language,
        passage=fence(_MATERIAL[is_chinese(language)], row.taken.text, language),
        name=about.name,
        name_json=json.dumps(about.name, ensure_ascii=False),
        description=about.description,
        aliases=about.aliases,
    )


_LEAST_TOKENS = 50


_ASKED = read_asked(__package__, "reference")


def make_pipeline(params: Mapping[str, Any], models: Mapping[str, str]) -> Pipeline:
    """Return the steps for these parameters. Raises BadUsage or NotFound."""
    by_search_alone = params["search"] and not params["corpus"]
    is_searched = not by_search_alone and read_corpus(params["corpus"])[0] == SOURCES
    if params["found"] < 1:
        raise BadUsage(f"--found must be 1 or more, got {params['found']}")
    if params["passage_tokens"] < _LEAST_TOKENS:
        raise BadUsage(
            f"--passage-tokens must be {_LEAST_TOKENS} or more, got {params['passage_tokens']}"
        )
    steps: list[Step | BatchStep] = [search_step(params["found"])] if is_searched else []
    steps += [
        passages_step(params["passage_tokens"]),
        triples_step((SEARCH,) if is_searched else ()),
        subjects_step(),
        grounds_step(),
        once_step(),
    ]
    return Pipeline(steps=tuple(steps), gives=Known, facts=facts_by(models))


PIPELINES = {
    "reference": StepBuilder(
        make=make_pipeline,
        roles=_ASKED.roles,
        parameters=_ASKED.parameters,
        rows=entity_texts,
        online=ONLINE,
        lists=True,
        suffix="-reference",
        next="grade RUN --judge PROVIDER/NAME --reference {bank}",
        help="Reference knowledge base for 'grade --reference'. An INPUT is a list of entities: "
        "a file (see 'import --as entities') or one of the workspace. Articles are found "
        "by name, redirect or alias and cut into passages; a model extracts triples. "
        "Entities without an article are listed. Requests to a live wiki or the web are "
        "made once and kept.",
        example="entities --corpus zim:wikipedia.zim -m openai/gpt-5.1 --name known",
    ),
}
