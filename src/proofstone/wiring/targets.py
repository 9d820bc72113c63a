"""What people hand to a workspace to mean a row: a text as they type it, or a record."""

from __future__ import annotations

import shlex
from typing import Any

from proofstone.engines.store import KINDS, Found, Store
from proofstone.errors import BadUsage
from proofstone.identity import short
from proofstone.records import Bank, ItemSet, Run

__all__ = ["Target", "find_target", "forms_of", "listed"]

Target = str | Found | Bank | ItemSet | Run


def find_target(store: Store, target: Target, kinds: tuple[str, ...]) -> Found:
    """The row that ``target`` means, of one of ``kinds`` (of any, where none is named)."""
    if isinstance(target, Found):
        return target
    if isinstance(target, str):
        return store.lookup.find(target, kinds or KINDS)
    kind = {Bank: "bank", ItemSet: "form", Run: "run"}[type(target)]
    return store.lookup.find(f"{kind}:{target.id.hex()}")


def forms_of(store: Store, found: Found) -> list[bytes]:
    """The item sets that a form, a bank or a run means. BadUsage where a bank has none yet."""
    if found.kind == "form":
        return [found.id]
    if found.kind == "run":
        return [store.runs.run(found.id)[1].item_set]
    forms = store.items.sets_of_bank(found.id)
    superseded = store.items.superseded(forms)
    forms = [form for form in forms if form not in superseded]
    if not forms:
        raise BadUsage(
            f"bank {found.name} has no form yet",
            hint=f"proofstone build form {shlex.quote(f'{found.name}-{short(found.id, 4)}')}",
        )
    return forms


def listed(value: Any) -> list[Any]:
    """One value or several, as a list."""
    return list(value) if isinstance(value, list | tuple) else [value]
