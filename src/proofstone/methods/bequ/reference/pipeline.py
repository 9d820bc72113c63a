"""From a list of entities and a corpus to what that corpus knows of each: the steps."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from msgspec import structs

from proofstone.errors import BadUsage
from proofstone.methods.bequ.ask import TwoPrompts
from proofstone.methods.bequ.entities import is_named, plain_name
from proofstone.methods.bequ.entity_lists.pipeline import PIPELINES as LISTING
from proofstone.methods.bequ.reference.corpora import (
    ONLINE,
    SEARCH,
    SOURCES,
    entity_texts,
    passages_step,
    read_corpus,
    search_step,
)
from proofstone.methods.bequ.reference.facts import Known, facts_by
from proofstone.methods.bequ.triples.extraction import ReadTriples, fold_triples, plain_triple
from proofstone.methods.bequ.triples.json_records import read_triples
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
from proofstone.records.ids import digest
from proofstone.records.options import Parameter
from proofstone.search.bm25 import TERMS_VERSION, terms_of

# Triples whose object stands in their passage: a model also writes what it knows from elsewhere.
#
# Seen with a small model (decision 0019): of a passage that names no birth place it took
# one, and of 1906-12-09 it made 1906-02-09.

_ELSEWHERE = "not in the passage"


_NUMBER = re.compile(r"\d+")


_GROUPED = re.compile(r"(?<=\d)[,' \u00a0\u202f](?=\d{3}(?!\d))")  # 1,085 is 1085


_STEM = 5  # letters by which words are compared: melts and melting are one


def grounds_step() -> Step:
    """Triples whose object the passage states, see ``is_grounded``; passages as they stand go
    on."""

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
    """Whether a passage states a value: it stands there as it is, or each of its numbers does, and
    of words and numbers together at least half, words by their first five letters. Values without
    either are taken to be stated."""
    if is_named(passage, [value]):
        return True
    numbers, words = _numbers(value), _words(value)
    if not numbers <= _numbers(passage):
        return False
    n_found = len(numbers) + len(words & _words(passage))
    return 2 * n_found >= len(numbers) + len(words)


def _numbers(text: str) -> set[int]:
    """The whole numbers in a text, the parts of dates and decimals among them."""
    plain = _GROUPED.sub("", unicodedata.normalize("NFKC", text))
    return {int(found[0]) for found in _NUMBER.finditer(plain) if len(found[0]) < 20}


def _words(text: str) -> set[str]:
    return {term[:_STEM] for term in terms_of(text) if not term[0].isdigit()}


# Triples from passages, by a model; those of the entity, and each of them once.

_UNREADABLE, _NONE = "unreadable reply", "no triple in it"


_OTHER, _AGAIN = "of something else", "said before"


_TRIES = 2


_PROMPTS = TwoPrompts(str(__package__), "triples", "passage", "文字")


def triples_step(reads: tuple[str, ...] = ()) -> Step:
    """The triples that a model takes from each passage that is asked of; those that stand for
    themselves go on as they are. ``reads`` says what passages were found by: what is sent is of
    whatever that may find."""

    async def take(row: Known, context: StepContext) -> Kept:
        if not row.is_asked:
            return row
        prompt = [Message("user", take_prompt(row))]
        read, text = ReadTriples(), ""
        for reask in range(_TRIES):
            reply = await context.call("triples", prompt, reask=reask)
            text = "" if reply.thinking_unclosed else reply.text
            read = read_triples(text, names=row.about.names, is_cut=reply.finish == "length")
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
        config={"prompt": _PROMPTS.key()},
        asks=("author",),
        reads=reads,
    )


def subjects_step() -> Step:
    """Triples whose subject is the entity, by its name or an alias."""

    def told_apart(row: Known, _context: StepContext) -> Kept:
        names = {plain_name(name) for name in row.about.names}
        if not row.is_asked or plain_name(row.subject) in names:
            return row
        return Drop(_OTHER, f"{row.subject}: {row.predicate}: {row.object}")

    return Step(name="subject", version=1, takes=Known, work=told_apart, reasons=(_OTHER,))


def once_step() -> BatchStep:
    """Each triple of an entity and a kind of source once, from the passage in which it stands
    first."""

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
    """What the model is sent of a passage, in Chinese for Chinese texts, else in English."""
    about = row.about
    return _PROMPTS.render(
        row.taken.language,
        row.taken.text,
        name=about.name,
        name_json=json.dumps(about.name, ensure_ascii=False),
        description=about.description,
        aliases=about.aliases,
    )


_LEAST_TOKENS = 50


PARAMETERS = (
    Parameter(
        name="corpus",
        kind="text",
        default="",
        help="Where the texts are: dump:FILE (a wiki's XML), zim:FILE, folder:DIR of documents "
        "named for their entities, sources: passages of the workspace that name them, or wiki: the "
        "live Wikipedia (wiki:de in another language, wiki:https://.../api.php any MediaWiki).",
    ),
    Parameter(
        name="search",
        kind="text",
        default="",
        help="Search the web for each entity too, or alone: brave, google, searxng, or "
        "searxng:bing+baidu (docs/retrieval.md).",
    ),
    Parameter(
        name="web_pages",
        kind="int",
        default=20,
        help="With --search: read this many of the first pages that are found of an entity.",
    ),
    Parameter(
        name="found",
        kind="int",
        default=20,
        help="With --corpus sources: most passages by each name of an entity.",
    ),
    Parameter(
        name="passage_tokens",
        kind="int",
        default=200,
        help="Most tokens of a passage, of whole sentences; each passage is one request. "
        "Verification shows judges passages of 200.",
    ),
)


ROLES = {
    "author": ModelRole(
        help="takes triples from each passage", settings={"temperature": 0.0, "max_tokens": 2048}
    ),
}


def make_pipeline(params: Mapping[str, Any], models: Mapping[str, str]) -> Pipeline:
    """The steps for these parameters. Raises BadUsage or NotFound for what they cannot be."""
    by_search_alone = params["search"] and not params["corpus"]
    is_searched = not by_search_alone and read_corpus(params["corpus"])[0] == SOURCES
    if params["found"] < 1:
        raise BadUsage(f"--found is 1 or more, not {params['found']}")
    if params["passage_tokens"] < _LEAST_TOKENS:
        raise BadUsage(
            f"--passage-tokens is {_LEAST_TOKENS} or more, not {params['passage_tokens']}"
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
    **LISTING,
    "reference": StepBuilder(
        make=make_pipeline,
        roles=ROLES,
        parameters=PARAMETERS,
        rows=entity_texts,
        online=ONLINE,
        lists=True,
        suffix="-reference",
        next="score RUN --judge PROVIDER/NAME --reference {bank}",
        help="What a corpus knows of entities, for 'score --reference'. An INPUT is a "
        "list of entities: a file (see 'import --as entities') or one of the workspace. Of each "
        "its article is found by name, redirect or alias, cut into passages, and a model takes "
        "triples from each; entities without an article are listed with what was looked for. What "
        "a live wiki or the web is asked, and what came of it, is kept: it is asked once.",
    ),
}
