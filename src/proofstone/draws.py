"""Draws that enter an id: a counter-based stream from (seed, number, purpose).

Library generators change between versions; these draws never do (golden values in the tests).
Block b of a stream is BLAKE2b-512 of the key and b, read as eight little-endian 64-bit words. A
draw spends whole words, so what one draw spends never depends on its range. Measured: with words
of 64 bits, two or three small draws may share one (``divmod``), which is a third of the price of
digits of a 512-bit integer, and composing a million questions feels it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from struct import Struct
from typing import TypeVar

__all__ = ["Draws", "words_of"]

T = TypeVar("T")
_SPACE = 1 << 64
_unpack = Struct("<8Q").unpack


def words_of(seed: int, number: int, purpose: str) -> Iterator[int]:
    """The endless stream of 64-bit words itself, for callers that split a word into several digits:
    digits whose ranges multiply to R are within R * 2**-64 of uniform."""
    key = b"proofstone-draws-1|%d|%d|%b|" % (seed, number, purpose.encode())
    block = 0
    while True:
        yield from _unpack(blake2b(key + block.to_bytes(8, "little")).digest())
        block += 1


class Draws:
    """A stream of uniform draws fixed by (seed, number, purpose): any integers, any text."""

    __slots__ = ("_words",)

    def __init__(self, seed: int, number: int, purpose: str) -> None:
        self._words = words_of(seed, number, purpose)

    def below(self, n: int) -> int:
        """A uniform integer in [0, n), 1 <= n <= 2**64, exactly (by rejection)."""
        if not 0 < n <= _SPACE:
            raise ValueError(f"below() takes 1 to 2**64, not {n}")
        for word in self._words:
            digit = word % n
            if word - digit <= _SPACE - n:
                return digit
        raise AssertionError("the stream is endless")

    def between(self, low: int, high: int) -> int:
        """A uniform integer in [low, high], both ends included."""
        return low + self.below(high - low + 1)

    def uniform(self) -> float:
        """A uniform float in [0, 1) with 53 random bits."""
        return (next(self._words) >> 11) / 9007199254740992.0

    def choice(self, options: Sequence[T]) -> T:
        """One of ``options``, uniformly; ValueError when there is none."""
        return options[self.below(len(options))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """All of ``items`` in a uniformly random order; the input stays as it is."""
        return self.sample(items, len(items))

    def sample(self, items: Sequence[T], k: int) -> list[T]:
        """``k`` different places of ``items`` in random order; ValueError when there are fewer.

        Fisher-Yates, one word a place without rejection: within len(items) * 2**-64 of uniform.
        """
        pool = list(items)
        n = len(pool)
        if not 0 <= k <= n:
            raise ValueError(f"cannot draw {k} of {n}")
        for i, word in enumerate(islice(self._words, k)):
            j = i + word % (n - i)
            pool[i], pool[j] = pool[j], pool[i]
        del pool[k:]
        return pool
