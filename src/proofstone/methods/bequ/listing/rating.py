"""Whether models can be asked about an entity: a judge rates it, and names its domain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta, Struct, structs

from proofstone.engines.replies import ask_for
from proofstone.methods.bequ.entity_rows import DOMAINS
from proofstone.methods.bequ.listing.rows import Candidate, Ratings
from proofstone.methods.bequ.two_languages import TwoPrompts
from proofstone.ports import Drop, Kept, Step, StepContext
from proofstone.records import Message

__all__ = ["rate_prompt", "rate_step"]

_PROMPTS = TwoPrompts(str(__package__), "rate", "article", "条目")
_UNRATED = "not rated"
_LOW = {"informative": "too little to say", "clear": "ambiguous", "suitable": "not suitable"}
_SEVERAL = "not of one domain"
_RATING = {"type": "integer", "minimum": 1, "maximum": 5}
_SCHEMA: Mapping[str, Any] = {
    "title": "ratings",
    "type": "object",
    "properties": {
        **dict.fromkeys(_LOW, _RATING),
        "domains": {"type": "array", "items": {"type": "string", "enum": list(DOMAINS)}},
    },
    "required": [*_LOW, "domains"],
    "additionalProperties": False,
}
_Likert = Annotated[int, Meta(ge=1, le=5)]


class _Rated(Struct, frozen=True):
    informative: _Likert
    clear: _Likert
    suitable: _Likert
    domains: tuple[str, ...]


def rate_step(least: int, *, one_domain: bool) -> Step:
    """Candidates with three ratings of at least ``least``, each with its domain where it has one
    alone; others are dropped where ``one_domain``. Fictional ones are not rated: they have no
    article to be rated by."""

    async def rate(row: Candidate, context: StepContext) -> Kept:
        if row.entity.is_fictional:
            return row
        prompt = [Message("user", rate_prompt(row))]
        found = await ask_for(context.call, "ratings", prompt, _Rated, _SCHEMA)
        if isinstance(found, str):
            return Drop(_UNRATED, found)
        for name, reason in _LOW.items():
            if getattr(found, name) < least:
                return Drop(reason, f"{row.entity.name}: {getattr(found, name)} of 5")
        named = {each.strip().casefold() for each in found.domains}
        domains = [domain for domain in DOMAINS if domain in named]
        if one_domain and len(domains) != 1:
            return Drop(_SEVERAL, f"{row.entity.name}: {', '.join(domains) or 'none'}")
        ratings = Ratings(informative=found.informative, clear=found.clear, suitable=found.suitable)
        domain = row.domain or (domains[0] if len(domains) == 1 else "")
        return structs.replace(row, ratings=ratings, domain=domain)

    return Step(
        name="ratings",
        version=1,
        takes=Candidate,
        work=rate,
        reasons=(_UNRATED, *_LOW.values(), *([_SEVERAL] if one_domain else [])),
        config={
            "least": least,
            "one_domain": one_domain,
            "prompt": _PROMPTS.key(),
        },
        asks=("judge",),
    )


def rate_prompt(row: Candidate) -> str:
    """What a judge is sent, in Chinese for Chinese articles, else in English."""
    entity = row.entity
    return _PROMPTS.render(
        row.language, row.lead, name=entity.name, description=entity.description, domains=DOMAINS
    )
