"""The ids of composed items, from parts that are encoded once.

The same bytes as ``records.item_id`` hashes (a test compares them), at half the price: composing a
million questions spends a third of its time on ids.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256

from proofstone.identity import canonical_json
from proofstone.methods.encyclo_k.payloads import ComposedQuestion
from proofstone.records import Stratum

__all__ = ["composed_item_id", "encode_fact_id", "encode_place"]

_TEXT = (
    b'item\n["encyclo_k.composed",{"asks_correct":%b,"gold":%d,"options":[%b],"template":%d,'
    b'"type":"encyclo_k.composed","wording":%d},[%b],%b,%d,null]'
)


def encode_fact_id(identity: bytes) -> bytes:
    """A fact's id as it stands in canonical JSON."""
    return b'"%b"' % b2a_base64(identity, newline=False)


def encode_place(language: str, stratum: Stratum) -> bytes:
    """Language and stratum as they stand in an item's canonical JSON."""
    return canonical_json([language, stratum])[1:-1]


@lru_cache(maxsize=65536)
def _encode_option(places: tuple[int, ...]) -> bytes:
    return canonical_json(places)


def composed_item_id(
    question: ComposedQuestion, facts: Iterable[bytes], place: bytes, number: int
) -> bytes:
    """``item_id`` of the item with this payload, these encoded facts and place, and number."""
    text = _TEXT % (
        b"true" if question.asks_correct else b"false",
        question.gold,
        b",".join(map(_encode_option, question.options)),
        question.template,
        question.wording,
        b",".join(facts),
        place,
        number,
    )
    return sha256(text).digest()
