"""Statistics of a bank or a form: its method counts, rows are read page by page."""

from __future__ import annotations

from collections.abc import Sequence

from proofstone.engines.store import Found, Store
from proofstone.engines.tokens import load_cl100k
from proofstone.errors import BadUsage
from proofstone.methods import find_method
from proofstone.records import Tabulation

__all__ = ["tabulate"]


def tabulate(store: Store, found: Found) -> Sequence[Tabulation]:
    """The method's tables of a bank or a form; none where it declares none.

    Raises BadUsage for another kind of thing.
    """
    if found.kind == "bank":
        method = find_method(store.knowledge.bank(found.id).method)
        pages = store.knowledge.pages_of_bank(found.key)
        return method.fact_statistics((fact for page in pages for fact in page), load_cl100k())
    if found.kind == "form":
        method = find_method(store.items.item_set(found.id).method)
        items = (stored.loaded for page in store.items.pages(found.id) for stored in page)
        return method.item_statistics(items, load_cl100k())
    raise BadUsage(
        f"{found.kind} has no statistics; a bank and a form have",
        hint="name a bank or a form: proofstone list bank",
    )
