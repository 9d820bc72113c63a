"""Banks and forms from files, checked whole, and as files that are read back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec import Struct, structs, to_builtins

from proofstone.errors import BadInput, BadUsage
from proofstone.files.fields import read_identity
from proofstone.files.tables import TellUnread, read_checked
from proofstone.files.write import write_rows
from proofstone.ingest.item_rows import (
    FORM,
    FormRow,
    ItemsRead,
    identified_facts,
    item_row,
    read_item_rows,
)
from proofstone.method import USUAL_METHOD, Method, Verifying, find_method, find_payload
from proofstone.records.banks import BuiltFact
from proofstone.records.items import ItemSet, imported_set_id
from proofstone.records.knowledge import Bank, Role
from proofstone.records.tables import Row
from proofstone.session.session import Session
from proofstone.store.store import Store

# One statement or question with all that belongs to it: a longer line lacks its line breaks.
_ROW_BYTES = 8 * 2**20


_FACTS_A_PAGE = 4000


ReadFacts = Callable[[Iterable[Row]], Sequence[BuiltFact]]


def read_bank(
    session: Session,
    path: Path | str,
    *,
    name: str | None = None,
    method: str = USUAL_METHOD,
    roles: Sequence[Role] = (),
    read: ReadFacts | None = None,
    tell_unread: TellUnread | None = None,
    encoding: str = "",
    tell_counts: Callable[[ReferenceCounts], None] | None = None,
) -> Bank:
    """Reads statements from a JSONL, CSV or Parquet file, checked whole, into a bank. ``roles`` of
    models in the whole file are added to those that each row states. ``read`` stands in for the
    method's ``read_facts``; ``tell_unread`` is told of columns that mean nothing here,
    ``tell_counts`` what a reference holds.

    Raises BadInput with every problem of the file, by line and field; then nothing is stored.
    """
    path, chosen = Path(path), find_method(method)
    read = read or chosen.read_facts
    listed = None if chosen.verifying is None else _ListedTriples(chosen.verifying, read)
    read = read if listed is None else listed.read
    built = identified_facts(
        read_checked(path, read, line_limit=_ROW_BYTES, tell_unread=tell_unread, encoding=encoding)
    )
    if not built:
        raise BadInput(f"{path.name} holds no row", hint="expected one statement a line")
    if tell_counts is not None and listed is not None:
        tell_counts(listed.counts(built))
    if roles:
        built = [structs.replace(b, roles=(*b.roles, *roles)) for b in built]
    named, now = name or path_stem(path), session.clock.now()
    bank, _is_new = session.store.knowledge.add_bank(named, chosen.name, built, now)
    return bank


class ReferenceCounts(Struct, frozen=True, kw_only=True):
    """What of a reference was stored: ``triples`` and ``texts``, each once. Of the triples that the
    file ``listed``, ``repeated`` ones come again and ``empty`` ones lack a predicate or object."""

    triples: int
    texts: int
    listed: int
    repeated: int
    empty: int


class _ListedTriples:
    """Counts the triples that rows list while they are read."""

    def __init__(self, method: Verifying, read: ReadFacts) -> None:
        self._method, self._read = method, read
        self._listed = 0

    def read(self, rows: Iterable[Row]) -> Sequence[BuiltFact]:
        """The facts of the rows."""
        return self._read(self._counting(rows))

    def counts(self, built: Sequence[BuiltFact]) -> ReferenceCounts:
        """What became of what was read."""
        triples = [each.fact.id for each in built if self._method.is_listed(each.fact)]
        texts = {each.fact.id for each in built} - set(triples)
        return ReferenceCounts(
            triples=len(set(triples)),
            texts=len(texts),
            listed=self._listed,
            repeated=len(triples) - len(set(triples)),
            empty=self._listed - len(triples),
        )

    def _counting(self, rows: Iterable[Row]) -> Iterator[Row]:
        for row in rows:
            self._listed += self._method.listed_in(row)
            yield row


def read_form(
    session: Session,
    path: Path | str,
    *,
    name: str | None = None,
    method: str = USUAL_METHOD,
    roles: Sequence[Role] = (),
    tell: Callable[[str], None] | None = None,
    encoding: str = "",
    columns: Mapping[str, str] = MappingProxyType({}),
) -> ItemSet:
    """Reads a form made elsewhere, or a list of entities, checked whole. ``roles`` are those of
    models that had a hand in the whole file; ``columns`` are values that every row gets where it
    has none. Where several rows are one item, the set's recipe says how many rows there were.
    A row's own id and the columns that mean nothing to the method are kept with its item. Rows of
    an export bring back the facts of their items. ``tell`` is told what became of columns and rows.

    Raises BadInput with every problem of the file, by line and field; then nothing is stored.
    """
    path, store, chosen = Path(path), session.store, find_method(method)
    rows_read = _Completed(columns)
    read: ItemsRead = read_checked(
        path,
        lambda rows: rows_read.read(rows, chosen),
        line_limit=_ROW_BYTES,
        encoding=encoding,
    )
    if not read.items:
        raise BadInput(f"{path.name} holds no row", hint="expected one question a line")
    if read.facts:
        store.knowledge.add_facts(read.facts)
    if tell is not None:
        for note in read.notes():
            tell(note)
    item_set = _read_set(store, chosen, read, name or path_stem(path), rows_read.n)
    is_new = store.items.add_set(item_set, read.items, session.clock.now(), read.labels)
    if roles:
        store.roles.add_to_set(item_set.id, roles)
    return item_set if is_new else store.items.item_set(item_set.id)


def _read_set(store: Store, method: Method, read: ItemsRead, name: str, n_rows: int) -> ItemSet:
    """The item set of what was read: the very form of an export, where its bank is here."""
    ids = tuple(item.id for item in read.items)
    made = ItemSet(
        id=imported_set_id(method.name, ids, read.labels),
        name=name,
        kind="entities" if method.items_called == "entities" else "imported",
        method=method.name,
        recipe={"rows": n_rows} if n_rows > len(ids) else {},
        n_items=len(ids),
    )
    form = read.form
    if form is None:
        return made
    made = structs.replace(made, seed=form.seed, recipe=form.recipe)
    bank = read_identity(form.bank)
    is_whole = form.items == imported_set_id(method.name, ids).hex()
    if bank is None or not is_whole or not store.knowledge.has_bank(bank):
        return made
    return structs.replace(made, id=bytes.fromhex(form.id), kind="form", bank=bank)


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
    """Writes a set's items with their texts to a file, and with the facts that they rest on;
    returns how many."""
    whole = store.items.item_set(item_set)

    def rows() -> Iterator[dict[str, Any]]:
        for page in store.items.pages(item_set):
            facts = {fact.id: fact for stored in page for fact in stored.loaded.facts}
            built = store.knowledge.built_facts(list(facts.values()))
            by_id = {each.fact.id: each for each in built}
            for stored in page:
                row = item_row(method, stored.loaded, by_id)
                if stored.position == 0 and facts:
                    row[FORM] = to_builtins(FormRow.of(whole, store.items.ids(item_set)))
                yield row

    return write_rows(path, rows())


class _Completed:
    """Rows with the values of ``columns`` where they have none of their own, and their number."""

    def __init__(self, columns: Mapping[str, str]) -> None:
        self._columns = columns
        self.n = 0

    def read(self, rows: Iterable[Row], method: Method) -> ItemsRead:
        """What is read of the rows. Raises BadUsage for a column that it never asks for."""
        read = read_item_rows(self._counted(rows), method, find_payload)
        unknown = [told for name, told in read.unread.items() if name in self._columns]
        if unknown:
            raise BadUsage(f"no column of these is read: {', '.join(unknown)}")
        return read

    def _counted(self, rows: Iterable[Row]) -> Iterator[Row]:
        for self.n, row in enumerate(rows, start=1):
            own = {name: value for name, value in row.values.items() if value not in (None, "")}
            row.values.update({**self._columns, **own})
            yield row


def path_stem(path: Path) -> str:
    """The file's name without its endings (``bank.jsonl.gz`` is ``bank``)."""
    return path.name.partition(".")[0]
