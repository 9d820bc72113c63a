"""The keys of a bank or form and of those that it corrects, itself or through others."""

from __future__ import annotations

from sqlalchemy import Select, Table, select

from proofstone.engines.store import schema

__all__ = ["bank_versions", "form_versions"]


def bank_versions(bank: bytes) -> Select[tuple[int]]:
    """Selects the keys of a bank and of all that it corrects; none where it is not here."""
    return _versions(schema.bank, schema.corrected_bank, "bank_id", bank)


def form_versions(form: bytes) -> Select[tuple[int]]:
    """Selects the keys of a form and of all that it corrects; none where it is not here."""
    return _versions(schema.item_set, schema.corrected_set, "item_set_id", form)


def _versions(of: Table, made: Table, column: str, target: bytes) -> Select[tuple[int]]:
    name = f"{of.name}_versions"  # two of them may stand in one query
    known = select(of.c.id).where(of.c.hash == target).cte(name, recursive=True)
    former = select(made.c.corrects_id).join(known, known.c.id == made.c[column])
    return select(known.union(former).c.id)
