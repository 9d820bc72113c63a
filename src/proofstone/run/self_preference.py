"""Who would judge, or answer, the work of its own kin: told before anything is asked.

A model may favour what it or a sibling wrote, and knows what it once made. One entry a model: who
reads a warning wants to know whom to replace, not every pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

from proofstone.records.models import same_model
from proofstone.records.scores import HeldRole, ScoreTable

if TYPE_CHECKING:
    from proofstone.run.plan import RunSpec
    from proofstone.store.store import Store


Family = Callable[[str], str]


class KinPart(Struct, frozen=True):
    """A part in the material that ``model`` had as ``role``; ``is_same`` where that is the very
    model, else one of its family. ``n_items`` are those touched, of a target that has items."""

    role: str
    model: str
    is_same: bool
    n_items: int = 0


class Kin(Struct, frozen=True, kw_only=True):
    """A model (judge or contestant) whose own or whose family's work stands in the material, as
    ``parts``; of a run in the ``n_items`` of ``item_set``."""

    model: str
    family: str
    parts: tuple[KinPart, ...]
    item_set: bytes | None = None
    n_items: int = 0


def kinship(one: str, other: str, family: Family) -> bool | None:
    """True where two names mean one model, False where they are of one family, else None."""
    if same_model(one, other):
        return True
    own = family(one)
    return False if own and own == family(other) else None


def kin_of(
    models: Iterable[str], held: Sequence[tuple[str, str]], family: Family
) -> tuple[Kin, ...]:
    """The ``models`` that are kin to one who ``held`` (role, model) a part, each once."""
    found = []
    for model in dict.fromkeys(models):
        parts = tuple(
            KinPart(role, other, is_same)
            for role, other in dict.fromkeys(held)
            if (is_same := kinship(model, other, family)) is not None
        )
        if parts:
            found.append(Kin(model=model, family=family(model), parts=parts))
    return tuple(found)


def held_by_builders(
    models: Mapping[str, str], purpose_of: Callable[[str], str]
) -> tuple[list[str], list[tuple[str, str]]]:
    """Of the models of a build by seat: those that judge, and who makes what they judge. Who only
    answers is neither."""
    judges = [model for seat, model in models.items() if purpose_of(seat) == "judge"]
    makers = [(seat, model) for seat, model in models.items() if purpose_of(seat) == "build"]
    return judges, makers


def kin_of_runs(store: Store, specs: Sequence[RunSpec], family: Family) -> tuple[Kin, ...]:
    """The contestants of runs that had a part in the items they are asked, themselves or through
    their family: one entry a contestant and item set."""
    found = []
    for item_set in dict.fromkeys(spec.item_set for spec in specs):
        touched = store.roles.of_items([item_set])
        if not touched:
            continue
        n_items = store.items.item_set(item_set).n_items
        for model in dict.fromkeys(spec.model for spec in specs if spec.item_set == item_set):
            parts = tuple(
                KinPart(role.role, role.model, is_same, len(items))
                for role, items in touched.items()
                if (is_same := kinship(model, role.model, family)) is not None
            )
            if parts:
                found.append(
                    Kin(
                        model=model, family=family(model), parts=parts, item_set=item_set,
                        n_items=n_items,
                    )
                )  # fmt: skip
    return tuple(found)


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
