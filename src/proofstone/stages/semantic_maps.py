"""Where statements and questions lie in meaning, and how far their disciplines stand apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.draws import Draws
from proofstone.engines.stats import GroupsApart, SharedKeys, groups_apart
from proofstone.engines.store import Found, Store
from proofstone.errors import BadUsage, ExtraMissing
from proofstone.identity import short
from proofstone.ports import Contrasts, Embedder, Method
from proofstone.records import Fact, Stratum
from proofstone.stages.composing import fewer_facts, retired_facts
from proofstone.wording import noted

__all__ = ["MOST_TEXTS", "SemanticMap", "map_texts"]

MOST_TEXTS = 1200
_LEVELS = ("discipline", "field", "subfield", "book")
_PERPLEXITY = 30.0
_NATURES = {"bank": noted("true statements"), "form": noted("questions")}


class SemanticMap(Struct, frozen=True, kw_only=True):
    """Texts on a plane by t-SNE (``places``, n by 2), each with its group at ``level`` and the
    fact or item that it is of (``rows``); and what no picture is needed for: how far the groups
    stand apart (``separation``)."""

    target: str
    nature: str
    level: str
    embedder: str
    seed: int
    n_texts: int
    n_all: int
    separation: GroupsApart
    groups: tuple[str, ...]
    rows: tuple[bytes, ...]
    texts: tuple[str, ...]
    places: tuple[tuple[float, float], ...]


class _Text(NamedTuple):
    row: bytes
    text: str
    stratum: Stratum
    rests_on: tuple[bytes, ...]
    sources: tuple[str, ...]


def map_texts(
    store: Store,
    method: Method,
    found: Found,
    embedder: Embedder,
    *,
    seed: int = 0,
    most: int = MOST_TEXTS,
    k: int = 10,
) -> SemanticMap:
    """The map of a bank's true statements in force, or of a form's questions as their statements.

    Of more than ``most`` texts so many are drawn by ``seed``. Groups are of the coarsest level of
    the taxonomy that has two. Raises BadUsage where none has, or with fewer than four texts;
    ExtraMissing without scikit-learn.
    """
    texts = list(_texts(store, method, found))
    chosen = _drawn(texts, most, seed)
    level, groups = _grouped(chosen, found)
    names = tuple(dict.fromkeys(groups))
    vectors = embedder.embed([each.text for each in chosen])
    found_apart = groups_apart(
        vectors,
        np.array([names.index(group) for group in groups]),
        names,
        shared=_keys([each.rests_on for each in chosen]),
        clusters=_keys([each.sources for each in chosen]),
        k=k,
    )
    return SemanticMap(
        target=f"{found.kind}:{short(found.id)}",
        nature=_NATURES[found.kind],
        level=level,
        embedder=embedder.name,
        seed=seed,
        n_texts=len(chosen),
        n_all=len(texts),
        separation=found_apart,
        groups=tuple(groups),
        rows=tuple(each.row for each in chosen),
        texts=tuple(each.text for each in chosen),
        places=tuple((float(x), float(y)) for x, y in _plane(vectors, seed)),
    )


def _texts(store: Store, method: Method, found: Found) -> Iterator[_Text]:
    if not isinstance(method, Contrasts):
        raise BadUsage(f"{method.name} names no texts of its facts")
    if found.kind == "bank":
        whole = store.knowledge.bank(found.id)
        facts = list(fewer_facts(whole, retired_facts(store, whole)).facts())
        of_fact = {fact.id: fact for fact in facts}
        for contrast in method.fact_contrasts(facts):
            if not contrast.is_second:
                fact = of_fact[contrast.row]
                yield _Text(
                    fact.id, contrast.text, fact.stratum, _ground([fact]), (contrast.source,)
                )
        return
    for page in store.items.pages(found.id):
        for stored in page:
            loaded = stored.loaded
            told = list(method.fact_contrasts(loaded.facts))
            if told:
                yield _Text(
                    loaded.item.id,
                    " ".join(each.text for each in told),
                    loaded.item.stratum,
                    _ground(loaded.facts),
                    tuple(dict.fromkeys(each.source for each in told)),
                )


def _ground(facts: Sequence[Fact]) -> tuple[bytes, ...]:
    """What texts share that are near each other for that alone: a statement, its passage."""
    return tuple(dict.fromkeys(each for fact in facts for each in (fact.id, fact.passage) if each))


def _drawn(texts: Sequence[_Text], most: int, seed: int) -> list[_Text]:
    if len(texts) <= most:
        return list(texts)
    places = Draws(seed, 0, "semantic map").sample(range(len(texts)), most)
    return [texts[place] for place in sorted(places)]


def _grouped(texts: Sequence[_Text], found: Found) -> tuple[str, list[str]]:
    """The coarsest level at which texts differ, and each text's group there."""
    if len(texts) < 4:
        raise BadUsage(f"{found.kind} {found.name} has {len(texts)} texts: a map needs four")
    for level in _LEVELS:
        groups = [getattr(each.stratum, level) or "\u2014" for each in texts]
        if len(set(groups)) > 1:
            return level, groups
    raise BadUsage(
        f"all texts of {found.name} have one place in the taxonomy, so nothing can stand apart",
        hint="give sources their fields: proofstone ingest --meta, or build strata",
    )


def _keys(held: Sequence[Sequence[Any]]) -> SharedKeys:
    codes: dict[Any, int] = {}
    edges = [
        (unit, codes.setdefault(key, len(codes))) for unit, keys in enumerate(held) for key in keys
    ]
    units, keys = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    return SharedKeys(len(held), units, keys)


def _plane(vectors: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    try:
        from sklearn.manifold import TSNE  # noqa: PLC0415
    except ImportError as cause:
        raise ExtraMissing(
            "a map needs scikit-learn, which is not installed",
            hint="pip install 'proofstone[embeddings]'",
        ) from cause
    plane = TSNE(
        n_components=2,
        init="pca",
        metric="cosine",
        perplexity=min(_PERPLEXITY, (len(vectors) - 1) / 3),
        random_state=seed,
    )
    return np.asarray(plane.fit_transform(vectors))
