"""Write items as rows of a file, and read them back.

A row includes the facts of its item: ``item`` holds the item as stored, ``facts`` the rows of its
facts, and ``item_id`` its id. If the other columns still match the item, it is restored unchanged.
A changed row is read as a separate question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Struct, structs, to_builtins

from proofstone.errors import BadInput, BadUsage, NotFound
from proofstone.files.fields import read_identity, read_json
from proofstone.files.tables import TellUnread, read_checked, read_noting, with_near
from proofstone.files.write import write_rows
from proofstone.ingest.library import StoredLibrary, read_placed
from proofstone.method import (
    USUAL_METHOD,
    Method,
    PayloadType,
    find_method,
    find_payload,
)
from proofstone.records.items import (
    Item,
    ItemLabel,
    ItemSet,
    LoadedItem,
    identified_item,
    imported_set_id,
    item_id,
)
from proofstone.records.knowledge import Bank, BuiltFact, Role, identified_fact
from proofstone.records.tables import Row
from proofstone.session.session import Session
from proofstone.store.store import Store

ITEM, ITEM_ID, FACTS, FORM = "item", "item_id", "facts", "form"


_OURS = (ITEM, ITEM_ID, FACTS, FORM)


# Columns with a file's own row ids.
_NAMES = ("id", "question_id", "uuid", "_id", "ID")


FindPayload = Callable[[str], PayloadType]


class FormRow(Struct, frozen=True):
    """The form's data in the first row of an export: id, bank, seed, recipe and item hash.

    Ids are hexadecimal; the hash is that of its items in order.
    """

    id: str
    bank: str
    seed: int | None
    recipe: dict[str, Any]
    items: str

    @classmethod
    def of(cls, item_set: ItemSet, items: Iterable[bytes]) -> FormRow:
        """Return the data of a form."""
        bank = item_set.bank.hex() if item_set.bank else ""
        whole = imported_set_id(item_set.method, tuple(items)).hex()
        return cls(item_set.id.hex(), bank, item_set.seed, item_set.recipe, whole)


class ItemsRead(Struct, frozen=True):
    """Hold the items of a file in row order, their facts, and the label of each.

    There are no labels if several rows are one item. ``unread`` are unknown columns, each with a
    similar known name. ``n_changed`` counts rows changed after their export. ``form`` is the
    exported form, if all rows are unchanged.
    """

    items: list[Item]
    facts: list[BuiltFact]
    labels: list[ItemLabel]
    unread: dict[str, str]
    n_changed: int
    form: FormRow | None = None

    def notes(self) -> list[str]:
        """Return notes on columns and rows for the user."""
        told = []
        if self.unread and any(label.metadata for label in self.labels):
            told.append(f"kept as metadata of the questions: {', '.join(self.unread.values())}")
        elif self.unread:
            names = ", ".join(self.unread.values())
            told.append(f"ignored unknown columns: {names}")
        if self.n_changed:
            told.append(
                f"{self.n_changed} of {len(self.items)} rows were changed after their export; "
                "they are read as separate questions without their facts"
            )
        return told


def item_row(
    method: Method, loaded: LoadedItem, built: Mapping[bytes, BuiltFact]
) -> dict[str, Any]:
    """Return the row of an item: the method's columns, its label's columns, and its facts.

    ``built`` holds the facts with source and roles.
    """
    item, label = loaded.item, loaded.label
    row = dict(method.write_item(loaded))
    if label.name:
        row = {"id": label.name, **{name: row[name] for name in row if name != "id"}}
    row |= {name: value for name, value in label.metadata.items() if name not in row}
    if not loaded.facts:
        return row
    by_id = {fact.id: fact for fact in loaded.facts}
    return {
        **row,
        ITEM_ID: item.id.hex(),
        ITEM: msgspec.to_builtins(structs.replace(item, id=b"")),
        FACTS: [dict(method.write_fact(built[fact.id], by_id)) for fact in loaded.facts],
    }


def read_item_rows(rows: Iterable[Row], method: Method, find: FindPayload) -> ItemsRead:
    """Return the items of a file's rows, each with the id of its content.

    Raises BadInput with every problem that the method finds.
    """
    all_rows = list(rows)
    brought = {place: row for place, row in enumerate(all_rows) if row.values.get(FACTS)}
    facts, restored = _restored(brought, method, find)
    plain = [row for place, row in enumerate(all_rows) if place not in restored]
    items, labels, unread = _plain(plain, method)
    n_changed = len(brought) - len(restored)
    if not restored:
        return ItemsRead(items, [], labels, unread, n_changed)
    rest = iter(zip(items, labels, strict=True))
    order = [restored[place] if place in restored else next(rest) for place in range(len(all_rows))]
    items, labels = [item for item, _label in order], [label for _item, label in order]
    needed = {fact for item, _label in restored.values() for fact in item.facts}
    used = [each for each in facts.values() if each.fact.id in needed]
    form = _form(all_rows) if len(restored) == len(all_rows) else None
    return ItemsRead(items, used, labels, unread, n_changed, form)


def _form(rows: Iterable[Row]) -> FormRow | None:
    told = next((row.values[FORM] for row in rows if row.values.get(FORM)), None)
    try:
        return msgspec.convert(_value(told), FormRow)
    except msgspec.ValidationError:
        return None


def identified_facts(built: Iterable[BuiltFact]) -> list[BuiltFact]:
    """Return a method's facts, each with the id of its content."""
    return [structs.replace(each, fact=identified_fact(each.fact)) for each in built]


# ---------------------------------------------------------------- rows of the method


def _plain(
    rows: Sequence[Row], method: Method
) -> tuple[list[Item], list[ItemLabel], dict[str, str]]:
    """Return the items of rows with their labels, and the columns that the method never read."""
    if not rows:
        return [], [], {}
    made, unread, absent = read_noting(rows, method.read_items)
    items = [identified_item(item) for item in made]
    columns = [name for name in unread if name not in (*_NAMES, *_OURS)]
    told = dict(zip(columns, with_near(columns, absent), strict=True))
    if len(items) != len(rows):
        return items, [ItemLabel()] * len(items), told
    labels = [_label(row.values, columns) for item, row in zip(items, rows, strict=True)]
    return items, labels, told


def _label(values: Mapping[str, Any], columns: Iterable[str]) -> ItemLabel:
    """Return a row's own id, unless it is that of an export, and its values in ``columns``."""
    own = (values[key] for key in _NAMES if values.get(key) not in (None, ""))
    name = str(next(own, "")).strip()
    kept = {key: _typed(values[key]) for key in columns if values.get(key) not in (None, "")}
    return ItemLabel("" if read_identity(name) is not None else name, kept)


def _typed(value: Any) -> Any:
    """Return the JSON value of a text that spells a number, true, false or a list.

    Some formats can hold only texts.
    """
    decoded = read_json(value) if isinstance(value, str) else None
    is_same = decoded is not None and not isinstance(decoded, str)
    return decoded if is_same and msgspec.json.encode(decoded).decode() == value else value


# ---------------------------------------------------------------- rows that bring their facts


def _restored(
    brought: Mapping[int, Row], method: Method, find: FindPayload
) -> tuple[dict[bytes, BuiltFact], dict[int, tuple[Item, ItemLabel]]]:
    """Return the facts of exported rows by id, and the items of unchanged rows by index."""
    facts = _facts(brought.values(), method)
    restored = {}
    for place, row in brought.items():
        item = _item(row.values, find)
        if item is None or not set(item.facts) <= facts.keys():
            continue
        loaded = LoadedItem(item, tuple(facts[fact].fact for fact in item.facts))
        written = method.write_item(loaded)
        if _says_same(written, row.values):
            others = [name for name in row.values if name not in (*written, *_OURS, *_NAMES)]
            restored[place] = item, _label(row.values, others)
    return facts, restored


def _facts(rows: Iterable[Row], method: Method) -> dict[bytes, BuiltFact]:
    """Return the facts in rows; empty if they are not as the method writes them."""
    found: dict[bytes, Row] = {}
    for row in rows:
        told = _value(row.values[FACTS])
        for values in told if isinstance(told, list) else ():
            if isinstance(values, dict):
                key = msgspec.json.encode(values, order="sorted")
                found.setdefault(key, Row(row.place, values))
    try:
        built = method.read_facts(list(found.values())) if found else ()
    except BadInput:
        return {}
    return {each.fact.id: each for each in identified_facts(built)}


def _item(values: Mapping[str, Any], find: FindPayload) -> Item | None:
    """Return the stored item of a row, or None if the row was changed."""
    told, identity = _value(values.get(ITEM)), read_identity(str(values.get(ITEM_ID, "")))
    if not isinstance(told, dict) or identity is None:
        return None
    try:
        payload = msgspec.convert(told.get("payload"), find(str(told.get("kind"))).type)
        item = msgspec.convert({**told, "payload": None}, Item)
    except (msgspec.ValidationError, NotFound):
        return None
    item = structs.replace(item, id=identity, payload=payload)
    return item if item_id(item) == identity else None


def _value(cell: object) -> Any:
    """Return a value as in JSON files; formats without lists hold its JSON text."""
    return read_json(cell) if isinstance(cell, str) else cell


def _says_same(written: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Return True if a row still has what the method writes; the id may differ."""
    return all(
        _comparable(value) == _comparable(values.get(name))
        for name, value in written.items()
        if name != "id"
    )


def _comparable(value: Any) -> str:
    """Return a value as the text of a cell in any format."""
    if value is None or value in ("", []):
        return ""
    if isinstance(value, str):
        decoded = read_json(value)
        return value if decoded is None or isinstance(decoded, str) else _comparable(decoded)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return msgspec.json.encode(value, order="sorted").decode()


# Import and export banks and forms as files, checked as a whole.

# One statement or question with its metadata: a longer line lacks its line breaks.
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
    tell_warning: Callable[[str], None] | None = None,
) -> Bank:
    """Read statements from a JSONL, CSV or Parquet file into a bank.

    ``roles`` of models in the whole file are added to those of each row. ``read`` replaces the
    method's ``read_facts``. ``tell_unread`` receives unknown columns, ``tell_counts`` the counts of
    a reference knowledge base, and ``tell_warning`` what is unusual about documents. Raises
    BadInput with every problem, by line and field; then nothing is stored.
    """
    path, chosen = Path(path), find_method(method)
    verifying, n_listed = chosen.verifying, 0

    def counted(rows: Iterable[Row]) -> Iterator[Row]:
        nonlocal n_listed
        for row in rows:
            n_listed += 0 if verifying is None else verifying.listed_in(row)
            yield row

    def read_counted(rows: Iterable[Row]) -> Sequence[BuiltFact]:
        if chosen.place_evidence is not None:
            return read_placed(chosen, rows, StoredLibrary(session, path.parent), tell_warning)
        return (read or chosen.read_facts)(rows if verifying is None else counted(rows))

    built = identified_facts(
        read_checked(
            path, read_counted, line_limit=_ROW_BYTES, tell_unread=tell_unread, encoding=encoding
        )
    )
    if not built:
        raise BadInput(f"{path.name} holds no rows", hint="expected one statement per line")
    if tell_counts is not None and verifying is not None:
        triples = [each.fact.id for each in built if verifying.is_listed(each.fact)]
        once = set(triples)
        tell_counts(
            ReferenceCounts(
                triples=len(once), texts=len({each.fact.id for each in built} - once),
                listed=n_listed, repeated=len(triples) - len(once),
                empty=n_listed - len(triples),
            )
        )  # fmt: skip
    if roles:
        built = [structs.replace(b, roles=(*b.roles, *roles)) for b in built]
    named, now = name or path_stem(path), session.clock.now()
    bank, _is_new = session.store.knowledge.add_bank(named, chosen.name, built, now)
    return bank


class ReferenceCounts(Struct, frozen=True, kw_only=True):
    """Counts of an imported reference knowledge base: ``triples`` and ``texts``, each once.

    Of the triples ``listed`` in the file, ``repeated`` ones are duplicates and ``empty`` ones lack
    a predicate or object.
    """

    triples: int
    texts: int
    listed: int
    repeated: int
    empty: int


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
    """Read a form or a list of entities from a file.

    ``roles`` are those of models that helped make the whole file. ``columns`` are default values of
    rows. If several rows are one item, the recipe gives the number of rows. A row's own id and
    unknown columns are stored with its item. Rows of an export restore the facts of their items.
    ``tell`` receives notes on columns and rows. Raises BadInput with every problem, by line and
    field; then nothing is stored.
    """
    path, store, chosen = Path(path), session.store, find_method(method)
    n_rows = 0

    def completed(rows: Iterable[Row]) -> Iterator[Row]:
        nonlocal n_rows
        for row in rows:
            n_rows += 1
            own = {name: value for name, value in row.values.items() if value not in (None, "")}
            row.values.update({**columns, **own})
            yield row

    def read_completed(rows: Iterable[Row]) -> ItemsRead:
        found = read_item_rows(completed(rows), chosen, find_payload)
        unknown = [told for name, told in found.unread.items() if name in columns]
        if unknown:
            raise BadUsage(f"unknown columns: {', '.join(unknown)}")
        return found

    read = read_checked(path, read_completed, line_limit=_ROW_BYTES, encoding=encoding)
    if not read.items:
        raise BadInput(f"{path.name} holds no rows", hint="expected one question per line")
    if read.facts:
        store.knowledge.add_facts(read.facts)
    if tell is not None:
        for note in read.notes():
            tell(note)
    item_set = _read_set(store, chosen, read, name or path_stem(path), n_rows)
    is_new = store.items.add_set(item_set, read.items, session.clock.now(), read.labels)
    if roles:
        store.roles.add_to_set(item_set.id, roles)
    return item_set if is_new else store.items.item_set(item_set.id)


def _read_set(store: Store, method: Method, read: ItemsRead, name: str, n_rows: int) -> ItemSet:
    """Return the item set; an exported form is restored if its bank is here."""
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
    """Write a bank's facts to a file that can be imported again; return their number."""
    facts = store.knowledge.bank(bank).facts()
    by_id = {fact.id: fact for fact in facts}

    def rows() -> Iterator[dict[str, Any]]:
        for at in range(0, len(facts), _FACTS_A_PAGE):
            for entry in store.knowledge.built_facts(facts[at : at + _FACTS_A_PAGE]):
                yield method.write_fact(entry, by_id)

    return write_rows(path, rows())


def export_items(store: Store, method: Method, item_set: bytes, path: Path) -> int:
    """Write a set's items with texts and facts to a file; return their number."""
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


def path_stem(path: Path) -> str:
    """Return the file's name without its extensions (``bank.jsonl.gz`` is ``bank``)."""
    return path.name.partition(".")[0]
