"""What goes between a workspace's process and the one that reads documents.

Frames: four bytes of length, then MessagePack. A ``Job`` is answered by ``Opened`` before the pages
of each document, ``PageRead`` for each page in order, and ``Finished`` or ``Refused`` at the end.
"""

from __future__ import annotations

import re
import struct
from typing import BinaryIO, Literal

import msgspec
from msgspec import Struct, structs

from proofstone.errors import BadInput
from proofstone.records import Box

__all__ = [
    "MAX_FRAME",
    "Answer",
    "Draw",
    "Drawn",
    "Finished",
    "Job",
    "Opened",
    "PageRead",
    "Reading",
    "Refused",
    "decode_job",
    "receive",
    "send",
]

MAX_FRAME = 256 * 2**20
_LENGTH = struct.Struct(">I")


class Draw(Struct, frozen=True, kw_only=True):
    """Draw ``page`` (from 1) at ``dpi``: only what is to ``keep``, if anything is, the rest as
    blank paper; with ``marks`` tinted; of that the part ``crop``, made smaller until no side has
    more than ``longest`` pixels (0: as it is). Boxes are points as displayed."""

    page: int
    dpi: float
    marks: tuple[Box, ...] = ()
    keep: tuple[Box, ...] = ()
    crop: Box | None = None
    longest: int = 0


class Job(Struct, frozen=True, kw_only=True, tag="job"):
    """Read the document ``path``, of pages those from ``first`` to ``last`` (0: to the end).

    ``title``, ``language`` and ``licence`` are what was given for it, else empty. Pages to ``skip``
    are not touched. Where there are pages to ``scan``, those are read from their pictures and
    nothing else is; where there is one to ``draw``, it is drawn. ``root`` is the folder in which a
    document's other files may stand; empty for its own. Of a wiki's pages those with ``titles``
    (all where none) in ``namespaces`` (the articles where none), the first ``limit`` of them (0:
    all).
    """

    path: str
    root: str = ""
    first: int = 1
    last: int = 0
    title: str = ""
    language: str = ""
    licence: str = ""
    skip: tuple[int, ...] = ()
    scan: tuple[int, ...] = ()
    draw: Draw | None = None
    titles: tuple[str, ...] = ()
    namespaces: tuple[int, ...] = ()
    limit: int = 0


class Reading(Struct, frozen=True, tag="reading"):
    """A page that is about to be read: should the process end now, it was by this page."""

    number: int


class Opened(Struct, frozen=True, kw_only=True, tag="opened"):
    """A document and what it says of itself; ``n_pages`` is 0 where it has none, ``language`` is
    empty where it has no letters that could tell. ``content`` is the digest of what it came from,
    where that is more than its file, ``origin`` its address where it has one."""

    title: str
    language: str
    n_pages: int = 0
    licence: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    content: bytes = b""
    kind: Literal["document", "dump", "web"] = "document"
    origin: str = ""


class PageRead(Struct, frozen=True, kw_only=True, tag="page"):
    """A page, or a whole document without pages (number None), with its passages as
    (start, end, headings with levels, language). ``layout`` is packed."""

    number: int | None
    text: str
    reader: str
    label: str = ""
    width: float = 0.0
    height: float = 0.0
    reason: str = ""
    detail: str = ""
    layout: bytes = b""
    cuts: tuple[tuple[int, int, tuple[tuple[int, str], ...], str], ...] = ()
    path: tuple[tuple[int, str], ...] = ()


class Drawn(Struct, frozen=True, tag="drawn"):
    """The page that was to be drawn, as PNG."""

    png: bytes


class Finished(Struct, frozen=True, tag="finished"):
    """All was read that was asked for."""


class Refused(Struct, frozen=True, kw_only=True, tag="refused"):
    """The document cannot be read: why, what to do, the error's code, and each place that
    is wrong."""

    message: str
    hint: str = ""
    code: str = BadInput.code
    problems: tuple[tuple[str, str], ...] = ()


Answer = Opened | Reading | PageRead | Drawn | Finished | Refused

_encode = msgspec.msgpack.Encoder().encode


_decode_job = msgspec.msgpack.Decoder(Job).decode
# A path may hold bytes that are no UTF-8. They travel as two digits after NUL, which no path holds.
_BYTE, _ESCAPED = re.compile("[\udc80-\udcff]"), re.compile("\0([0-9a-f]{2})")


def send(stream: BinaryIO, message: Job | Answer) -> None:
    """Writes one message. Raises OSError where the other side is gone."""
    if isinstance(message, Job):
        message = structs.replace(
            message, path=_with_escapes(message.path), root=_with_escapes(message.root)
        )
    body = _encode(message)
    stream.write(_LENGTH.pack(len(body)) + body)
    stream.flush()


def decode_job(body: bytes) -> Job:
    """The job of a message, its paths as the file system has them."""
    job = _decode_job(body)
    return structs.replace(job, path=_without_escapes(job.path), root=_without_escapes(job.root))


def _with_escapes(path: str) -> str:
    return _BYTE.sub(lambda found: f"\0{ord(found[0]) - 0xDC00:02x}", path)


def _without_escapes(path: str) -> str:
    return _ESCAPED.sub(lambda found: chr(0xDC00 + int(found[1], 16)), path)


def receive(stream: BinaryIO) -> bytes | None:
    """The body of the next message; None where the stream has ended or holds no frame."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    if length > MAX_FRAME:
        return None
    body = stream.read(length)
    return body if len(body) == length else None
