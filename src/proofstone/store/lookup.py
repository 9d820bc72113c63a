"""Find rows by the names people use: a kind with the first digits of an id, or a name."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any, Literal

import msgspec
from sqlalchemy import Row, Table, func, select

from proofstone.errors import BadUsage, NotFound
from proofstone.records.ids import short
from proofstone.store import schema
from proofstone.store.rows import StorePart, hash_range

Kind = Literal[
    "source", "passage", "fact", "bank", "item", "form", "run", "scoring", "plan", "build"
]


_TABLES: dict[str, Table] = {
    "source": schema.source,
    "passage": schema.passage,
    "fact": schema.fact,
    "bank": schema.bank,
    "item": schema.item,
    "form": schema.item_set,
    "run": schema.run,
    "scoring": schema.scoring,
    "plan": schema.plan,
    "build": schema.build,
}


_ALSO = {"statement": "fact"}  # the method's own word for a kind


KINDS = tuple(_TABLES)


_CORRECTED = {
    "bank": (schema.corrected_bank, "bank_id"),
    "form": (schema.corrected_set, "item_set_id"),
}


_NAMED = {"bank": "name", "form": "name", "source": "title"}


class Found(msgspec.Struct, frozen=True):
    """A row that was found: its kind, integer key, id, and name if any."""

    kind: str
    key: int
    id: bytes
    name: str

    @property
    def spelled(self) -> str:
        """Return the usual name of the row: ``fact:51b0c2aa``."""
        return f"{self.kind}:{short(self.id)}"


class Lookup(StorePart):
    """Resolve names that people type, and list rows."""

    def find(self, text: str, kinds: tuple[str, ...] = KINDS) -> Found:
        """Return the one row that ``text`` names: ``run:2c1e``, ``2c1e9f``, or a name.

        A name may include the digits that lists append (``elements-7f3a``). For a corrected bank or
        form, the plain name means the newest version. An item can also be named by its id in an
        imported file. Raises NotFound if there is none (the message lists similar names), BadUsage
        if several match.
        """
        kind, colon, rest = text.partition(":")
        kind = _ALSO.get(kind, kind)
        if colon and kind in _TABLES:
            if kind not in kinds:
                raise BadUsage(f"expected a {' or '.join(kinds)}, got {text}, which is a {kind}")
            kinds, text = (kind,), rest
        found = [row for kind in kinds for row in self._matches(kind, text)]
        if len(found) > 1:
            found = self._newest(found, text)
        banks = [row for row in found if row.kind == "bank"]
        if len(banks) == 1:  # forms are named after their bank: the plain name is the bank's
            return banks[0]
        if len(found) == 1:
            return found[0]
        if not found:
            raise NotFound(
                f"no {' or '.join(kinds)} is named {text!r}", hint=self._near(kinds, text)
            )
        raise _several(text, found)

    def count(self, kind: str) -> int:
        """Return the number of rows of a kind."""
        return int(self._scalar(select(func.count()).select_from(_TABLES[kind])))

    def every(self, kind: str, limit: int | None = None) -> list[Found]:
        """Return rows of a kind, newest first."""
        query = _select(kind).order_by(_TABLES[kind].c.id.desc()).limit(limit)
        return [_found(kind, row) for row in self._rows(query)]

    def _matches(self, kind: str, text: str) -> list[Found]:
        table, label = _TABLES[kind], schema.item_label
        conditions = [table.c[_NAMED[kind]] == text] if kind in _NAMED else []
        if kind == "item":
            called = select(label.c.item_id).where(label.c.name == text)
            conditions.append(table.c.id.in_(called))
        rows = [row for here in conditions for row in self._rows(_select(kind).where(here))]
        found = {row.id: _found(kind, row) for row in rows}
        for name, digits in _readings(text):
            here = table.c.hash.between(*hash_range(digits))
            for row in self._rows(_select(kind).where(here).limit(9)):
                match = _found(kind, row)
                if not name or match.name == name:
                    found[match.key] = match
        return list(found.values())

    def _newest(self, found: list[Found], text: str) -> list[Found]:
        """Drop banks and forms of this name that another match corrects."""
        corrected: set[tuple[str, int]] = set()
        for kind, (table, column) in _CORRECTED.items():
            keys = [row.key for row in found if row.kind == kind and row.name == text]
            if len(keys) > 1:
                query = select(table.c.corrects_id).where(table.c[column].in_(keys))
                corrected |= {(kind, key) for key in self._scalars(query)}
        return [row for row in found if (row.kind, row.key) not in corrected]

    def _near(self, kinds: tuple[str, ...], text: str) -> str:
        """Return a hint for ``text``: similar names first, then the newest."""
        rows = [row for kind in kinds for row in self.every(kind, 200 if kind in _NAMED else 4)]
        if not rows:
            return f"this workspace has no {' or '.join(kinds)} yet"
        rows.sort(key=lambda row: -SequenceMatcher(None, row.name, text).ratio())
        return f"there is: {', '.join(map(_spelled, rows[:8]))}"


def _several(text: str, found: list[Found]) -> BadUsage:
    """Return the error for a text that matches several rows, with a unique name for each."""
    of_kind = {row.kind for row in found}
    what = f"{found[0].kind}s" if len(of_kind) == 1 else "rows"
    listed = ", ".join(map(_spelled, found[:8]))
    more = ", ..." if len(found) > 8 else ""
    return BadUsage(f"{text!r} names {len(found)} {what}", hint=f"use one of: {listed}{more}")


def _select(kind: str) -> Any:
    table = _TABLES[kind]
    columns: list[Any] = [table.c.id, table.c.hash]
    if kind in _NAMED:
        columns.append(table.c[_NAMED[kind]].label("name"))
    return select(*columns)


def _found(kind: str, row: Row[Any]) -> Found:
    return Found(kind, row.id, row.hash, row.name if kind in _NAMED else "")


def _spelled(row: Found) -> str:
    """Return a name that finds this row again."""
    digits = row.id.hex()[:8]
    return f"{row.name}-{digits}" if row.name else f"{row.kind}:{digits}"


def _readings(text: str) -> list[tuple[str, str]]:
    """Return possible (name, hexadecimal digits) readings of a text."""
    name, _, tail = text.rpartition("-")
    readings = [("", text)] if _is_hex(text) else []
    return [*readings, (name, tail)] if name and _is_hex(tail) else readings


def _is_hex(text: str) -> bool:
    return 4 <= len(text) <= 64 and all(c in "0123456789abcdef" for c in text)
