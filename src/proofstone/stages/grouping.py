"""Groups of items that their method names, beside a table's strata: scores are shown by them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from proofstone.engines.store import DocumentRow, Store
from proofstone.errors import TextPurged
from proofstone.identity import canonical_json, short
from proofstone.ports import GroupsItems, Method
from proofstone.records import Documents, ItemSet, LoadedItem, ScoreTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["with_groups"]

_PAGE = 256
_MOST_GROUPS = 50  # a column of more values names items rather than groups


def with_groups(
    store: Store, method: Method, item_sets: Sequence[ItemSet], table: ScoreTable
) -> ScoreTable:
    """``table`` with the method's names of its strata, the groups that items say themselves or that
    a column of their file makes, and the documents of its items. An item whose text was purged is
    in no group."""
    if not table.items:
        return table
    table = replace(table, documents=_documents(store, item_sets, table.items))
    groups, group_names = _of_columns(store, item_sets, table)
    if not isinstance(method, GroupsItems):
        return replace(table, groups=groups, group_names=group_names)
    named = {item.item.id: method.groups_of(item) for item in _items(store, item_sets)}
    for name in method.groupings:
        texts = [named.get(item, {}).get(name, "") for item in table.items]
        groups[name], group_names[name] = _coded(texts)
    return replace(
        table, groups=groups, group_names=group_names, level_names=dict(method.level_names)
    )


def _documents(
    store: Store, item_sets: Sequence[ItemSet], items: Sequence[bytes]
) -> Documents | None:
    """The documents that items rest on; one of a title that another has is named with its id."""
    import numpy as np  # noqa: PLC0415 - not for --help

    rows = [row for each in item_sets for row in store.origins.documents_of_set(each.id)]
    shared_rows = [row for each in item_sets for row in store.origins.documents_of_shared(each.id)]
    titles = {row.source: row.title for row in [*rows, *shared_rows]}
    shared = Counter(titles.values())
    names = {
        source: title if title and shared[title] == 1 else f"{title} (source:{short(source)})"
        for source, title in titles.items()
    }
    order = sorted(names, key=lambda source: (names[source], source))
    places = {source: place for place, source in enumerate(order)}
    by_item: dict[bytes, dict[DocumentRow, None]] = {}
    for row in rows:
        by_item.setdefault(row.of, {})[row] = None
    edges = [(unit, row) for unit, item in enumerate(items) for row in by_item.get(item, ())]
    if not edges:
        return None
    keys: dict[str, tuple[tuple[int, str], ...]] = {}
    for row in dict.fromkeys(shared_rows):
        name = f"fact:{short(row.of)}"
        keys[name] = (*keys.get(name, ()), (places[row.source], row.page))
    return Documents(
        unit=np.array([unit for unit, _row in edges], dtype=np.int32),
        document=np.array([places[row.source] for _unit, row in edges], dtype=np.int32),
        pages=tuple(row.page for _unit, row in edges),
        names=tuple(names[source].strip() for source in order),
        keys=keys,
    )


def _of_columns(
    store: Store, item_sets: Sequence[ItemSet], table: ScoreTable
) -> tuple[dict[str, NDArray[np.int32]], dict[str, tuple[str, ...]]]:
    """Groups by the columns that a file of questions has besides: those whose values repeat."""
    labels = store.items.labels_of_sets([item_set.id for item_set in item_sets])
    columns = sorted({name for label in labels.values() for name in label.metadata})
    groups, group_names = {}, {}
    for name in columns:
        values = [
            labels[item].metadata.get(name) if item in labels else None for item in table.items
        ]
        texts = ["" if value is None else _text(value) for value in values]
        n_given, n_different = sum(map(bool, texts)), len(set(filter(None, texts)))
        if 2 <= n_different <= _MOST_GROUPS and 2 * n_different <= n_given:
            groups[name], group_names[name] = _coded(texts)
    return groups, group_names


def _text(value: Any) -> str:
    """A value of a column as it is shown; a list as its texts."""
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return value if isinstance(value, str) else canonical_json(value).decode()


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
