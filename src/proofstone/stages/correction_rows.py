"""The rows that say what was corrected, and that what was retired stays so in its new version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from proofstone.engines.store import Store
from proofstone.records import Action, Correction, Person, correction_id

__all__ = ["correction_of", "retired_again"]


def correction_of(
    kind: Any, target: bytes, reason: str, by: Person, now: float, action: Action = "edit"
) -> Correction:
    """A correction with its id."""
    made = Correction(
        action=action, kind=kind, target=target, reason=reason, actor=by.actor, at=now
    )
    return msgspec.structs.replace(made, id=correction_id(made))


def retired_again(
    store: Store, remade: Mapping[bytes, bytes], by: Person, now: float
) -> Iterator[Correction]:
    """Of facts that are only made anew, new versions by the ids of the former ones: those whose
    former version is retired are retired too, for the same reason."""
    for former in store.corrections.retired_facts(remade):
        was = store.corrections.retirement("fact", store.lookup.find(f"fact:{former.hex()}").key)
        if was is not None:
            yield correction_of("fact", remade[former], was.reason, by, now, action="retire")
