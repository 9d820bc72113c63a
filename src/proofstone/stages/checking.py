"""Checking a bank or a form: can its answers be told without knowing anything?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from proofstone.engines.giveaway import (
    Area,
    FeatureTable,
    GiveAway,
    audit_give_away,
    principal_columns,
    sift_give_aways,
    surface_features,
    word_features,
)
from proofstone.engines.store import Found, Store
from proofstone.errors import BadUsage
from proofstone.identity import short
from proofstone.ports import Contrast, Contrasts, Embedder, Method
from proofstone.records import Estimate
from proofstone.stages.composing import fewer_facts, retired_facts

__all__ = ["Checked", "Dropped", "Leak", "ToldRow", "check_give_aways", "told_rows"]

_CONFIDENCE = 0.95
_ESTIMAND = "other sources like these"


class Leak(Struct, frozen=True, kw_only=True):
    """A thing that tells by itself: how often it ranks a text of the second kind above one of the
    first (0.5: not at all), and its mean in both."""

    feature: str
    area: Estimate
    mean_first: float
    mean_second: float


class Dropped(Struct, frozen=True, kw_only=True):
    """What dropping came to: the areas on the ``held_out`` sources, before and after; how many rows
    are to go (``rows``, with their texts), and whether ``target`` was reached."""

    target: float
    before: Estimate
    after: Estimate
    reached: bool
    held_out: int
    rows: tuple[tuple[bytes, str], ...]


class Checked(Struct, frozen=True, kw_only=True):
    """A give-away audit of a bank or form. ``areas`` are those of each kind of classifier; the
    ``worst`` of them tells most; ``companions`` are counted things that go with what the
    ``embedder``'s vectors tell, with their rank correlation."""

    target: str
    kinds: tuple[str, str]
    counts: tuple[int, int]
    sources: int
    folds: int
    areas: dict[str, Estimate]
    worst: str
    leaks: tuple[Leak, ...]
    flags: tuple[str, ...]
    embedder: str = ""
    companions: tuple[tuple[str, float], ...] = ()
    dropped: Dropped | None = None


class ToldRow(Struct, frozen=True, kw_only=True):
    """A fact that is to go, as a row of a work list that ``retire --from`` carries out; a person
    may write another ``decision``."""

    target: str
    text: str
    action: str = "retire"
    decision: str = "retire"
    why: str = "gives itself away"


def check_give_aways(
    store: Store,
    method: Method,
    found: Found,
    *,
    drop_to: float | None = None,
    embedder: Embedder | None = None,
) -> Checked:
    """The give-away audit of a bank's facts or a form's items, on their ``embedder``'s vectors too
    where there is one; with ``drop_to`` which facts of a
    bank would have to go until no more than that area is left on other sources.

    Raises BadUsage where the method has no two kinds of texts, for fewer than four sources where
    facts are to go, and for items, of which none can go alone.
    """
    contrasting = _contrasting(method)
    nature: Literal["fact", "item"] = "fact" if found.kind == "bank" else "item"
    if drop_to is not None and nature == "item":
        raise BadUsage(
            "options cannot go one by one, so --drop-to is for banks",
            hint="check the bank that the form was composed from",
        )
    contrasts = _contrasts(store, contrasting, found)
    texts = [contrast.text for contrast in contrasts]
    is_second = np.array([contrast.is_second for contrast in contrasts], dtype=np.bool_)
    source = _codes([contrast.source for contrast in contrasts])
    tables = {"lengths and signs": surface_features(texts), "words": word_features(texts)}
    vectors = None if embedder is None else embedder.embed(texts)
    audit = audit_give_away(tables, is_second, source, embeddings=vectors, confidence=_CONFIDENCE)
    dropped = None
    if drop_to is not None:
        if vectors is not None:
            tables["components"] = principal_columns(vectors)
        dropped = _dropped(tables, contrasts, is_second, source, drop_to)
    checked = _checked(found, contrasting.kinds[nature], audit, dropped)
    return structs.replace(checked, embedder="" if embedder is None else embedder.name)


def told_rows(checked: Checked) -> Iterator[ToldRow]:
    """The facts that are to go, as rows of a work list."""
    for identity, text in checked.dropped.rows if checked.dropped else ():
        yield ToldRow(target=f"fact:{short(identity)}", text=text)


def _contrasting(method: Method) -> Contrasts:
    if not isinstance(method, Contrasts):
        raise BadUsage(f"{method.name} names no two kinds of texts that could give themselves away")
    return method


def _contrasts(store: Store, method: Contrasts, found: Found) -> list[Contrast]:
    """Those of a bank's facts in force, or of a form's items."""
    if found.kind == "bank":
        whole = store.knowledge.bank(found.id)
        return list(method.fact_contrasts(fewer_facts(whole, retired_facts(store, whole)).facts()))
    pages = store.items.pages(found.id)
    return list(method.item_contrasts(stored.loaded for page in pages for stored in page))


def _codes(names: Sequence[str]) -> NDArray[np.int64]:
    codes: dict[str, int] = {}
    return np.array([codes.setdefault(name, len(codes)) for name in names], dtype=np.int64)


def _dropped(
    tables: dict[str, FeatureTable],
    contrasts: Sequence[Contrast],
    is_second: NDArray[np.bool_],
    source: NDArray[np.int64],
    target: float,
) -> Dropped:
    values = np.concatenate([table.values for table in tables.values()], axis=1)
    try:
        sifted = sift_give_aways(values, is_second, source, target=target)
    except ValueError as cause:
        raise BadUsage(f"nothing can be dropped: {cause}") from None
    gone = np.flatnonzero(~sifted.kept).tolist()
    return Dropped(
        target=target,
        before=_estimate(sifted.before),
        after=_estimate(sifted.after),
        reached=sifted.reached,
        held_out=len(np.unique(source[sifted.held_out])),
        rows=tuple((contrasts[place].row, contrasts[place].text) for place in gone),
    )


def _checked(
    found: Found, kinds: tuple[str, str], audit: GiveAway, dropped: Dropped | None
) -> Checked:
    return Checked(
        target=f"{found.kind}:{short(found.id)}",
        kinds=kinds,
        counts=(audit.n_first, audit.n_second),
        sources=audit.sources,
        folds=audit.folds,
        areas={name: _estimate(area) for name, area in audit.areas.items()},
        worst=audit.worst,
        leaks=tuple(
            Leak(
                feature=leak.name,
                area=_estimate(leak.area),
                mean_first=leak.mean_first,
                mean_second=leak.mean_second,
            )
            for leak in audit.leaks
        ),
        flags=audit.flags,
        companions=tuple((each.name, each.correlation) for each in audit.companions),
        dropped=dropped,
    )


def _estimate(area: Area) -> Estimate:
    return Estimate(
        value=float(area.value),
        n=area.pairs,
        low=float(area.low),
        high=float(area.high),
        level=_CONFIDENCE,
        estimand=_ESTIMAND,
        made_by="share of concordant pairs; Obuchowski's variance by source, no less than that of "
        "areas with the kinds swapped source by source",
        resampled="sources",
    )
