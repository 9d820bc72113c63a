"""What a form is composed from: its bank, without the facts that were retired by then.

Which these were stands in the form's recipe, and so in its id: the same command gives another form
once something else is retired, and an old form is always composed as it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import structs

from proofstone.engines.store import Store
from proofstone.identity import content_id
from proofstone.ports import BankReader
from proofstone.records import Fact, ItemSet, Way

__all__ = [
    "WITHOUT",
    "bank_of",
    "fewer_facts",
    "plain_form",
    "retired_facts",
    "without_former_versions",
]

WITHOUT = "without"  # in a recipe: ids of the bank's facts that were left out, in hexadecimal


@dataclass(slots=True)
class _Fewer:
    """A bank without some of its facts."""

    id: bytes
    name: str
    kept: Sequence[Fact]

    def facts(self) -> Sequence[Fact]:
        return self.kept


def retired_facts(store: Store, bank: BankReader) -> dict[str, list[str]]:
    """What a recipe says of the bank's facts that are retired now; empty where none are."""
    retired = store.corrections.retired_facts(fact.id for fact in bank.facts())
    return {WITHOUT: sorted(identity.hex() for identity in retired)} if retired else {}


def fewer_facts(bank: BankReader, recipe: Mapping[str, Any]) -> BankReader:
    """The bank without the facts that a recipe leaves out."""
    without = {bytes.fromhex(identity) for identity in recipe.get(WITHOUT, ())}
    if not without:
        return bank
    return _Fewer(bank.id, bank.name, [fact for fact in bank.facts() if fact.id not in without])


def bank_of(store: Store, form: ItemSet) -> BankReader | None:
    """The bank that a form was composed from, without what it left out; None without one."""
    return fewer_facts(store.knowledge.bank(form.bank), form.recipe) if form.bank else None


def plain_form(form: ItemSet) -> ItemSet:
    """The form with its recipe as the method made it."""
    recipe = {name: value for name, value in form.recipe.items() if name != WITHOUT}
    return structs.replace(form, recipe=recipe)


def without_former_versions(store: Store, way: Way, form: ItemSet) -> Way:
    """The way of asking a corrected form, whose worked examples come from the bank before: none may
    rest on a former version of a fact that the form's items rest on. The others stay as they are,
    so that what does not show the corrected fact is not asked anew."""
    if form.corrects is None or not way.shots:
        return way
    shown = {fact.id for example in way.shots for fact in example.facts}
    former = frozenset(store.corrections.former_facts(form.id)) & shown
    if not former:
        return way
    key = content_id("without-former-versions", [way.prompt_hash, sorted(former)])
    return structs.replace(way, unfit=former, prompt_hash=key)
