"""Rows of comma- or tab-separated text (RFC 4180); ragged rows are problems."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from proofstone.errors import BadInput, BadUsage, NotFound, Problem
from proofstone.records.tables import Row

# Reversible escaping of texts that a spreadsheet would evaluate as formulas.
#
# A text that begins with ``= + - @``, a tab or a line break (also in full width) gets a leading
# apostrophe, the spreadsheet mark for texts; one that begins with apostrophes and such a sign gets
# one more. Reading removes one, so every text is restored. Numbers are not changed.

_SIGNS = "=+\\-@\t\r\n＝＋－＠"


_LIVE = re.compile(f"'*[{_SIGNS}]")


_MARKED = re.compile(f"'+[{_SIGNS}]")


def neutralised(text: str) -> str:
    """Return ``text`` as a cell that no spreadsheet evaluates."""
    return f"'{text}" if _LIVE.match(text) else text


def restored(cell: str) -> str:
    """Return the original text of a cell made by ``neutralised``."""
    return cell[1:] if _MARKED.match(cell) else cell


# Encodings other than UTF-8: decoded if given, and suggested in the error otherwise.

# Common encodings of tables, stricter ones first.
_LIKELY = ("gb18030", "big5", "shift_jis", "euc-kr", "windows-1252")


_CHUNK = 1 << 16


_SHOWN = 40


def checked_encoding(name: str) -> str:
    """Return the encoding's Python name; raises BadUsage if it is not a text encoding."""
    try:
        found = codecs.lookup(name).name
        if isinstance("".encode(found), bytes):
            return found
    except (LookupError, UnicodeError, TypeError):
        pass  # rejected below, as is a codec that does not encode texts to bytes
    raise BadUsage(
        f"unknown text encoding {name!r}", hint=f"use one such as: utf-8, {', '.join(_LIKELY)}"
    )


def as_utf8(stream: BinaryIO, encoding: str, name: str) -> BinaryIO:
    """Return the text of ``stream`` in UTF-8, converted on reading.

    Reading raises BadInput at a byte that is invalid in the encoding; ``name`` is the file's.
    """
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
                hint="omit --encoding to see its first lines in other encodings",
            ) from cause
        self._read += len(chunk)
        return text.encode("utf-8", "replace")


def likely_readings(data: bytes) -> Iterator[tuple[str, str]]:
    """Yield how bytes that are not UTF-8 would read in each encoding that accepts them.

    The name and the first characters, without control characters, so a person can choose.
    """
    for name in _LIKELY:
        try:
            text = data.decode(name)
        except UnicodeDecodeError:
            continue
        yield name, "".join(sign for sign in text if sign.isprintable())[:_SHOWN]


# Lines of a file as bytes, with a size limit per line.

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
    """Open the bytes of a file, decompressed if its name ends in ``.gz``.

    A text in a given ``encoding`` is converted to UTF-8. Raises NotFound for a missing file,
    BadInput if it cannot be opened.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise missing_file(path) from None
    except OSError as cause:
        raise BadInput(f"cannot read {path}: {cause.strerror}") from cause
    with file:
        if path.suffix.lower() != ".gz":
            yield as_utf8(file, encoding, path.name) if encoding else file
        else:
            # BufferedReader over GzipFile reads lines in C; GzipFile's own readline is Python.
            with gzip.GzipFile(fileobj=file) as packed:
                plain = cast("BinaryIO", io.BufferedReader(packed))
                yield as_utf8(plain, encoding, path.name) if encoding else plain


def foreign_encoding(head: bytes) -> str | None:
    """Return the encoding of a byte-order mark other than UTF-8's, or None."""
    return next((name for bom, name in _FOREIGN_BOMS if head.startswith(bom)), None)


def read_lines(
    stream: BinaryIO, problems: list[Problem], *, limit: int = LINE_LIMIT
) -> Iterator[Line]:
    """Yield the lines of a stream in order, without a UTF-8 byte-order mark.

    A line of more than ``limit`` bytes is a problem and is skipped; no more of it than ``limit``
    and a chunk is held in memory. Damaged compressed data and another encoding's byte-order mark
    are a problem at their line, and stop reading.
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
                too_long = f"expected at most {limit:,} bytes, got {length:,}"
                problems.append(Problem(f"line {number}", too_long))
            else:
                yield Line(number, start, data)
            number += 1
            start += length
    except (EOFError, zlib.error, gzip.BadGzipFile) as cause:
        damaged = f"the compressed file is damaged or truncated here ({cause})"
        problems.append(Problem(f"line {number}", damaged))


def _skip_line(stream: BinaryIO) -> int:
    """Skip to the end of a line and return the number of bytes."""
    skipped = 0
    while data := stream.readline(_SKIP):
        skipped += len(data)
        if data.endswith(b"\n"):
            break
    return skipped


def decode(line: Line) -> str | Problem:
    """Return the text of a line, or the problem: not UTF-8, or a NUL, with its position."""
    nul = line.data.find(b"\0")
    if nul >= 0:
        return Problem(f"line {line.number}", f"contains a NUL at offset {nul} of the line")
    try:
        return line.data.decode("utf-8")
    except UnicodeDecodeError as cause:
        where = f"offset {cause.start} of the line ({line.start + cause.start:,} of the file)"
        byte = line.data[cause.start]
        return Problem(f"line {line.number}", f"is not UTF-8: byte 0x{byte:02X} at {where}")


def read_whole_file(path: Path, *, limit: int = WHOLE_LIMIT, encoding: str = "") -> bytes:
    """Return all bytes of a file (decompressed); BadInput beyond ``limit`` bytes or if damaged."""
    with open_bytes(path, encoding) as stream:
        try:
            data = stream.read(limit + 1)
        except (EOFError, zlib.error, gzip.BadGzipFile) as cause:
            raise BadInput(f"{path} is damaged or truncated ({cause})") from cause
    if len(data) > limit:
        raise BadInput(
            f"{path} has more than {limit:,} bytes, the limit for files that must fit in memory",
            hint="write it as JSONL (one object per line), which is read as a stream",
        )
    return data


class _TooLongError(Exception):
    """A record exceeds the limit, most likely because a quote never closes."""


class _Feed:
    """Pass decoded lines to the csv reader and record where the current record began."""

    def __init__(self, stream: BinaryIO, problems: list[Problem], limit: int) -> None:
        self._lines = read_lines(stream, problems, limit=limit)
        self._problems = problems
        self.limit = limit
        self.first = 0
        self.held = 0
        self.is_spoilt = False

    def begin(self) -> None:
        self.first = self.held = 0
        self.is_spoilt = False

    def __iter__(self) -> _Feed:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.first = self.first or line.number
        self.held += len(line.data)
        if self.held > self.limit:
            raise _TooLongError
        text = decode(line)
        if isinstance(text, str):
            return text
        self._problems.append(text)
        self.is_spoilt = True
        # The quotes still show where the record ends.
        return line.data.decode("utf-8", "replace").replace("\0", "")


def separated_rows(
    stream: BinaryIO, problems: list[Problem], *, limit: int, separator: str
) -> Iterator[Row]:
    """Yield one row per record, placed at its first line, with the names of the header.

    An empty cell is a missing value; formula escapes are removed (``restored``). A first column
    without a name, which data frames write for row numbers, is skipped.
    """
    # A process-wide limit of the csv module, 131,072 characters by default; only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), limit))
    feed = _Feed(stream, problems, limit)
    known = len(problems)
    first = next(feed, None)
    if first is None or len(problems) > known:
        return  # The file cannot be read without its header, here and below.
    records = _records(first, feed, problems, separator_of(first, separator))
    header = next(records, None)
    if header is None or len(problems) > known or not _is_usable(*header, problems):
        return
    names = [restored(name) for name in header[1]]
    for number, cells in records:
        if len(cells) == len(names):
            named = zip(names, cells, strict=True)
            filled = {name: restored(cell) for name, cell in named if cell and name.strip()}
            yield Row(f"line {number}", filled)
        else:
            ragged = f"expected {len(names)} cells as in the header, got {len(cells)}"
            problems.append(Problem(f"line {number}", ragged))


def separator_of(header: str, separator: str) -> str:
    """Return the separator of a file's cells.

    It is ``separator``, from its suffix, or semicolons or tabs if the header has these and no
    comma, as spreadsheets of many locales write it.
    """
    if separator == "," and "," not in header and '"' not in header:
        return next((sign for sign in ";\t" if sign in header), separator)
    return separator


def _records(
    first: str, feed: _Feed, problems: list[Problem], separator: str
) -> Iterator[tuple[int, list[str]]]:
    """Yield the records with the line each begins on; ``first`` is the line already read."""
    reader = csv.reader(chain([first], feed), delimiter=separator, strict=True)
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as cause:
            problems.append(Problem(f"line {feed.first}", _csv_error(cause)))
        except _TooLongError:
            what = f"the record that begins here is longer than {feed.limit:,} bytes"
            problems.append(Problem(f"line {feed.first}", what + "; is a quote left open?"))
            return
        else:
            if cells and not feed.is_spoilt:
                yield feed.first, cells
        feed.begin()


def _csv_error(cause: csv.Error) -> str:
    if "unexpected end of data" in str(cause):
        return "a quote opens in this record and never closes, so the rest cannot be read"
    if "new-line" in str(cause):
        return "a carriage return inside a cell; end lines with LF or CRLF, or quote it"
    return f"is not valid CSV: {cause}"


def _is_usable(number: int, names: list[str], problems: list[Problem]) -> bool:
    unnamed = [place for place, name in enumerate(names, start=1) if not name.strip()]
    if unnamed == [1] and len(names) > 1:
        unnamed = []
    repeated = [name for name, count in Counter(names).items() if count > 1 and name.strip()]
    problems += [Problem(f"line {number}", f"column {place} has no name") for place in unnamed]
    problems += [Problem(f"line {number}", f'has two columns named "{name}"') for name in repeated]
    return not unnamed and not repeated


def missing_file(path: Path | str, hint: str = "check the name and the folder") -> NotFound:
    """Return the error for a file that does not exist; it suggests similar names in the folder."""
    path = Path(path)
    names = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
    near = get_close_matches(path.name, names, 3, 0.75)
    suggested = " or ".join(f"'{name}'" for name in near)
    return NotFound(
        f"file not found: {path}", hint=f"did you mean {suggested}?" if suggested else hint
    )
