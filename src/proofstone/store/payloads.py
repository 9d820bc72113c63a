"""Encode and decode payloads: canonical JSON with kind and schema version; texts in them.

The store knows no method. The caller passes a function from a payload kind (``method.kind``) to its
type, which imports that method on first use.
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
    """Return True if a stored payload was purged: it is empty or a list of the ids it named.

    An intact payload is a JSON object.
    """
    return not data.startswith(b"{")


class Payloads:
    """Encode and decode payloads of every kind that ``find`` knows."""

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
        """Return the schema version and the canonical bytes of a payload."""
        return self._type(kind).version, canonical_json(payload)

    def decode(self, kind: str, version: int, data: bytes) -> Any:
        """Return the payload struct of stored bytes.

        Raises WorkspaceUnusable if its version is unknown, TextPurged if the text was purged.
        """
        if is_purged(data):
            raise TextPurged(
                f"the text of this {kind.partition('.')[2]} was purged with its source",
                hint="create a version without it: proofstone workspace repair BANK; 'proofstone "
                "list source' marks purged sources, 'show' says who, when and why",
            )
        known = self._type(kind)
        if version == known.version:
            return self._decoders[kind].decode(data)
        if version > known.version or known.upgrade is None:
            raise WorkspaceUnusable(
                f"stored {kind} has version {version}; this version reads {known.version}",
                hint="upgrade Proofstone, or the package that provides the method",
            )
        return known.upgrade(version, data)


# References from facts to other rows, which must be stored before them.


# Search for a source's texts in other texts: whole sentences, verbatim.
#
# White space and case are ignored. Texts too short to be distinctive are not searched for. Neither
# are names, labels and the like of any length: a value of a closed set, a category, an id, a
# heading.

_ANCHOR = 8  # characters by which a text is first searched


_LEAST = 16  # minimum weight of a text; a Chinese character counts as two letters


_MARKS = (".", "?", "!", "。", "？", "！")


_CLOSING = "\"')]”’」』）"  # may follow a sentence's final mark


_CJK = "\u2e7f"  # characters beyond it count as words: two of them equal one


_ENDS = re.compile(r"(?<=[.!?。！？；;])\s+|(?<=[。！？；])|\n+")


class Finder:
    """Search a text for any of many others, in the time of reading it once."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._by_anchor: dict[str, dict[int, set[str]]] = {}
        for text in texts:
            plain = _plain(text)
            if _weight(plain) >= _LEAST:
                lengths = self._by_anchor.setdefault(plain[:_ANCHOR], {})
                lengths.setdefault(len(plain), set()).add(plain)

    def finds(self, text: str) -> bool:
        """Return True if ``text`` contains one of the searched texts."""
        plain, anchors = _plain(text), self._by_anchor
        for start in range(len(plain) - _ANCHOR + 1):
            lengths = anchors.get(plain[start : start + _ANCHOR])
            if lengths and any(plain[start : start + n] in held for n, held in lengths.items()):
                return True
        return False


def sentences(text: str) -> list[str]:
    """Return the sentences and lines of a text, and the whole text."""
    return [text, *(part for part in _ENDS.split(text) if part)]


def said_in(text: str, *, words: int) -> list[str]:
    """Return the sentences of a text, and parts without a final mark, with at least ``words``
    words.
    """
    return [part for part in sentences(text) if _is_sentence(part, words)]


def strings_of(body: bytes) -> list[str]:
    """Return the texts of a JSON body, of a stream's lines, or the whole if it is not JSON.

    The tag with a payload's kind does not count.
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
    """Yield the row ids that a payload names: 32 bytes, as canonical JSON encodes them."""
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
