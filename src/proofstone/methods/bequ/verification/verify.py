"""Verify triples by entity: retrieve passages and candidates, apply rules, call the judge."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Sequence,
)
from functools import cached_property
from itertools import islice

import numpy as np
from msgspec import UNSET, Struct, structs
from numpy.typing import NDArray

from proofstone.documents.passages import sentence_spans
from proofstone.methods.bequ.records import (
    Direction,
    GivenTriple,
    ReferenceRow,
    ReferenceTriple,
    Verdict,
    VerdictLabel,
    Verified,
    VerifySettings,
    family_of,
    has_han,
    plain_triple,
    spoken,
)
from proofstone.methods.bequ.verification.plan import Gathered, Sampled, VerifyPlan, known_triples
from proofstone.records.calls import EmbeddingModel, Judge
from proofstone.records.ids import content_id
from proofstone.records.items import SearchMethod
from proofstone.records.verdicts import Citing, Exhibit, JudgeQuestion, Label, PanelVerdict, Passage
from proofstone.search.bm25 import Postings, terms_of
from proofstone.search.chunks import Chunking, cut_chunks, tokens_by_bytes
from proofstone.search.index import ChunkIndex, ChunkPlace, SentenceEncoder, SourcePart
from proofstone.texts.templates import bundled_words

# Incremented with every change of wording that can move a verdict; results store it.
QUESTIONS_VERSION = 1


MOST_STATEMENTS = 400  # maximum elicited triples in one question about a reference triple


_LONGEST = 2_000  # maximum characters of a subject, predicate or object in a judge prompt


class _Words(Struct, frozen=True, forbid_unknown_fields=True):
    task: str
    labels: dict[str, str]
    entity: str
    triple: str
    subject: str
    predicate: str
    object: str
    passage: str
    statement: str = ""


def precision_question(
    name: str, triple: GivenTriple, passages: Sequence[Passage]
) -> JudgeQuestion:
    """Build the question whether the passages of an entity entail or contradict a triple.

    Both labels must cite one of the passages.
    """
    texts = [passage.text for passage in passages]
    return _question("precision", name, triple, texts, ("entailment", "contradiction"))


def recall_question(
    name: str, known: ReferenceTriple, statements: Sequence[GivenTriple]
) -> JudgeQuestion:
    """Build the question whether all elicited triples together entail or contradict a reference
    triple.
    """
    lines = [" | ".join(map(_shortened, structs.astuple(each))) for each in statements]
    return _question("recall_together", name, known, ["\n".join(lines)])


def covered_question(
    name: str, known: ReferenceTriple, candidates: Sequence[GivenTriple]
) -> JudgeQuestion:
    """Build the question whether one elicited triple alone covers a reference triple.

    The label must name the triple.
    """
    return _question("recall_single", name, known, candidates, ("covered",))


def cited_place(cited: str) -> int | None:
    """Return the position (from 0) of the exhibit that a verdict cites by name; None without
    one."""
    number = cited.rpartition(" ")[2]
    return int(number) - 1 if number.isdecimal() else None


def _question(
    file: str,
    name: str,
    triple: GivenTriple | ReferenceTriple,
    texts: Sequence[str | GivenTriple],
    needed_for: tuple[str, ...] = (),
) -> JudgeQuestion:
    """Build a question from a prompt file about a triple of an entity.

    Evidence is numbered if a label must cite one exhibit. Prompts are in Chinese for Chinese texts,
    otherwise in English.
    """
    language = "zh" if has_han(triple.predicate + triple.object) else "en"
    words = bundled_words(__package__, f"prompts/{file}", language, _Words)

    def said(subject: str, each: GivenTriple | ReferenceTriple) -> str:
        parts = {words.subject: subject, words.predicate: each.predicate, words.object: each.object}
        return "\n".join(f"{part}: {_shortened(text)}" for part, text in parts.items())

    about = [Exhibit(words.entity, name)]
    if isinstance(triple, GivenTriple):
        about.append(Exhibit(words.triple, said(triple.subject, triple)))
    else:
        about.append(Exhibit(words.triple, said(name, triple)))
        if triple.passage.text:
            about.append(Exhibit(words.passage, triple.passage.text))
    called = words.statement or words.passage
    shown = tuple(
        Exhibit(
            f"{called} {place}" if needed_for else called,
            text if isinstance(text, str) else said(text.subject, text),
        )
        for place, text in enumerate(texts, start=1)
    )
    return JudgeQuestion(
        task=words.task.strip(),
        labels=tuple(Label(label, meaning) for label, meaning in words.labels.items()),
        exhibits=(*about, *shown),
        compared=tuple(range(len(about), len(about) + len(shown))),
        language=language,
        citing=Citing(tuple(each.name for each in shown), needed_for) if needed_for else UNSET,
    )


def _shortened(text: str) -> str:
    """Return a text unchanged, or the beginning of one that is too long for a triple."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} [...]"


# Passages of one entity, split and indexed once; and candidate triples.

_CHUNKING = Chunking(most=200)


_BETWEEN_THOUSANDS = re.compile(r"(?<=\d)[,\u202f\u00a0](?=\d{3}(?!\d))")


def triple_words(subject: str, predicate: str, value: str) -> str:
    """Return a triple as a search query."""
    return _plain(f"{subject} {spoken(predicate)} {value}")


def _plain(text: str) -> str:
    """Normalize a text for search: 12,500 matches 12500."""
    return _BETWEEN_THOUSANDS.sub("", text)


class TextIndex:
    """Index short texts for search by words (BM25), by embeddings, or by both."""

    def __init__(
        self,
        texts: Sequence[str],
        search_method: SearchMethod,
        embedding_model: EmbeddingModel | None,
    ) -> None:
        self._texts = texts
        self._search_method = search_method
        self._embedding_model = None if search_method == "bm25" else embedding_model

    def search(self, queries: Sequence[str], k: int) -> list[list[int]]:
        """Return the positions of the ``k`` best texts per query, best first.

        If fewer match, the first of the other texts follow, since relevant texts may share no word
        with the query.
        """
        everything = range(len(self._texts))
        if len(self._texts) <= k:
            return [list(everything) for _query in queries]
        return [
            list(
                dict.fromkeys(
                    [*(int.from_bytes(hit.place.passage, "big") for hit in hits), *everything[:k]]
                )
            )[:k]
            for hits in self._index.search(queries, k, self._search_method)
        ]

    @cached_property
    def _index(self) -> ChunkIndex:
        places = tuple(
            ChunkPlace(place.to_bytes(4, "big"), 0, len(text))
            for place, text in enumerate(self._texts)
        )
        part = SourcePart(places, Postings.of(terms_of(_plain(text)) for text in self._texts))
        vectors: list[NDArray[np.float32]] = []
        if self._embedding_model is not None:
            vectors.append(self._embedding_model.embed(self._texts).astype("float32"))
        return ChunkIndex([part], vectors=vectors, embedding_model=self._embedding_model)


class EntityCorpus:
    """Index an entity's passages: pieces of its texts, and the passages of its reference triples.

    Pieces are whole sentences. A triple without a stored passage is indexed by its own words.
    Duplicates are removed.
    """

    def __init__(
        self,
        name: str,
        rows: Sequence[ReferenceRow],
        *,
        search_method: SearchMethod = "bm25",
        embedding_model: EmbeddingModel | None = None,
    ) -> None:
        found: dict[str, Passage] = {}
        for row in rows:
            for passage in row.passages:
                _add(found, passage)
            for triple in row.triples:
                if triple.passage.text:
                    _add(found, triple.passage)
                else:
                    words = f"{name}: {spoken(triple.predicate)}: {triple.object}"
                    _add(found, _with_text(triple.passage, words))
        self.passages = tuple(found.values())
        self._index = TextIndex(
            [passage.text for passage in self.passages], search_method, embedding_model
        )

    def search(self, triples: Sequence[GivenTriple], k: int) -> list[list[Passage]]:
        """Return the ``k`` nearest passages of each triple, best first; none for an empty
        corpus."""
        queries = [triple_words(*structs.astuple(each)) for each in triples]
        found = self._index.search(queries, k)
        return [[self.passages[place] for place in places] for places in found]


class PassageParts:
    """Shorten source passages of reference triples to the length of a corpus passage.

    For a longer one (an article), the part nearest to the triple is used. Each is split and indexed
    once.
    """

    def __init__(self) -> None:
        self._cut: dict[str, tuple[list[str], TextIndex]] = {}

    def part(self, passage: Passage, words: str) -> Passage:
        """Return the part of a passage to show for a triple with these words."""
        if passage.text not in self._cut:
            texts = list(_pieces(passage.text))
            self._cut[passage.text] = texts, TextIndex(texts, "bm25", None)
        texts, index = self._cut[passage.text]
        if len(texts) < 2:
            return passage
        ((place,),) = index.search([words], 1)
        return _with_text(passage, texts[place])


def _add(found: dict[str, Passage], passage: Passage) -> None:
    for text in _pieces(passage.text):
        found.setdefault(text, _with_text(passage, text))


def _pieces(text: str) -> Iterator[str]:
    """Split a text into pieces of whole sentences; a short one is unchanged."""
    if len(text.encode()) <= 4 * _CHUNKING.most:
        yield text
        return
    for chunk in cut_chunks(text, _CHUNKING, count=tokens_by_bytes, sentences=sentence_spans):
        yield text[chunk.start : chunk.end]


def _with_text(passage: Passage, text: str) -> Passage:
    return Passage(text, passage.source, passage.title, passage.url)


IsDone = Callable[[Direction, int, int, Sampled], bool]


_PAGE, _IN_FLIGHT = 64, 8  # triples per page, and pages in judging at the same time


class Posed(Struct, frozen=True, gc=False):
    """Hold a sampled triple with its question and possible evidence, or its verdict by a rule.

    ``source`` is where a reference has the triple from.
    """

    direction: Direction
    group: int
    entity: int
    sampled: Sampled
    triple: GivenTriple
    source: str = ""
    shown: Sequence[Passage] = ()
    question: JudgeQuestion | None = None
    overridden: Verdict | None = None


class Decided(Struct, frozen=True, gc=False):
    """Hold a triple with its verdict, and the judges' responses (``said``) if any."""

    posed: Posed
    verdict: Verdict
    said: PanelVerdict | None = None


_TRIED = 64  # questions used to estimate the mean size


def embedding_model_of(settings: VerifySettings) -> EmbeddingModel | None:
    """Return the embedding model if the settings need it."""
    return None if settings.search_method == "bm25" else SentenceEncoder()


def characters_of(question: JudgeQuestion) -> int:
    """Return the number of characters that a judge reads."""
    return len(question.task) + sum(len(each.text) for each in question.exhibits)


def question_size(posed: Iterable[Posed]) -> int:
    """Return the mean question size in characters, from the first ones; 0 without questions."""
    first = (each.question for each in islice(posed, _TRIED))
    sizes = [characters_of(question) for question in first if question is not None]
    return sum(sizes) // len(sizes) if sizes else 0


def posed_questions(
    gathered: Gathered,
    plan: VerifyPlan,
    embedding_model: EmbeddingModel | None = None,
    is_done: IsDone = lambda *_triple: False,
) -> Iterator[Posed]:
    """Yield every triple of a plan without a verdict, by entity, with one index in memory at a
    time.
    """
    for entity in plan.entities:
        yield from _given_posed(gathered, plan, entity, embedding_model, is_done)
        yield from _known_posed(gathered, plan, entity, embedding_model, is_done)


async def verify(
    gathered: Gathered,
    plan: VerifyPlan,
    judge: Judge | None,
    embedding_model: EmbeddingModel | None = None,
) -> AsyncIterator[list[Verified]]:
    """Yield the verdicts of a plan in order, a page at a time.

    Entities are places in the plan's ``named`` list.
    """
    places = {entity: place for place, entity in enumerate(gathered.by_name)}
    async for page in decide(posed_questions(gathered, plan, embedding_model), judge):
        yield [_verified(gathered, each, places[each.posed.entity]) for each in page]


async def decide(
    posed: Iterator[Posed], judge: Judge | None
) -> AsyncGenerator[list[Decided], None]:
    """Yield the verdicts in order, a page at a time, while the next pages are prepared.

    Without a judge, triples that no rule decides wait.
    """
    pages: deque[asyncio.Future[list[Decided]]] = deque()
    try:
        while page := list(islice(posed, _PAGE)):
            pages.append(asyncio.gather(*(_decided(each, judge) for each in page)))
            await asyncio.sleep(
                0
            )  # preparing a page blocks the loop; earlier requests are sent meanwhile
            if len(pages) == _IN_FLIGHT:
                yield await pages.popleft()
        while pages:
            yield await pages.popleft()
    finally:
        for left in pages:
            left.cancel()
        await asyncio.gather(*pages, return_exceptions=True)


def _given_posed(
    gathered: Gathered,
    plan: VerifyPlan,
    entity: int,
    embedding_model: EmbeddingModel | None,
    is_done: IsDone,
) -> Iterator[Posed]:
    name, settings = gathered.entities[entity].name, plan.settings
    wanted = [
        (group, sampled, gathered.elicited.read((group, entity), sampled.place))
        for group in range(len(gathered.groups))
        for sampled in plan.given.get((group, entity), ())
        if not is_done("precision", group, entity, sampled)
    ]
    if not wanted:
        return
    rows = gathered.reference.of(entity)
    corpus = EntityCorpus(
        name, rows, search_method=settings.search_method, embedding_model=embedding_model
    )
    found = corpus.search([triple for _group, _sampled, triple in wanted], settings.k)
    for (group, sampled, triple), passages in zip(wanted, found, strict=True):
        question = overridden = None
        if not triple.object.strip():
            overridden = Verdict(label="neutral", basis="no object")
        elif not passages:
            overridden = Verdict(label="neutral", basis="no reference")
        else:
            question = precision_question(name, triple, passages)
        yield Posed("precision", group, entity, sampled, triple, "", passages, question, overridden)


def _known_posed(
    gathered: Gathered,
    plan: VerifyPlan,
    entity: int,
    embedding_model: EmbeddingModel | None,
    is_done: IsDone,
) -> Iterator[Posed]:
    name, settings = gathered.entities[entity].name, plan.settings
    drawn = plan.known.get(entity, ())
    all_known = known_triples(gathered, entity) if drawn else []
    parts = PassageParts()
    is_single = settings.recall == "single"
    for group in plan.recalled_of(entity) if drawn else ():
        wanted = [each for each in drawn if not is_done("recall", group, entity, each)]
        if not wanted:
            continue
        known = [all_known[sampled.place] for sampled in wanted]
        queries = [triple_words(name, each.predicate, each.object) for each in known]
        given = gathered.elicited.of((group, entity))
        said = {_same_words(each): each for each in reversed(given)}
        found = _statements(given, queries, settings, embedding_model)
        for sampled, each, words, statements in zip(wanted, known, queries, found, strict=True):
            triple = GivenTriple(name, each.predicate, each.object)
            shown = [Passage(_in_words(one)) for one in statements] if is_single else ()
            question = overridden = None
            if not given:
                label: VerdictLabel = "not covered" if is_single else "neutral"
                overridden = Verdict(label=label, basis="nothing elicited")
            elif (same := said.get(_same_words(triple))) is not None:
                label = "covered" if is_single else "entailment"
                overridden = Verdict(
                    label=label, basis="same words", passage=Passage(_in_words(same))
                )
            else:
                part = structs.replace(each, passage=parts.part(each.passage, words))
                question = (covered_question if is_single else recall_question)(
                    name, part, statements
                )
            source = each.passage.source
            yield Posed(
                "recall", group, entity, sampled, triple, source, shown, question, overridden
            )


def _statements(
    given: Sequence[GivenTriple],
    queries: Sequence[str],
    settings: VerifySettings,
    embedding_model: EmbeddingModel | None,
) -> Sequence[Sequence[GivenTriple]]:
    """Return the elicited triples that each question shows.

    These are the nearest ones if one alone must cover. Otherwise all are shown; if there are too
    many, the nearest in their order.
    """
    index = TextIndex(
        [triple_words(*structs.astuple(each)) for each in given],
        settings.search_method,
        embedding_model,
    )
    if settings.recall == "single":
        found = index.search(queries, settings.candidates)
    elif len(given) <= MOST_STATEMENTS:
        return [given] * len(queries)
    else:
        found = [sorted(places) for places in index.search(queries, MOST_STATEMENTS)]
    return [[given[place] for place in places] for places in found]


def _same_words(triple: GivenTriple) -> tuple[str, str, str]:
    """Normalize a triple for exact matching by rule.

    Case, width and word joining are ignored, but no character within a text: C is not C++, nor 1.5
    15.
    """
    return plain_triple(triple.subject, spoken(triple.predicate), triple.object)


async def _decided(posed: Posed, judge: Judge | None) -> Decided:
    if posed.overridden is not None:
        return Decided(posed, posed.overridden)
    if judge is None or posed.question is None:
        return Decided(posed, Verdict(label="", basis="waiting"))
    said = await judge(posed.question)
    return Decided(posed, _read_verdict(said, posed.shown), said)


def _read_verdict(said: PanelVerdict, shown: Sequence[Passage]) -> Verdict:
    """Return a panel's verdict with its evidence; ``waiting`` if judges did not respond."""
    failed = any(judge_vote.state == "failed" for judge_vote in said.judge_votes)
    if failed and (not said.label or said.by_rule):
        return Verdict(label="", basis="waiting")
    if not said.label:
        return Verdict(label="", basis="unparsed", trouble=said.trouble, reason=said.reason)
    voted = [judge_vote for judge_vote in said.judge_votes if judge_vote.label == said.label]
    place = cited_place(voted[0].cited) if voted else None  # no judge, if a rule breaks ties
    return Verdict(
        label=said.label,  # type: ignore[arg-type] # one of the question's own
        basis="judge",
        reason=said.reason,
        passage=Passage("") if place is None else shown[place],
    )


def _verified(gathered: Gathered, decided: Decided, entity: int) -> Verified:
    posed, verdict = decided.posed, decided.verdict
    who, facts = gathered.groups[posed.group], gathered.entities[posed.entity]
    said = structs.asdict(posed.triple)
    key = [posed.direction, who.model, who.setting, facts.name, facts.identity, *said.values()]
    return Verified(
        id=content_id("verified-triple", key).hex()[:16],
        direction=posed.direction,
        group=posed.group,
        entity=entity,
        drawn=posed.sampled.drawn,
        **said,
        family=family_of(posed.triple.predicate),
        source=posed.source or verdict.passage.source,
        verdict=verdict,
    )


def _in_words(triple: GivenTriple) -> str:
    return f"{triple.subject} | {triple.predicate} | {triple.object}"
