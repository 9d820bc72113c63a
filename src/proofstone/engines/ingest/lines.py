"""Lines of a file as bytes, never more than a limit of one at a time, whatever the file holds."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from proofstone.engines.ingest.encodings import as_utf8
from proofstone.errors import BadInput, NotFound, Problem

__all__ = [
    "LINE_LIMIT",
    "UTF8_BOM",
    "WHOLE_LIMIT",
    "Line",
    "decode",
    "foreign_encoding",
    "open_bytes",
    "read_lines",
    "read_whole_file",
]

LINE_LIMIT = 64 * 2**20
WHOLE_LIMIT = 8 * LINE_LIMIT
UTF8_BOM = b"\xef\xbb\xbf"
_SKIP = 2**20
_FOREIGN_BOMS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)


class Line(NamedTuple):
    """A line with its end, counted from 1; ``start`` is the offset of its first byte."""

    number: int
    start: int
    data: bytes


@contextmanager
def open_bytes(path: Path, encoding: str = "") -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked where its name ends in ``.gz``; of a text in an ``encoding``
    that is named those of the same text in UTF-8.

    Raises NotFound where there is no such file, BadInput where it cannot be opened.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise NotFound(f"There is no file {path}.", hint="Check the name and the folder.") from None
    except OSError as cause:
        raise BadInput(f"{path} cannot be read: {cause.strerror}.") from cause
    with file:
        if path.suffix.lower() != ".gz":
            yield as_utf8(file, encoding, path.name) if encoding else file
        else:
            # BufferedReader over GzipFile reads lines in C; GzipFile's own readline is Python.
            with gzip.GzipFile(fileobj=file) as packed:
                plain = cast("BinaryIO", io.BufferedReader(packed))
                yield as_utf8(plain, encoding, path.name) if encoding else plain


def foreign_encoding(head: bytes) -> str | None:
    """The encoding that a byte-order mark other than UTF-8's announces, or None."""
    return next((name for bom, name in _FOREIGN_BOMS if head.startswith(bom)), None)


def read_lines(
    stream: BinaryIO, problems: list[Problem], *, limit: int = LINE_LIMIT
) -> Iterator[Line]:
    """The lines of a stream in order, without a UTF-8 byte-order mark.

    A line of more than ``limit`` bytes is a problem and is left out; no more of it than ``limit``
    and a chunk is ever held. Damaged compressed data and another encoding's byte-order mark are a
    problem at their line, and end the reading.
    """
    number, start = 1, 0
    try:
        while data := stream.readline(limit + 1):
            length = len(data)
            if number == 1:
                if encoding := foreign_encoding(data):
                    problems.append(Problem("line 1", f"is {encoding} text; save it as UTF-8"))
                    return
                data = data.removeprefix(UTF8_BOM)
            if length > limit and not data.endswith(b"\n"):
                length += _skip_line(stream)
                too_long = f"is {length:,} bytes long; at most {limit:,} are read"
                problems.append(Problem(f"line {number}", too_long))
            else:
                yield Line(number, start, data)
            number += 1
            start += length
    except (EOFError, zlib.error, gzip.BadGzipFile) as cause:
        damaged = f"the compressed file is damaged or ends too early here ({cause})"
        problems.append(Problem(f"line {number}", damaged))


def _skip_line(stream: BinaryIO) -> int:
    """Reads on to the end of a line and says how many bytes that were."""
    skipped = 0
    while data := stream.readline(_SKIP):
        skipped += len(data)
        if data.endswith(b"\n"):
            break
    return skipped


def decode(line: Line) -> str | Problem:
    """The text of a line, or what keeps it from being text: no UTF-8, or a NUL, with its place."""
    nul = line.data.find(b"\0")
    if nul >= 0:
        return Problem(f"line {line.number}", f"holds a NUL at offset {nul} of the line")
    try:
        return line.data.decode("utf-8")
    except UnicodeDecodeError as cause:
        where = f"offset {cause.start} of the line ({line.start + cause.start:,} of the file)"
        byte = line.data[cause.start]
        return Problem(f"line {line.number}", f"is not UTF-8: byte 0x{byte:02X} at {where}")


def read_whole_file(path: Path, *, limit: int = WHOLE_LIMIT, encoding: str = "") -> bytes:
    """All bytes of a file (unpacked); BadInput beyond ``limit`` bytes or where it is damaged."""
    with open_bytes(path, encoding) as stream:
        try:
            data = stream.read(limit + 1)
        except (EOFError, zlib.error, gzip.BadGzipFile) as cause:
            raise BadInput(f"{path} is damaged or ends too early ({cause}).") from cause
    if len(data) > limit:
        raise BadInput(
            f"{path} holds more than {limit:,} bytes, and would have to be held whole.",
            hint="Write it as JSONL, one object a line, which is read as a stream.",
        )
    return data
