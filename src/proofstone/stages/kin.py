"""Who would judge, or answer, the work of its own kin: told before anything is asked.

A model may favour what it or a sibling wrote, and knows what it once made. One entry a model: who
reads a warning wants to know whom to replace, not every pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from proofstone.records.families import same_model

if TYPE_CHECKING:  # who asks of names alone needs no database
    from proofstone.engines.store import Store
    from proofstone.stages.planning import RunSpec

__all__ = ["Kin", "KinPart", "held_by_builders", "kin_of", "kin_of_runs", "kinship"]

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
