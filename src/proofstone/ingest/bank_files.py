"""Items as rows of a file, and the same items from such rows.

An item that rests on facts brings them along: ``item`` holds it as it is stored, ``facts`` the rows
of its facts, and ``item_id`` its id. Where the other columns still say what the method writes of
that item, it comes back as it was; a row that was changed is read as a question of its own.
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


# Under these a file gives a row its own id.
_NAMES = ("id", "question_id", "uuid", "_id", "ID")


FindPayload = Callable[[str], PayloadType]


class FormRow(Struct, frozen=True):
    """What the first row of an exported form says of the whole: its id and bank (hexadecimal), seed
    and recipe, and the hash of its items in order."""

    id: str
    bank: str
    seed: int | None
    recipe: dict[str, Any]
    items: str

    @classmethod
    def of(cls, item_set: ItemSet, items: Iterable[bytes]) -> FormRow:
        """That of a form."""
        bank = item_set.bank.hex() if item_set.bank else ""
        whole = imported_set_id(item_set.method, tuple(items)).hex()
        return cls(item_set.id.hex(), bank, item_set.seed, item_set.recipe, whole)


class ItemsRead(Struct, frozen=True):
    """The items of a file in the order of its rows, with the facts that some of them bring along
    and the label of each (none where several rows are one item). ``unread`` are the columns that
    mean nothing to the method, each with the name that may be meant; ``n_changed`` counts rows that
    were changed after their export. ``form`` is what an export says of its form, where all rows
    are as it was written."""

    items: list[Item]
    facts: list[BuiltFact]
    labels: list[ItemLabel]
    unread: dict[str, str]
    n_changed: int
    form: FormRow | None = None

    def notes(self) -> list[str]:
        """What became of columns and rows, to be told."""
        told = []
        if self.unread and any(label.metadata for label in self.labels):
            told.append(f"kept as metadata of the questions: {', '.join(self.unread.values())}")
        elif self.unread:
            names = ", ".join(self.unread.values())
            told.append(f"not taken, for they mean nothing here: {names}")
        if self.n_changed:
            told.append(
                f"{self.n_changed} of {len(self.items)} rows were changed after their export; "
                "they are read as separate questions without their facts"
            )
        return told


def item_row(
    method: Method, loaded: LoadedItem, built: Mapping[bytes, BuiltFact]
) -> dict[str, Any]:
    """The row of an item: the method's columns, those of its label, and its facts, of which
    ``built`` holds each with its source and roles."""
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
    """The items of the rows of a file, each with the id of its content. Raises BadInput with every
    problem of the rows that the method reads."""
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
    """Facts as a method gave them, each with the id of its content."""
    return [structs.replace(each, fact=identified_fact(each.fact)) for each in built]


# ---------------------------------------------------------------- rows of the method


def _plain(
    rows: Sequence[Row], method: Method
) -> tuple[list[Item], list[ItemLabel], dict[str, str]]:
    """The items of rows with their labels, and the columns that the method never asked for."""
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
    """A row's own id, unless it is that of an export, and its values in ``columns``."""
    own = (values[key] for key in _NAMES if values.get(key) not in (None, ""))
    name = str(next(own, "")).strip()
    kept = {key: _typed(values[key]) for key in columns if values.get(key) not in (None, "")}
    return ItemLabel("" if read_identity(name) is not None else name, kept)


def _typed(value: Any) -> Any:
    """A text that spells a number, true, false or a list as JSON is that: some formats have no
    other way to hold one."""
    decoded = read_json(value) if isinstance(value, str) else None
    is_same = decoded is not None and not isinstance(decoded, str)
    return decoded if is_same and msgspec.json.encode(decoded).decode() == value else value


# ---------------------------------------------------------------- rows that bring their facts


def _restored(
    brought: Mapping[int, Row], method: Method, find: FindPayload
) -> tuple[dict[bytes, BuiltFact], dict[int, tuple[Item, ItemLabel]]]:
    """The facts of exported rows by their ids, and the items of those rows that were not changed,
    by their places."""
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
    """The facts that rows bring along; none where they cannot be read as the method writes them."""
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
    """The item that a row holds as it was stored, or None where it is not that any more."""
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
    """A value as JSON files have it; formats without lists have its JSON text."""
    return read_json(cell) if isinstance(cell, str) else cell


def _says_same(written: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Whether a row still has what the method writes, but for the id, which may be its own."""
    return all(
        _comparable(value) == _comparable(values.get(name))
        for name, value in written.items()
        if name != "id"
    )


def _comparable(value: Any) -> str:
    """A value as a cell of any format would say it."""
    if value is None or value in ("", []):
        return ""
    if isinstance(value, str):
        decoded = read_json(value)
        return value if decoded is None or isinstance(decoded, str) else _comparable(decoded)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return msgspec.json.encode(value, order="sorted").decode()


# Banks and forms from files, checked whole, and as files that are read back.

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
    verifying, n_listed = chosen.verifying, 0

    def counted(rows: Iterable[Row]) -> Iterator[Row]:
        nonlocal n_listed
        for row in rows:
            n_listed += 0 if verifying is None else verifying.listed_in(row)
            yield row

    def read_counted(rows: Iterable[Row]) -> Sequence[BuiltFact]:
        return (read or chosen.read_facts)(rows if verifying is None else counted(rows))

    built = identified_facts(
        read_checked(
            path, read_counted, line_limit=_ROW_BYTES, tell_unread=tell_unread, encoding=encoding
        )
    )
    if not built:
        raise BadInput(f"{path.name} holds no row", hint="expected one statement a line")
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
    """What of a reference was stored: ``triples`` and ``texts``, each once. Of the triples that the
    file ``listed``, ``repeated`` ones come again and ``empty`` ones lack a predicate or object."""

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
    """Reads a form made elsewhere, or a list of entities, checked whole. ``roles`` are those of
    models that had a hand in the whole file; ``columns`` are values that every row gets where it
    has none. Where several rows are one item, the set's recipe says how many rows there were.
    A row's own id and the columns that mean nothing to the method are kept with its item. Rows of
    an export bring back the facts of their items. ``tell`` is told what became of columns and rows.

    Raises BadInput with every problem of the file, by line and field; then nothing is stored.
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
            raise BadUsage(f"no column of these is read: {', '.join(unknown)}")
        return found

    read = read_checked(path, read_completed, line_limit=_ROW_BYTES, encoding=encoding)
    if not read.items:
        raise BadInput(f"{path.name} holds no row", hint="expected one question a line")
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


def path_stem(path: Path) -> str:
    """The file's name without its endings (``bank.jsonl.gz`` is ``bank``)."""
    return path.name.partition(".")[0]
