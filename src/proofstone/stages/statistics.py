"""Statistics of a bank or a form: its method counts, rows are read page by page."""

from __future__ import annotations

from collections.abc import Sequence

from proofstone.engines.store import Found, Store
from proofstone.engines.tokens import load_cl100k
from proofstone.errors import BadUsage
from proofstone.identity import short
from proofstone.methods import find_method
from proofstone.ports import Elicits
from proofstone.records import Tabulation
from proofstone.stages.elicited import triples_by_run

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
        of_items = method.item_statistics(items, load_cl100k())
        if not isinstance(method, Elicits):
            return of_items
        return (*of_items, *triples_by_run(store, method, store.runs.of_sets([found.id])))
    if found.kind == "run":
        key, run = store.runs.run(found.id)
        method = find_method(run.method)
        if isinstance(method, Elicits):
            return triples_by_run(store, method, [(key, run)])
    raise BadUsage(
        f"statistics are of a bank or a form; {found.kind}:{short(found.id)} is neither",
        hint="proofstone list bank, or proofstone list form, names them",
    )
