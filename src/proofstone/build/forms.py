"""Building: facts into a bank, a bank into forms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.method import Method, find_method, method_names
from proofstone.records.banks import Parameter
from proofstone.records.calls import Clock
from proofstone.records.items import ItemSet
from proofstone.records.knowledge import Bank
from proofstone.run.forms import build_forms
from proofstone.session.session import Session, method_of_bank
from proofstone.session.targets import Target
from proofstone.store.store import Store


def build_bank(
    store: Store,
    method: Method,
    kind: str,
    inputs: Sequence[str],
    *,
    name: str,
    params: Mapping[str, Any],
    seed: int,
    clock: Clock,
) -> tuple[Bank, bool]:
    """Builds facts of ``kind`` from ``inputs`` into a bank; returns it and whether it is new.

    Raises BadUsage for a kind the method does not build, BadInput where nothing came out.
    """
    if kind not in method.builders:
        raise BadUsage(
            f"{method.name} does not build {kind!r}; it builds {', '.join(method.builders)}"
        )
    builder, parameters = method.builders[kind]
    built = list(builder(inputs, read_parameters(parameters, params), seed))
    if not built:
        raise BadInput(
            f"no {kind} came out of {', '.join(inputs)}",
            hint="look at the inputs: are they empty, or were all rows dropped?",
        )
    return store.knowledge.add_bank(name, method.name, built, clock.now())


def read_parameters(parameters: Sequence[Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters with their defaults, checked. Raises BadInput with every problem."""
    known = {parameter.name: parameter for parameter in parameters}
    problems = list(_unknown(known, given))
    values = {}
    for parameter in parameters:
        value = given.get(parameter.name, parameter.default)
        if parameter.choices and value not in parameter.choices:
            allowed = ", ".join(parameter.choices)
            problems.append(Problem(parameter.name, f"expected one of {allowed}, not {value!r}"))
        values[parameter.name] = value
    if problems:
        raise BadInput("these parameters cannot be used", problems)
    return values


def _unknown(known: Mapping[str, Parameter], given: Mapping[str, Any]) -> Iterator[Problem]:
    for name in given:
        if name not in known:
            yield Problem(name, f"no such parameter; there is: {', '.join(known)}")


def method_building(session: Session, kind: str) -> Method:
    """The method that builds facts or forms of ``kind``."""
    for name in method_names():
        method = find_method(name)
        if kind in method.builders:
            return method
    raise BadUsage(f"no method builds {kind!r}")


def make_bank(
    session: Session,
    /,
    kind: str,
    inputs: Sequence[str],
    *,
    name: str,
    seed: int = 0,
    method: str | None = None,
    **params: Any,
) -> Bank:
    """Builds facts of ``kind`` ("statements") from inputs into a bank, by the method named or
    else by the one that builds this kind."""
    bank, _is_new = build_bank(
        session.store,
        find_method(method) if method else method_building(session, kind),
        kind,
        [str(entry) for entry in inputs],
        name=name,
        params=params,
        seed=seed,
        clock=session.clock,
    )
    return bank


def compose_forms(
    session: Session,
    /,
    bank: Target,
    *,
    seeds: Iterable[int] = (0,),
    name: str | None = None,
    **params: Any,
) -> list[ItemSet]:
    """Composes one form a seed from a bank; parameters are the method's own."""
    found = session.find(bank, "bank")
    method = method_of_bank(session, found)
    return build_forms(
        session.store,
        method,
        found.id,
        params=params,
        seeds=list(seeds),
        clock=session.clock,
        name=name,
    )
