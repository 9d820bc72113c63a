"""A line for each model that would judge or answer the work of its own kin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from proofstone.session.terminal import say, visible

if TYPE_CHECKING:
    from proofstone.run.self_preference import Kin, KinPart


def tell_lines(lines: Iterable[str], *, quiet: bool) -> None:
    """Warnings on stderr."""
    for line in lines:
        say(f"warning: {line}", quiet=quiet)


def judge_lines(kin: Sequence[Kin]) -> Iterator[str]:
    """Of judges in a build: whose work each would judge."""
    for judge in kin:
        own = [part.role for part in judge.parts if part.is_same]
        others = [part for part in judge.parts if not part.is_same]
        said = [f"is itself the {_listed(own)}"] if own else []
        if others:
            held = _listed([f"{part.role} {visible(part.model)}" for part in others])
            said.append(f"is of one family ({visible(judge.family)}) with the {held}")
        yield f"the judge {visible(judge.model)} {' and '.join(said)}: it may favour its own work"


def run_lines(kin: Sequence[Kin]) -> Iterator[str]:
    """Of contestants: what they and their family did in what they are asked, over all targets."""
    for model in dict.fromkeys(each.model for each in kin):
        mine = [each for each in kin if each.model == model]
        of = sum(each.n_items for each in mine)
        parts = [part for each in mine for part in each.parts]
        said = _did([part for part in parts if part.is_same])
        through = _did([part for part in parts if not part.is_same])
        if through:
            said.append(f"its family ({visible(mine[0].family)}) {_listed(through)}")
        yield (
            f"{visible(model)} had a hand in what it is asked: {', '.join(said)} of {of:,} "
            "questions; leaderboards mark it"
        )


def _did(parts: Sequence[KinPart]) -> list[str]:
    """``wrote 30``, a role once: of several models in it, the one that touched the most."""
    most: dict[tuple[str, str], int] = {}
    for part in parts:
        most[part.role, part.model] = most.get((part.role, part.model), 0) + part.n_items
    roles = dict.fromkeys(role for role, _model in most)
    return [f"{role} {max(n for (r, _m), n in most.items() if r == role):,}" for role in roles]


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
