"""By which policy reviews of a bank or form are decided where none is named."""

from __future__ import annotations

from pathlib import Path

from msgspec import structs

from proofstone.engines.store import Found, Store
from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.methods import find_method
from proofstone.ports import ReviewsAnswers
from proofstone.records import ReviewPolicy
from proofstone.stages.build_plans import builder_of
from proofstone.stages.review_answers import are_private, usual_policy
from proofstone.stages.review_facts import facts_held, method_of

__all__ = ["policy_in_force", "policy_with"]


def policy_with(store: Store, found: Found, sources: Path | None) -> ReviewPolicy:
    """The policy in force, with a person's own list of authoritative ``sources`` over the carried
    one. Raises BadUsage for statements, BadInput for a list that cannot be read."""
    policy = policy_in_force(store, found)
    if sources is None:
        return policy
    method = method_of(store, found)
    if not isinstance(method, ReviewsAnswers):
        raise BadUsage(
            f"--sources: {found.name} holds statements, and no pages stand behind reviews of them",
            hint="it is for questions that people answer",
        )
    return structs.replace(policy, answers=method.answer_policy(_lines(sources), sources.name))


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as cause:
        raise BadInput(
            f"{path} cannot be read as a list of sites", [Problem(path.name, str(cause))],
            hint="a text file in UTF-8, with a site a line, as wikipedia.org",
        ) from None  # fmt: skip


def policy_in_force(store: Store, found: Found) -> ReviewPolicy:
    """The policy of the newest decision on a bank or form, or on one that it corrects; of a form
    without any that of its bank; else the usual one of its method."""
    made = store.decided.behind(found.id)
    if not made and found.kind == "form":
        bank = store.items.item_set(found.id).bank
        made = [] if bank is None else store.decided.behind(bank)
    if made:
        return made[-1].policy
    method = method_of(store, found)
    is_private = isinstance(method, ReviewsAnswers) and _is_private(store, found)
    return usual_policy(method, is_private=is_private)


def _is_private(store: Store, found: Found) -> bool:
    """Whether the questions of a bank or form are about private documents: as their build was told,
    else by the licenses of the documents."""
    bank = found.id if found.kind == "bank" else store.items.item_set(found.id).bank
    builds = [] if bank is None else store.builds.of_bank(bank)
    for _key, build in reversed(builds):
        name = builder_of(find_method(build.method), build.kind).documents
        if name and name in build.params:
            return bool(build.params[name] == "private")
    return are_private(store, facts_held(store, found).facts)
