"""Replies as triples: JSON first, then what is nearly JSON, then lines. Nothing is guessed."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from msgspec import structs

from proofstone.engines.triples.as_asked import read_as_asked
from proofstone.engines.triples.found import Fault, FoundTriple, ReadTriples, Unread
from proofstone.engines.triples.rows import RowScan
from proofstone.engines.triples.scanning import RecordScan

__all__ = ["read_triples"]

_FENCES = re.compile(r"```\w*")
_EMPTY_LIST = re.compile(r"\[\s*\]\s*")


def read_triples(text: str, *, names: Sequence[str] = (), is_cut: bool = False) -> ReadTriples:
    """The triples of a reply, each with its place, and what of it was left unread.

    ``names`` are those of the entity that was asked about: they tell where the fields of a line
    begin, and never stand in for a subject that is missing. ``is_cut``: the reply ended for its
    length, so that its last line may be half of one. Lines are read only where the text holds no
    record: what is written before one is often a draft of it. Takes time in proportion to the text.
    """
    plain = read_as_asked(text)
    if plain is not None:
        return ReadTriples(tuple(plain))
    scan = RecordScan(text, is_strict=_is_json(text))
    if scan.triples or scan.unread:
        faults = scan.faults | _around(text, scan)
        triples = [_with(triple, faults) for triple in scan.triples]
        return ReadTriples(tuple(triples), tuple(scan.unread))
    rows = RowScan(text, names, is_cut=is_cut)
    if rows.triples or rows.unread:
        return ReadTriples(tuple(rows.triples), tuple(rows.unread))
    if _says_nothing(text, is_cut=is_cut):
        return ReadTriples(says_nothing=True)
    if not text.strip():
        return ReadTriples()
    return ReadTriples(unread=(Unread(0, len(text), "cut off" if is_cut else "no triple"),))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _around(text: str, scan: RecordScan) -> set[Fault]:
    """What of the reply's form had to be overlooked outside of its records."""
    first, last = scan.spans[0][0], scan.spans[-1][1]
    outside = [text[:first], text[last:]]
    outside += [text[a[1] : b[0]] for a, b in zip(scan.spans, scan.spans[1:], strict=False)]
    faults: set[Fault] = (
        {"text around"} if any(part.strip(" \n\r\t,") for part in outside) else set()
    )
    if len(scan.spans) > 1 or text[first] != "[":
        faults.add("no array")
    return faults


def _with(triple: FoundTriple, faults: set[Fault]) -> FoundTriple:
    if not faults:
        return triple
    return structs.replace(triple, faults=tuple(sorted({*triple.faults, *faults})))


def _says_nothing(text: str, *, is_cut: bool) -> bool:
    """Whether the reply is an empty list, or its last line is one."""
    plain = _FENCES.sub("", text).strip()
    last = plain.splitlines()[-1].strip() if plain else ""
    return not is_cut and bool(_EMPTY_LIST.fullmatch(last.strip("`") or "") or _is_empty(plain))


def _is_empty(plain: str) -> bool:
    return bool(_EMPTY_LIST.fullmatch(plain))
