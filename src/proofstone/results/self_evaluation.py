"""Respondents that had a part in the items they answer, found by name and by family."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from proofstone.records.scores import HeldRole, ScoreTable
from proofstone.run.self_preference import kinship
from proofstone.store.store import Store

# Contestants that had a hand in the material: found by name and by family.


def with_hands(
    store: Store, table: ScoreTable, item_sets: Sequence[bytes], family: Callable[[str], str]
) -> ScoreTable:
    """``table`` with the roles that models had in its items, and each respondent's part in them.

    ``family`` gives the family of a model's name. Roles of models that nobody here is kin to are
    named too: they are part of how the material was made.
    """
    found = store.roles.of_items(item_sets)
    if not found:
        return table
    import numpy as np  # noqa: PLC0415 - numpy is not needed to print a help text

    roles = []
    for role, items in found.items():
        units = [place for place, identity in enumerate(table.items) if identity in items]
        roles.append(HeldRole(role.role, role.model, np.array(units, dtype=np.int32)))
    return with_hands_of(replace(table, roles=tuple(roles)), family)


def with_hands_of(table: ScoreTable, family: Callable[[str], str]) -> ScoreTable:
    """``table`` with each respondent's part in its roles: as the model itself, or as one of the
    family of the model that held it."""
    roles = table.roles
    if not roles:
        return table
    known = cache(family)
    respondents = []
    for who in table.respondents:
        hands = tuple(
            (place, is_same)
            for place, held in enumerate(roles)
            if (is_same := kinship(who.name, held.model, known)) is not None
        )
        respondents.append(replace(who, hands=hands))
    return replace(table, respondents=tuple(respondents))
