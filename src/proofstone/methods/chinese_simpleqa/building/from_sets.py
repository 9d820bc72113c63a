"""Choices as sets have them, and pairs that get options: each with the fact that it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from proofstone.engines.ingest import read_checked
from proofstone.errors import BadInput
from proofstone.methods.chinese_simpleqa.building.rows import Draft
from proofstone.methods.chinese_simpleqa.payloads import Choice, Closed, Pair
from proofstone.methods.chinese_simpleqa.rows import read_facts
from proofstone.ports import BuiltFact
from proofstone.records import Stratum

__all__ = ["ChoiceRow", "choices_of", "pairs_of"]


class ChoiceRow(Struct, frozen=True, kw_only=True):
    """A question over options, with the id of the fact that an import of its file makes of it."""

    closed: Closed
    origin: bytes
    language: str = ""
    stratum: Stratum = Stratum()


def choices_of(inputs: Sequence[str], _params: Mapping[str, Any]) -> Iterator[ChoiceRow]:
    """The choices of files. Raises BadInput with every problem of a file, and for one of other
    rows."""
    for built in _facts(inputs, Choice, "questions with options"):
        fact = built.fact
        closed = Closed(
            question=fact.payload.question, options=fact.payload.options, gold=fact.payload.gold
        )
        yield ChoiceRow(closed=closed, origin=fact.id, language=fact.language, stratum=fact.stratum)


def pairs_of(inputs: Sequence[str], _params: Mapping[str, Any]) -> Iterator[Draft]:
    """The pairs of files. Raises as ``choices_of``."""
    for built in _facts(inputs, Pair, "short questions without options"):
        fact = built.fact
        asked: Pair = fact.payload
        yield Draft(
            question=asked.question,
            answer=asked.answer,
            aliases=asked.aliases,
            answer_type=asked.answer_type,
            tolerance=asked.tolerance,
            urls=asked.urls,
            valid_at=asked.valid_at,
            language=fact.language,
            stratum=fact.stratum,
            origin=fact.id,
        )


def _facts(inputs: Sequence[str], kind: type[Struct], wanted: str) -> Iterator[BuiltFact]:
    for name in inputs:
        path = Path(name)
        if not path.is_file():
            raise BadInput(
                f"{name} is no file; expected a file of {wanted}",
                hint="of a bank: proofstone export BANK -o FILE, then name the file",
            )
        for built in read_checked(path, read_facts):
            if not isinstance(built.fact.payload, kind):
                raise BadInput(f"{name} does not hold {wanted}")
            yield built
