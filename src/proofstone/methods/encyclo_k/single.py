"""Single statements as items: the paper's statement-level setting (Figure 3, left).

A statement is one item, in whichever form it stands, so that samples of one bank pair by item.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from proofstone.draws import Draws
from proofstone.errors import BadInput
from proofstone.methods.encyclo_k.mixing import evenly_mixed
from proofstone.methods.encyclo_k.payloads import SingleStatement
from proofstone.methods.encyclo_k.recipe import recipe as read
from proofstone.ports import BankReader
from proofstone.records import Fact, Item, item_id

__all__ = ["SINGLE", "compose_single"]

SINGLE = "encyclo_k.single"


def compose_single(bank: BankReader, recipe: Mapping[str, Any], seed: int) -> Iterator[Item]:
    """The bank's statements, each an item, or the first ``sample`` of them.

    In an order in which the books' true and false statements take turns: any first part is a fair
    mixture, and a sample is the first part of a larger one of the same seed. Raises BadUsage for a
    recipe that cannot be, BadInput for an empty bank or a sample larger than the bank.
    """
    sample: int | None = read(recipe)["sample"]
    facts = bank.facts()
    if not facts:
        raise BadInput("The bank is empty: it has no statement to ask about.")
    if sample is not None and sample > len(facts):
        raise BadInput(
            f"The bank has {len(facts):,} statements, which gives no sample of {sample:,}.",
            hint=f"ask for at most {len(facts)}, or leave --sample out for all of them",
        )
    return map(_item, islice(_in_turn(facts, seed), sample))


def _in_turn(facts: Sequence[Fact], seed: int) -> Iterator[Fact]:
    groups: dict[tuple[object, ...], list[Fact]] = {}
    for fact in facts:
        key = (fact.stratum, fact.language, fact.payload.correct)
        groups.setdefault(key, []).append(fact)
    shuffled = [
        iter(Draws(seed, at, "order of statements").shuffled(groups[key]))
        for at, key in enumerate(sorted(groups))
    ]
    for at in evenly_mixed([len(groups[key]) for key in sorted(groups)], seed):
        yield next(shuffled[at])


def _item(fact: Fact) -> Item:
    item = Item(
        kind=SINGLE,
        payload=SingleStatement(),
        facts=(fact.id,),
        language=fact.language,
        stratum=fact.stratum,
    )
    return msgspec.structs.replace(item, id=item_id(item))
