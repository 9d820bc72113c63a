"""Triples from passages, by a model; those of the entity, and each of them once."""

from __future__ import annotations

import json
from collections.abc import Mapping

from msgspec import structs

from proofstone.engines.triples import ReadTriples, fold_triples, plain_triple, read_triples
from proofstone.identity import digest
from proofstone.methods.bequ.names import plain_name
from proofstone.methods.bequ.reference.rows import Known
from proofstone.methods.bequ.two_languages import TwoPrompts
from proofstone.ports import BatchRows, BatchStep, Drop, Kept, Step, StepContext
from proofstone.records import Message

__all__ = ["once_step", "subjects_step", "take_prompt", "triples_step"]

_UNREADABLE, _NONE = "unreadable reply", "no triple in it"
_OTHER, _AGAIN = "of something else", "said before"
_TRIES = 2
_PROMPTS = TwoPrompts(str(__package__), "triples", "passage", "文字")


def triples_step(reads: tuple[str, ...] = ()) -> Step:
    """The triples that a model takes from each passage that is asked of; those that stand for
    themselves go on as they are. ``reads`` says what passages were found by: what is sent is of
    whatever that may find."""

    async def take(row: Known, context: StepContext) -> Kept:
        if not row.is_asked:
            return row
        prompt = [Message("user", take_prompt(row))]
        read, text = ReadTriples(), ""
        for reask in range(_TRIES):
            reply = await context.call("triples", prompt, reask=reask)
            text = "" if reply.thinking_unclosed else reply.text
            read = read_triples(text, names=row.about.names, is_cut=reply.finish == "length")
            if read.triples or read.says_nothing:
                break
        if read.says_nothing and not read.triples:
            return Drop(_NONE, row.taken.text[:200])
        if not read.triples:
            return Drop(_UNREADABLE, text)
        return [
            structs.replace(row, subject=said.subject, predicate=said.predicate, object=said.object)
            for said in (folded.first for folded in fold_triples(read.triples))
        ]

    return Step(
        name="triples",
        version=1,
        takes=Known,
        work=take,
        reasons=(_UNREADABLE, _NONE),
        config={"prompt": _PROMPTS.key()},
        asks=("author",),
        reads=reads,
    )


def subjects_step() -> Step:
    """Triples whose subject is the entity, by its name or an alias."""

    def told_apart(row: Known, _context: StepContext) -> Kept:
        names = {plain_name(name) for name in row.about.names}
        if not row.is_asked or plain_name(row.subject) in names:
            return row
        return Drop(_OTHER, f"{row.subject}: {row.predicate}: {row.object}")

    return Step(name="subject", version=1, takes=Known, work=told_apart, reasons=(_OTHER,))


def once_step() -> BatchStep:
    """Each triple of an entity and a kind of source once, from the passage in which it stands
    first."""

    def fold(rows: BatchRows, _context: StepContext) -> Mapping[int, Kept]:
        seen: set[bytes] = set()
        again: dict[int, Kept] = {}
        for place, row in enumerate(rows):
            if not row.is_asked:
                continue
            said = plain_triple("", row.predicate, row.object)
            whose = (row.about.name, row.about.wikidata, row.taken.source)
            key = digest("\0".join((*whose, *said)).encode("utf-8", "surrogatepass"))[:16]
            if key in seen:
                again[place] = Drop(_AGAIN, f"{row.subject}: {row.predicate}: {row.object}")
            seen.add(key)
        return again

    return BatchStep(name="once", version=1, takes=Known, work=fold, reasons=(_AGAIN,))


def take_prompt(row: Known) -> str:
    """What the model is sent of a passage, in Chinese for Chinese texts, else in English."""
    about = row.about
    return _PROMPTS.render(
        row.taken.language,
        row.taken.text,
        name=about.name,
        name_json=json.dumps(about.name, ensure_ascii=False),
        description=about.description,
        aliases=about.aliases,
    )
