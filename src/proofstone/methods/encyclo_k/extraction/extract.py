"""Statements from a passage: one knowledge point each, in the passage's own terms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, structs

from proofstone.choices.outcomes import ask_for
from proofstone.judging.question import fence
from proofstone.methods.encyclo_k.ask import render_template, template_bytes
from proofstone.methods.encyclo_k.extraction.rows import Claim, Draft, Ground
from proofstone.methods.encyclo_k.payloads import Statement
from proofstone.records.builds import Drop, Kept, Step, StepContext, seats_of
from proofstone.records.calls import Message, TextPart
from proofstone.records.ids import digest
from proofstone.records.knowledge import BuiltFact, Fact, Role, SourcedPassage, fact_id
from proofstone.records.pages import PageRegion

# A statement from a picture: one knowledge point, cropped out of its page (3.1.1, appendix A.1).
#
# The paper has one complete knowledge point a picture, with all else made unreadable, and asks for
# its name and its content.


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


# What is behind the last step as facts: every true statement, and after it the one made of it.

_KIND = "encyclo_k.statement"


def facts_by(models: Mapping[str, str]) -> Callable[[Iterable[Claim]], Iterator[BuiltFact]]:
    """The facts of claims, with the models of the build by seat as those who had a hand in them."""

    def facts(claims: Iterable[Claim]) -> Iterator[BuiltFact]:
        for claim in claims:
            true = _true_fact(claim)
            if claim.false is None:
                yield BuiltFact(true, roles=_roles(models, "wrote", "checked"))
            else:
                yield BuiltFact(
                    _false_fact(claim, true), roles=_roles(models, "wrote", "falsified", "checked")
                )

    return facts


def _true_fact(claim: Claim) -> Fact:
    draft, ground = claim.draft, claim.draft.ground
    fact = Fact(
        kind=_KIND,
        payload=Statement(text=draft.text, correct=True, title=draft.title),
        language=ground.language,
        stratum=ground.stratum,
        source=ground.source,
        passage=ground.passage or None,
        page=ground.page,
    )
    return structs.replace(fact, id=fact_id(fact))


def _false_fact(claim: Claim, true: Fact) -> Fact:
    false = claim.false
    if false is None:
        return true
    payload = Statement(
        text=false.text,
        correct=False,
        title=claim.draft.title,
        origin=true.id,
        error_type=false.error_type,
        reason=false.reason,
    )
    fact = structs.replace(true, id=b"", payload=payload)
    return structs.replace(fact, id=fact_id(fact))


def _roles(models: Mapping[str, str], *names: str) -> tuple[Role, ...]:
    by_role = {"wrote": "writer", "falsified": "falsifier", "checked": "judge"}
    return tuple(
        Role(name, model)  # type: ignore[arg-type]
        for name in names
        for model in seats_of(by_role[name], models).values()
    )


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
