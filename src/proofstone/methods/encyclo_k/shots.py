"""Worked examples for few-shot prompts, from the bank of the form that is asked.

They are composed like the form's own items, by a seed of their own, into one pool. An item is
shown examples of its language that share no statement with it, nor one of the same origin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from proofstone.draws import Draws
from proofstone.errors import BadInput, BadUsage
from proofstone.identity import short
from proofstone.methods.encyclo_k.compose import compose
from proofstone.methods.encyclo_k.recipe import is_of_statements
from proofstone.ports import BankReader
from proofstone.records import Fact, Item, ItemSet, LoadedItem

__all__ = ["choose_shots", "compose_shots"]

_SPARE = 64  # examples of a language beyond those that one prompt shows, to choose among


def compose_shots(item_set: ItemSet, bank: BankReader, count: int) -> tuple[LoadedItem, ...]:
    """The pool of worked examples in which every item of a form finds ``count``.

    Raises BadUsage where the bank is too small for that. The items of an imported set are not
    known here; for one that finds too few, ``choose_shots`` raises.
    """
    facts = {fact.id: fact for fact in bank.facts()}
    pool = tuple(
        _loaded(item, facts)
        for part in _by_language(bank)
        for item in _examples(part, item_set, count + _SPARE)
    )
    if item_set.seed is not None:
        for item in compose(bank, item_set.recipe, item_set.seed):
            choose_shots(_loaded(item, facts), pool, count)
    return pool


def choose_shots(
    item: LoadedItem,
    pool: Sequence[LoadedItem],
    count: int,
    unfit: frozenset[bytes] = frozenset(),
) -> tuple[LoadedItem, ...]:
    """``count`` worked examples for this item: the first that fit from a place its id fixes, none
    of them on a fact that is ``unfit``.

    Raises BadUsage where fewer fit.
    """
    taken = _origins(item)
    start = int.from_bytes(item.item.id[:8]) % max(1, len(pool))
    found: list[LoadedItem] = []
    for at in range(start, start + len(pool)):
        example = pool[at % len(pool)]
        if (
            example.item.language == item.item.language
            and taken.isdisjoint(_origins(example))
            and unfit.isdisjoint(example.item.facts)
        ):
            found.append(example)
            if len(found) == count:
                return tuple(found)
    raise BadUsage(
        f"{count} worked examples were wanted; the bank gives {len(found)} that share no "
        f"statement with item {short(item.item.id)} (language {item.item.language or 'unknown'})",
        hint="ask with fewer shots, or compose from a larger bank",
    )


@dataclass(slots=True)
class _Part:
    """The facts of a bank in one language, as a bank."""

    id: bytes
    name: str
    kept: Sequence[Fact]

    def facts(self) -> Sequence[Fact]:
        return self.kept


def _by_language(bank: BankReader) -> list[BankReader]:
    facts = bank.facts()
    return [
        _Part(bank.id, bank.name, [fact for fact in facts if fact.language == language])
        for language in sorted({fact.language for fact in facts})
    ]


def _examples(bank: BankReader, item_set: ItemSet, count: int) -> list[Item]:
    """Items under the form's recipe; none in a language that skip_small leaves nothing of."""
    if is_of_statements(item_set.recipe):
        params = {**item_set.recipe, "sample": min(count, len(bank.facts()))}
    else:
        params = {**item_set.recipe, "questions": count}
    seed = Draws(item_set.seed or 0, 0, "shots").below(1 << 63)
    try:
        return list(compose(bank, params, seed))
    except BadInput:
        if item_set.recipe.get("skip_small"):
            return []
        raise


def _loaded(item: Item, facts: Mapping[bytes, Fact]) -> LoadedItem:
    return LoadedItem(item, tuple(facts[identity] for identity in item.facts))


def _origins(item: LoadedItem) -> set[bytes]:
    """The true statements that an item's statements are or come from, and what they correct: the
    bank of a corrected form still holds the former version."""
    origins = {fact.payload.origin or fact.id for fact in item.facts}
    return origins | {fact.corrects for fact in item.facts if fact.corrects is not None}
