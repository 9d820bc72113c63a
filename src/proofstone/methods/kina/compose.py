"""Compose a form: the stored questions of a bank, or questions of its statements.

A question of statements has ten options, each a set of them. The right one is exactly the set of
all true statements in the question. No option is a proper subset of another, and the sizes differ
by ``MOST_APART`` at most (Table 10: no extreme imbalance). A statement is used once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from proofstone.choices.options import (
    MOST_PLACES,
    MOST_TOGETHER,
    Subset,
    distractor_supply,
    draw_options,
)
from proofstone.errors import BadInput, BadUsage
from proofstone.method import Grouping, read_asked
from proofstone.methods.kina.payloads import (
    STEMS_VERSION,
    Asked,
    Composed,
    Statement,
    question_of,
)
from proofstone.records.ids import Draws, words_of
from proofstone.records.items import Item, LoadedItem, identified_item
from proofstone.records.knowledge import BankReader, Fact, Stratum
from proofstone.wording.messages import noted

COMPOSER_VERSION = 1


PARAMETERS = read_asked(__package__, "form").parameters


N_OPTIONS = 10  # Table 10


LEAST_STATEMENTS = 6  # Table 10 and section E.3.4


MOST_APART = 2  # between the sizes of two combinations: our reading of "balanced" in Table 10


_LEVELS = ("discipline", "field", "subfield", "book")


def recipe(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return all parameters, checked, with the composer's version.

    Raises BadUsage with every invalid parameter.
    """
    known = {each.name: each for each in PARAMETERS}
    unknown = sorted(params.keys() - known.keys() - {"composer", "stems"})
    wrong = [f"unknown parameter: {', '.join(unknown)}"] if unknown else []
    values = {name: params.get(name) or each.default for name, each in known.items()}
    questions = values["questions"]
    is_number = isinstance(questions, int) and not isinstance(questions, bool)
    if questions is not None and not (is_number and questions > 0):
        wrong.append(f"questions must be a whole number of 1 or more, got {questions!r}")
    wrong += [
        f"{name} must be one of {', '.join(known[name].choices)}, got {values[name]!r}"
        for name in ("option_order", "within")
        if values[name] not in known[name].choices
    ]
    wrong += _wrong_sizes(values)
    if wrong:
        raise BadUsage("; ".join(wrong))
    return {"composer": COMPOSER_VERSION, "stems": STEMS_VERSION, **values}


def _wrong_sizes(values: Mapping[str, Any]) -> list[str]:
    try:
        fewest, most = _range(values["statements"])
        smallest, largest = _range(values["combination"])
    except ValueError:
        return [
            "statements and combination must be LOW-HIGH or a number, "
            f"got {values['statements']!r} and {values['combination']!r}"
        ]
    wrong = []
    if not LEAST_STATEMENTS <= fewest <= most <= MOST_PLACES:
        wrong.append(f"statements must be {LEAST_STATEMENTS} to {MOST_PLACES}")
    if not 1 <= smallest <= largest <= min(MOST_TOGETHER, smallest + MOST_APART):
        wrong.append(
            f"combination must be 1 to {MOST_TOGETHER} with sizes at most {MOST_APART} apart"
        )
    if wrong:
        return wrong
    sizes = range(smallest, largest + 1)
    short = [
        size
        for size in sizes
        if distractor_supply(fewest, size, sizes, forbid_subsets=True) < N_OPTIONS - 1
    ]
    if short:
        wrong.append(
            f"{fewest} statements in combinations of {smallest} to {largest} give fewer than "
            f"{N_OPTIONS} options without subsets"
        )
    return wrong


def _range(said: Any) -> tuple[int, int]:
    """Return a range given as LOW-HIGH, a number, or a pair. Raises ValueError."""
    if isinstance(said, list | tuple):
        low, high = said
        return int(low), int(high)
    first, _, last = str(said).partition("-")
    return int(first), int(last or first)


def compose(bank: BankReader, recipe: Mapping[str, Any], seed: int) -> Iterator[Item]:
    """Return the items of one form: stored questions, or questions composed of statements.

    Raises BadInput if the bank has both, or too few of them.
    """
    facts = list(bank.facts())
    n_statements = sum(isinstance(fact.payload, Statement) for fact in facts)
    if 0 < n_statements < len(facts):
        raise BadInput(
            f"{bank.name} has {n_statements:,} statements and {len(facts) - n_statements:,} "
            "questions; a form is of one of the two",
            hint="import them into two banks",
        )
    if n_statements:
        yield from _of_statements(bank.name, facts, recipe, seed)
        return
    chosen = Draws(seed, 0, "kina questions").shuffled(facts)
    wanted = recipe["questions"] or len(chosen)
    if wanted > len(chosen):
        raise _too_few(bank.name, len(chosen), wanted)
    for number, fact in enumerate(chosen[:wanted]):
        payload = Asked(order=_order(fact, recipe["option_order"], seed))
        yield _item("kina.asked", payload, [fact], fact.stratum, number)


def _item(
    kind: str, payload: Asked | Composed, facts: Sequence[Fact], stratum: Stratum, number: int
) -> Item:
    return identified_item(
        Item(
            kind=kind,
            payload=payload,
            facts=tuple(fact.id for fact in facts),
            language=facts[0].language,
            stratum=stratum,
            number=number,
        )
    )


def _too_few(name: str, n: int, wanted: int) -> BadInput:
    return BadInput(
        f"expected at least {wanted} questions; {name} gives {n}",
        hint="lower the number, or leave it out for all of them",
    )


def _order(fact: Fact, options: str, seed: int) -> tuple[int, ...]:
    """Return the order of the options as shown; it depends on the seed and the fact alone."""
    places = range(len(fact.payload.options))
    if options == "original":
        return tuple(places)
    number = int.from_bytes(fact.id[:8], "big")
    return tuple(Draws(seed, number, "order of options").shuffled(places))


# Questions of statements.


class _Drawn(Struct):
    """The statements of one question in the order shown, and its options."""

    facts: list[Fact]
    payload: Composed


def _of_statements(
    name: str, facts: Sequence[Fact], recipe: Mapping[str, Any], seed: int
) -> Iterator[Item]:
    groups: dict[tuple[str, ...], list[Fact]] = {}
    for fact in facts:
        groups.setdefault(_shared(fact, recipe["within"]), []).append(fact)
    streams = [
        _drawn(members, recipe, seed, place)
        for place, (_, members) in enumerate(sorted(groups.items()))
    ]
    drawn = list(_in_turn(streams))
    wanted = recipe["questions"] or len(drawn)
    if wanted > len(drawn) or not drawn:
        raise _too_few(name, len(drawn), max(wanted, 1))
    for number, each in enumerate(drawn[:wanted]):
        stratum = _common([fact.stratum for fact in each.facts])
        yield _item("kina.composed", each.payload, each.facts, stratum, number)


def _shared(fact: Fact, within: str) -> tuple[str, ...]:
    """Return what the statements of one question share: their language and these levels."""
    levels = _LEVELS[: _LEVELS.index(within) + 1]
    return (fact.language, *(getattr(fact.stratum, level) for level in levels))


def _in_turn(streams: Sequence[Iterator[_Drawn]]) -> Iterator[_Drawn]:
    """Yield one question of each group, then the next of each, so that groups are balanced."""
    left = list(streams)
    while left:
        still = []
        for stream in left:
            each = next(stream, None)
            if each is not None:
                still.append(stream)
                yield each
        left = still


def _drawn(
    facts: Sequence[Fact], recipe: Mapping[str, Any], seed: int, place: int
) -> Iterator[_Drawn]:
    """Yield as many questions as one group of statements gives, each statement once.

    The options are sampled first, and one of them at random is to be correct; then as many true
    statements take its places. So the correct option differs from the others in nothing but truth.
    """
    draws = Draws(seed, place, "kina statements")
    order = draws.shuffled(facts)
    pools = {truth: [f for f in order if f.payload.correct is truth] for truth in (True, False)}
    while True:
        n = draws.between(*_range(recipe["statements"]))
        payload = _options(draws, n, _range(recipe["combination"]))
        right = payload.sets[payload.answer_key]
        taken = _taken(pools, len(right), n - len(right))
        if taken is None:
            return
        true, false = iter(taken[: len(right)]), iter(taken[len(right) :])
        yield _Drawn([next(true if at in right else false) for at in range(n)], payload)


def _options(draws: Draws, n: int, sizes: tuple[int, int]) -> Composed:
    """Return ten combinations of ``n`` statements without subsets, and which is to be correct."""
    first = tuple(sorted(draws.sample(range(n), draws.between(*sizes))))
    words = words_of(draws.below(2**63), n, "kina options")
    key = Subset(sum(1 << place for place in first), first)
    found = draw_options(
        words, n, key, N_OPTIONS, range(sizes[0], sizes[1] + 1), forbid_subsets=True
    )
    return Composed(sets=found.options, answer_key=draws.below(N_OPTIONS))


def _taken(pools: dict[bool, list[Fact]], n_true: int, n_false: int) -> list[Fact] | None:
    """Take statements of different groups, the true ones first; None if there are too few."""
    taken: list[Fact] = []
    seen: set[str] = set()
    for truth, wanted in ((True, n_true), (False, n_false)):
        n_before = len(taken)
        for fact in pools[truth]:
            group = fact.payload.group
            if len(taken) < n_before + wanted and not (group and group in seen):
                taken.append(fact)
                seen.add(group)
        if len(taken) < n_before + wanted:
            return None
    ids = {fact.id for fact in taken}
    for pool in pools.values():
        pool[:] = [fact for fact in pool if fact.id not in ids]
    return taken


def _common(strata: Sequence[Stratum]) -> Stratum:
    """Return the levels that all strata share, from the top."""
    shared: dict[str, str] = {}
    for level in _LEVELS:
        names = {getattr(each, level) for each in strata}
        if len(names) > 1:
            break
        shared[level] = names.pop()
    return Stratum(**shared)


# Groups besides the taxonomy.

_KIND, _MADE_BY = noted("kind of question"), noted("made by")


def groups_of(item: LoadedItem) -> Mapping[str, str]:
    """Return the groups of an item: its kind, and who made it."""
    question = question_of(item)
    return {_KIND: question.kind, _MADE_BY: question.made_by}


GROUPING = Grouping(names=(_KIND, _MADE_BY), level_names={}, groups_of=groups_of)
