"""Random numbers that enter ids: a counter-based stream from (seed, number, purpose).

Library generators change between versions; this one never does (golden values in the tests). Block
b of a stream is BLAKE2b-512 of the key and b, read as eight little-endian 64-bit words. Each number
uses whole words, so its consumption does not depend on its range. Two or three small numbers may
share a word (``divmod``), at a third of the cost of digits of a 512-bit integer, which matters when
composing a million questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b, sha256
from itertools import islice
from struct import Struct
from typing import Any, TypeVar

import msgspec

# Content identity: canonical JSON and its 32-byte hash.
#
# The same content has the same bytes, and so the same id, on every machine and Python version: keys
# sorted, no white space, UTF-8, shortest round-trip floats (RFC 8785 except for its number format;
# readers refuse non-finite floats).

_PIECE, _LONG = 2047, 262_144


_encoder = msgspec.json.Encoder(order="sorted")


def canonical_json(value: Any) -> bytes:
    """Return the canonical JSON of ``value`` (structs, dicts, lists, scalars; bytes become
    base64).
    """
    return _encoder.encode(value)


def content_id(kind: str, value: Any) -> bytes:
    """Return the 32-byte SHA-256 of ``value``, salted with ``kind`` so that kinds never collide."""
    return sha256(kind.encode() + b"\n" + canonical_json(value)).digest()


def digest(data: bytes) -> bytes:
    """Return the 32-byte SHA-256 of ``data``.

    Hashed in pieces below the size at which Python releases the GIL. For a prompt of a few thousand
    characters, reacquiring it from a busy thread costs five times the hash.
    """
    if not _PIECE < len(data) <= _LONG:
        return sha256(data).digest()
    state = sha256()
    for start in range(0, len(data), _PIECE):
        state.update(data[start : start + _PIECE])
    return state.digest()


def short(identity: bytes, digits: int = 8) -> str:
    """Return the first hexadecimal digits of an id, as people read and type it."""
    return identity.hex()[:digits]


T = TypeVar("T")


_SPACE = 1 << 64


_unpack = Struct("<8Q").unpack


def words_of(seed: int, number: int, purpose: str) -> Iterator[int]:
    """Yield the endless stream of 64-bit words, for callers that split a word into several digits.

    Digits whose ranges multiply to R are within R * 2**-64 of uniform.
    """
    key = b"proofstone-draws-1|%d|%d|%b|" % (seed, number, purpose.encode())
    block = 0
    while True:
        yield from _unpack(blake2b(key + block.to_bytes(8, "little")).digest())
        block += 1


class Draws:
    """Uniform random stream fixed by (seed, number, purpose): any integers, any text."""

    __slots__ = ("_words",)

    def __init__(self, seed: int, number: int, purpose: str) -> None:
        self._words = words_of(seed, number, purpose)

    def below(self, n: int) -> int:
        """Return a uniform integer in [0, n), 1 <= n <= 2**64, exactly (by rejection)."""
        if not 0 < n <= _SPACE:
            raise ValueError(f"below(): expected 1 to 2**64, got {n}")
        for word in self._words:
            digit = word % n
            if word - digit <= _SPACE - n:
                return digit
        raise AssertionError("the stream is endless")

    def between(self, low: int, high: int) -> int:
        """Return a uniform integer in [low, high], both ends included."""
        return low + self.below(high - low + 1)

    def uniform(self) -> float:
        """Return a uniform float in [0, 1) with 53 random bits."""
        return (next(self._words) >> 11) / 9007199254740992.0

    def choice(self, options: Sequence[T]) -> T:
        """Return one of ``options``, uniformly; ValueError if there is none."""
        return options[self.below(len(options))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return ``items`` in a uniformly random order; the input is not changed."""
        return self.sample(items, len(items))

    def sample(self, items: Sequence[T], k: int) -> list[T]:
        """Return ``k`` different elements of ``items`` in random order; ValueError if there are
        fewer.

        Fisher-Yates with one word per element and no rejection: within len(items) * 2**-64 of
        uniform.
        """
        pool = list(items)
        n = len(pool)
        if not 0 <= k <= n:
            raise ValueError(f"cannot sample {k} of {n}")
        for i, word in enumerate(islice(self._words, k)):
            j = i + word % (n - i)
            pool[i], pool[j] = pool[j], pool[i]
        del pool[k:]
        return pool
