"""What is behind the last step as facts of a bank."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import structs

from proofstone.judging.difficulty import filtered_roles
from proofstone.methods.chinese_simpleqa.build.rows import Draft
from proofstone.methods.chinese_simpleqa.payloads import Pair, Twin
from proofstone.records.builds import seats_of
from proofstone.records.knowledge import BuiltFact, Fact, Role, RoleName, fact_id

_ROLES: tuple[tuple[RoleName, str], ...] = (
    ("checked", "checker"),
    ("checked", "judge"),
    ("checked", "sensitive"),
)


def facts_by(models: Mapping[str, str]) -> Callable[[Iterable[Draft]], Iterator[BuiltFact]]:
    """The facts of pairs, each with the passage that supports it (else the one it was written
    from), and with the models of the build by seat as those who had a hand in them."""
    wrote = tuple(Role("wrote", model) for model in seats_of("author", models).values())
    roles = tuple(
        dict.fromkeys(
            Role(name, model) for name, role in _ROLES for model in seats_of(role, models).values()
        )
    )
    roles += filtered_roles(seats_of("panel", models))

    def facts(drafts: Iterable[Draft]) -> Iterator[BuiltFact]:
        for draft in drafts:
            yield BuiltFact(_fact(draft), roles=(*wrote, *roles) if draft.by_author else roles)

    return facts


def _fact(draft: Draft) -> Fact:
    ground = draft.support if draft.support.passage else draft.ground
    payload = _payload(draft)
    fact = Fact(
        kind=str(type(payload).__struct_config__.tag),
        payload=payload,
        language=draft.language,
        stratum=draft.stratum,
        source=ground.source or None,
        passage=ground.passage or None,
        page=ground.page,
    )
    return structs.replace(fact, id=fact_id(fact))


def _payload(draft: Draft) -> Pair | Twin:
    asked = structs.asdict(draft.asked())
    if draft.closed is None:
        return Pair(**asked)
    closed = draft.closed
    return Twin(
        **asked,
        closed_question=closed.question,
        options=closed.options,
        gold=closed.gold,
        origin=draft.origin,
        made=draft.made,
    )
