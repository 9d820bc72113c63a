"""Verified runs held in memory: models of which it is known how often they are right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from proofstone.methods.bequ.records import (
    DIRECTIONS,
    Elicited,
    EntityFacts,
    Group,
    Verdict,
    VerdictLabel,
    Verified,
    VerifiedRuns,
)
from proofstone.records.verdicts import Passage

__all__ = ["verified_runs", "verified_triples"]

_FAMILIES = ("birth", "place", "work")


def _entities(n: int) -> tuple[EntityFacts, ...]:
    """Persons and plants by turns, head and tail."""
    return tuple(
        EntityFacts(
            f"Entity {at}",
            f"Q{at}",
            domain=("person", "plant")[at % 2],
            popularity=("head", "tail")[at // 2 % 2],
        )
        for at in range(n)
    )


def verified_triples(
    group: int, places: Sequence[int], chances: tuple[float, float], *, each: int = 4, seed: int = 0
) -> Iterator[Verified]:
    """Of each of the entities at ``places`` so many verdicts of either direction, right with the
    chances of precision and recall; groups of one seed and the same chances are right alike."""
    rng = np.random.default_rng([seed, *(round(100 * chance) for chance in chances)])
    drawn = 0
    for entity in places:
        for place in range(each):
            drawn += 1
            right = rng.random(2) < chances
            labels: tuple[VerdictLabel, VerdictLabel] = (
                "entailment" if right[0] else ("contradiction", "neutral")[place % 2],
                "covered" if right[1] else "not covered",
            )
            for direction, label in zip(DIRECTIONS, labels, strict=True):
                yield Verified(
                    id=f"{group}-{entity}-{place}-{direction}",
                    direction=direction,
                    group=group,
                    entity=entity,
                    drawn=drawn,
                    subject=f"Entity {entity}",
                    predicate=f"fact{place}",
                    object=f"value {place}",
                    family=_FAMILIES[place % 3],
                    source=("wiki", "web")[place % 2],
                    verdict=Verdict(
                        label=label, basis="judge", reason="so", passage=Passage("a text", "wiki")
                    ),
                )


def _told(triples: Sequence[Verified]) -> Elicited:
    """Of twenty entities two abstained from; of five made up, two described."""
    return Elicited(
        entities=20, given=17, abstained=2, unread=1, triples=len(triples) // 2,
        nonexistent=5, nonexistent_given=2, nonexistent_triples=9,
    )  # fmt: skip


def verified_runs(
    groups: Sequence[Group], triples: Sequence[Sequence[Verified]], n_entities: int
) -> VerifiedRuns:
    """The runs of ``groups``, one each."""
    return VerifiedRuns(
        groups=tuple(groups),
        runs=tuple((bytes([at]) * 32,) for at in range(len(groups))),
        elicited=tuple(_told(each) for each in triples),
        entities=_entities(n_entities),
        judges="judge/one",
        reference="towns 1f2e3d4c",
        sampling="sampled with seed",
        read=lambda: iter([each for own in triples for each in own]),
    )
