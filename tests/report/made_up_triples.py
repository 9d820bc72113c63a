"""Verified triples of models whose skills are known, drawn by a seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct

from proofstone.methods.bequ.records import (
    Elicited,
    EntityFacts,
    Group,
    Verdict,
    VerdictLabel,
    Verified,
    VerifiedRuns,
)
from proofstone.methods.bequ.report.board import TripleBoard, triple_board
from proofstone.records.models import Card
from proofstone.records.verdicts import Passage

__all__ = ["HOSTILE", "Skill", "board_of", "entity_facts", "runs_of"]

DOMAINS = ("person", "location", "plant")
TIERS = ("well known", "less known")
FAMILIES = ("time", "place", "relation", "other")
HOSTILE = "</script><script>alert(1)</script>\u202egnp.exe & \"quoted\" 'text' {0}"


class Skill(Struct, frozen=True, kw_only=True):
    """How a model answers: how likely a triple of it is right, and a known one said, in each of the
    tiers; of ``nonexistent`` entities how many got triples."""

    model: str
    right: tuple[float, float] = (0.6, 0.4)
    said: tuple[float, float] = (0.5, 0.3)
    nonexistent_given: int = 0
    card: Card | None = None


def entity_facts(n: int, n_nonexistent: int = 10) -> tuple[EntityFacts, ...]:
    """``n`` entities of three domains and two tiers, then fictional ones."""
    real = (
        EntityFacts(
            name=f"Entity {place}",
            identity=f"Q{place + 1}",
            domain=DOMAINS[place % 3],
            popularity=TIERS[place % 2],
            page=f"https://en.wikipedia.org/wiki/Entity_{place}",
        )
        for place in range(n)
    )
    made_up = (
        EntityFacts(name=f"Nowhere {place}", is_nonexistent=True) for place in range(n_nonexistent)
    )
    return (*real, *made_up)


def runs_of(
    skills: Sequence[Skill],
    *,
    n: int = 60,
    each: int = 4,
    entities: Sequence[EntityFacts] | None = None,
    seed: int = 0,
) -> VerifiedRuns:
    """``each`` triples of either direction of each of ``n`` entities, for every model."""
    facts = tuple(entities or entity_facts(n))
    groups = tuple(Group(skill.model) for skill in skills)
    real = sum(not each.is_nonexistent for each in facts)

    def read() -> Iterator[Verified]:
        for number, skill in enumerate(skills):
            rng = np.random.default_rng([seed, number])
            for drawn in range(n * each):
                yield _precision(facts, real, skill, number, drawn, rng)
            for drawn in range(n * each):
                yield _recall(facts, real, skill, number, drawn, rng)

    return VerifiedRuns(
        groups=groups,
        runs=tuple((bytes([number + 1] * 32),) for number, _skill in enumerate(skills)),
        elicited=tuple(
            Elicited(
                entities=n,
                given=n - 2,
                abstained=2,
                triples=n * each,
                nonexistent=10,
                nonexistent_given=skill.nonexistent_given,
                nonexistent_triples=3 * skill.nonexistent_given,
            )
            for skill in skills
        ),
        entities=facts,
        judges="judge/one",
        reference="towns-1f2e",
        sampling="entities, then triples",
        read=read,
    )


def _precision(
    facts: Sequence[EntityFacts],
    n: int,
    skill: Skill,
    group: int,
    drawn: int,
    rng: np.random.Generator,
) -> Verified:
    entity = drawn % n
    chance = skill.right[facts[entity].popularity == TIERS[1]]
    draw = rng.random()
    label: VerdictLabel = (
        "entailment" if draw < chance else "contradiction" if draw > 0.9 else "neutral"
    )
    name = facts[entity].name
    passage = Passage(
        f"{name} is a thing of which much is known. Its fact {drawn} is so.",
        source="wiki" if drawn % 2 else "web",
        title=name,
        url=facts[entity].page,
    )
    return Verified(
        id=f"{group}-{drawn}",
        direction="precision",
        group=group,
        entity=entity,
        drawn=drawn + 1,
        subject=name,
        predicate=f"fact{drawn}",
        object=f"value {drawn}",
        family=FAMILIES[drawn % 4],
        source=passage.source,
        verdict=Verdict(label=label, basis="judge", reason="The passage says so.", passage=passage),
        response=f"response:{group:02x}{drawn:06x}",
    )


def _recall(
    facts: Sequence[EntityFacts],
    n: int,
    skill: Skill,
    group: int,
    drawn: int,
    rng: np.random.Generator,
) -> Verified:
    entity = drawn % n
    chance = skill.said[facts[entity].popularity == TIERS[1]]
    is_said = rng.random() < chance
    name = facts[entity].name
    return Verified(
        id=f"{group}-r{drawn}",
        direction="recall",
        group=group,
        entity=entity,
        drawn=drawn + 1,
        subject=name,
        predicate=f"known{drawn}",
        object=f"thing {drawn}",
        family=FAMILIES[drawn % 4],
        source="wiki" if drawn % 3 else "web",
        verdict=Verdict(
            label="covered" if is_said else "not covered",
            basis="judge",
            reason="Said in other words." if is_said else "",
            passage=Passage(f"{name} known{drawn} thing {drawn}" if is_said else ""),
        ),
        known=Passage(f"It is known of {name} that known{drawn} is thing {drawn}.", "wiki", name),
        response=f"response:{group:02x}{drawn:06x}",
    )


def board_of(skills: Sequence[Skill], runs: VerifiedRuns) -> TripleBoard:
    """The leaderboard of made-up runs, with the cards of their models."""
    cards = {skill.model: skill.card for skill in skills if skill.card is not None}
    return triple_board(runs, cards=cards)
