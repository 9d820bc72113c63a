"""Nearest questions, and features phi(q, u) of pairs of questions (appendix B)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from proofstone.methods.kina.centrality.signature import OTHER, Described, text_of
from proofstone.texts.languages import is_chinese

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEATURES = (
    "same method", "same principle", "same answer type", "shared constraints",
    "cosine of embeddings", "shared words", "same source",
)  # fmt: skip

_BLOCK = 1 << 22
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, eq=False)
class PairFeatures:
    """What the features of pairs are computed from, by question.

    ``names`` (questions, 3) are codes of method, principle and answer type, -1 for others;
    ``sources`` codes of the source, -1 without one; ``constraints`` and ``words`` 0/1 matrices.
    """

    vectors: Floats
    names: Ints
    sources: Ints
    constraints: sparse.csr_array
    words: sparse.csr_array

    @classmethod
    def of(cls, rows: Sequence[Described], vectors: Floats) -> PairFeatures:
        """Return the features of questions with embeddings (questions, d) of length 1."""
        signs = [row.signature for row in rows]
        columns = [
            _codes(getattr(sign, name) for sign in signs)
            for name in ("method", "principle", "answer_type")
        ]
        return cls(
            vectors,
            np.column_stack(columns) if rows else np.zeros((0, 3), dtype=np.int64),
            _codes(_source(row) for row in rows),
            _members([set(sign.constraints) for sign in signs]),
            _members([_words(row) for row in rows]),
        )

    def unit(self, pairs: Ints) -> Ints:
        """Return one number per unordered pair (pairs, 2)."""
        one, other = pairs.min(axis=1), pairs.max(axis=1)
        found: Ints = one * len(self.vectors) + other
        return found

    def directed(self, pairs: Ints) -> Floats:
        """Return phi (pairs, 7) of ordered pairs (pairs, 2), in the order of ``FEATURES``.

        Shared constraints and words are shares of those of the first question, so that phi(q, u)
        and phi(u, q) differ; 0 for a question without any.
        """
        found = np.empty((len(pairs), len(FEATURES)))
        step = max(1, _BLOCK // max(1, self.vectors.shape[1]))
        for start in range(0, len(pairs), step):
            one, other = pairs[start : start + step].T
            part = found[start : start + step]
            part[:, :3] = (self.names[one] == self.names[other]) & (self.names[one] >= 0)
            part[:, 3] = _contained(self.constraints, one, other)
            part[:, 4] = np.einsum("pd,pd->p", self.vectors[one], self.vectors[other])
            part[:, 5] = _contained(self.words, one, other)
            part[:, 6] = (self.sources[one] == self.sources[other]) & (self.sources[one] >= 0)
        return found


def embedded_text(row: Described) -> str:
    """Return the text whose embedding is e(q): the question and its signature."""
    sign = row.signature
    named = [each for each in (sign.method, sign.principle, sign.answer_type) if each != OTHER]
    return "\n".join([text_of(row.candidate), *named, *sign.constraints])


def nearest(vectors: Floats, rows: Ints, among: Ints, k: int) -> list[Ints]:
    """Return for each of ``rows`` the k nearest of ``among`` by cosine, without itself.

    Of equal cosines the earlier one is nearer; there may be fewer than k. Vectors have length 1.
    """
    found: list[Ints] = []
    step = max(1, _BLOCK // max(1, len(among)))
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        cosines = vectors[part] @ vectors[among].T
        for row, cosine in zip(part.tolist(), cosines, strict=True):
            others = np.flatnonzero(among != row)
            found.append(among[others[_largest(cosine[others], k)]])
    return found


def _largest(values: Floats, k: int) -> Ints:
    """Return the places of the k largest values, the first of equal ones; descending."""
    if len(values) > k:
        bar = np.partition(values, len(values) - k)[len(values) - k]
        above = np.flatnonzero(values > bar)
        places = np.concatenate([above, np.flatnonzero(values == bar)[: k - len(above)]])
    else:
        places = np.arange(len(values))
    return np.asarray(places[np.lexsort((places, -values[places]))], dtype=np.int64)


def _contained(members: sparse.csr_array, one: Ints, other: Ints) -> Floats:
    shared = (members[one].multiply(members[other])).sum(axis=1)
    own = members[one].sum(axis=1)
    found: Floats = np.divide(shared, own, out=np.zeros(len(one)), where=own > 0)
    return found


def _codes(names: Iterable[str]) -> Ints:
    """Return a code for each name; -1 for none or ``other``."""
    codes: dict[str, int] = {}
    return np.array(
        [-1 if name in ("", OTHER) else codes.setdefault(name, len(codes)) for name in names],
        dtype=np.int64,
    )


def _members(sets: Sequence[set[str]]) -> sparse.csr_array:
    column = {name: at for at, name in enumerate(sorted(set().union(*sets)))}
    places = [sorted(column[name] for name in each) for each in sets]
    ends = np.cumsum([0, *map(len, places)])
    flat = np.array([at for each in places for at in each], dtype=np.int64)
    return sparse.csr_array((np.ones(len(flat)), flat, ends), shape=(len(sets), len(column)))


def _words(row: Described) -> set[str]:
    text = text_of(row.candidate).casefold()
    if is_chinese(row.candidate.language):
        letters = "".join(_WORD.findall(text))
        return {letters[at : at + 2] for at in range(len(letters) - 1)}
    return set(_WORD.findall(text))


def _source(row: Described) -> str:
    stated = row.candidate.question.source or row.candidate.stratum.book
    return " ".join(stated.split()).casefold()
