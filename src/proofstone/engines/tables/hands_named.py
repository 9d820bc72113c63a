"""What models did to the items of a file, as a user names it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct

from proofstone.errors import BadUsage
from proofstone.records import Coded, HeldRole
from proofstone.records.knowledge import RoleName

__all__ = ["HandNamed", "held_roles"]


class HandNamed(Struct, frozen=True):
    """A role that ``model`` had in all items; with a ``column`` in those of its ``value``."""

    role: RoleName
    model: str
    column: str = ""
    value: str = ""


def held_roles(
    hands: Sequence[HandNamed], facts: Mapping[str, Coded], n_units: int
) -> Iterator[HeldRole]:
    """Each role with the units that it touched; ``facts`` are columns by unit. Raises BadUsage for
    a column that there is not, and for a value that no item has."""
    for hand in hands:
        if not hand.column:
            yield HeldRole(hand.role, hand.model, np.arange(n_units, dtype=np.int32))
            continue
        fact = facts[hand.column]
        if hand.value not in fact.names:
            known = ", ".join(fact.names[:10]) or "none: is there such a column?"
            raise BadUsage(
                f"no item has {hand.column} {hand.value!r}, as --role names it",
                hint=f"values there: {known}",
            )
        units = np.flatnonzero(fact.codes == fact.names.index(hand.value))
        yield HeldRole(hand.role, hand.model, units.astype(np.int32))
