"""One model call per question: its structured signature psi(q) and its alignment (appendix B)."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec
from msgspec import Meta, Struct, structs

from proofstone.choices.outcomes import TEXT, ask_for, list_of, object_of, object_of_all
from proofstone.judging.question import fence
from proofstone.methods.kina.candidates import Candidate
from proofstone.methods.kina.centrality.prototype import Prototype
from proofstone.records.builds import BatchRows, BatchStep, Drop, Kept, Step, StepContext
from proofstone.records.calls import Message
from proofstone.records.ids import content_id
from proofstone.texts.languages import is_chinese
from proofstone.texts.templates import Prompts

OTHER = "other"
MOST = 10  # of the alignment as asked

_PROMPTS = Prompts("proofstone.methods.kina")
_SCHEMA = object_of_all(
    {
        "method": TEXT,
        "principle": TEXT,
        "answer_type": TEXT,
        "constraints": list_of(TEXT),
        "alignment": {"type": "integer", "minimum": 0, "maximum": MOST},
    },
    title="signature",
)


class Signature(Struct, frozen=True, kw_only=True):
    """The signature of a question, in the words of its prototype; ``other`` if none fits."""

    method: str
    principle: str
    answer_type: str
    constraints: tuple[str, ...] = ()


class Described(Struct, frozen=True, kw_only=True):
    """A question with its signature, the alignments read (one or two, in [0, 1]), and D.

    ``wrong`` is the share of the panel that answered incorrectly, None without a panel.
    """

    candidate: Candidate
    signature: Signature
    alignments: tuple[float, ...]
    wrong: float | None = None


class _Reply(Struct, frozen=True):
    method: str
    principle: str
    answer_type: str
    alignment: Annotated[float, Meta(ge=0, le=MOST)]
    constraints: tuple[str, ...] = ()


NO_PROTOTYPE, UNREADABLE = "discipline without a prototype", "unparsed response"


def signature_step(prototypes: Mapping[str, Prototype]) -> Step:
    """Return the step that reads each question once."""

    async def read(row: Candidate, context: StepContext) -> Kept:
        prototype = prototypes.get(row.stratum.discipline.casefold())
        if prototype is None:
            return Drop(NO_PROTOTYPE, row.stratum.discipline)
        found = await ask_for(context.call, "signature", _prompt(row, prototype), _Reply, _SCHEMA)
        if isinstance(found, str):
            return Drop(UNREADABLE, found)
        return Described(
            candidate=row, signature=_known(found, prototype), alignments=(found.alignment / MOST,)
        )

    return Step(
        name="signature",
        version=1,
        takes=Candidate,
        work=read,
        reasons=(NO_PROTOTYPE, UNREADABLE),
        config=_config(prototypes),
        asks=("reader",),
    )


def recheck_step(prototypes: Mapping[str, Prototype], rho: float) -> BatchStep:
    """Return the step that reads the most uncertain questions again, at most rho N of each
    discipline.

    Uncertain is an alignment near 0.5, the middle. A second reading that cannot be parsed is left
    out.
    """

    async def read(rows: BatchRows, context: StepContext) -> Mapping[int, Kept]:
        every: list[Described] = list(rows)
        chosen = uncertain(every, rho)

        async def again(place: int) -> Described:
            row = every[place]
            prototype = prototypes[row.candidate.stratum.discipline.casefold()]
            response = await context.call(
                f"second reading {row.candidate.fact().id.hex()[:12]}",
                _prompt(row.candidate, prototype),
                schema=_SCHEMA,
                sample=1,
            )
            found = object_of(response.text)
            try:
                second = msgspec.convert(found, _Reply).alignment / MOST
            except msgspec.ValidationError:
                return row
            return structs.replace(row, alignments=(*row.alignments, second))

        return dict(zip(chosen, await asyncio.gather(*map(again, chosen)), strict=True))

    return BatchStep(
        name="second readings",
        version=1,
        takes=Described,
        work=read,
        config={**_config(prototypes), "rho": rho},
        asks=("reader",),
    )


def uncertain(rows: Sequence[Described], rho: float) -> list[int]:
    """Return the places of the floor(rho N) most uncertain rows of each discipline."""
    by_discipline: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        by_discipline.setdefault(row.candidate.stratum.discipline.casefold(), []).append(place)
    chosen: list[int] = []
    for places in by_discipline.values():
        places.sort(
            key=lambda at: (abs(rows[at].alignments[0] - 0.5), rows[at].candidate.fact().id)
        )
        chosen += places[: math.floor(rho * len(places))]
    return sorted(chosen)


def _prompt(row: Candidate, prototype: Prototype) -> list[Message]:
    shown = fence("题目" if is_chinese(row.language) else "question", text_of(row), row.language)
    lists = structs.asdict(prototype.lists)
    text = _PROMPTS.render(
        "signature", row.language, discipline=prototype.discipline, question=shown, **lists
    )
    return [Message("user", text)]


def text_of(row: Candidate) -> str:
    """Return the text of a question: the stem, its statements, and options that are texts."""
    asked = row.question
    numbered = [f"{number}. {each}" for number, each in enumerate(asked.statements, 1)]
    return "\n".join([asked.stem, *numbered, *asked.texts])


def _known(found: _Reply, prototype: Prototype) -> Signature:
    """Return a response's names in the spelling of the prototype; others are ``other``."""

    def named(name: str, known: Sequence[str]) -> str:
        folded = {each.casefold(): each for each in known}
        return folded.get(" ".join(name.split()).casefold(), OTHER)

    lists = prototype.lists
    constraints = {named(each, lists.constraints) for each in found.constraints} - {OTHER}
    return Signature(
        method=named(found.method, lists.methods),
        principle=named(found.principle, lists.principles),
        answer_type=named(found.answer_type, lists.answer_types),
        constraints=tuple(sorted(constraints)),
    )


def _config(prototypes: Mapping[str, Prototype]) -> dict[str, str]:
    lists = {name: structs.replace(each.lists, anchors=()) for name, each in prototypes.items()}
    return {
        "prompt": _PROMPTS.key("signature"),
        "lists": content_id("kina.prototypes", lists).hex(),
    }
