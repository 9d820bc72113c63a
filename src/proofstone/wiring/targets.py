"""What people hand to a workspace to mean a row: a text as they type it, or a record."""

from __future__ import annotations

import shlex
from typing import Any

from proofstone.engines.store import KINDS, Found, Store
from proofstone.errors import BadUsage
from proofstone.identity import short
from proofstone.ports import AsksBanks
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
    """The item sets that a form, a bank or a run means. A bank without any gets one where its
    method asks banks as they stand, else BadUsage is raised."""
    if found.kind == "form":
        return [found.id]
    if found.kind == "run":
        return [store.runs.run(found.id)[1].item_set]
    forms = store.items.sets_of_bank(found.id)
    superseded = store.items.superseded(forms)
    forms = [form for form in forms if form not in superseded]
    if not forms:
        forms = _form_as_it_stands(store, found.id)
    if not forms:
        raise BadUsage(
            f"bank {found.name} has no form yet",
            hint=f"proofstone build form {shlex.quote(f'{found.name}-{short(found.id, 4)}')}",
        )
    return forms


def _form_as_it_stands(store: Store, bank: bytes) -> list[bytes]:
    """The form of a bank whose facts are its questions; none of any other."""
    from proofstone.engines.models.clock import SystemClock  # noqa: PLC0415
    from proofstone.methods import find_method  # noqa: PLC0415
    from proofstone.stages.build import build_forms  # noqa: PLC0415

    method = find_method(store.knowledge.bank(bank).method)
    if not isinstance(method, AsksBanks):
        return []
    made = build_forms(store, method, bank, params={}, seeds=(0,), clock=SystemClock())
    return [form.id for form in made]


def listed(value: Any) -> list[Any]:
    """One value or several, as a list."""
    return list(value) if isinstance(value, list | tuple) else [value]
