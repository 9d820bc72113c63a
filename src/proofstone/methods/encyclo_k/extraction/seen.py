"""A statement from a picture: one knowledge point, cropped out of its page (3.1.1, appendix A.1).

The paper has one complete knowledge point a picture, with all else made unreadable, and asks for
its name and its content.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, structs

from proofstone.engines.replies import ask_for
from proofstone.identity import digest
from proofstone.methods.encyclo_k.extraction.rows import Draft, Ground
from proofstone.methods.encyclo_k.prompting import render_template, template_bytes
from proofstone.ports import Drop, Kept, Step, StepContext
from proofstone.records import Message, PageRegion, TextPart

__all__ = ["seen_step"]


class _Point(Struct, frozen=True):
    title: str
    content: str
    transcript: str = ""


def seen_step() -> Step:
    """At most one statement of each region. Where the page's own text is not known, the model also
    writes down what stands in the picture, and that is what the statement is checked against."""

    async def extract(row: PageRegion, context: StepContext) -> Kept:
        ground = Ground.of_region(row)
        knows_text = bool(ground.text.strip())
        prompt = render_template(
            "extract_seen",
            ground.language,
            book=ground.book,
            heading=ground.heading,
            page=row.page,
            transcribe=not knows_text,
        )
        message = Message("user", (row.image, TextPart(prompt)))
        schema = _schema(transcribe=not knows_text)
        found = await ask_for(context.call, "extract", [message], _Point, schema)
        if isinstance(found, str):
            return Drop("unreadable reply", found)
        text = " ".join(found.content.split())
        if not text:
            return Drop("no statement in it", ground.text[:200])
        if not knows_text:
            ground = structs.replace(ground, text=found.transcript.strip() or text)
        return Draft(text=text, title=found.title.strip(), ground=ground)

    return Step(
        name="extract from images",
        version=1,
        takes=PageRegion,
        work=extract,
        reasons=("unreadable reply", "no statement in it"),
        config={"prompt": digest(template_bytes("extract_seen")).hex()},
        asks=("writer",),
    )


def _schema(*, transcribe: bool) -> dict[str, Any]:
    names = ["transcript", "title", "content"] if transcribe else ["title", "content"]
    return {
        "title": "knowledge_point",
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": names,
        "additionalProperties": False,
    }
