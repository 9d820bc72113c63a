"""Who would judge, or answer, the work of its own kin: told before anything is asked.

A model may favour what it or a sibling wrote, and knows what it once made. One entry a model: who
reads a warning wants to know whom to replace, not every pair.
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
    """A part in the material that ``model`` had as ``role``; ``is_same`` where that is the very
    model, else one of its family. ``n_items`` are those touched, of a target that has items."""

    role: str
    model: str
    is_same: bool
    n_items: int = 0


class SelfEvaluation(Struct, frozen=True, kw_only=True):
    """A model (judge or contestant) whose own or whose family's work stands in the material, as
    ``parts``; of a run in the ``n_items`` of ``item_set``."""

    model: str
    family: str
    parts: tuple[SelfEvaluationPart, ...]
    item_set: bytes | None = None
    n_items: int = 0


def self_evaluation(one: str, other: str, family: Family) -> bool | None:
    """True where two names mean one model, False where they are of one family, else None."""
    if same_model(one, other):
        return True
    own = family(one)
    return False if own and own == family(other) else None


def self_evaluation_of(
    models: Iterable[str], held: Sequence[tuple[str, str]], family: Family
) -> tuple[SelfEvaluation, ...]:
    """The ``models`` that are kin to one who ``held`` (role, model) a part, each once."""
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
    """Of the models of a build by seat: those that judge, and who makes what they judge. Who only
    answers is neither."""
    judges = [model for slot, model in models.items() if purpose_of(slot) == "judge"]
    makers = [(slot, model) for slot, model in models.items() if purpose_of(slot) == "build"]
    return judges, makers


def self_evaluation_of_runs(
    store: Store, specs: Sequence[RunSpec], family: Family
) -> tuple[SelfEvaluation, ...]:
    """The contestants of runs that had a part in the items they are asked, themselves or through
    their family: one entry a contestant and item set."""
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


# A line for each model that would judge or answer the work of its own kin.


def tell_lines(lines: Iterable[str], *, quiet: bool) -> None:
    """Warnings on stderr."""
    for line in lines:
        say(f"warning: {line}", quiet=quiet)


def judge_lines(self_evaluation: Sequence[SelfEvaluation]) -> Iterator[str]:
    """Of judges in a build: whose work each would judge."""
    for judge in self_evaluation:
        own = [part.role for part in judge.parts if part.is_same]
        others = [part for part in judge.parts if not part.is_same]
        said = [f"is itself the {_and_listed(own)}"] if own else []
        if others:
            held = _and_listed([f"{part.role} {visible(part.model)}" for part in others])
            said.append(f"is of one family ({visible(judge.family)}) with the {held}")
        yield f"the judge {visible(judge.model)} {' and '.join(said)}: it may favour its own work"


def run_lines(self_evaluation: Sequence[SelfEvaluation]) -> Iterator[str]:
    """Of contestants: what they and their family did in what they are asked, over all targets."""
    for model in dict.fromkeys(each.model for each in self_evaluation):
        mine = [each for each in self_evaluation if each.model == model]
        of = sum(each.n_items for each in mine)
        parts = [part for each in mine for part in each.parts]
        said = _did([part for part in parts if part.is_same])
        through = _did([part for part in parts if not part.is_same])
        if through:
            said.append(f"its family ({visible(mine[0].family)}) {_and_listed(through)}")
        yield (
            f"{visible(model)} had a hand in what it is asked: {', '.join(said)} of {of:,} "
            "questions; leaderboards mark it"
        )


def _did(parts: Sequence[SelfEvaluationPart]) -> list[str]:
    """``wrote 30``, a role once: of several models in it, the one that touched the most."""
    most: dict[tuple[str, str], int] = {}
    for part in parts:
        most[part.role, part.model] = most.get((part.role, part.model), 0) + part.n_items
    roles = dict.fromkeys(role for role, _model in most)
    return [f"{role} {max(n for (r, _m), n in most.items() if r == role):,}" for role in roles]


def _and_listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
