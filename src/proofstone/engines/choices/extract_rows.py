"""The choices of replies in a file: ``response`` and ``options`` in, ``letter`` and tier out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, get_args

from proofstone.engines.choices.letters import is_label, labels
from proofstone.engines.choices.outcome import read_reply
from proofstone.errors import Problem
from proofstone.records import Finish, Reply

__all__ = ["extract_rows"]

_READ = ("response", "options", "refusal", "finish")
_FINISHES = get_args(Finish)
_Row = Mapping[str, Any]


def extract_rows(
    rows: Iterable[_Row], places: Iterable[str] | None = None
) -> Iterator[dict[str, Any] | Problem]:
    """For each row, in order, the row that came of it, or the Problem that it has.

    ``response`` is the reply's text, a leading ``<think>`` block included or not; ``options`` the
    options' texts, their letters ("ABCD") or their number; ``finish`` (``stop``, ``length``,
    ``content_filter``) and ``refusal`` may say how the reply ended. Out come ``letter``, ``tier``
    and ``outcome`` behind the row's other columns. ``places`` name the rows, else by line from 1.
    """
    names = places if places is not None else (f"line {n}" for n in count(1))
    for place, row in zip(names, rows, strict=False):
        problems = list(_problems(row))
        if problems:
            yield Problem(place, "; ".join(problems))
        else:
            yield _extracted(row)


def _extracted(row: _Row) -> dict[str, Any]:
    letters, texts = _options(row["options"])
    verdict = read_reply(_reply(row), letters, texts)
    kept = {name: value for name, value in row.items() if name not in _READ}
    return {
        **kept,
        "letter": verdict.extraction.letter,
        "tier": verdict.extraction.tier,
        "outcome": verdict.outcome,
    }


def _problems(row: _Row) -> Iterator[str]:
    """What of a row cannot be read, each with what was expected."""
    if not isinstance(row, Mapping):
        yield f"expected an object with response and options, got {type(row).__name__}"
        return
    if not isinstance(row.get("response"), str):
        yield f"field response: expected text, got {_kind(row, 'response')}"
    if "options" not in row:
        yield "field options: expected texts, letters or a number, got nothing"
    elif _options(row["options"]) == ("", ()):
        yield f"field options: expected 1 to 26 texts, letters A to Z or a number, got {_shown(row)}"
    if row.get("finish", "") not in _FINISHES:
        yield f"field finish: expected one of {', '.join(filter(None, _FINISHES))}"
    if not isinstance(row.get("refusal") or "", str):
        yield f"field refusal: expected text, got {_kind(row, 'refusal')}"


def _kind(row: _Row, field: str) -> str:
    return type(row[field]).__name__ if field in row else "nothing"


def _shown(row: _Row) -> str:
    shown = repr(row["options"])
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _options(value: object) -> tuple[str, Sequence[str]]:
    """The letters and texts of a row's options; no letters where it cannot be read."""
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 26:
        return labels(value), ()
    if isinstance(value, str) and value and all(map(is_label, value)) and _distinct(value):
        return value, ()
    if (
        isinstance(value, (list, tuple))
        and 1 <= len(value) <= 26
        and all(isinstance(v, str) for v in value)
    ):
        return _listed(value)
    return "", ()


def _listed(value: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Letters where the list is A, B, C, ... itself; else texts."""
    letters = labels(len(value))
    return (letters, ()) if "".join(value) == letters else (letters, value)


def _distinct(value: str) -> bool:
    return len(set(value)) == len(value)


def _reply(row: _Row) -> Reply:
    text, unclosed = _without_thinking(row["response"])
    return Reply(
        text=text,
        finish=row.get("finish", ""),
        refusal=row.get("refusal") or "",
        thinking_unclosed=unclosed,
    )


def _without_thinking(text: str) -> tuple[str, bool]:
    """A reply's text behind its ``<think>`` block, and whether the block never ended."""
    _, closed, said = text.rpartition("</think>")
    if closed:
        return said, False
    unclosed = text.lstrip().startswith("<think>")
    return ("" if unclosed else text), unclosed
