"""Verified runs of which every count is known: each entity has so many right triples of ten."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from proofstone.methods.bequ.experiments.evidence import Asked, Experiment, Tallies
from proofstone.methods.bequ.records import (
    Elicited,
    EntityFacts,
    Group,
    Verdict,
    VerdictLabel,
    Verified,
    VerifiedRuns,
)
from proofstone.methods.bequ.report.board import triple_board

__all__ = ["EACH", "PromptMethod", "experiment", "facts"]

EACH = 10  # triples of either direction of each entity that is sampled


class PromptMethod(Struct, frozen=True, kw_only=True):
    """How a model was asked, and of the ten triples of an entity how many are right (and the rest
    wrong), and how many of ten known ones it said; the numbers are of the entity's place."""

    model: str = "a/m"
    prompts: str = "direct"
    range: str = "50-100"
    effort: str = ""
    right: Callable[[int], int] = lambda _place: 6
    known: Callable[[int], int] = lambda _place: 4
    said: int = 12
    made_up: int = 0
    is_verified: bool = True
    responses: int | None = None
    others: bytes = b""
    told: str = ""

    @property
    def setting(self) -> str:
        parts = [self.prompts, self.range, self.effort, self.told]
        return " ".join(filter(None, parts))


def facts(n: int, **fields: Callable[[int], Any]) -> tuple[EntityFacts, ...]:
    """``n`` entities with what is said of each by its place."""
    return tuple(
        EntityFacts(
            name=f"Entity {place}",
            **{name: say(place) for name, say in fields.items()},  # type: ignore[arg-type]
        )
        for place in range(n)
    )


def experiment(
    prompt_methods: Sequence[PromptMethod], entities: Sequence[EntityFacts]
) -> Experiment:
    """The ways asked about the entities, all of their triples judged."""
    verified = _verified(prompt_methods, entities)
    board = triple_board(verified)
    groups = list(verified.groups)
    asked = tuple(
        Asked(
            row=row,
            group=groups.index(row.group),
            prompts=prompt_method.prompts,
            range=prompt_method.range,
            effort=prompt_method.effort,
            others=prompt_method.others,
            told=prompt_method.told,
            responses=len(entities) if prompt_method.responses is None else prompt_method.responses,
            wanted=len(entities),
            tokens=100.0,
            usd=0.002,
        )
        for row in board.rows
        for prompt_method in [prompt_methods[groups.index(row.group)]]
    )
    return Experiment(
        board=board,
        asked=asked,
        tallies=_tallies(prompt_methods, entities),
        grids={
            "prompts": ("direct", "wikidata", "two-step"),
            "range": ("50-100", "5-10"),
            "effort": ("low", "high"),
        },
        usual={"prompts": "direct", "range": "50-100", "effort": "low"},
        ask="proofstone run towns -m {models} --preset {preset}",
        score="proofstone grade {targets} --judge J --reference B",
    )


def _verified(
    prompt_methods: Sequence[PromptMethod], entities: Sequence[EntityFacts]
) -> VerifiedRuns:
    real = [place for place, each in enumerate(entities) if not each.is_nonexistent]

    def read() -> Iterator[Verified]:
        for group, prompt_method in enumerate(prompt_methods):
            for place in real if prompt_method.is_verified else ():
                for number in range(EACH):
                    is_right = number < prompt_method.right(place)
                    yield _one(group, place, "entailment" if is_right else "contradiction")
                    is_known = number < prompt_method.known(place)
                    yield _one(group, place, "covered" if is_known else "not covered")

    n_made_up = len(entities) - len(real)
    return VerifiedRuns(
        groups=tuple(
            Group(prompt_method.model, prompt_method.setting) for prompt_method in prompt_methods
        ),
        runs=tuple((bytes([group + 1] * 32),) for group in range(len(prompt_methods))),
        elicited=tuple(
            Elicited(
                entities=len(real),
                given=len(real),
                triples=prompt_method.said * len(real),
                nonexistent=n_made_up,
                nonexistent_given=n_made_up if prompt_method.made_up else 0,
                nonexistent_triples=prompt_method.made_up * n_made_up,
            )
            for prompt_method in prompt_methods
        ),
        entities=tuple(entities),
        judges="j",
        reference="towns-1f2e",
        sampling="all triples",
        read=read,
    )


def _one(group: int, place: int, label: VerdictLabel) -> Verified:
    return Verified(
        id="",
        direction="recall" if label in ("covered", "not covered") else "precision",
        group=group,
        entity=place,
        drawn=1,
        subject="s",
        predicate="p",
        object="o",
        family="other",
        source="wiki",
        verdict=Verdict(label=label, basis="judge"),
    )


def _tallies(prompt_methods: Sequence[PromptMethod], entities: Sequence[EntityFacts]) -> Tallies:
    n, g = len(entities), len(prompt_methods)
    hits, sampled = np.zeros((n, g, 5)), np.zeros((n, g, 5))
    said = np.zeros((n, g))
    for group, prompt_method in enumerate(prompt_methods):
        for place, each in enumerate(entities):
            said[place, group] = (
                prompt_method.made_up if each.is_nonexistent else prompt_method.said
            )
            if prompt_method.is_verified and not each.is_nonexistent:
                right = prompt_method.right(place)
                hits[place, group] = right, prompt_method.known(place), EACH - right, 0, 0
                sampled[place, group] = EACH
    return Tallies(tuple(entities), hits, sampled, said, np.ones((n, g)))
