"""Pairs that are written already, from files: they enter behind the steps that write them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import UNSET, structs

from proofstone.engines.ingest import read_checked
from proofstone.methods.chinese_simpleqa.building.rows import Draft, Ground, placed, with_names
from proofstone.methods.chinese_simpleqa.question_rows import read_pairs
from proofstone.records import Item

__all__ = ["ready_pairs"]


def ready_pairs(inputs: Sequence[str], params: Mapping[str, Any]) -> Iterator[Draft]:
    """The pairs of files (question, answer, and what else a file of questions has), each with the
    ``passage`` that it rests on where its row has one. Raises BadInput with every problem of a
    file."""
    valid_at = params["valid_at"]
    primary, secondary = params["primary_category"], params["secondary_category"]
    for name in inputs:
        for item, passage in read_checked(Path(name), read_pairs):
            yield _draft(item, passage, primary, secondary, valid_at)


def _draft(item: Item, passage: str, primary: str, secondary: str, valid_at: str) -> Draft:
    asked = item.payload
    return Draft(
        question=asked.question,
        answer=asked.answer,
        aliases=with_names(asked.answer, asked.aliases),
        answer_type=asked.answer_type,
        tolerance=asked.tolerance,
        urls=asked.urls,
        valid_at=asked.valid_at or valid_at or UNSET,
        language=item.language,
        stratum=structs.replace(placed(item.stratum, primary, secondary)),
        ground=Ground(text=passage),
    )
