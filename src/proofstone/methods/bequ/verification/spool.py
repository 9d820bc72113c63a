"""Records on disk by their key: millions of rows are read once, and those of a key found again."""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Hashable, Iterator
from types import TracebackType
from typing import Generic, TypeVar

import msgspec

__all__ = ["Spool"]

Key = TypeVar("Key", bound=Hashable)
Record = TypeVar("Record", bound=msgspec.Struct)
_SIZE = 4  # bytes that tell a record's length


class Spool(Generic[Key, Record]):
    """Records of one kind in a file without a name, gone when its ``with`` ends; in memory stand
    eight bytes a record."""

    def __init__(self, kind: type[Record]) -> None:
        self._file = tempfile.TemporaryFile(prefix="proofstone-")  # noqa: SIM115 - closed by __exit__
        self._starts: dict[Key, array[int]] = {}
        self._end = 0
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgspec.msgpack.Decoder(kind).decode

    def __enter__(self) -> Spool[Key, Record]:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def add(self, key: Key, record: Record) -> None:
        """Keeps a record behind those of its key. No record is added once one was read."""
        body = self._encode(record)
        self._file.write(len(body).to_bytes(_SIZE, "little") + body)
        starts = self._starts.get(key)
        if starts is None:
            starts = self._starts[key] = array("q")
        starts.append(self._end)
        self._end += _SIZE + len(body)

    def __iter__(self) -> Iterator[Key]:
        """All keys, in the order of their first records."""
        return iter(self._starts)

    def count(self, key: Key) -> int:
        """How many records a key has."""
        return len(self._starts.get(key, ()))

    def read(self, key: Key, place: int) -> Record:
        """The record of a key at this place."""
        return self._read(self._starts[key][place])

    def of(self, key: Key) -> list[Record]:
        """All records of a key in their order; none of a key that is not there."""
        return [self._read(start) for start in self._starts.get(key, ())]

    def _read(self, start: int) -> Record:
        self._file.seek(start)
        size = int.from_bytes(self._file.read(_SIZE), "little")
        return self._decode(self._file.read(size))
