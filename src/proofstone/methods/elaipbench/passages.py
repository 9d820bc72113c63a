"""Choose passages of one document that a question can link: far apart, and on the same matter.

The text under each heading is split at sentence ends into passages of a maximum number of tokens.
The paper splits whole papers so (section 4.6). The distance of two passages is the number of tokens
in the passages between them. Their link is the cosine of their TF-IDF vectors in the document. A
term t of a passage weighs (1 + ln n) ln(N / d): it occurs n times in the passage, and in d of the
document's N passages. So rare terms that both share link two passages; a term of all passages does
not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from math import ceil, log

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.documents.passages import BETWEEN, BETWEEN_TITLES, sentence_spans
from proofstone.methods.elaipbench.payloads import QuestionType
from proofstone.methods.elaipbench.questions import LEAST_TOKENS
from proofstone.models.tokens import load_cl100k
from proofstone.records.builds import Drop, Kept, Step, StepContext
from proofstone.records.ids import Draws
from proofstone.records.knowledge import Source, WholeDocument
from proofstone.search.bm25 import terms_of
from proofstone.search.chunks import Chunking, cut_chunks

_SHORTEST = 48  # tokens of a passage that can be chosen: shorter ones are remnants of a section

# Share of letters in a passage that can be chosen, spaces apart: code and tables have fewer.
_LETTERS = 0.75

_POOL = 4  # of the pairs that are far apart, one in so many can be chosen: the most linked ones

_TERMS = 6  # shared terms that are named

# Sections that say nothing of the document's own.
_ASIDE = re.compile(
    r"[\dIVX.\s]*(?:references|bibliography|literature cited|acknowledge?ments?|contents|"
    r"参考文献|致谢|目录)\W*",
    re.IGNORECASE,
)

Floats = NDArray[np.float64]


class DocumentPassage(Struct, frozen=True):
    """A passage of a document, and how many tokens of passages are before it."""

    text: str
    heading: str
    before: int
    tokens: int


class PassageSet(Struct, frozen=True, kw_only=True):
    """Two or three passages of a document, in its order, that a question is to link.

    ``distance`` is the least number of tokens between two of them, ``link`` the least cosine of
    two, and ``terms`` are those shared by all that weigh most. ``document`` is the id of the
    build's row of the document, which fixes its text.
    """

    source: Source
    document: bytes
    language: str
    question_type: QuestionType
    passages: tuple[DocumentPassage, ...]
    distance: int
    link: float
    terms: tuple[str, ...]


class PassageRule(Struct, frozen=True, kw_only=True):
    """How sets of passages are chosen: ``most`` of a document, of ``sizes`` passages each.

    A passage has at most ``tokens``. Two of a set have ``apart`` tokens or more between them.
    ``several`` is the share of sets for questions with several correct options. ``longest`` is the
    most tokens of a document, 0 for any.
    """

    most: int
    sizes: tuple[int, ...]
    tokens: int
    apart: int
    several: float
    longest: int = 0


_TOO_SHORT, _TOO_LONG = "document too short", "document too long"

_NONE = "no linked passages"


def passages_step(rule: PassageRule) -> Step:
    """Return the step from a document to sets of passages; one without any is dropped."""

    def choose(row: WholeDocument, context: StepContext) -> Kept:
        n_tokens = load_cl100k()(BETWEEN.join(text for _number, text in row.pages))
        if n_tokens < LEAST_TOKENS:
            return Drop(_TOO_SHORT, f"{row.source.title}: {n_tokens:,} tokens")
        if rule.longest and n_tokens > rule.longest:
            return Drop(_TOO_LONG, f"{row.source.title}: {n_tokens:,} tokens")
        passages = cut_document(row, rule.tokens)
        chosen = choose_sets(passages, rule, context.draws("passages"))
        if not chosen:
            return Drop(_NONE, row.source.title)
        types = context.draws("question types")
        return [
            PassageSet(
                source=row.source,
                document=context.row,
                language=row.source.language or "en",
                question_type="multiple" if types.uniform() < rule.several else "single",
                passages=tuple(passages[place] for place in each.places),
                distance=each.distance,
                link=round(each.link, 4),
                terms=each.terms,
            )
            for each in chosen
        ]

    return Step(
        name="passages",
        version=1,
        takes=WholeDocument,
        work=choose,
        reasons=(_TOO_SHORT, _TOO_LONG, _NONE),
        config={"rule": rule, "least_tokens": LEAST_TOKENS},
        draws=True,
    )


def cut_document(document: WholeDocument, most: int) -> list[DocumentPassage]:
    """Return the passages of a document in order, each of at most ``most`` tokens.

    None crosses a heading. Reference lists, acknowledgments and tables of contents have none.
    """
    count = load_cl100k()
    pages = dict(document.pages)
    found: list[DocumentPassage] = []
    before = 0
    for heading, parts in groupby(document.parts, key=lambda part: part.heading):
        if _ASIDE.fullmatch(heading.split(BETWEEN_TITLES)[-1]):
            continue
        texts = [pages.get(part.page, "")[part.start : part.end] for part in parts]
        text = BETWEEN.join(filter(None, texts))
        chunks = cut_chunks(text, Chunking(most=most), count=count, sentences=sentence_spans)
        for chunk in chunks:
            inside = text[chunk.start : chunk.end]
            passage = DocumentPassage(inside, heading, before, count(inside))
            before += passage.tokens
            found.append(passage)
    return found


# Sets of passages.


class _Set(Struct, frozen=True):
    places: tuple[int, ...]
    distance: int
    link: float
    terms: tuple[str, ...]


def choose_sets(passages: Sequence[DocumentPassage], rule: PassageRule, draws: Draws) -> list[_Set]:
    """Return sets of passages by seed; a larger ``rule.most`` keeps those of a smaller one.

    Pairs are sampled from the most linked quarter of those that are far apart, in different
    sections and linked. Passages that were chosen less often come first. A third passage is the one
    most linked to both others, if it is as far from each and linked as much as the sampled pairs.
    """
    linked = _Linked.of(passages, rule.apart)
    pairs = linked.pairs()
    pool = draws.shuffled(pairs[: ceil(len(pairs) / _POOL)])
    least = min((linked.link(*pair) for pair in pool), default=0.0)
    used: Counter[int] = Counter()
    chosen: list[_Set] = []
    while pool and len(chosen) < rule.most:
        pair = min(pool, key=lambda each: used[each[0]] + used[each[1]])
        pool.remove(pair)
        size = draws.choice(rule.sizes)
        third = linked.third(pair, least) if size == 3 else None
        if third is None and 2 not in rule.sizes:
            continue
        places = tuple(sorted(pair if third is None else (*pair, third)))
        used.update(places)
        if all(places != each.places for each in chosen):
            chosen.append(linked.described(places))
    return chosen


@dataclass(frozen=True, slots=True)
class _Linked:
    """The passages that can be chosen, their terms, and the cosines of all pairs."""

    passages: Sequence[DocumentPassage]
    places: Sequence[int]
    apart: int
    weights: Sequence[Mapping[str, float]]
    cosines: Floats

    @classmethod
    def of(cls, passages: Sequence[DocumentPassage], apart: int) -> _Linked:
        """Return the links of passages."""
        weights = weigh_terms([Counter(_terms(passage.text)) for passage in passages])
        return cls(
            passages,
            [place for place, each in enumerate(passages) if _is_prose(each)],
            apart,
            weights,
            cosines(weights),
        )

    def link(self, one: int, other: int) -> float:
        """Return the cosine of two passages."""
        return float(self.cosines[one, other])

    def pairs(self) -> list[tuple[int, int]]:
        """Return the pairs that are far apart and linked, the most linked first."""
        found = [
            pair
            for pair in combinations(self.places, 2)
            if self._are_apart(*pair) and self.link(*pair) > 0
        ]
        return sorted(found, key=lambda pair: (-self.link(*pair), pair))

    def third(self, pair: tuple[int, int], least: float) -> int | None:
        """Return the passage that is most linked to both of a pair; None without one."""
        found = [
            (min(self.link(place, each) for each in pair), -place)
            for place in self.places
            if place not in pair and all(self._are_apart(*sorted((place, each))) for each in pair)
        ]
        link, place = max(found, default=(0.0, 0))
        return -place if link > 0 and link >= least else None

    def described(self, places: tuple[int, ...]) -> _Set:
        """Return a set with its distance, its link and its shared terms."""
        pairs = list(combinations(places, 2))
        weights = [self.weights[place] for place in places]
        shared = {
            term: min(each[term] for each in weights)
            for term in weights[0]
            if all(each.get(term) for each in weights)
        }
        return _Set(
            places,
            min(self._distance(*pair) for pair in pairs),
            min(self.link(*pair) for pair in pairs),
            tuple(sorted(shared, key=lambda term: (-shared[term], term))[:_TERMS]),
        )

    def _distance(self, one: int, other: int) -> int:
        first = self.passages[one]
        return self.passages[other].before - first.before - first.tokens

    def _are_apart(self, one: int, other: int) -> bool:
        headings = {self.passages[one].heading, self.passages[other].heading}
        same_section = len(headings) == 1 and "" not in headings
        return self._distance(one, other) >= self.apart and not same_section


def _is_prose(passage: DocumentPassage) -> bool:
    signs = "".join(passage.text.split())
    letters = sum(sign.isalpha() for sign in signs)
    return passage.tokens >= _SHORTEST and letters >= _LETTERS * len(signs)


def weigh_terms(counts: Sequence[Mapping[str, int]]) -> list[dict[str, float]]:
    """Return the TF-IDF weights of the terms of each text, by their counts (see the module)."""
    n, in_texts = len(counts), Counter(term for each in counts for term in each)
    return [
        {term: (1 + log(times)) * log(n / in_texts[term]) for term, times in each.items()}
        for each in counts
    ]


def cosines(weights: Sequence[Mapping[str, float]]) -> Floats:
    """Return the cosines of all pairs of texts by the weights of their terms; 0 without any."""
    columns = {
        term: place for place, term in enumerate(dict.fromkeys(t for each in weights for t in each))
    }
    table = np.zeros((len(weights), len(columns)))
    for row, each in enumerate(weights):
        for term, weight in each.items():
            table[row, columns[term]] = weight
    norms = np.linalg.norm(table, axis=1, keepdims=True)
    unit = np.divide(table, norms, out=np.zeros_like(table), where=norms > 0)
    linked: Floats = unit @ unit.T
    return linked


def _terms(text: str) -> Iterator[str]:
    """Yield the terms of a text that can link it: no numbers, and nothing as short as ``of``."""
    for term in terms_of(text):
        if len(term) > 1 + term.isascii() and not term.replace(".", "").isdigit():
            yield term
