"""Verdicts that a reply gives as JSON: an object by label, a list in order, a list of objects."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from proofstone.engines.choices.verdict_entries import Entry, read_label
from proofstone.engines.choices.verdict_words import Said, words_alone

__all__ = ["entries_of_json"]

_LONGEST = 32_768
_FENCED = re.compile(r"```(?:json|JSON)?[ \t]*\n(.{2,32768}?)\n[ \t]*```", re.DOTALL)
_OPENS = re.compile(r"^[ \t]*[\[{]", re.MULTILINE)
_MOST_TRIED = 8
_LABEL = re.compile(
    r"\s*(?:(?i:statement|item|claim|number|no\.?|s)[ _#.-]{0,2}|第|陈述|说法)?[(\[]?"
    r"(?P<label>[ivx]{1,5}|[IVX]{1,5}|\d{1,2})[)\]]?[条项句]?[.:]?\s*"
)
# What a true value under such a name would say is the opposite, or nothing.
_NEGATIVE = re.compile(r"(?i:false|incorrect|wrong|error|untrue)|错|误|假")


def entries_of_json(text: str, n: int) -> list[Entry]:
    """The entries of the last JSON value in ``text`` that holds any; a list of bare verdicts must
    have exactly ``n``."""
    for piece in _pieces(text):
        try:
            value = json.loads(piece, object_pairs_hook=_pairs)
        except (ValueError, RecursionError):
            continue
        found = list(_entries(value, n, 0))
        if found:
            return found
    return []


class _Pairs(list[tuple[str, Any]]):
    """An object as its pairs, so that a repeated key is seen."""


def _pairs(pairs: list[tuple[str, Any]]) -> _Pairs:
    return _Pairs(pairs)


def _pieces(text: str) -> Iterator[str]:
    """Texts that may be JSON: fenced, the last first; then from a line's bracket to the last."""
    if "```" in text:
        yield from reversed([match[1] for match in _FENCED.finditer(text)][-_MOST_TRIED:])
    stop = max(text.rfind("}"), text.rfind("]")) + 1
    if stop == 0:
        return
    window = text[max(0, stop - _LONGEST) : stop]
    starts = [match.end() - 1 for match in _OPENS.finditer(window)]
    first = min((at for at in (window.find("{"), window.find("[")) if at >= 0), default=None)
    if first is not None and first not in starts:
        starts.append(first)
    for start in starts[:_MOST_TRIED]:
        yield window[start:]


def _entries(value: Any, n: int, depth: int) -> Iterator[Entry]:
    if isinstance(value, _Pairs):
        yield from _of_object(value, n, depth)
    elif isinstance(value, list):
        yield from _of_list(value, n)


def _of_object(pairs: _Pairs, n: int, depth: int) -> Iterator[Entry]:
    """Verdicts by label; else those of the one value that is itself an object or a list."""
    labelled = [(_label(key), _verdict(value)) for key, value in pairs]
    found = [Entry(label, said) for label, said in labelled if label is not None and said]
    if found:
        yield from found
        return
    inner = [value for _key, value in pairs if isinstance(value, list)]
    if len(inner) == 1 and depth < 2:
        yield from _entries(inner[0], n, depth + 1)


def _of_list(values: list[Any], n: int) -> Iterator[Entry]:
    if all(isinstance(value, _Pairs) for value in values):
        for pairs in values:
            yield from _of_record(pairs)
        return
    said = [_verdict(value) for value in values]
    if len(said) == n and all(said):
        yield from (Entry(place, one) for place, one in enumerate(said, start=1) if one)


def _of_record(pairs: _Pairs) -> Iterator[Entry]:
    """The entry of an object with one label and one verdict among its values; else of its pair."""
    labels = {label for _key, value in pairs if (label := _label(value)) is not None}
    said = {said for key, value in pairs if (said := _named_verdict(key, value)) is not None}
    if len(labels) == 1 and said:
        yield Entry(labels.pop(), said.pop() if len(said) == 1 else "both")
    elif len(pairs) == 1:
        key, value = pairs[0]
        label, verdict = _label(key), _verdict(value)
        if label is not None and verdict:
            yield Entry(label, verdict)


def _label(value: Any) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value if 0 <= value <= 99 else None
    match = _LABEL.fullmatch(value) if isinstance(value, str) and len(value) < 40 else None
    return None if match is None else read_label(match["label"])


def _verdict(value: Any) -> Said | None:
    """What a value says: a boolean, a verdict's word, or an object with one of either in it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and len(value) < 80:
        return words_alone(value)
    if isinstance(value, _Pairs):
        said = {said for key, inner in value if (said := _named_verdict(key, inner)) is not None}
        return None if not said else said.pop() if len(said) == 1 else "both"
    return None


def _named_verdict(key: str, value: Any) -> Said | None:
    """The verdict of a value by the name it stands under."""
    if not isinstance(value, bool | str) or _label(value) is not None:
        return None
    if isinstance(value, bool) and _NEGATIVE.search(key):
        return "false" if value else "true"
    return _verdict(value)
