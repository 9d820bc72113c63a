"""Statements from a passage: one knowledge point each, in the passage's own terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from proofstone.engines.judging import fence
from proofstone.engines.replies import ask_for
from proofstone.identity import digest
from proofstone.methods.encyclo_k.extraction.rows import Draft, Ground
from proofstone.methods.encyclo_k.prompting import render_template, template_bytes
from proofstone.ports import Drop, Kept, Step, StepContext
from proofstone.records import Message, SourcedPassage

__all__ = ["extract_step"]

_SCHEMA: Mapping[str, Any] = {
    "title": "statements",
    "type": "object",
    "properties": {
        "statements": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"title": {"type": "string"}, "text": {"type": "string"}},
                "required": ["title", "text"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["statements"],
    "additionalProperties": False,
}
_LEAST_CHARACTERS = 12  # a heading or a lone number holds no knowledge point


class _Stated(Struct, frozen=True):
    text: str
    title: str = ""


class _Statements(Struct, frozen=True):
    statements: tuple[_Stated, ...]


def extract_step(most: int) -> Step:
    """At most ``most`` statements of each passage."""

    async def extract(row: SourcedPassage, context: StepContext) -> Kept:
        ground = Ground.of(row)
        if len(ground.text.strip()) < _LEAST_CHARACTERS:
            return Drop("too short to hold one", ground.text)
        prompt = render_template(
            "extract",
            ground.language,
            passage=fence("passage", ground.text, ground.language),
            book=ground.book,
            heading=ground.heading,
            most=most,
        )
        found = await ask_for(
            context.call, "extract", [Message("user", prompt)], _Statements, _SCHEMA
        )
        if isinstance(found, str):
            return Drop("unreadable reply", found)
        drafts = [
            Draft(text=" ".join(stated.text.split()), title=stated.title.strip(), ground=ground)
            for stated in found.statements[:most]
            if stated.text.strip()
        ]
        return list(dict.fromkeys(drafts)) or Drop("no statement in it", ground.text[:200])

    return Step(
        name="extract",
        version=2,
        takes=SourcedPassage,
        work=extract,
        reasons=("too short to hold one", "unreadable reply", "no statement in it"),
        config={"most": most, "prompt": digest(template_bytes("extract")).hex()},
        asks=("writer",),
    )
