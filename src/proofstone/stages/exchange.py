"""Import and export: files into rows and rows into files, checked whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec import structs

from proofstone.engines.ingest import TellUnread, read_checked, read_watched, write_rows
from proofstone.engines.store import Store
from proofstone.errors import BadInput, BadUsage
from proofstone.ports import BuiltFact, Clock, Method, NamesFacts, NamesItems, Row
from proofstone.records import Bank, Item, ItemSet, Role, imported_set_id
from proofstone.stages.export_rows import response_rows

__all__ = [
    "TellUnread",
    "export_bank",
    "export_items",
    "export_responses",
    "facts_called",
    "import_bank",
    "import_items",
    "items_called",
]

# One statement or question with all that belongs to it: a longer line lacks its line breaks.
_ROW_BYTES = 8 * 2**20
_FACTS_A_PAGE = 4000

ReadFacts = Callable[[Iterable[Row]], Sequence[BuiltFact]]
ReadItems = Callable[[Iterable[Row]], Sequence[Item]]


def import_bank(
    store: Store,
    method: Method,
    path: Path,
    *,
    name: str | None,
    clock: Clock,
    roles: Sequence[Role] = (),
    read: ReadFacts | None = None,
    tell_unread: TellUnread | None = None,
    encoding: str = "",
) -> tuple[Bank, bool]:
    """Reads statements from a file into a bank; returns it and whether it is new. ``roles`` are
    added to those that each row states. ``read`` stands in for the method's ``read_facts``;
    ``tell_unread`` is told of columns that nobody read.

    Raises BadInput with every problem of the file, by line and field; then nothing is stored.
    """
    read = read or method.read_facts
    built: list[BuiltFact] = list(
        read_checked(path, read, line_limit=_ROW_BYTES, tell_unread=tell_unread, encoding=encoding)
    )
    if not built:
        raise BadInput(f"{path.name} holds no row", hint="expected one statement a line")
    if roles:
        built = [structs.replace(b, roles=(*b.roles, *roles)) for b in built]
    return store.knowledge.add_bank(name or path_stem(path), method.name, built, clock.now())


def import_items(
    store: Store,
    method: Method,
    path: Path,
    *,
    name: str | None,
    clock: Clock,
    roles: Sequence[Role] = (),
    tell_unread: TellUnread | None = None,
    encoding: str = "",
    columns: Mapping[str, str] = MappingProxyType({}),
) -> tuple[ItemSet, bool]:
    """Reads a form made elsewhere; returns its item set and whether it is new. ``roles`` are those
    of models that had a hand in the whole file; ``columns`` are values that every row gets where
    it has none. Where several rows are one item, the set's recipe says how many rows there were.

    Raises BadInput with every problem of the file, by line and field; then nothing is stored.
    """
    rows_read = _Completed(columns)
    items: list[Item] = list(
        read_checked(
            path,
            lambda rows: rows_read.read(rows, method.read_items),
            line_limit=_ROW_BYTES,
            tell_unread=tell_unread,
            encoding=encoding,
        )
    )
    if not items:
        raise BadInput(f"{path.name} holds no row", hint="expected one question a line")
    item_set = ItemSet(
        id=imported_set_id(method.name, tuple(item.id for item in items)),
        name=name or path_stem(path),
        kind="entities" if items_called(method) == "entities" else "imported",
        method=method.name,
        recipe={"rows": rows_read.n} if rows_read.n > len(items) else {},
        n_items=len(items),
    )
    is_new = store.items.add_set(item_set, items, clock.now())
    if roles:
        store.roles.add_to_set(item_set.id, roles)
    return item_set if is_new else store.items.item_set(item_set.id), is_new


def export_bank(store: Store, method: Method, bank: bytes, path: Path) -> int:
    """Writes a bank's facts to a file from which it can be imported again; returns how many."""
    facts = store.knowledge.bank(bank).facts()
    by_id = {fact.id: fact for fact in facts}

    def rows() -> Iterator[dict[str, Any]]:
        for at in range(0, len(facts), _FACTS_A_PAGE):
            for entry in store.knowledge.built_facts(facts[at : at + _FACTS_A_PAGE]):
                yield method.write_fact(entry, by_id)

    return write_rows(path, rows())


def export_items(store: Store, method: Method, item_set: bytes, path: Path) -> int:
    """Writes a set's items with their texts to a file; returns how many."""

    def rows() -> Iterator[dict[str, Any]]:
        for page in store.items.pages(item_set):
            for stored in page:
                yield method.write_item(stored.loaded)

    return write_rows(path, rows())


def export_responses(store: Store, method: Method, run: bytes, path: Path) -> int:
    """Writes the responses of a run to a file, see ``response_rows``; returns how many."""
    key, record = store.runs.run(run)
    return write_rows(path, response_rows(store, method, key, record))


def items_called(method: Method) -> str:
    """What a method's items are called, in the plural."""
    return method.items_called if isinstance(method, NamesItems) else "questions"


def facts_called(method: Method) -> str:
    """What a method's facts are called, in the plural: as its items, where it says nothing else."""
    return method.facts_called if isinstance(method, NamesFacts) else items_called(method)


class _Completed:
    """Rows with the values of ``columns`` where they have none of their own, and their number."""

    def __init__(self, columns: Mapping[str, str]) -> None:
        self._columns = columns
        self.n = 0

    def read(self, rows: Iterable[Row], read: ReadItems) -> Sequence[Item]:
        """What ``read`` makes of the rows. Raises BadUsage for a column that it never asks for."""
        if not self._columns:
            return read(self._counted(rows))
        return read_watched(self._counted(rows), read, self._refuse_unread)

    def _counted(self, rows: Iterable[Row]) -> Iterator[Row]:
        for self.n, row in enumerate(rows, start=1):
            own = {name: value for name, value in row.values.items() if value not in (None, "")}
            row.values.update({**self._columns, **own})
            yield row

    def _refuse_unread(self, unread: Sequence[str]) -> None:
        unknown = [told for told in unread if told.partition(" ")[0] in self._columns]
        if unknown:
            raise BadUsage(f"no column of these is read: {', '.join(unknown)}")


def path_stem(path: Path) -> str:
    """The file's name without its endings (``bank.jsonl.gz`` is ``bank``)."""
    return path.name.partition(".")[0]
