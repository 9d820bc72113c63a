"""Composition (the paper's 3.1.3): statements of a bank become multiple-choice questions.

A question shows statements of both polarities from one group. The gold option is exactly the set
of all that have the asked polarity; every other option holds at least one of the other polarity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import fsum, nan
from operator import itemgetter
from typing import Any, NamedTuple

from proofstone.draws import words_of
from proofstone.engines.choices.options import Subset, draw_options, subsets
from proofstone.methods.encyclo_k.decks import Dealer
from proofstone.methods.encyclo_k.groups import (
    Allocation,
    Group,
    allocate,
    group_statements,
    usable_groups,
)
from proofstone.methods.encyclo_k.identities import (
    composed_item_id,
    encode_fact_id,
    encode_place,
)
from proofstone.methods.encyclo_k.mixing import evenly_mixed
from proofstone.methods.encyclo_k.payloads import ComposedQuestion
from proofstone.methods.encyclo_k.phrasing import phrasing
from proofstone.methods.encyclo_k.recipe import Recipe, read_recipe
from proofstone.ports import BankReader
from proofstone.records import Item

__all__ = ["COMPOSED", "Reuse", "chance", "compose", "reuse"]

COMPOSED = "encyclo_k.composed"


def compose(bank: BankReader, recipe: Mapping[str, Any], seed: int) -> Iterator[Item]:
    """The items of one form, streamed; any first part of it is a fair mixture of the groups.

    ``Item.number`` is the place in the draw. What item n looks like comes from (seed, n), which
    statements it shows from its group's decks; so another number of options changes neither
    statements nor gold nor wording, and the first distractors stay. Raises BadUsage for a recipe
    that cannot be, BadInput naming every group that has too few statements.
    """
    checked = read_recipe(recipe)
    groups = usable_groups(group_statements(bank.facts(), checked), checked)
    return _stream(allocate(groups, checked), checked, seed)


def chance(items: Iterable[Item]) -> float:
    """The accuracy expected of blind guessing: the mean of 1 / number of options; NaN for none."""
    odds = [1 / len(item.payload.options) for item in items]
    return fsum(odds) / len(odds) if odds else nan


class Reuse(NamedTuple):
    """How often a form uses its statements: ``places`` in all its questions, ``statements`` that
    it uses at all, and the uses of the one used most and of the one used least."""

    places: int
    statements: int
    most: int
    least: int


def reuse(items: Iterable[Item]) -> Reuse:
    """The reuse of statements over a form; all zero for an empty one."""
    uses = Counter(fact for item in items for fact in item.facts).values()
    return Reuse(sum(uses), len(uses), max(uses, default=0), min(uses, default=0))


# ---------------------------------------------------------------- the stream


def _stream(allocations: Sequence[Allocation], recipe: Recipe, seed: int) -> Iterator[Item]:
    sources = [_Source(allocation.group, recipe, seed) for allocation in allocations]
    counts = [allocation.questions for allocation in allocations]
    for number, at in enumerate(evenly_mixed(counts, seed)):
        yield _question(recipe, seed, number, sources[at])


class _Source:
    """A group as questions are made of it: its dealer, and its texts for ids, encoded once."""

    __slots__ = ("deal", "encoded", "forms", "ids", "language", "place", "sizes", "stratum")

    def __init__(self, group: Group, recipe: Recipe, seed: int) -> None:
        self.deal = Dealer(group, seed).deal
        self.sizes = recipe.sizes
        self.ids = group.ids
        self.encoded = [encode_fact_id(identity) for identity in group.ids]
        self.language = group.language
        self.stratum = group.stratum
        self.place = encode_place(self.language, self.stratum)
        phrases = phrasing(self.language)
        self.forms = _forms(
            recipe.statements, recipe.combination, len(phrases.templates), len(phrases.correct)
        )


def _question(recipe: Recipe, seed: int, number: int, source: _Source) -> Item:
    """Item ``number``: one word for the polarity; one split into digits for its form, the places of
    the gold statements and, last, the number of options; one for each attempt at a distractor."""
    words = words_of(seed, number, "question")
    asks_correct = (next(words) >> 11) < recipe.correct_share * 9007199254740992
    rest, digit = divmod(next(words), len(source.forms))
    n, n_gold, template, wording, arrangements = source.forms[digit]
    rest, rank = divmod(rest, len(arrangements))
    gold, arrange = arrangements[rank]
    least, most = recipe.options
    options, at = draw_options(
        words,
        n,
        gold,
        least + rest % (most - least + 1),
        source.sizes,
        forbid_subsets=recipe.forbid_subsets,
    )
    payload = ComposedQuestion(
        asks_correct=asks_correct, template=template, wording=wording, options=options, gold=at
    )
    if asks_correct:
        hand = source.deal(n_gold, n - n_gold)
    else:
        hand = source.deal(n - n_gold, n_gold)
        hand = hand[n - n_gold :] + hand[: n - n_gold]
    shown = itemgetter(*arrange(hand))
    return Item(
        id=composed_item_id(payload, shown(source.encoded), source.place, number),
        kind=COMPOSED,
        payload=payload,
        facts=shown(source.ids),
        language=source.language,
        stratum=source.stratum,
        number=number,
    )


class _Form(NamedTuple):
    """What a question looks like but for its options: numbers of statements and of gold ones,
    template, wording, and the places that the gold ones may take."""

    statements: int
    gold: int
    template: int
    wording: int
    arrangements: tuple[_Arrangement, ...]


@lru_cache(maxsize=16)
def _forms(
    statements: tuple[int, int], combination: tuple[int, int], templates: int, wordings: int
) -> tuple[_Form, ...]:
    """All forms, each as likely as any other."""
    return tuple(
        _Form(n, gold, template, wording, _arrangements(n, gold))
        for n in range(statements[0], statements[1] + 1)
        for gold in range(combination[0], combination[1] + 1)
        for template in range(templates)
        for wording in range(wordings)
    )


class _Arrangement(NamedTuple):
    """Which places the gold statements take, and the function that puts a hand (gold statements
    first) into the order of the places."""

    gold: Subset
    arrange: itemgetter[Any]


@lru_cache(maxsize=256)
def _arrangements(places: int, n_gold: int) -> tuple[_Arrangement, ...]:
    return tuple(_Arrangement(gold, _arrange(places, gold)) for gold in subsets(places, n_gold))


def _arrange(places: int, gold: Subset) -> itemgetter[Any]:
    hand = {place: at for at, place in enumerate(gold.places)}
    others = (place for place in range(places) if place not in hand)
    hand |= {place: at for at, place in enumerate(others, start=len(hand))}
    return itemgetter(*[hand[place] for place in range(places)])
