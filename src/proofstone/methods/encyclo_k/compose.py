"""Compose a test form: check its recipe (all parameters of composition) and generate its items.

A form holds multiple-choice questions, or (setting ``statements``) single true/false statements.
The recipe of the first has no ``setting``: it is older, and its id must stay.
"""

from __future__ import annotations

import math
import re
from binascii import b2a_base64
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from heapq import heapify, heapreplace
from itertools import islice
from math import fsum, nan
from operator import itemgetter
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from proofstone.choices.options import (
    MOST_OPTIONS,
    MOST_PLACES,
    MOST_TOGETHER,
    Subset,
    distractor_supply,
    draw_options,
    subsets,
)
from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.method import read_asked
from proofstone.methods.encyclo_k.payloads import (
    ComposedQuestion,
    SingleStatement,
    Statement,
    phrasing,
)
from proofstone.records.ids import Draws, canonical_json, words_of
from proofstone.records.items import Item, ItemSet, item_id
from proofstone.records.knowledge import BankReader, Fact, Stratum
from proofstone.records.options import Parameter

COMPOSER = 1  # incremented with every change that alters questions for equal seed and parameters


STATEMENT_COMPOSER = 1  # the same for forms of single statements


Setting: TypeAlias = Literal["questions", "statements"]


Level: TypeAlias = Literal["discipline", "field", "subfield", "book"]


LEVELS: tuple[Level, ...] = ("discipline", "field", "subfield", "book")


_RANGE = re.compile(r"\s*(\d{1,6})\s*(?:-\s*(\d{1,6})\s*)?")


_MOST_QUESTIONS = 1_000_000_000


PARAMETERS = read_asked(__package__, "form").parameters


_OF_STATEMENTS = frozenset({"setting", "sample"})


class Recipe(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Hold a checked recipe. Ranges are inclusive pairs; ``questions`` overrides ``base``."""

    composer: int
    statements: tuple[int, int]
    options: tuple[int, int]
    combination: tuple[int, int]
    correct_share: float
    base: int
    questions: int | None
    allocate: Level
    within: Level
    forbid_subsets: bool
    siblings: bool
    skip_small: bool

    @property
    def sizes(self) -> range:
        """Return the possible numbers of statements in an option."""
        return range(self.combination[0], self.combination[1] + 1)


def recipe(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return all parameters as plain JSON values, with defaults and the composer's version.

    A complete recipe is returned unchanged. Raises BadUsage with every invalid parameter.
    """
    problems: list[str] = []
    known = {parameter.name: parameter for parameter in PARAMETERS}
    setting: Setting = _read(known["setting"], params, problems) or "questions"
    own = _OF_STATEMENTS if setting == "statements" else known.keys() - _OF_STATEMENTS
    unknown = [name for name in params if name not in known and name != "composer"]
    if unknown:
        problems.append(
            f"unknown parameter {', '.join(unknown)}; expected one of: {', '.join(known)}"
        )
    current = STATEMENT_COMPOSER if setting == "statements" else COMPOSER
    version = params.get("composer", current)
    if version != current:
        problems.append(f"the recipe is from composer {version!r}; this version has {current}")
    foreign = known.keys() - own - {"setting"}
    problems += [
        f"{name}: not available with setting {setting}"
        for name in known
        if name in foreign and _read(known[name], params, []) != _read(known[name], {}, [])
    ]
    values = {name: _read(known[name], params, problems) for name in known if name in own}
    if not problems and setting == "questions":
        problems = _contradictions(values)
    if problems:
        raise BadUsage("\n  ".join(["the form's parameters are invalid", *problems]))
    return {"composer": current, **values}


def is_composed(item_set: ItemSet) -> bool:
    """Return True if the statements of a set's questions are known.

    They are known for a bank's form and for its export.
    """
    return item_set.kind != "imported" or "composer" in item_set.recipe


def is_of_statements(plain: Mapping[str, Any]) -> bool:
    """Return True if a recipe is for single statements instead of composed questions."""
    return plain.get("setting") == "statements"


def read_recipe(plain: Mapping[str, Any]) -> Recipe:
    """Parse a recipe from plain values, checked again and typed."""
    return msgspec.convert(recipe(plain), Recipe)


def _read(parameter: Parameter, params: Mapping[str, Any], problems: list[str]) -> Any:
    """Return a parameter's value as plain JSON; its default if it is missing or None."""
    value = params.get(parameter.name)
    if value is None:
        return list(parameter.default) if parameter.kind == "range" else parameter.default
    if parameter.kind == "range":
        read: Any = _pair(value)
        expected = "a number or LOW-HIGH"
    elif parameter.kind == "choice":
        read = value if value in parameter.choices else None
        expected = " or ".join(parameter.choices)
    elif parameter.kind == "flag":
        read = value if isinstance(value, bool) else None
        expected = "true or false"
    elif parameter.kind == "float":
        read = _share(value)
        expected = "a number from 0 to 1"
    else:
        read = _count(value)
        expected = f"a whole number from 1 to {_MOST_QUESTIONS:,}"
    if read is None:
        problems.append(f"{parameter.name}: expected {expected}, got {value!r}")
    return read


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _count(value: Any) -> int | None:
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    return value if _is_whole(value) and 1 <= value <= _MOST_QUESTIONS else None


def _share(value: Any) -> float | None:
    try:
        share = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None
    return share if 0 <= share <= 1 else None


def _pair(value: Any) -> list[int] | None:
    """Parse LOW-HIGH, a single number or a pair as [low, high] with 1 <= low <= high."""
    if isinstance(value, str):
        found = _RANGE.fullmatch(value)
        value = [int(found[1]), int(found[2] or found[1])] if found else None
    elif _is_whole(value):
        value = [value, value]
    if not isinstance(value, list | tuple) or len(value) != 2 or not all(map(_is_whole, value)):
        return None
    return list(value) if 1 <= value[0] <= value[1] else None


def _contradictions(values: Mapping[str, Any]) -> list[str]:
    """Return conflicts between valid parameters."""
    fewest, most = values["statements"]
    _, largest = values["combination"]
    least_options, most_options = values["options"]
    found = []
    if most > MOST_PLACES:
        found.append(f"statements: at most {MOST_PLACES}, got {most}")
    if largest > MOST_TOGETHER:
        found.append(f"combination: at most {MOST_TOGETHER}, got {largest}")
    if largest >= fewest:
        found.append(
            f"combination: {largest} of {fewest} statements leaves none of the other truth value; "
            "use smaller combinations or more statements"
        )
    if least_options < 2 or most_options > MOST_OPTIONS:
        found.append(f"options: 2 to {MOST_OPTIONS}, got {least_options}-{most_options}")
    if LEVELS.index(values["allocate"]) < LEVELS.index(values["within"]):
        found.append(
            f"allocate: {values['allocate']} is coarser than within, {values['within']}; a "
            "question belongs to one group only"
        )
    return found or _too_many_options(values)


def _too_many_options(values: Mapping[str, Any]) -> list[str]:
    """Check the number of options: the fewest statements give the fewest distractors.

    All possible sizes of the answer key are tested.
    """
    fewest, _ = values["statements"]
    smallest, largest = values["combination"]
    sizes = range(smallest, largest + 1)
    forbid = values["forbid_subsets"]
    supply = min(
        distractor_supply(fewest, answer_key, sizes, forbid_subsets=forbid) for answer_key in sizes
    )
    if values["options"][1] <= supply + 1:
        return []
    rule = ", none a subset of another," if forbid else ""
    return [
        f"options: {fewest} statements in combinations of {smallest}-{largest}{rule} give at most "
        f"{supply + 1} options, got {values['options'][1]}"
    ]


# The items of a form by its recipe.

# Interleaving of a form's groups, so that every prefix is proportional.


def evenly_mixed(counts: Sequence[int], seed: int) -> Iterator[int]:
    """Return group indices, each as often as its count, interleaved evenly.

    Member k of a group of c is at (k + start) / c, start uniform in [0, 1).
    """
    starts = [Draws(seed, at, "order of groups").uniform() for at in range(len(counts))]
    queue = [(starts[at] / count, at, 0) for at, count in enumerate(counts) if count]
    heapify(queue)
    for _ in range(sum(counts)):
        _, at, asked = queue[0]
        yield at
        heapreplace(queue, ((asked + 1 + starts[at]) / counts[at], at, asked + 1))


# Single statements as items: the paper's statement-level setting (Figure 3, left).
#
# Each statement is one item with a form-independent id, so samples of one bank are paired by item.

SINGLE = "encyclo_k.single"


def compose_single(bank: BankReader, params: Mapping[str, Any], seed: int) -> Iterator[Item]:
    """Return the bank's statements, each an item, or the first ``sample`` of them.

    True and false statements of the books are interleaved: every prefix is proportional, and a
    sample is a prefix of a larger one of the same seed. Raises BadUsage for an invalid recipe,
    BadInput for an empty bank or a sample larger than the bank.
    """
    sample: int | None = recipe(params)["sample"]
    facts = bank.facts()
    if not facts:
        raise BadInput("the bank is empty: no statements")
    if sample is not None and sample > len(facts):
        raise BadInput(
            f"the bank has {len(facts):,} statements, fewer than the sample of {sample:,}",
            hint=f"use at most {len(facts)}, or leave --sample out for all statements",
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


# Groups of statements in a bank: sources of one question, with question counts.


class _Key(NamedTuple):
    """Hold a path of the taxonomy from discipline to some level, in one language."""

    path: tuple[str, ...]
    language: str


@dataclass(slots=True)
class Group:
    """Hold all statements that one question may use.

    Statement i < ``n_correct`` of ``ids`` is correct, the others are not; both by book, in the
    bank's order. ``origins``: statements with the same number must not occur in one question.
    ``weights``: correct statements by unit of allocation.
    """

    key: _Key
    ids: list[bytes] = field(default_factory=list)
    origins: list[int] = field(default_factory=list)
    n_correct: int = 0
    weights: Counter[_Key] = field(default_factory=Counter)

    @property
    def stratum(self) -> Stratum:
        """Return the taxonomy label common to its statements."""
        return Stratum(*self.key.path)

    @property
    def language(self) -> str:
        """Return the language of its statements."""
        return self.key.language

    @property
    def name(self) -> str:
        """Return its name for display: ``Science / Physics / Optics (en)``."""
        path = " / ".join(filter(None, self.key.path)) or "(no taxonomy label)"
        return f"{path} ({self.language})" if self.language else path


class Allocation(NamedTuple):
    """Hold the number of questions of a group."""

    group: Group
    questions: int


def group_statements(facts: Sequence[Fact], recipe: Recipe) -> list[Group]:
    """Return the groups of a bank in key order; empty for an empty bank."""
    depth = LEVELS.index(recipe.within) + 1
    groups: dict[_Key, list[_Shelf]] = {}
    for shelf in _shelves(facts):
        groups.setdefault(_Key(shelf.path[:depth], shelf.language), []).append(shelf)
    return [_group(key, groups[key], recipe) for key in sorted(groups)]


class _Shelf(NamedTuple):
    """Hold the statements of one book in one language, correct and false, in bank order."""

    path: tuple[str, str, str, str]
    language: str
    correct: list[Fact]
    false: list[Fact]


def _shelves(facts: Sequence[Fact]) -> list[_Shelf]:
    """Return the books in order, in one pass over all facts."""
    books: dict[tuple[str, str, str, str, str], tuple[list[Fact], list[Fact]]] = {}
    for fact in facts:
        at = fact.stratum
        key = at.discipline, at.field, at.subfield, at.book, fact.language
        pair = books.get(key)
        if pair is None:
            pair = books[key] = ([], [])
        pair[0 if fact.payload.correct else 1].append(fact)
    return [_Shelf(key[:4], key[4], *books[key]) for key in sorted(books)]


def _group(key: _Key, shelves: list[_Shelf], recipe: Recipe) -> Group:
    correct = [fact for shelf in shelves for fact in shelf.correct]
    false = [fact for shelf in shelves for fact in shelf.false]
    ids = [fact.id for fact in correct] + [fact.id for fact in false]
    depth = LEVELS.index(recipe.allocate) + 1
    weights: Counter[_Key] = Counter()
    for shelf in shelves:
        weights[_Key(shelf.path[:depth], shelf.language)] += len(shelf.correct)
    return Group(
        key=key,
        ids=ids,
        origins=list(range(len(ids))) if recipe.siblings else _origins(correct, false),
        n_correct=len(correct),
        weights=weights,
    )


def _origins(correct: list[Fact], false: list[Fact]) -> list[int]:
    """Return one number per family: a correct statement and all false statements derived from
    it."""
    numbers: dict[bytes, int] = {}
    families = [fact.id for fact in correct]
    for fact in false:
        statement: Statement = fact.payload
        families.append(statement.origin or fact.id)
    return [numbers.setdefault(family, len(numbers)) for family in families]


# ---------------------------------------------------------------- minimum statements


class _Need(NamedTuple):
    """Hold the maximum number of statements in a question: by truth value, and in total."""

    correct: int
    false: int
    together: int


def usable_groups(groups: Iterable[Group], recipe: Recipe) -> list[Group]:
    """Return the groups with enough statements for any question of the recipe.

    Raises BadInput with all other groups, or, with ``skip_small``, if no group is left.
    """
    need = _need(recipe)
    large: list[Group] = []
    problems: list[Problem] = []
    for group in groups:
        has = _supply(group)
        if all(there >= needed for there, needed in zip(has, need, strict=True)):
            large.append(group)
        else:
            problems.append(Problem(group.name, _shortage(has, need, siblings=recipe.siblings)))
    if not large and not problems:
        raise BadInput("the bank is empty: no statements to compose questions from")
    if problems and not (recipe.skip_small and large):
        raise BadInput(
            f"{len(problems)} groups of the bank have too few statements",
            problems,
            hint=_remedies(recipe),
        )
    return large


def _remedies(recipe: Recipe) -> str:
    """Return remedies for small groups, as options of the command."""
    remedies = ["add statements"]
    if recipe.within != "discipline":
        remedies.append(f"use a coarser level than --within {recipe.within}")
    remedies.append("lower --statements")
    if not recipe.skip_small:
        remedies.append("skip these groups with --skip-small")
    return f"{', '.join(remedies[:-1])}, or {remedies[-1]}"


def _need(recipe: Recipe) -> _Need:
    smallest, largest = recipe.combination
    most = recipe.statements[1]
    asked, others = largest, most - smallest
    correct = max(asked * (recipe.correct_share > 0), others * (recipe.correct_share < 1))
    false = max(asked * (recipe.correct_share < 1), others * (recipe.correct_share > 0))
    return _Need(correct, false, most)


def _supply(group: Group) -> _Need:
    """Return how many statements a group can give to one question: one per origin."""
    correct = set(group.origins[: group.n_correct])
    false = set(group.origins[group.n_correct :])
    return _Need(len(correct), len(false), len(correct | false))


def _shortage(has: _Need, need: _Need, *, siblings: bool) -> str:
    kind = "" if siblings else " of different origin"
    return (
        f"has {has.correct} correct and {has.false} incorrect statements{kind}, {has.together} in "
        f"all; a question may need {need.correct} correct, {need.false} incorrect, "
        f"{need.together} in all"
    )


# ------------------------------------------------------------------------ question counts


def allocate(groups: Sequence[Group], recipe: Recipe) -> list[Allocation]:
    """Return questions by group: the sum over its units of allocation (books, by default).

    A unit gets its share of ``base`` in proportion to its correct statements, rounded up, or its
    share of exactly ``questions``. Rounding up is the reading of the paper in which its 62 books
    give 5,038 questions.
    """
    weights = {key: n for group in groups for key, n in group.weights.items()}
    if recipe.questions is None:
        total = sum(weights.values())
        shares = {key: -(-recipe.base * n // total) for key, n in weights.items()}
    else:
        shares = _largest_remainder(recipe.questions, weights)
    return [Allocation(group, sum(shares[key] for key in group.weights)) for group in groups]


def _largest_remainder(slots: int, weights: Mapping[_Key, int]) -> dict[_Key, int]:
    """Distribute ``slots`` in exact proportion to the weights; equal remainders in key order."""
    total = sum(weights.values())
    shares = {key: slots * n // total for key, n in weights.items()}
    by_remainder = sorted(weights, key=lambda key: (-(slots * weights[key] % total), key))
    for key in by_remainder[: slots - sum(shares.values())]:
        shares[key] += 1
    return shares


# Sampling of statements from shuffled decks, so that a form uses all about equally often.
#
# The statements of a truth value are dealt in rounds: all occur once before any occurs twice. A
# statement whose origin is already in the question goes back to the front of its deck. Decks depend
# on the seed and their group only.


class Dealer:
    """Deal a group's statements, identified by their places in ``Group.ids``.

    The group must have passed ``usable_groups`` for the recipe; then every question can be dealt.
    """

    def __init__(self, group: Group, seed: int) -> None:
        name = "\x1f".join([*group.key.path, group.key.language])
        correct = range(group.n_correct)
        false = range(group.n_correct, len(group.ids))
        self._correct = _Deck(correct, seed, f"correct statements of {name}")
        self._false = _Deck(false, seed, f"incorrect statements of {name}")
        self._origins = group.origins
        self._origin_of = group.origins.__getitem__
        self._false_origins = {group.origins[card] for card in false}

    def deal(self, n_correct: int, n_false: int) -> list[int]:
        """Deal statements of different origins, the correct ones first."""
        hand = self._correct.take(n_correct) + self._false.take(n_false)
        if len(set(map(self._origin_of, hand))) == len(hand):
            return hand
        self._correct.put_back(n_correct)
        self._false.put_back(n_false)
        return self._deal_apart(n_correct, n_false)

    def _deal_apart(self, n_correct: int, n_false: int) -> list[int]:
        """Deal one statement at a time. Correct ones leave enough origins for the false ones."""
        origins, false_origins = self._origins, self._false_origins
        dealt: set[int] = set()
        spare = len(false_origins) - n_false

        def correct_fits(card: int) -> bool:
            nonlocal spare
            origin = origins[card]
            if origin in dealt or (origin in false_origins and not spare):
                return False
            spare -= origin in false_origins
            dealt.add(origin)
            return True

        def false_fits(card: int) -> bool:
            if origins[card] in dealt:
                return False
            dealt.add(origins[card])
            return True

        correct = self._correct.pick(n_correct, correct_fits)
        return correct + self._false.pick(n_false, false_fits)


class _Deck:
    """Hold statements in dealing order, followed by further shuffled rounds."""

    __slots__ = ("_all", "_cards", "_next", "_purpose", "_round", "_seed")

    def __init__(self, cards: range, seed: int, purpose: str) -> None:
        self._all = cards
        self._seed = seed
        self._purpose = purpose
        self._round = 0
        self._cards: list[int] = []
        self._next = 0

    def take(self, count: int) -> list[int]:
        """Return the next ``count`` statements."""
        start = self._next
        self._next = end = start + count
        while len(self._cards) < end:
            self._cards = self._cards[start:] + self._shuffled_round()
            start, self._next = 0, count
            end = count
        return self._cards[start:end]

    def put_back(self, count: int) -> None:
        """Undo the last ``take`` of ``count`` statements."""
        self._next -= count

    def pick(self, count: int, fits: Callable[[int], bool]) -> list[int]:
        """Return the next ``count`` statements that fit; skipped ones return to the front."""
        picked: list[int] = []
        passed: list[int] = []
        while len(picked) < count:
            (card,) = self.take(1)
            (picked if fits(card) else passed).append(card)
        if passed:
            self._cards = passed + self._cards[self._next :]
            self._next = 0
        return picked

    def _shuffled_round(self) -> list[int]:
        fresh = Draws(self._seed, self._round, self._purpose).shuffled(self._all)
        self._round += 1
        return fresh


# Ids of composed items, from parts that are encoded once.
#
# They hash the same bytes as ``records.items.item_id`` (a test compares them) in half the time.
# Composing a million questions spends a third of its time on ids.

_TEXT = (
    b'item\n["encyclo_k.composed",{"answer_key":%d,"asks_correct":%b,"options":[%b],"template":%d,'
    b'"type":"encyclo_k.composed","wording":%d},[%b],%b,%d,null]'
)


def encode_fact_id(identity: bytes) -> bytes:
    """Encode a fact's id as in canonical JSON."""
    return b'"%b"' % b2a_base64(identity, newline=False)


def encode_place(language: str, stratum: Stratum) -> bytes:
    """Encode language and stratum as in an item's canonical JSON."""
    return canonical_json([language, stratum])[1:-1]


@lru_cache(maxsize=65536)
def _encode_option(places: tuple[int, ...]) -> bytes:
    return canonical_json(places)


def composed_item_id(
    question: ComposedQuestion, facts: Iterable[bytes], place: bytes, number: int
) -> bytes:
    """Return ``item_id`` of the item with this payload, encoded facts and labels, and number."""
    text = _TEXT % (
        question.answer_key,
        b"true" if question.asks_correct else b"false",
        b",".join(map(_encode_option, question.options)),
        question.template,
        question.wording,
        b",".join(facts),
        place,
        number,
    )
    return sha256(text).digest()


# Composition (the paper's 3.1.3): statements of a bank become multiple-choice questions.
#
# A question shows true and false statements of one group. The correct option is exactly the set of
# statements with the requested truth value. Every other option has at least one statement of the
# other value.

COMPOSED = "encyclo_k.composed"


def compose_items(bank: BankReader, recipe: Mapping[str, Any], seed: int) -> Iterator[Item]:
    """Yield the items of one form; every prefix is proportional over the groups.

    ``Item.number`` is the place in the random order. The structure of item n depends on (seed, n),
    its statements on its group's decks. Changing the number of options therefore keeps statements,
    answer key, wording and the first distractors. Raises BadUsage for an invalid recipe, BadInput
    with every group that has too few statements.
    """
    checked = read_recipe(recipe)
    groups = usable_groups(group_statements(bank.facts(), checked), checked)
    return _stream(allocate(groups, checked), checked, seed)


def chance(items: Iterable[Item]) -> float:
    """Return the random-guess baseline: the mean of 1 / number of options; NaN without items."""
    odds = [1 / len(item.payload.options) for item in items]
    return fsum(odds) / len(odds) if odds else nan


class Reuse(NamedTuple):
    """Hold how often a form uses its statements.

    ``places`` is the total over all questions, ``statements`` the number of distinct ones. The
    others are the most and the fewest uses of a statement.
    """

    places: int
    statements: int
    most: int
    least: int


def reuse(items: Iterable[Item]) -> Reuse:
    """Return the reuse of statements over a form; all zero for an empty one."""
    uses = Counter(fact for item in items for fact in item.facts).values()
    return Reuse(sum(uses), len(uses), max(uses, default=0), min(uses, default=0))


# ---------------------------------------------------------------- generation


def _stream(allocations: Sequence[Allocation], recipe: Recipe, seed: int) -> Iterator[Item]:
    sources = [_Source(allocation.group, recipe, seed) for allocation in allocations]
    counts = [allocation.questions for allocation in allocations]
    for number, at in enumerate(evenly_mixed(counts, seed)):
        yield _question(recipe, seed, number, sources[at])


class _Source:
    """Hold a group as a source of questions: its dealer, and its encoded texts for ids."""

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
    """Generate item ``number`` from random words of its generator.

    One word gives the requested truth value. One is split into digits for the form, the places of
    the correct statements and the number of options. One is used per attempt at a distractor.
    """
    words = words_of(seed, number, "question")
    asks_correct = (next(words) >> 11) < recipe.correct_share * 9007199254740992
    rest, digit = divmod(next(words), len(source.forms))
    n, n_correct, template, wording, arrangements = source.forms[digit]
    rest, rank = divmod(rest, len(arrangements))
    answer_key, arrange = arrangements[rank]
    least, most = recipe.options
    options, at = draw_options(
        words,
        n,
        answer_key,
        least + rest % (most - least + 1),
        source.sizes,
        forbid_subsets=recipe.forbid_subsets,
    )
    payload = ComposedQuestion(
        asks_correct=asks_correct,
        template=template,
        wording=wording,
        options=options,
        answer_key=at,
    )
    if asks_correct:
        hand = source.deal(n_correct, n - n_correct)
    else:
        hand = source.deal(n - n_correct, n_correct)
        hand = hand[n - n_correct :] + hand[: n - n_correct]
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
    """Hold a question's structure without options.

    It has the numbers of statements and of correct ones, template, wording, and the possible places
    of the correct ones.
    """

    statements: int
    answer_key: int
    template: int
    wording: int
    arrangements: tuple[_Arrangement, ...]


@lru_cache(maxsize=16)
def _forms(
    statements: tuple[int, int], combination: tuple[int, int], templates: int, wordings: int
) -> tuple[_Form, ...]:
    """Return all structures, each with equal probability."""
    return tuple(
        _Form(n, answer_key, template, wording, _arrangements(n, answer_key))
        for n in range(statements[0], statements[1] + 1)
        for answer_key in range(combination[0], combination[1] + 1)
        for template in range(templates)
        for wording in range(wordings)
    )


class _Arrangement(NamedTuple):
    """Hold the places of the correct statements, and the function that permutes statements into
    them.
    """

    answer_key: Subset
    arrange: itemgetter[Any]


@lru_cache(maxsize=256)
def _arrangements(places: int, n_correct: int) -> tuple[_Arrangement, ...]:
    return tuple(
        _Arrangement(answer_key, _arrange(places, answer_key))
        for answer_key in subsets(places, n_correct)
    )


def _arrange(places: int, answer_key: Subset) -> itemgetter[Any]:
    hand = {place: at for at, place in enumerate(answer_key.places)}
    others = (place for place in range(places) if place not in hand)
    hand |= {place: at for at, place in enumerate(others, start=len(hand))}
    return itemgetter(*[hand[place] for place in range(places)])


def compose(bank: BankReader, recipe: Mapping[str, Any], seed: int) -> Iterator[Item]:
    """Yield single statements (``single``) or composed questions (``items``)."""
    if is_of_statements(recipe):
        return compose_single(bank, recipe, seed)
    return compose_items(bank, recipe, seed)
