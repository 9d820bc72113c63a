"""Find judges and models that would evaluate or answer material by related models.

A model may favor what it or a related model wrote (self-preference), and may know what it once
made. There is one entry per model, since the fix is to replace that model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from proofstone.records.models import same_model
from proofstone.session.terminal import say, visible

if TYPE_CHECKING:
    from proofstone.run.plan import RunSpec
    from proofstone.store.store import Store


Family = Callable[[str], str]


class SelfEvaluationPart(Struct, frozen=True):
    """The part (``role``) that ``model`` had in the material, in ``n_items`` of its items.

    ``is_same`` is True for the very model and False for one of its family.
    """

    role: str
    model: str
    is_same: bool
    n_items: int = 0


class SelfEvaluation(Struct, frozen=True, kw_only=True):
    """A judge or evaluated model whose own or whose family's work is in the material, as ``parts``.

    For a run, ``n_items`` is the size of ``item_set``.
    """

    model: str
    family: str
    parts: tuple[SelfEvaluationPart, ...]
    item_set: bytes | None = None
    n_items: int = 0


def self_evaluation(one: str, other: str, family: Family) -> bool | None:
    """Return True for two names of one model, False for one family, None for unrelated models."""
    if same_model(one, other):
        return True
    own = family(one)
    return False if own and own == family(other) else None


def self_evaluation_of(
    models: Iterable[str], held: Sequence[tuple[str, str]], family: Family
) -> tuple[SelfEvaluation, ...]:
    """Return those of ``models`` related to one that ``held`` a (role, model) part, each once."""
    found = []
    for model in dict.fromkeys(models):
        parts = tuple(
            SelfEvaluationPart(role, other, is_same)
            for role, other in dict.fromkeys(held)
            if (is_same := self_evaluation(model, other, family)) is not None
        )
        if parts:
            found.append(SelfEvaluation(model=model, family=family(model), parts=parts))
    return tuple(found)


def held_by_builders(
    models: Mapping[str, str], purpose_of: Callable[[str], str]
) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the judges among a build's models, and the (role, model) parts that they judge.

    A model that only answers items is neither.
    """
    judges = [model for slot, model in models.items() if purpose_of(slot) == "judge"]
    makers = [(slot, model) for slot, model in models.items() if purpose_of(slot) == "build"]
    return judges, makers


def self_evaluation_of_runs(
    store: Store, specs: Sequence[RunSpec], family: Family
) -> tuple[SelfEvaluation, ...]:
    """Return the evaluated models of runs that helped write or filter their items.

    A model counts if it or its family took part; one entry per model and item set.
    """
    found = []
    for item_set in dict.fromkeys(spec.item_set for spec in specs):
        touched = store.roles.of_items([item_set])
        if not touched:
            continue
        n_items = store.items.item_set(item_set).n_items
        for model in dict.fromkeys(spec.model for spec in specs if spec.item_set == item_set):
            parts = tuple(
                SelfEvaluationPart(role.role, role.model, is_same, len(items))
                for role, items in touched.items()
                if (is_same := self_evaluation(model, role.model, family)) is not None
            )
            if parts:
                found.append(
                    SelfEvaluation(
                        model=model, family=family(model), parts=parts, item_set=item_set,
                        n_items=n_items,
                    )
                )  # fmt: skip
    return tuple(found)


# One line per model that would evaluate or answer work of its own family.


def tell_lines(lines: Iterable[str], *, quiet: bool) -> None:
    """Print warnings on stderr."""
    for line in lines:
        say(f"warning: {line}", quiet=quiet)


def judge_lines(self_evaluation: Sequence[SelfEvaluation]) -> Iterator[str]:
    """Yield a warning per judge in a build, naming whose work it would judge."""
    for judge in self_evaluation:
        own = [part.role for part in judge.parts if part.model == judge.model]
        alike = [part for part in judge.parts if part.is_same and part.model != judge.model]
        others = [part for part in judge.parts if not part.is_same]
        said = [f"is itself the {_and_listed(own)}"] if own else []
        if alike:
            held = _and_listed([f"{part.role} {visible(part.model)}" for part in alike])
            said.append(f"has the same model name as the {held}")
        if others:
            held = _and_listed([f"{part.role} {visible(part.model)}" for part in others])
            said.append(f"shares a model family ({visible(judge.family)}) with the {held}")
        yield (
            f"the judge {visible(judge.model)} {' and '.join(said)}: it may favor its own "
            "work (self-preference)"
        )


def run_lines(self_evaluation: Sequence[SelfEvaluation]) -> Iterator[str]:
    """Yield a warning per evaluated model: its and its family's part in the items."""
    for model in dict.fromkeys(each.model for each in self_evaluation):
        mine = [each for each in self_evaluation if each.model == model]
        of = sum(each.n_items for each in mine)
        parts = [part for each in mine for part in each.parts]
        said = _did([part for part in parts if part.is_same])
        through = _did([part for part in parts if not part.is_same])
        if through:
            said.append(f"its family ({visible(mine[0].family)}) {_and_listed(through)}")
        yield (
            f"self-evaluation: {visible(model)} helped make the items it answers: "
            f"{', '.join(said)} of {of:,} questions; leaderboards mark it"
        )


def _did(parts: Sequence[SelfEvaluationPart]) -> list[str]:
    """Return parts such as ``wrote 30``, each role once with its model of the most items."""
    most: dict[tuple[str, str], int] = {}
    for part in parts:
        most[part.role, part.model] = most.get((part.role, part.model), 0) + part.n_items
    roles = dict.fromkeys(role for role, _model in most)
    return [f"{role} {max(n for (r, _m), n in most.items() if r == role):,}" for role in roles]


def _and_listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
