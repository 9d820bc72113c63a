"""What was found of a bank or form, once and again: rows that are added and never changed."""

from __future__ import annotations

from typing import Generic, Literal, TypeVar

import msgspec
from msgspec import Struct
from sqlalchemy import Select, Table, or_, select

from proofstone.engines.store import schema
from proofstone.engines.store.corrected_versions import bank_versions, form_versions
from proofstone.engines.store.opening import Database
from proofstone.engines.store.rows import insert_missing, key_of
from proofstone.identity import canonical_json, content_id

__all__ = ["TargetKind", "TargetStore"]

TargetKind = Literal["bank", "form"]
Kept = TypeVar("Kept", bound=Struct)
_COLUMNS = ("hash", "bank_id", "item_set_id", "payload", "created_at")


class TargetStore(Generic[Kept]):
    """Records of one type in one table, each of a bank or form."""

    def __init__(self, database: Database, table: Table, kind: type[Kept]) -> None:
        self._database = database
        self._table = table
        self._kind = kind

    def add(self, kind: TargetKind, target: bytes, record: Kept, now: float) -> None:
        """Stores a record of a stored bank or form; the same one again changes nothing."""
        payload = canonical_json(record)
        identity = content_id(self._table.name, [kind, target, payload])
        of = schema.bank if kind == "bank" else schema.item_set
        with self._database.writing() as connection:
            key = key_of(connection, of, target)
            keys = (key, None) if kind == "bank" else (None, key)
            row = (identity, *keys, payload, now)
            insert_missing(connection, self._table, _COLUMNS, {identity: row})

    def every(self, target: bytes) -> list[Kept]:
        """The records of a bank or form, oldest first."""
        of_bank = select(schema.bank.c.id).where(schema.bank.c.hash == target)
        of_form = select(schema.item_set.c.id).where(schema.item_set.c.hash == target)
        return self._read(of_bank, of_form)

    def behind(self, target: bytes) -> list[Kept]:
        """As ``every``, with those of the banks or forms that this one corrects."""
        return self._read(bank_versions(target), form_versions(target))

    def _read(self, banks: Select[tuple[int]], forms: Select[tuple[int]]) -> list[Kept]:
        table = self._table
        query = (
            select(table.c.payload)
            .where(or_(table.c.bank_id.in_(banks), table.c.item_set_id.in_(forms)))
            .order_by(table.c.created_at, table.c.hash)
        )
        with self._database.reading() as connection:
            payloads = connection.scalars(query).all()
        return [msgspec.json.decode(payload, type=self._kind) for payload in payloads]
