"""Pairs from a passage, by a model that is told the criteria and shown examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import UNSET, Struct

from proofstone.engines.replies import ask_for
from proofstone.methods.chinese_simpleqa.building.criteria import (
    Scope,
    criteria_digest,
    criteria_in,
)
from proofstone.methods.chinese_simpleqa.building.examples import PairExample, Shots
from proofstone.methods.chinese_simpleqa.building.rows import Draft, Ground, Written, placed
from proofstone.methods.chinese_simpleqa.building.words import block, prompt_digest, render
from proofstone.methods.chinese_simpleqa.sameness import plain_answer
from proofstone.ports import Drop, Kept, Step, StepContext
from proofstone.records import Message, SourcedPassage, Stratum

__all__ = ["PAIR_SCHEMA", "PairsAsked", "write_step"]

_UNREADABLE, _NONE = "unreadable reply", "no question in it"
_PAIR: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "question": {"type": "string"},
        "answer": {"type": "string"},
        "aliases": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["question", "answer", "aliases"],
    "additionalProperties": False,
}
PAIR_SCHEMA: Mapping[str, Any] = {"title": "pair", **_PAIR}
_SCHEMA: Mapping[str, Any] = {
    "title": "pairs",
    "type": "object",
    "properties": {"pairs": {"type": "array", "items": _PAIR}},
    "required": ["pairs"],
    "additionalProperties": False,
}


class PairsAsked(Struct, frozen=True, kw_only=True):
    """What is asked for: so many pairs of a passage, of which knowledge, in the passage's language
    or in another, and the categories of what has none; ``valid_at`` is the date at which private
    documents are valid, else the year that they state."""

    most: int
    scope: Scope
    valid_at: str = ""
    write_in: str = ""
    primary: str = ""
    secondary: str = ""


class _Pairs(Struct, frozen=True):
    pairs: tuple[Written, ...]


def write_step(asked: PairsAsked, shots: Shots) -> Step:
    """At most so many pairs of each passage; those without a question or an answer are none."""

    async def write(row: SourcedPassage, context: StepContext) -> Kept:
        ground = Ground.of(row)
        place = _place(row, asked)
        read_in = row.passage.language or row.source.language or "en"
        examples = shots.draw(context.draws("examples"), asked.write_in or read_in, place)
        valid_at = _validity(row, asked)
        prompt = write_prompt(ground, place, read_in, asked, examples, valid_at)
        found = await ask_for(context.call, "write", [Message("user", prompt)], _Pairs, _SCHEMA)
        if isinstance(found, str):
            return Drop(_UNREADABLE, found)
        blank = Draft(
            question="", answer="", language=asked.write_in or read_in, stratum=place,
            ground=ground, valid_at=valid_at or UNSET,
        )  # fmt: skip
        drafts = [blank.with_pair(pair) for pair in found.pairs[: asked.most]]
        whole = [draft for draft in drafts if draft.question and plain_answer(draft.answer)]
        return list(dict.fromkeys(whole)) or Drop(_NONE, ground.text[:200])

    return Step(
        name="pairs",
        version=1,
        takes=SourcedPassage,
        work=write,
        reasons=(_UNREADABLE, _NONE),
        config={
            "asked": asked,
            "shots": shots.key(),
            "criteria": criteria_digest(asked.scope),
            "prompt": prompt_digest("write"),
        },
        asks=("author",),
        draws=True,
    )


def write_prompt(
    ground: Ground,
    place: Stratum,
    read_in: str,
    asked: PairsAsked,
    examples: Sequence[PairExample],
    valid_at: str = "",
) -> str:
    """The prompt for one passage, in the words of the language that is to be written in."""
    language = asked.write_in or read_in
    return render(
        "write",
        language,
        most=asked.most,
        private=asked.scope.is_private,
        criteria=tuple(criteria_in(language, asked.scope, valid_at).values()),
        category=category_of(place),
        write_in=asked.write_in,
        examples=examples,
        book=ground.book,
        heading=ground.heading,
        passage=block("passage", ground.text, language),
    )


def category_of(place: Stratum) -> str:
    """A category as people read it: the coarse name, and the fine one behind it."""
    return " / ".join(filter(None, (place.discipline, place.field)))


def _validity(row: SourcedPassage, asked: PairsAsked) -> str:
    """The date at which a private document is valid: the one that is named, else its year."""
    if not asked.scope.is_private:
        return ""
    return asked.valid_at or (str(row.source.year) if row.source.year else "")


def _place(row: SourcedPassage, asked: PairsAsked) -> Stratum:
    own = placed(row.source.stratum, asked.primary, asked.secondary)
    return Stratum(own.discipline, own.field, own.subfield, own.book or row.source.title)
