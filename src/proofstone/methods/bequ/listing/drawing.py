"""How many of each kind a list holds: thirds by what is known of them, so many of a domain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import structs

from proofstone.draws import Draws
from proofstone.identity import digest
from proofstone.methods.bequ.listing.rows import Candidate
from proofstone.methods.bequ.names import plain_name
from proofstone.ports import BatchRows, BatchStep, Drop, Kept, StepContext

__all__ = ["TIERS", "domains_step", "thirds_step"]

TIERS = ("0-33%", "33-66%", "66-100%")  # of popularity, from the least known on
_UNKNOWN, _NOT_DRAWN, _NO_DOMAIN = "statements unknown", "not drawn", "no domain"


def thirds_step(per_tier: int) -> BatchStep:
    """Each entity with its third by the count of Wikidata's statements, and of each third so many,
    drawn by the seed (0: all). Thirds are of those that came so far; where counts are equal, the
    name decides. Those without a count are dropped; fictional ones stay as they are."""

    def place(rows: BatchRows, context: StepContext) -> Mapping[int, Kept]:
        made: dict[int, Kept] = {}
        counted: list[tuple[int, str, int]] = []
        listed = list(rows)
        for number, row in enumerate(listed):
            if row.entity.is_fictional:
                continue
            if row.entity.statements is None:
                made[number] = Drop(_UNKNOWN, row.entity.name)
            else:
                counted.append((row.entity.statements, plain_name(row.entity.name), number))
        groups: dict[str, list[int]] = {tier: [] for tier in TIERS}
        for rank, (_n, _name, number) in enumerate(sorted(counted)):
            tier = TIERS[rank * len(TIERS) // len(counted)]
            made[number] = structs.replace(listed[number], tier=tier)
            groups[tier].append(number)
        return made | _not_drawn(groups.values(), listed, per_tier, context, "tier")

    return BatchStep(
        name="thirds", version=1, takes=Candidate, work=place, reasons=(_UNKNOWN, _NOT_DRAWN),
        config={"per_tier": per_tier, "tiers": TIERS}, draws=True,
    )  # fmt: skip


def domains_step(per_domain: int) -> BatchStep:
    """Of each domain so many entities, drawn by the seed; those without one are dropped. Fictional
    ones stay."""

    def draw(rows: BatchRows, context: StepContext) -> Mapping[int, Kept]:
        made: dict[int, Kept] = {}
        groups: dict[str, list[int]] = {}
        listed = list(rows)
        for number, row in enumerate(listed):
            if row.entity.is_fictional:
                continue
            if row.domain:
                groups.setdefault(row.domain, []).append(number)
            else:
                made[number] = Drop(_NO_DOMAIN, row.entity.name)
        return made | _not_drawn(groups.values(), listed, per_domain, context, "domain")

    return BatchStep(
        name="domains", version=1, takes=Candidate, work=draw, reasons=(_NO_DOMAIN, _NOT_DRAWN),
        config={"per_domain": per_domain}, draws=True,
    )  # fmt: skip


def _not_drawn(
    groups: Iterable[Sequence[int]],
    listed: Sequence[Candidate],
    n: int,
    context: StepContext,
    purpose: str,
) -> dict[int, Kept]:
    """Those that are not among the ``n`` of their group that come first in the draw (0: none is).
    A row's place in it rests on the seed and its name alone: a larger ``n`` keeps those drawn."""

    def drawn_at(number: int) -> tuple[float, int]:
        name = plain_name(listed[number].entity.name).encode("utf-8", "surrogatepass")
        key = int.from_bytes(digest(name)[:8], "big")
        return Draws(context.seed, key, purpose).uniform(), number

    return {
        number: Drop(_NOT_DRAWN, listed[number].entity.name)
        for group in groups
        if n
        for number in sorted(group, key=drawn_at)[n:]
    }
