"""Names of things that do not exist, made up by a model: plausible ones and absurd ones.

Nothing is checked of them here but that no two are the same: that there is no such thing is found
by holding the list against a corpus and the web.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, structs

from proofstone.engines.replies import ask_for
from proofstone.errors import BadUsage
from proofstone.methods.bequ.entity_rows import DOMAINS
from proofstone.methods.bequ.listing.rows import Candidate
from proofstone.methods.bequ.names import plain_name
from proofstone.methods.bequ.payloads import FICTIONS, Entity, Fiction
from proofstone.methods.bequ.two_languages import TwoPrompts
from proofstone.ports import Drop, Kept, Step, StepContext
from proofstone.records import Message

__all__ = ["is_made_up", "made_up_prompt", "make_up_step", "to_make_up"]

_INPUT = "made-up"
_USUAL = 20
_LANGUAGES = ("en", "zh")
_LETTERS = "ABCDEFGHIJKLMNOPRSTUVWZ"
_LONGEST = 200
_PROMPTS = TwoPrompts(str(__package__), "made_up", "", "")
_UNREADABLE = "unreadable reply"
_SCHEMA: Mapping[str, Any] = {
    "title": "names",
    "type": "object",
    "properties": {"names": {"type": "array", "items": {"type": "string"}}},
    "required": ["names"],
    "additionalProperties": False,
}


class _Names(Struct, frozen=True):
    names: tuple[str, ...]


def is_made_up(name: str) -> bool:
    """Whether an input asks for names that are made up: ``made-up:KIND``."""
    return name.partition(":")[0] == _INPUT


def to_make_up(name: str, n: int | None) -> Iterator[Candidate]:
    """A row a domain, with how many names are to be made up for it: ``n`` (else 20) in all, as many
    of each of the ten as can be. ``made-up:plausible``, ``made-up:absurd``; ``made-up:absurd:zh``
    in Chinese. Raises BadUsage for what is none of these."""
    kind, language = _read(name)
    whole, rest = divmod(_USUAL if n is None else n, len(DOMAINS))
    for place, domain in enumerate(DOMAINS):
        if count := whole + (place < rest):
            entity = Entity(name="", is_fictional=True, fiction=kind)
            yield Candidate(entity=entity, domain=domain, language=language, to_make_up=count)


def _read(name: str) -> tuple[Fiction, str]:
    said, _colon, language = name.partition(":")[2].partition(":")
    kind = next((each for each in FICTIONS if each == said), None)
    if kind is None or language not in ("", *_LANGUAGES):
        raise BadUsage(
            f"{name} is nothing that can be made up",
            hint=f"{' or '.join(f'{_INPUT}:{each}' for each in FICTIONS)}; with :zh in Chinese",
        )
    return kind, language or _LANGUAGES[0]


def make_up_step() -> Step:
    """The names that a model makes up, each a fictional entity; others go on as they are."""

    async def make(row: Candidate, context: StepContext) -> Kept:
        if not row.to_make_up:
            return row
        letter = _LETTERS[context.draws("first letter").below(len(_LETTERS))]
        prompt = [Message("user", made_up_prompt(row, letter))]
        found = await ask_for(context.call, "names", prompt, _Names, _SCHEMA)
        if isinstance(found, str):
            return Drop(_UNREADABLE, found)
        names = list(filter(_is_name, (" ".join(each.split()) for each in found.names)))
        made = [_made(row, each) for each in names[: row.to_make_up]]
        return made or Drop(_UNREADABLE, ", ".join(found.names)[:_LONGEST])

    return Step(
        name="made up",
        version=1,
        takes=Candidate,
        work=make,
        reasons=(_UNREADABLE,),
        config={"prompt": _PROMPTS.key()},
        asks=("author",),
        draws=True,
    )


def made_up_prompt(row: Candidate, letter: str) -> str:
    """What the model is sent for a domain."""
    return _PROMPTS.render(
        row.language, "", n=row.to_make_up, domain=row.domain, kind=row.entity.fiction,
        letter=letter,
    )  # fmt: skip


def _made(row: Candidate, name: str) -> Candidate:
    entity = structs.replace(row.entity, name=name)
    return structs.replace(row, entity=entity, to_make_up=0, is_made_up=True)


def _is_name(name: str) -> bool:
    """Whether it can stand in a list: something that can be read, without control signs."""
    return (
        0 < len(name) <= _LONGEST
        and bool(plain_name(name))
        and not any(unicodedata.category(sign) == "Cc" for sign in name)
    )
