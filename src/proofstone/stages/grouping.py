"""Groups of items that their method names, beside a table's strata: scores are shown by them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from proofstone.engines.store import Store
from proofstone.errors import TextPurged
from proofstone.ports import GroupsItems, Method
from proofstone.records import ItemSet, LoadedItem, ScoreTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["with_groups"]

_PAGE = 256


def with_groups(
    store: Store, method: Method, item_sets: Sequence[ItemSet], table: ScoreTable
) -> ScoreTable:
    """``table`` with the method's names of its strata, and the groups that items say themselves; as
    it is where the method names none. An item whose text was purged is in no group."""
    if not isinstance(method, GroupsItems) or not table.items:
        return table
    named = {item.item.id: method.groups_of(item) for item in _items(store, item_sets)}
    groups, group_names = {}, {}
    for name in method.groupings:
        texts = [named.get(item, {}).get(name, "") for item in table.items]
        groups[name], group_names[name] = _coded(texts)
    return replace(
        table, groups=groups, group_names=group_names, level_names=dict(method.level_names)
    )


def _coded(texts: Sequence[str]) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    import numpy as np  # noqa: PLC0415 - not for --help

    names = tuple(sorted(set(texts)))
    places = {name: place for place, name in enumerate(names)}
    return np.array([places[text] for text in texts], dtype=np.int32), names


def _items(store: Store, item_sets: Sequence[ItemSet]) -> Iterator[LoadedItem]:
    """The items of the sets that can still be read."""
    for item_set in item_sets:
        after = -1
        while places := store.items.places(item_set.id, after, _PAGE):
            yield from _page(store, item_set, after, places)
            after = places[-1][0]


def _page(
    store: Store, item_set: ItemSet, after: int, places: Sequence[tuple[int, int]]
) -> Iterator[LoadedItem]:
    try:
        for stored in store.items.page(item_set.id, after, _PAGE):
            yield stored.loaded
    except TextPurged:
        for _position, key in places:
            try:
                yield store.items.one(key)
            except TextPurged:
                continue
