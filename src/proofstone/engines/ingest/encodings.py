"""Text in other encodings than UTF-8: read as UTF-8 where a user names one, and told apart where
none was named."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from typing import BinaryIO, cast

from proofstone.errors import BadInput, BadUsage

__all__ = ["as_utf8", "checked_encoding", "likely_readings"]

# What tables are written in where it is not UTF-8, the stricter ones first.
_LIKELY = ("gb18030", "big5", "shift_jis", "euc-kr", "windows-1252")
_CHUNK = 1 << 16
_SHOWN = 40


def checked_encoding(name: str) -> str:
    """The encoding's name as Python spells it; raises BadUsage for one that is none of texts."""
    try:
        found = codecs.lookup(name).name
        if isinstance("".encode(found), bytes):
            return found
    except (LookupError, UnicodeError, TypeError):
        pass  # refused below, as is a codec that does not make bytes of texts
    raise BadUsage(
        f"there is no text encoding {name!r}", hint=f"such as: utf-8, {', '.join(_LIKELY)}"
    )


def as_utf8(stream: BinaryIO, encoding: str, name: str) -> BinaryIO:
    """The text of ``stream`` in UTF-8, read as it is asked for. Reading raises BadInput where a
    byte does not belong to the encoding; ``name`` is the file's."""
    return cast("BinaryIO", io.BufferedReader(_Recoded(stream, encoding, name), _CHUNK))


class _Recoded(io.RawIOBase):
    def __init__(self, stream: BinaryIO, encoding: str, name: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._encoding, self._name = encoding, name
        self._read = 0
        self._ready = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        while not self._ready and not self._ended:
            self._ready = self._next()
        given = self._ready[: len(buffer)]
        self._ready = self._ready[len(buffer) :]
        buffer[: len(given)] = given
        return len(given)

    def _next(self) -> bytes:
        chunk = self._stream.read(_CHUNK)
        self._ended = not chunk
        try:
            text = self._decoder.decode(chunk, final=self._ended)
        except UnicodeDecodeError as cause:
            raise BadInput(
                f"{self._name} is not {self._encoding}: {cause.reason} near byte "
                f"{self._read + cause.start:,}",
                hint="leave --encoding out to see how its first lines would read in others",
            ) from cause
        self._read += len(chunk)
        return text.encode("utf-8", "replace")


def likely_readings(data: bytes) -> Iterator[tuple[str, str]]:
    """How bytes that are no UTF-8 would read, by the encodings that take all of them: the name and
    the first characters, control characters left out. A reader sees which one makes sense."""
    for name in _LIKELY:
        try:
            text = data.decode(name)
        except UnicodeDecodeError:
            continue
        yield name, "".join(sign for sign in text if sign.isprintable())[:_SHOWN]
