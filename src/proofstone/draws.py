"""Draws that enter an id: a counter-based stream from (seed, number, purpose).

Library generators change between versions; these draws never do (golden values in the tests).
Each block is BLAKE2b-512 of the key and a block counter, read as one little-endian integer from
which draws are taken as mixed-radix digits (quotient and remainder). A block is left for the next
when fewer than 128 bits remain in it, so no draw is further than 2**-128 from uniform. Measured:
a digit costs a third of a 32-bit word with rejection, which composing a million questions feels.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

__all__ = ["Draws"]

T = TypeVar("T")
_USABLE_BITS = 512 - 128


class Draws:
    """A stream of uniform draws fixed by (seed, number, purpose): any integers, any text."""

    __slots__ = ("_block", "_key", "_left", "_pool")

    def __init__(self, seed: int, number: int, purpose: str) -> None:
        self._key = f"proofstone-draws-1|{seed}|{number}|{purpose}|".encode()
        self._block = 0
        self._pool = 0
        self._left = 0  # bits of this block that may still be spent

    def _refill(self) -> None:
        digest = blake2b(self._key + self._block.to_bytes(8, "little")).digest()
        self._pool = int.from_bytes(digest, "little")
        self._left = _USABLE_BITS
        self._block += 1

    def below(self, n: int) -> int:
        """A uniform integer in [0, n), 1 <= n <= 2**64."""
        if not 0 < n <= 18446744073709551616:
            raise ValueError(f"below() takes 1 to 2**64, not {n}")
        self._left -= n.bit_length()
        if self._left < 0:
            self._refill()
            self._left -= n.bit_length()
        self._pool, digit = divmod(self._pool, n)
        return digit

    def between(self, low: int, high: int) -> int:
        """A uniform integer in [low, high], both ends included."""
        return low + self.below(high - low + 1)

    def uniform(self) -> float:
        """A uniform float in [0, 1) with 53 random bits."""
        return self.below(9007199254740992) / 9007199254740992.0

    def choice(self, options: Sequence[T]) -> T:
        """One of ``options``, uniformly; ValueError when there is none."""
        return options[self.below(len(options))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """All of ``items`` in a uniformly random order (Fisher-Yates); the input stays as it is."""
        return self.sample(items, len(items))

    def sample(self, items: Sequence[T], k: int) -> list[T]:
        """``k`` different places of ``items`` in random order; ValueError when there are fewer."""
        pool = list(items)
        n = len(pool)
        if not 0 <= k <= n:
            raise ValueError(f"cannot draw {k} of {n}")
        cost = n.bit_length()
        number, left = self._pool, self._left
        for i in range(k):
            left -= cost
            if left < 0:
                self._refill()
                number, left = self._pool, self._left - cost
            number, digit = divmod(number, n - i)
            j = i + digit
            pool[i], pool[j] = pool[j], pool[i]
        self._pool, self._left = number, left
        del pool[k:]
        return pool
