"""What is behind the last step as facts: every true statement, and after it the one made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import structs

from proofstone.methods.encyclo_k.extraction.rows import Claim
from proofstone.methods.encyclo_k.payloads import Statement
from proofstone.ports import BuiltFact
from proofstone.records import Fact, Role, fact_id, seats_of

__all__ = ["facts_by"]

_KIND = "encyclo_k.statement"


def facts_by(models: Mapping[str, str]) -> Callable[[Iterable[Claim]], Iterator[BuiltFact]]:
    """The facts of claims, with the models of the build by seat as those who had a hand in them."""

    def facts(claims: Iterable[Claim]) -> Iterator[BuiltFact]:
        for claim in claims:
            true = _true_fact(claim)
            if claim.false is None:
                yield BuiltFact(true, roles=_roles(models, "wrote", "checked"))
            else:
                yield BuiltFact(
                    _false_fact(claim, true), roles=_roles(models, "wrote", "falsified", "checked")
                )

    return facts


def _true_fact(claim: Claim) -> Fact:
    draft, ground = claim.draft, claim.draft.ground
    fact = Fact(
        kind=_KIND,
        payload=Statement(text=draft.text, correct=True, title=draft.title),
        language=ground.language,
        stratum=ground.stratum,
        source=ground.source,
        passage=ground.passage or None,
        page=ground.page,
    )
    return structs.replace(fact, id=fact_id(fact))


def _false_fact(claim: Claim, true: Fact) -> Fact:
    false = claim.false
    if false is None:
        return true
    payload = Statement(
        text=false.text,
        correct=False,
        title=claim.draft.title,
        origin=true.id,
        error_type=false.error_type,
        reason=false.reason,
    )
    fact = structs.replace(true, id=b"", payload=payload)
    return structs.replace(fact, id=fact_id(fact))


def _roles(models: Mapping[str, str], *names: str) -> tuple[Role, ...]:
    by_role = {"wrote": "writer", "falsified": "falsifier", "checked": "judge"}
    return tuple(
        Role(name, model)  # type: ignore[arg-type]
        for name in names
        for model in seats_of(by_role[name], models).values()
    )
