"""By which policy reviews of a bank or form are decided where none is named."""

from __future__ import annotations

from proofstone.engines.store import Found, Store
from proofstone.records import ReviewPolicy

__all__ = ["policy_in_force"]


def policy_in_force(store: Store, found: Found) -> ReviewPolicy:
    """The policy of the newest decision on a bank or form, or on one that it corrects; of a form
    without any that of its bank; else the usual one."""
    made = store.decided.behind(found.id)
    if not made and found.kind == "form":
        bank = store.items.item_set(found.id).bank
        made = [] if bank is None else store.decided.behind(bank)
    return made[-1].policy if made else ReviewPolicy()
