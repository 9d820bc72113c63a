"""The choices of replies in a file: ``response`` and ``options`` in, ``letter`` and tier out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

from proofstone.choices.options import is_label, labels
from proofstone.choices.outcomes import read_choice
from proofstone.errors import BadInput, Problem
from proofstone.records.runs import Finish, Reply
from proofstone.records.tables import Row

_READ = frozenset({"response", "options", "refusal", "finish"})


_FINISHES = get_args(Finish)


_MOST_OPTIONS = 26


def extract_rows(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """The rows with what each reply chose, in order.

    ``response`` is the reply's text, with a leading ``<think>`` block or without; ``options`` the
    options' texts, their letters ("ABCD") or their number; ``finish`` (``stop``, ``length``,
    ``content_filter``) and ``refusal`` may say how the reply ended. Out come ``letter``, ``tier``
    and ``outcome`` behind the row's other columns. Raises BadInput with every problem of all rows.
    """
    problems: list[Problem] = []
    extracted: list[dict[str, Any]] = []
    for row in rows:
        found = list(_problems(row))
        problems += found
        if not found:
            extracted.append(_extracted(row.values))
    if problems:
        raise BadInput("Replies cannot be read.", problems, hint="See extract --help.")
    return extracted


def _extracted(values: Mapping[str, Any]) -> dict[str, Any]:
    letters, texts = _options(values["options"])
    reading = read_choice(_reply(values), letters, texts)
    kept = {name: value for name, value in values.items() if name not in _READ}
    return {
        **kept,
        "letter": reading.extraction.letter,
        "tier": reading.extraction.tier,
        "outcome": reading.outcome,
    }


def _reply(values: Mapping[str, Any]) -> Reply:
    text, unclosed = _without_thinking(values["response"])
    return Reply(
        text=text,
        finish=values.get("finish") or "",
        refusal=values.get("refusal") or "",
        thinking_unclosed=unclosed,
    )


def _without_thinking(text: str) -> tuple[str, bool]:
    """A reply's text behind its ``<think>`` block, and whether the block never ended."""
    _, closed, said = text.rpartition("</think>")
    if closed:
        return said, False
    unclosed = text.lstrip().startswith("<think>")
    return ("" if unclosed else text), unclosed


def _options(value: object) -> tuple[str, Sequence[str]]:
    """The letters and texts of a row's options; no letters where they cannot be read."""
    if isinstance(value, int) and not isinstance(value, bool):
        return (labels(value) if 1 <= value <= _MOST_OPTIONS else ""), ()
    if isinstance(value, str):
        known = all(map(is_label, value)) and len(set(value)) == len(value)
        return (value if known else ""), ()
    if not isinstance(value, (list, tuple)) or not 1 <= len(value) <= _MOST_OPTIONS:
        return "", ()
    if not all(isinstance(text, str) for text in value):
        return "", ()
    letters = labels(len(value))
    return letters, (() if "".join(value) == letters else value)


# ---------------------------------------------------------------- what cannot be read


def _problems(row: Row) -> Iterator[Problem]:
    """What of a row cannot be read: what was expected and what came."""
    values = row.values
    if not isinstance(values.get("response"), str):
        yield _problem(row, "response", "text")
    if "options" not in values or not _options(values["options"])[0]:
        yield _problem(row, "options", "1 to 26 texts, their number, or letters such as ABCD")
    if (values.get("finish") or "") not in _FINISHES:
        yield _problem(row, "finish", f"one of {', '.join(filter(None, _FINISHES))}")
    if not isinstance(values.get("refusal") or "", str):
        yield _problem(row, "refusal", "text")


def _problem(row: Row, field: str, expected: str) -> Problem:
    came = repr(row.values[field]) if field in row.values else "nothing"
    came = came if len(came) <= 60 else f"{came[:57]}..."
    return Problem(f"{row.place}, field {field}", f"expected {expected}, got {came}")
