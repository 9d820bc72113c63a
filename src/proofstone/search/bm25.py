"""Rank texts by BM25, scoring only the texts that can be among the best.

Uses Lucene's form of BM25 (Kamphuis, de Vries, Boytsov and Lin, ECIR 2020, table 1). Term weights
are computed when the index is made (Lù, "BM25S", 2024). Results are exact: a text is skipped only
if the remaining query terms could not lift it to the k-th best (Turtle and Flood's MaxScore, 1995).
Ties are broken by position.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from proofstone.errors import ExtraMissing
from proofstone.search.chunks import Hit, best_hits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]

# Term occurrences as arrays that are fast to store, read and join.


@dataclass(frozen=True, slots=True)
class Postings:
    """Occurrences of terms in ``n_texts`` texts.

    ``vocabulary`` gives each term's number. Entry j says that term ``terms[j]`` occurs
    ``counts[j]`` times in text ``texts[j]``. A text's entries are contiguous, texts in order.
    """

    vocabulary: Mapping[str, int]
    terms: Ints
    texts: Ints
    counts: Ints
    n_texts: int

    @classmethod
    def of(cls, texts: Iterable[Iterable[str]]) -> Postings:
        """Return the postings of texts, each given as its terms."""
        import numpy as np  # noqa: PLC0415

        vocabulary: dict[str, int] = {}
        terms: list[int] = []
        places: list[int] = []
        counts: list[int] = []
        n = 0
        for place, text in enumerate(texts):
            own: dict[str, int] = {}
            for term in text:
                own[term] = own.get(term, 0) + 1
            terms.extend(vocabulary.setdefault(term, len(vocabulary)) for term in own)
            counts.extend(own.values())
            places.extend([place] * len(own))
            n = place + 1
        return cls(
            vocabulary,
            np.asarray(terms, dtype=np.int32),
            np.asarray(places, dtype=np.int32),
            np.asarray(counts, dtype=np.int32),
            n,
        )

    @classmethod
    def joined(cls, parts: Sequence[Postings]) -> Postings:
        """Return the postings of several sets of texts, concatenated."""
        import numpy as np  # noqa: PLC0415

        vocabulary: dict[str, int] = {}
        nothing: Ints = np.zeros(0, np.int32)
        terms, texts, counts = [nothing], [nothing], [nothing]
        n = 0
        for part in parts:
            numbers = [vocabulary.setdefault(term, len(vocabulary)) for term in part.vocabulary]
            anew = np.zeros(len(numbers), dtype=np.int32)
            anew[list(part.vocabulary.values())] = numbers
            terms.append(anew[part.terms])
            texts.append(part.texts + np.int32(n))
            counts.append(part.counts)
            n += part.n_texts
        return cls(
            vocabulary, np.concatenate(terms), np.concatenate(texts), np.concatenate(counts), n
        )


_DENSE = 8  # a term in more than an eighth of the texts gets a column over all texts


_FEW = 128  # this few texts are not filtered again


_SLACK = 1e-9  # of a bound: sums in another order differ in their last digits


class _Wanted(NamedTuple):
    """A query term: its entries, its count in the query, and the most that it adds to a score."""

    start: int
    stop: int
    times: int
    most: float
    term: int


class Bm25:
    """An index over texts.

    ``k1`` bounds what repetitions of a term add. ``b`` is the strength of the length normalization.
    The defaults 1.5 and 0.75 are bm25s's values.
    """

    def __init__(self, postings: Postings, *, k1: float = 1.5, b: float = 0.75) -> None:
        import numpy as np  # noqa: PLC0415

        self.n_texts = postings.n_texts
        self._vocabulary = postings.vocabulary
        n_terms = len(postings.vocabulary)
        in_texts = np.bincount(postings.terms, minlength=n_terms)
        lengths = np.bincount(postings.texts, weights=postings.counts, minlength=self.n_texts)
        mean = lengths.mean() if self.n_texts else 1.0
        norm = k1 * (1 - b + b * lengths / (mean or 1.0))
        idf = np.log1p((self.n_texts - in_texts + 0.5) / (in_texts + 0.5))
        order = np.argsort(postings.terms, kind="stable")  # within a term texts stay in order
        texts, terms, counts = postings.texts[order], postings.terms[order], postings.counts[order]
        self._texts = texts.astype(np.int64)  # integer type that indexing needs
        self._weights = (idf[terms] * counts / (norm[texts] + counts)).astype(np.float32)
        self._starts = [0, *np.cumsum(in_texts).tolist()]
        most = np.zeros(n_terms, np.float32)
        np.maximum.at(most, terms, self._weights)
        self._most = most.astype(float).tolist()
        self._sums = np.zeros(self.n_texts)  # used by one search at a time
        self._lent = threading.Lock()
        self._columns: dict[int, NDArray[np.float32]] = {}

    def search(self, query: Iterable[str], k: int) -> list[Hit]:
        """Return the ``k`` best texts with a query term, best first; fewer if fewer have one.

        Ties keep the order of the texts. A repeated query term counts as often as it occurs.
        """
        wanted = self._wanted(query)
        if not wanted or k < 1:
            return []
        with self._lent:
            n_taken, texts, scores, bar = self._of_rare_terms(wanted, k)
        rest = sum(each.most for each in wanted[n_taken:])
        for each in wanted[n_taken:]:
            if len(texts) > _FEW:
                within = scores + rest >= bar * (1 - _SLACK)
                texts, scores = texts[within], scores[within]
            scores = scores + each.times * self._weights_in(each, texts)
            rest -= each.most
            if len(texts) > _FEW:
                bar = max(bar, _bar(scores, k))
        return best_hits(texts, scores, k)

    def _wanted(self, query: Iterable[str]) -> list[_Wanted]:
        """Return the terms of a query that the index knows, the rarest first."""
        counts: dict[int, int] = {}
        for term in query:
            number = self._vocabulary.get(term)
            if number is not None:
                counts[number] = counts.get(number, 0) + 1
        starts, most = self._starts, self._most
        wanted = [
            _Wanted(starts[term], starts[term + 1], times, times * most[term], term)
            for term, times in counts.items()
        ]
        return sorted(wanted, key=lambda each: (each.stop - each.start, each.term))

    def _of_rare_terms(
        self, wanted: Sequence[_Wanted], k: int
    ) -> tuple[int, NDArray[np.int64], NDArray[np.float64], float]:
        """Return the rarest terms needed so that a text without any of them cannot be in the ``k``
        best.

        Returns their number, the texts with one of them, the scores of these so far, and a
        threshold that the k-th best exceeds.
        """
        import numpy as np  # noqa: PLC0415

        sums = self._sums
        parts: list[NDArray[np.int64]] = []
        rest, done, bar = sum(each.most for each in wanted), 0.0, 0.0
        texts: NDArray[np.int64] = np.zeros(0, np.int64)
        n = 0
        try:
            for each in wanted:
                held = self._texts[each.start : each.stop]
                before = sums[held]
                parts.append(held[before == 0] if parts else held)
                sums[held] = before + each.times * self._weights[each.start : each.stop]
                rest, done, n = rest - each.most, done + each.most, n + 1
                if rest >= done and n < len(wanted):
                    continue  # no text can have exceeded that yet
                texts = np.concatenate(parts) if n > 1 else held
                bar = _bar(sums[texts], k)
                if rest < bar * (1 - _SLACK):
                    break
            reached = sums[texts]
        finally:  # an interrupt must not leave anything for the next search either
            for part in parts:
                sums[part] = 0
        return n, texts, reached, bar

    def _weights_in(self, term: _Wanted, texts: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the weight of a term in each of these texts, 0 where it does not occur."""
        import numpy as np  # noqa: PLC0415

        held = self._texts[term.start : term.stop]
        weights = self._weights[term.start : term.stop]
        if len(held) * _DENSE > self.n_texts:
            column = self._columns.get(term.term)
            if column is None:
                column = self._columns[term.term] = np.zeros(self.n_texts, np.float32)
                column[held] = weights
            return column[texts]
        at = np.searchsorted(held, texts)
        at[at == len(held)] = 0
        return np.where(held[at] == texts, weights[at], np.float32(0))


def _bar(sums: NDArray[np.float64], k: int) -> float:
    """Return the k-th best of these; 0 if there are fewer."""
    import numpy as np  # noqa: PLC0415

    n = len(sums)
    return float(np.partition(sums, n - k)[n - k]) if n >= k else 0.0


# Search terms of a text: words, and pairs of adjacent Chinese characters.
#
# Chinese has no spaces. Pairs work without a word list: a pair inside a word is as rare as the
# word, and a pair across two words has a low weight.

# Increase when a text would give other terms: an index with another version is rebuilt.
TERMS_VERSION = 1


CutHan = Callable[[str], Iterable[str]]


_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"


# A run of Han characters, or a word: letters and digits with an apostrophe, point or hyphen inside
# (don't, 3.14, GPT-5); the underscore separates words.
_RUN = re.compile(rf"[{_HAN}]+|(?:(?![{_HAN}_])\w)+(?:['.](?:(?![{_HAN}_])\w)+)*")


_IS_HAN = re.compile(rf"[{_HAN}]").match


_LONGEST = 64  # a longer "word" is a key or an address; its beginning suffices


def terms_of(text: str, cut: CutHan | None = None) -> Iterator[str]:
    """Yield the terms of a text in order, with repetitions; none for a text without letters.

    Width and case are ignored (NFKC, casefolded). ``cut`` splits a run of Han characters; the
    default is pairs (``bigrams``).
    """
    for found in _RUN.finditer(unicodedata.normalize("NFKC", text).casefold()):
        run = found[0]
        if _IS_HAN(run):
            yield from (cut or bigrams)(run)
        else:
            yield run[:_LONGEST]


def bigrams(run: str) -> Iterable[str]:
    """Yield each pair of adjacent characters; a single character alone."""
    if len(run) == 1:
        return (run,)
    return (run[at : at + 2] for at in range(len(run) - 1))


def jieba_words() -> CutHan:
    """Return a splitter of Chinese by jieba's word list, including shorter words inside a word.

    Raises ExtraMissing without the package.
    """
    try:
        import rjieba  # noqa: PLC0415 - an extra
    except ImportError as cause:
        raise ExtraMissing(
            "splitting Chinese into words needs jieba, which is not installed",
            hint="pip install 'proofstone[chinese]', or use pairs of characters",
        ) from cause
    return lambda run: [word for word in rjieba.cut_for_search(run) if word.strip()]
