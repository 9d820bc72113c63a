"""Payload bytes and back: canonical JSON with its kind and schema version; the texts in them.

The store knows no method. Whoever opens it hands in a function from a payload kind
(``method.kind``) to its type, which imports that one method when it is first met.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from proofstone.errors import TextPurged, WorkspaceUnusable
from proofstone.method import PayloadType
from proofstone.records.ids import canonical_json


def is_purged(data: bytes) -> bool:
    """Whether a stored payload lost its text: nothing is left of it, or a list of the ids that it
    named. A payload itself is an object."""
    return not data.startswith(b"{")


class Payloads:
    """Encodes and decodes payloads of every kind that ``find`` knows."""

    def __init__(self, find: Callable[[str], PayloadType]) -> None:
        self._find = find
        self._types: dict[str, PayloadType] = {}
        self._decoders: dict[str, msgspec.json.Decoder[Any]] = {}

    def _type(self, kind: str) -> PayloadType:
        known = self._types.get(kind)
        if known is None:
            known = self._types[kind] = self._find(kind)
            self._decoders[kind] = msgspec.json.Decoder(known.type)
        return known

    def encode(self, kind: str, payload: msgspec.Struct) -> tuple[int, bytes]:
        """The schema version and the canonical bytes of a payload."""
        return self._type(kind).version, canonical_json(payload)

    def decode(self, kind: str, version: int, data: bytes) -> Any:
        """The payload struct of stored bytes; WorkspaceUnusable where its version is unknown,
        TextPurged where the text was purged."""
        if is_purged(data):
            raise TextPurged(
                f"the text of this {kind.partition('.')[2]} was purged with its source",
                hint="make a version without it: proofstone workspace repair BANK; 'proofstone "
                "list source' marks purged sources, 'show' says who, when and why",
            )
        known = self._type(kind)
        if version == known.version:
            return self._decoders[kind].decode(data)
        if version > known.version or known.upgrade is None:
            raise WorkspaceUnusable(
                f"a {kind} of version {version} is stored; this Proofstone reads {known.version}",
                hint="upgrade Proofstone, or the package that provides the method",
            )
        return known.upgrade(version, data)


# What facts name of other rows: it must be here, and stored before them.


# Finding the texts of a source in other texts: whole sentences of it, verbatim.
#
# White space and case do not count. What is too short to be told apart from anybody's words is not
# looked for, nor are names, labels and the like, however long: a value of a closed set, a category,
# an id, a heading.

_ANCHOR = 8  # characters by which a text is first looked for


_LEAST = 16  # what a text must weigh; a Chinese character says as much as two letters


_MARKS = (".", "?", "!", "。", "？", "！")


_CLOSING = "\"')]”’」』）"  # what may stand behind a sentence's mark


_CJK = "\u2e7f"  # characters beyond it count as words: two of them say as much as one


_ENDS = re.compile(r"(?<=[.!?。！？；;])\s+|(?<=[。！？；])|\n+")


class Finder:
    """Whether a text holds any of many others; the time is that of reading it once."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._by_anchor: dict[str, dict[int, set[str]]] = {}
        for text in texts:
            plain = _plain(text)
            if _weight(plain) >= _LEAST:
                lengths = self._by_anchor.setdefault(plain[:_ANCHOR], {})
                lengths.setdefault(len(plain), set()).add(plain)

    def finds(self, text: str) -> bool:
        """Whether ``text`` holds one of the texts that are looked for."""
        plain, anchors = _plain(text), self._by_anchor
        for start in range(len(plain) - _ANCHOR + 1):
            lengths = anchors.get(plain[start : start + _ANCHOR])
            if lengths and any(plain[start : start + n] in held for n, held in lengths.items()):
                return True
        return False


def sentences(text: str) -> list[str]:
    """A text in its sentences and lines, and whole."""
    return [text, *(part for part in _ENDS.split(text) if part)]


def said_in(text: str, *, words: int) -> list[str]:
    """The whole sentences of a text, and those of its parts that lost their mark: of at least so
    many words."""
    return [part for part in sentences(text) if _is_sentence(part, words)]


def strings_of(body: bytes) -> list[str]:
    """The texts of a JSON body, or of what is not JSON the whole; of a stream those of its lines.

    The tag that names a payload's kind is no text.
    """
    try:
        return list(_strings(msgspec.json.decode(body)))
    except (msgspec.DecodeError, UnicodeDecodeError):
        text = body.decode("utf-8", "replace")
        found = [text]
        for line in text.splitlines():
            if line.startswith("data:"):
                found += _event(line.removeprefix("data:"))
        return found


def ids_in(payload: bytes) -> Iterator[bytes]:
    """The row ids that a payload names: 32 bytes, as canonical JSON spells them."""
    for text in strings_of(payload) if payload else ():
        if len(text) == 44 and text.endswith("="):
            try:
                yield base64.b64decode(text, validate=True)
            except binascii.Error:
                continue


def _event(data: str) -> list[str]:
    try:
        return list(_strings(msgspec.json.decode(data)))
    except msgspec.DecodeError:
        return []


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, entry in value.items():
            if name != "type":
                yield from _strings(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _strings(entry)


def _is_sentence(text: str, words: int) -> bool:
    n_cjk = sum(character > _CJK for character in text)
    if len(text.split()) == 1 and not n_cjk:
        return False  # an id, an address
    if text.rstrip().rstrip(_CLOSING).endswith(_MARKS):
        return True
    return len(text.split()) + n_cjk // 2 >= words


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _weight(text: str) -> int:
    return len(text) + sum(character > _CJK for character in text)
