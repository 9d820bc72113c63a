"""Draws that enter an id: a counter-based stream from (seed, number, purpose).

Library generators change between versions; these draws never do (golden values in the tests).
Block b of a stream is BLAKE2b-512 of the key and b, read as eight little-endian 64-bit words. A
draw spends whole words, so what one draw spends never depends on its range. Measured: with words
of 64 bits, two or three small draws may share one (``divmod``), which is a third of the price of
digits of a 512-bit integer, and composing a million questions feels it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b, sha256
from itertools import islice
from struct import Struct
from typing import Any, TypeVar

import msgspec

# Content identity: canonical JSON and the 32-byte hash of it.
#
# The same content has the same bytes, and so the same id, on every machine and Python version:
# keys sorted, no white space, UTF-8, shortest round-trip floats (RFC 8785 but for its number
# format; non-finite floats are refused by the readers before they come here).

_PIECE, _LONG = 2047, 262_144


_encoder = msgspec.json.Encoder(order="sorted")


def canonical_json(value: Any) -> bytes:
    """The one JSON text of ``value`` (structs, dicts, lists, scalars; bytes become base64)."""
    return _encoder.encode(value)


def content_id(kind: str, value: Any) -> bytes:
    """The 32-byte SHA-256 of ``value`` under the name ``kind``, so that kinds never collide."""
    return sha256(kind.encode() + b"\n" + canonical_json(value)).digest()


def digest(data: bytes) -> bytes:
    """The 32-byte SHA-256 of ``data``, as the run loop takes it.

    In pieces below the size at which Python gives up the interpreter lock: for a prompt of a few
    thousand characters, getting it back from a busy thread costs five times the hash.
    """
    if not _PIECE < len(data) <= _LONG:
        return sha256(data).digest()
    state = sha256()
    for start in range(0, len(data), _PIECE):
        state.update(data[start : start + _PIECE])
    return state.digest()


def short(identity: bytes, digits: int = 8) -> str:
    """The first hexadecimal digits of an id, as people read and type it."""
    return identity.hex()[:digits]


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
