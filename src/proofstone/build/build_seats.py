"""Who sits where in a build: models as people name them, by role or one for all, at seats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proofstone.build.plan import builder_of
from proofstone.errors import BadUsage
from proofstone.method import find_method, method_names
from proofstone.records.building import Maker
from proofstone.records.builds import role_of_seat, seated

# A model for all roles that build, or models by role: several where a panel holds it.
Models = str | Mapping[str, str | Sequence[str]]


def maker_of_kind(kind: str) -> Maker:
    """Who builds ``kind`` in steps: a method, or what places sources. Raises BadUsage."""
    from proofstone.build.place import PLACING  # noqa: PLC0415

    if kind in PLACING.pipelines:
        return PLACING
    for name in method_names():
        method = find_method(name)
        if kind in method.pipelines:
            return method
    raise BadUsage(f"no method builds {kind!r} in steps")


def models_by_seat(
    method: Maker, kind: str, models: Models, judge: str | Sequence[str]
) -> dict[str, str]:
    """The model at each seat: as named by role, else the one for all roles of its purpose. The
    seats of a panel stand in the order of their models' names, so that the order in which they are
    named makes no other build."""
    roles = builder_of(method, kind).roles
    by_role = {} if isinstance(models, str) else {r: _listed(m) for r, m in models.items()}
    usual = {"build": _listed(models) if isinstance(models, str) else [], "judge": _listed(judge)}
    for role, declared in roles.items():
        if role not in by_role and not declared.optional and usual.get(declared.purpose):
            by_role[role] = usual[declared.purpose]
    return {
        seat: model
        for role, named in by_role.items()
        for seat, model in seated(role, sorted(named)).items()
    }


def purposes_of(method: Maker, kind: str, seats: Mapping[str, str]) -> dict[str, str]:
    """What the model at each seat is asked for; empty at a seat of no role."""
    roles = builder_of(method, kind).roles
    return {
        seat: roles[role].purpose if (role := role_of_seat(seat)) in roles else "" for seat in seats
    }


def _listed(models: str | Sequence[str]) -> list[str]:
    return ([models] if models else []) if isinstance(models, str) else list(models)
