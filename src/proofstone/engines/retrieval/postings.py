"""Which terms stand in which texts, as arrays that are quickly kept, read and put together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]

__all__ = ["Postings"]


@dataclass(frozen=True, slots=True)
class Postings:
    """Which terms stand in which of ``n_texts`` texts: ``vocabulary`` gives each term's number,
    entry j says that term ``terms[j]`` stands ``counts[j]`` times in text ``texts[j]``; a text's
    entries stand together, texts in order."""

    vocabulary: Mapping[str, int]
    terms: Ints
    texts: Ints
    counts: Ints
    n_texts: int

    @classmethod
    def of(cls, texts: Iterable[Iterable[str]]) -> Postings:
        """The postings of texts, each given as its terms."""
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
        """The postings of several sets of texts, one behind the other."""
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
