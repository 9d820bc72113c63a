"""Groups of a bank's statements: what one question is made of, and how many questions each gets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from proofstone.errors import BadInput, Problem
from proofstone.methods.encyclo_k.payloads import Statement
from proofstone.methods.encyclo_k.recipe import LEVELS, Recipe
from proofstone.records import Fact, Stratum

__all__ = ["Allocation", "Group", "allocate", "group_statements", "usable_groups"]


class _Key(NamedTuple):
    """A path of the taxonomy from discipline to some level, in one language."""

    path: tuple[str, ...]
    language: str


@dataclass(slots=True)
class Group:
    """All statements from which one question may be made.

    Statement i < ``n_correct`` of ``ids`` is correct, the others are not; both by book, in
    the bank's order. ``origins``: statements with the same number must not meet in one question.
    ``weights``: correct statements by unit of allocation.
    """

    key: _Key
    ids: list[bytes] = field(default_factory=list)
    origins: list[int] = field(default_factory=list)
    n_correct: int = 0
    weights: Counter[_Key] = field(default_factory=Counter)

    @property
    def stratum(self) -> Stratum:
        """The place in the taxonomy that all its statements share."""
        return Stratum(*self.key.path)

    @property
    def language(self) -> str:
        """The language of all its statements."""
        return self.key.language

    @property
    def name(self) -> str:
        """As people read it: ``Science / Physics / Optics (en)``."""
        path = " / ".join(filter(None, self.key.path)) or "(no place in the taxonomy)"
        return f"{path} ({self.language})" if self.language else path


class Allocation(NamedTuple):
    """How many questions a group gets."""

    group: Group
    questions: int


def group_statements(facts: Sequence[Fact], recipe: Recipe) -> list[Group]:
    """The groups of a bank in the order of their keys; empty for an empty bank."""
    depth = LEVELS.index(recipe.within) + 1
    groups: dict[_Key, list[_Shelf]] = {}
    for shelf in _shelves(facts):
        groups.setdefault(_Key(shelf.path[:depth], shelf.language), []).append(shelf)
    return [_group(key, groups[key], recipe) for key in sorted(groups)]


class _Shelf(NamedTuple):
    """The statements of one book in one language, correct and false, in the bank's order."""

    path: tuple[str, str, str, str]
    language: str
    correct: list[Fact]
    false: list[Fact]


def _shelves(facts: Sequence[Fact]) -> list[_Shelf]:
    """The books in order. One pass over all facts, and little done for each."""
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
    """One number a family: a correct statement, and all falsifications that name it."""
    numbers: dict[bytes, int] = {}
    families = [fact.id for fact in correct]
    for fact in false:
        statement: Statement = fact.payload
        families.append(statement.origin or fact.id)
    return [numbers.setdefault(family, len(numbers)) for family in families]


# ---------------------------------------------------------------- enough statements?


class _Need(NamedTuple):
    """What a question may take at most: of each polarity, and in all."""

    correct: int
    false: int
    together: int


def usable_groups(groups: Iterable[Group], recipe: Recipe) -> list[Group]:
    """The groups with enough statements for any question of the recipe.

    Raises BadInput naming each of the others, or, with ``skip_small``, when none is left.
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
        raise BadInput("The bank is empty: it has no statement to compose questions from.")
    if problems and not (recipe.skip_small and large):
        raise BadInput(
            f"Too few statements in {len(problems)} of the bank's groups.",
            problems,
            hint=_remedies(recipe),
        )
    return large


def _remedies(recipe: Recipe) -> str:
    """What may be done about small groups, by the names of the command's options."""
    remedies = ["add statements"]
    if recipe.within != "discipline":
        remedies.append(f"take a coarser level than --within {recipe.within}")
    remedies.append("ask for fewer --statements")
    if not recipe.skip_small:
        remedies.append("leave these groups out with --skip-small")
    return f"{', '.join(remedies[:-1])}, or {remedies[-1]}"


def _need(recipe: Recipe) -> _Need:
    smallest, largest = recipe.combination
    most = recipe.statements[1]
    asked, others = largest, most - smallest
    correct = max(asked * (recipe.correct_share > 0), others * (recipe.correct_share < 1))
    false = max(asked * (recipe.correct_share < 1), others * (recipe.correct_share > 0))
    return _Need(correct, false, most)


def _supply(group: Group) -> _Need:
    """What a group can give to one question: statements of one origin count once."""
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


# ---------------------------------------------------------------- how many questions each


def allocate(groups: Sequence[Group], recipe: Recipe) -> list[Allocation]:
    """Questions by group: the sum over its units of allocation (books, by default).

    A unit gets its part of ``base`` in proportion to its correct statements, rounded up (the
    reading under which the paper's 62 books give 5,038 questions), or of exactly ``questions``.
    """
    weights = {key: n for group in groups for key, n in group.weights.items()}
    if recipe.questions is None:
        total = sum(weights.values())
        shares = {key: -(-recipe.base * n // total) for key, n in weights.items()}
    else:
        shares = _largest_remainder(recipe.questions, weights)
    return [Allocation(group, sum(shares[key] for key in group.weights)) for group in groups]


def _largest_remainder(seats: int, weights: Mapping[_Key, int]) -> dict[_Key, int]:
    """``seats`` in proportion to the weights, exactly; equal remainders in the keys' order."""
    total = sum(weights.values())
    shares = {key: seats * n // total for key, n in weights.items()}
    by_remainder = sorted(weights, key=lambda key: (-(seats * weights[key] % total), key))
    for key in by_remainder[: seats - sum(shares.values())]:
        shares[key] += 1
    return shares
