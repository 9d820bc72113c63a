"""Read what experts fixed for each discipline: the prototype Sigma_d of appendix B.

A prototype has families of methods (M), principles (P), answer types (T), constraints (C) and
anchors (A). Anchors are questions of the pool that are never selected, only compared with.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from proofstone.errors import BadInput, Problem

COMPONENTS = ("methods", "principles", "answer_types", "constraints", "anchors")

Names = tuple[str, ...]
Weight = Annotated[float, Meta(gt=0)]
Count = Annotated[int, Meta(ge=0)]


class Lists(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The five components, as one expert states them."""

    methods: Names = ()
    principles: Names = ()
    answer_types: Names = ()
    constraints: Names = ()
    anchors: Names = ()


class _Written(Lists, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table ``[[discipline]]`` of the file."""

    name: str
    size: Annotated[int, Meta(ge=1)] | None = None
    experts: dict[str, Lists] = {}
    strata: dict[str, Weight] = {}
    quotas: dict[str, tuple[Count, Count]] = {}
    anchor_weights: dict[str, Weight] = {}


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    discipline: tuple[_Written, ...]


class Prototype(Struct, frozen=True, kw_only=True):
    """What experts fixed for a discipline.

    Each component has all entries, of the discipline and of any expert. ``agreement`` is the share
    of the entries that all experts stated, by component; empty without two experts. ``strata`` are
    weights omega before they are normalized, ``quotas`` bounds (L, U), ``anchor_weights`` pi before
    they are normalized; ``size`` is the number of questions to choose (None: the option's).
    """

    discipline: str
    lists: Lists
    size: int | None
    strata: Mapping[str, float]
    quotas: Mapping[str, tuple[int, int]]
    anchor_weights: Mapping[str, float]
    n_experts: int
    agreement: Mapping[str, float]


def read_prototypes(path: Path) -> dict[str, Prototype]:
    """Return the prototypes of a TOML file by discipline, folded. Raises BadInput."""
    try:
        written = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), _File)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as cause:
        raise BadInput(
            f"cannot read the prototypes of {path}",
            [Problem(path.name, str(cause))],
            hint="one [[discipline]] table each, with name, methods, principles, answer_types, "
            "constraints and anchors",
        ) from cause
    problems = [Problem(path.name, each) for each in _problems(written)]
    if problems:
        raise BadInput(f"cannot use the prototypes of {path}", problems)
    return {each.name.casefold(): _prototype(each) for each in written.discipline}


def _problems(written: _File) -> Iterator[str]:
    seen: set[str] = set()
    for each in written.discipline:
        if each.name.casefold() in seen:
            yield f"{each.name!r} has two tables"
        seen.add(each.name.casefold())
        every = _united(each)
        for name in ("methods", "principles", "answer_types"):
            if not getattr(every, name):
                yield f"{each.name!r} has no {name}"
        for anchor in sorted(set(each.anchor_weights) - set(every.anchors)):
            yield f"{each.name!r}: {anchor!r} has a weight, but is not an anchor"
        for stratum, (least, most) in each.quotas.items():
            if least > most:
                yield f"{each.name!r}: the quota of {stratum!r} is {least} to {most}"


def _united(written: _Written) -> Lists:
    lists: list[Lists] = [written, *written.experts.values()]
    return Lists(
        **{
            name: tuple(dict.fromkeys(entry for one in lists for entry in getattr(one, name)))
            for name in COMPONENTS
        }
    )


def _prototype(written: _Written) -> Prototype:
    return Prototype(
        discipline=written.name,
        lists=_united(written),
        size=written.size,
        strata=written.strata,
        quotas=written.quotas,
        anchor_weights=written.anchor_weights,
        n_experts=len(written.experts),
        agreement=_agreement(written) if len(written.experts) > 1 else {},
    )


def _agreement(written: _Written) -> dict[str, float]:
    found = {}
    for name in COMPONENTS:
        stated: list[set[Any]] = [set(getattr(one, name)) for one in written.experts.values()]
        every = set.union(*stated)
        if every:
            found[name] = len(set.intersection(*stated)) / len(every)
    return found
