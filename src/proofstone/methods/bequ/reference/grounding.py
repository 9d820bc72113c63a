"""Triples whose object stands in their passage: a model also writes what it knows from elsewhere.

Seen with a small model (docs/log.md, 2026-11-22): of a passage that names no birth place it took
one, and of 1906-12-09 it made 1906-02-09.
"""

from __future__ import annotations

import re
import unicodedata

from proofstone.engines.retrieval import TERMS_VERSION, terms_of
from proofstone.methods.bequ.names import is_named
from proofstone.methods.bequ.reference.rows import Known
from proofstone.ports import Drop, Kept, Step, StepContext

__all__ = ["grounds_step", "is_grounded"]

_ELSEWHERE = "not in the passage"
_NUMBER = re.compile(r"\d+")
_GROUPED = re.compile(r"(?<=\d)[,' \u00a0\u202f](?=\d{3}(?!\d))")  # 1,085 is 1085
_STEM = 5  # letters by which words are compared: melts and melting are one


def grounds_step() -> Step:
    """Triples whose object the passage states, see ``is_grounded``; passages as they stand go
    on."""

    def look(row: Known, _context: StepContext) -> Kept:
        if not row.is_asked or is_grounded(row.object, row.taken.text):
            return row
        return Drop(_ELSEWHERE, f"{row.about.name}: {row.predicate}: {row.object}")

    return Step(
        name="grounds",
        version=1,
        takes=Known,
        work=look,
        reasons=(_ELSEWHERE,),
        config={"terms": TERMS_VERSION, "stem": _STEM},
    )


def is_grounded(value: str, passage: str) -> bool:
    """Whether a passage states a value: it stands there as it is, or each of its numbers does, and
    of words and numbers together at least half, words by their first five letters. Values without
    either are taken to be stated."""
    if is_named(passage, [value]):
        return True
    numbers, words = _numbers(value), _words(value)
    if not numbers <= _numbers(passage):
        return False
    n_found = len(numbers) + len(words & _words(passage))
    return 2 * n_found >= len(numbers) + len(words)


def _numbers(text: str) -> set[int]:
    """The whole numbers in a text, the parts of dates and decimals among them."""
    plain = _GROUPED.sub("", unicodedata.normalize("NFKC", text))
    return {int(found[0]) for found in _NUMBER.finditer(plain) if len(found[0]) < 20}


def _words(text: str) -> set[str]:
    return {term[:_STEM] for term in terms_of(text) if not term[0].isdigit()}
