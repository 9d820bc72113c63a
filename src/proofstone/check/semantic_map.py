"""Map statements and questions by embeddings, and measure the separation of their groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from proofstone.errors import BadUsage, needed
from proofstone.method import Method, find_method
from proofstone.page.figure import FIGURE_KINDS, figure_files
from proofstone.page.section import Column, Figure, Mark, Section, Table, points, shown_estimate
from proofstone.records.calls import EmbeddingModel
from proofstone.records.ids import Draws, short
from proofstone.records.items import ItemSet
from proofstone.records.knowledge import Fact, Stratum
from proofstone.records.tables import Audience, GroupsApart, GroupSeparation, StoredMap
from proofstone.run.forms import excluded_facts, fewer_facts
from proofstone.search.retrieval import open_embedding_model
from proofstone.session.session import Session, Target, method_of
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.estimates import mean_estimates
from proofstone.stats.intervals import equal_weights
from proofstone.store.lookup import Found
from proofstone.store.store import Store
from proofstone.wording.messages import noted, say, word

# A t-SNE map of texts, as a figure and as a section of a page.

_SHOWN = 120


_LONGEST_NAME = 80  # longer names of groups are shortened


def map_figure(kept: StoredMap, told: Sequence[str]) -> Figure:
    """Return the map as a figure: a panel per group, with its texts in front of all others.

    ``told`` are the tooltips of its points; empty if texts must not be shown.
    """
    index = kept.separation.index
    names = _names(kept)
    marks = [
        (names[group], place, text)
        for group, place, text in zip(kept.group, kept.places, told, strict=True)
    ]
    return Figure(
        name="semantic-map",
        kind="map",
        title=say("Semantic map of {nature}", nature=word(kept.nature)),
        subtitle=say(
            "{n:,} texts, t-SNE of {embedding_model}, seed {seed}; separation of the groups "
            "{value:.2f} [{low:.2f}, {high:.2f}] (0 mixed, 1 separate). Positions and distances "
            "have no scale.",
            n=len(kept.rows), embedding_model=kept.embedding_model, seed=kept.seed,
            value=index.value, low=index.low, high=index.high,
        ),
        marks=tuple(
            Mark(row=group, column=group, x=x, value=y, text=text[:_SHOWN])
            for group, (x, y), text in sorted(marks)
        ),
        value_unit="number",
        x_unit="number",
    )  # fmt: skip


def map_section(name: str, kept: StoredMap, told: Sequence[str]) -> Section:
    """Return the section with the map, its separation index, and each group's share.

    The index does not depend on the map. ``name`` distinguishes it from other maps of the page.
    """
    apart = kept.separation
    return Section(
        name=f"semantic-map-{name}",
        title=say("Semantic separation of {nature}", nature=word(kept.nature)),
        finding=say(
            "Separation by {level}: {value:.2f} [{low:.2f}, {high:.2f}], where 0 is mixed and 1 "
            "is separate.",
            level=word(kept.level), value=apart.index.value, low=apart.index.low,
            high=apart.index.high,
        ),
        plain=say(
            "{share}% of the {k} nearest neighbors of a text belong to its own group; {chance}% "
            "are expected by chance.",
            k=apart.k, share=shown_estimate(apart.agreement), chance=points(apart.chance),
        ),
        cannot=say(
            "Distances on the map have no scale: they do not measure how similar two texts are."
        ),
        how=say(
            "Stored by {command}: embeddings by {embedding_model}, {n:,} of {n_all:,} texts, "
            "seed {seed}. Texts with a common statement or passage are never counted as "
            "neighbors; intervals resample sources.",
            command="check --map", embedding_model=kept.embedding_model, n=len(kept.rows),
            n_all=kept.n_all,
            seed=kept.seed,
        ),
        tables=(_groups(kept),),
        figures=(map_figure(kept, told),),
    )  # fmt: skip


def _groups(kept: StoredMap) -> Table:
    rows = tuple(
        (name, group.n, group.agreement, group.chance)
        for name, group in zip(_names(kept), kept.separation.groups, strict=True)
    )
    columns = (
        Column(key="group", name=say("Group")),
        Column(key="n", name=say("Texts"), digits=0),
        Column(key="own", name=say("Neighbors in the same group"), unit="share"),
        Column(key="chance", name=say("By chance"), unit="share"),
    )
    return Table(title=say("Groups"), columns=columns, rows=rows)


def _names(kept: StoredMap) -> list[str]:
    return [
        group.name if len(group.name) <= _LONGEST_NAME else f"group {place}"
        for place, group in enumerate(kept.separation.groups, start=1)
    ]


# Separation of groups in embedding space: the groups of each text's nearest neighbors.

Floats = NDArray[np.float64]


def groups_apart(
    vectors: Floats,
    group: NDArray[np.integer],
    names: tuple[str, ...],
    *,
    shared: SharedKeys,
    clusters: SharedKeys,
    k: int = 10,
    confidence: float = 0.95,
) -> GroupsApart:
    """Measure the separation of ``group`` (n, codes into ``names``) among ``vectors``.

    ``vectors`` (n, dimensions) have length 1; the distance is by cosine. Texts with a common key in
    ``shared`` (a statement, a passage) are never neighbors. The CI resamples ``clusters``
    (sources). A text with fewer than ``k`` possible neighbors has all of them. Raises BadUsage for
    fewer than two groups or k below 1.
    """
    if k < 1 or len(np.unique(group)) < 2:
        raise BadUsage("separation needs texts of two groups, and k of 1 or more")
    near = _apart(np.asarray(vectors, dtype=np.float32), shared)
    is_alike = group[:, None] == group[None, :]
    allowed = np.isfinite(near)
    there = allowed.any(axis=1)
    agreement = np.where(there, _agreement(near, is_alike, k), np.nan)
    chance = (is_alike & allowed).sum(axis=1) / np.maximum(allowed.sum(axis=1), 1)
    used = np.flatnonzero(there)
    values, expected = agreement[used], float(chance[used].mean()) if len(used) else float("nan")
    (found,) = mean_estimates(
        values[:, None],
        equal_weights(len(used)),
        clusters.among(used),
        population="domain",
        confidence=confidence,
        n_parts=k * len(used),
    )
    return GroupsApart(
        k=k,
        n=len(used),
        agreement=found,
        chance=expected,
        index=structs.replace(
            found,
            value=_above(found.value, expected),
            low=_above(found.low, expected),
            high=_above(found.high, expected),
        ),
        groups=tuple(
            GroupSeparation(
                name=name,
                n=int(own.sum()),
                agreement=float(values[own].mean()),
                chance=float(chance[used][own].mean()),
            )
            for code, name in enumerate(names)
            if (own := group[used] == code).any()
        ),
    )


def _apart(vectors: NDArray[np.float32], shared: SharedKeys) -> NDArray[np.float32]:
    """Return the cosine of every two texts (n, n); minus infinity for excluded pairs."""
    near = vectors @ vectors.T
    np.fill_diagonal(near, -np.inf)
    order = np.argsort(shared.key, kind="stable")
    key, unit = shared.key[order], shared.unit[order]
    for holders in np.split(unit, np.flatnonzero(np.diff(key)) + 1):
        near[np.ix_(holders, holders)] = -np.inf
    return near


def _agreement(near: NDArray[np.float32], is_alike: NDArray[np.bool_], k: int) -> Floats:
    """Return the share of each text's nearest neighbors in its own group."""
    k = min(k, near.shape[1] - 1)
    best = np.argpartition(-near, k - 1, axis=1)[:, :k]
    counts = np.isfinite(np.take_along_axis(near, best, axis=1))
    alike = np.take_along_axis(is_alike, best, axis=1) & counts
    return np.asarray(alike.sum(axis=1) / np.maximum(counts.sum(axis=1), 1))


def _above(agreement: float, chance: float) -> float:
    return (agreement - chance) / (1.0 - chance) if chance < 1.0 else float("nan")


MOST_TEXTS = 1200


_LEVELS = ("discipline", "field", "subfield", "book")


_PERPLEXITY = 30.0


_NATURES = {"bank": noted("true statements"), "form": noted("questions")}


class SemanticMap(Struct, frozen=True, kw_only=True):
    """Hold a t-SNE map of texts (``places``, n by 2), with groups at ``level``.

    ``rows`` are the facts or items of the texts. ``separation`` is the index, which does not depend
    on the map.
    """

    target: str
    nature: str
    level: str
    embedding_model: str
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


def make_semantic_map(
    session: Session,
    target: Target,
    *,
    seed: int = 0,
    embedding_model: EmbeddingModel | None = None,
) -> SemanticMap:
    """Map a bank's true statements in force, or a form's questions, and measure their separation.

    The map is stored without texts, for cards and pages. More than 1,200 texts are sampled by
    ``seed``. Groups are of the coarsest taxonomy level with two values. Raises BadUsage if there is
    none, or with fewer than four texts; ExtraMissing without scikit-learn.
    """
    found = session.find(target, "bank", "form")
    texts = list(_texts(session.store, method_of(session, found), found))
    chosen = _drawn(texts, seed)
    level, groups = _grouped(chosen, found)
    names = tuple(dict.fromkeys(groups))
    encoder = embedding_model or open_embedding_model(session)
    vectors = encoder.embed([each.text for each in chosen])
    apart = groups_apart(
        vectors,
        np.array([names.index(group) for group in groups]),
        names,
        shared=_keys([each.rests_on for each in chosen]),
        clusters=_keys([each.sources for each in chosen]),
    )
    drawn = SemanticMap(
        target=f"{found.kind}:{short(found.id)}",
        nature=_NATURES[found.kind],
        level=level,
        embedding_model=encoder.name,
        seed=seed,
        n_texts=len(chosen),
        n_all=len(texts),
        separation=apart,
        groups=tuple(groups),
        rows=tuple(each.row for each in chosen),
        texts=tuple(each.text for each in chosen),
        places=tuple((float(x), float(y)) for x, y in _plane(vectors, seed)),
    )
    kind: Literal["bank", "form"] = "bank" if found.kind == "bank" else "form"
    session.store.maps.add(kind, found.id, _kept(drawn), session.clock.now())
    return drawn


def write_map(session: Session, drawn: SemanticMap, path: Path) -> None:
    """Write the figure of a map, by file suffix: .svg, .png, .html or .json."""
    kind = path.suffix.lower().lstrip(".")
    kinds = [each for each in FIGURE_KINDS if each == kind]
    files = figure_files(map_figure(_kept(drawn), drawn.texts), kinds)
    path.write_bytes(files.get(kind, files["vl.json"]))


def _texts(store: Store, method: Method, found: Found) -> Iterator[_Text]:
    contrasts = method.contrasts
    if contrasts is None:
        raise BadUsage(f"{method.name} has no texts of its facts")
    if found.kind == "bank":
        whole = store.knowledge.bank(found.id)
        facts = list(fewer_facts(whole, excluded_facts(store, whole)).facts())
        of_fact = {fact.id: fact for fact in facts}
        for contrast in contrasts.of_facts(facts):
            if not contrast.is_second:
                fact = of_fact[contrast.row]
                yield _Text(
                    fact.id, contrast.text, fact.stratum, _ground([fact]), (contrast.source,)
                )
        return
    for page in store.items.pages(found.id):
        for stored in page:
            loaded = stored.loaded
            told = list(contrasts.of_facts(loaded.facts))
            if told:
                yield _Text(
                    loaded.item.id,
                    " ".join(each.text for each in told),
                    loaded.item.stratum,
                    _ground(loaded.facts),
                    tuple(dict.fromkeys(each.source for each in told)),
                )


def _ground(facts: Sequence[Fact]) -> tuple[bytes, ...]:
    """Return the keys of texts that are similar by construction: a statement, its passage."""
    return tuple(dict.fromkeys(each for fact in facts for each in (fact.id, fact.passage) if each))


def _drawn(texts: Sequence[_Text], seed: int) -> list[_Text]:
    if len(texts) <= MOST_TEXTS:
        return list(texts)
    places = Draws(seed, 0, "semantic map").sample(range(len(texts)), MOST_TEXTS)
    return [texts[place] for place in sorted(places)]


def _grouped(texts: Sequence[_Text], found: Found) -> tuple[str, list[str]]:
    """Return the coarsest level at which texts differ, and each text's group."""
    if len(texts) < 4:
        raise BadUsage(f"{found.kind} {found.name} has {len(texts)} texts; a map needs four")
    for level in _LEVELS:
        groups = [getattr(each.stratum, level) or "\u2014" for each in texts]
        if len(set(groups)) > 1:
            return level, groups
    raise BadUsage(
        f"all texts of {found.name} have the same taxonomy label, so there are no groups to "
        "compare",
        hint="set fields of sources: proofstone ingest --meta, or build labels",
    )


def _keys(held: Sequence[Sequence[Any]]) -> SharedKeys:
    codes: dict[Any, int] = {}
    edges = [
        (unit, codes.setdefault(key, len(codes))) for unit, keys in enumerate(held) for key in keys
    ]
    units, keys = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    return SharedKeys(len(held), units, keys)


def _plane(vectors: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    with needed(
        "a map needs scikit-learn, which is not installed", "pip install 'proofstone[embeddings]'"
    ):
        from sklearn.manifold import TSNE  # noqa: PLC0415
    plane = TSNE(
        n_components=2,
        init="pca",
        metric="cosine",
        perplexity=min(_PERPLEXITY, (len(vectors) - 1) / 3),
        random_state=seed,
    )
    return np.asarray(plane.fit_transform(vectors))


# Stored maps for cards and pages.


def _kept(drawn: SemanticMap) -> StoredMap:
    code = {group.name: place for place, group in enumerate(drawn.separation.groups)}
    return StoredMap(
        nature=drawn.nature,
        level=drawn.level,
        embedding_model=drawn.embedding_model,
        seed=drawn.seed,
        n_all=drawn.n_all,
        separation=drawn.separation,
        rows=drawn.rows,
        group=tuple(code[group] for group in drawn.groups),
        places=drawn.places,
    )


def stored_map_section(store: Store, found: Found, audience: Audience) -> Section | None:
    """Return the newest stored map of a bank or form for a page; None without one.

    A public page has no statement texts.
    """
    kept = store.maps.every(found.id)
    if not kept:
        return None
    texts = _stored_maps_texts(store, found, kept[-1]) if audience == "internal" else {}
    told = [texts.get(row, "") for row in kept[-1].rows]
    return map_section(short(found.id), kept[-1], told)


def stored_map_lines(store: Store, found: Found) -> list[tuple[str, str]]:
    """Return the newest map's numbers as text for a card; empty without one."""
    return [
        (
            "map",
            f"separation of {len(kept.rows):,} {kept.nature} by {kept.level}: {index.value:.2f} "
            f"[{index.low:.2f}, {index.high:.2f}] (0 mixed, 1 separate), {kept.embedding_model}",
        )
        for kept in store.maps.every(found.id)[-1:]
        for index in [kept.separation.index]
    ]


def _stored_maps_texts(store: Store, found: Found, kept: StoredMap) -> dict[bytes, str]:
    """Return tooltips of points: the statement, if not purged; for a question, its id."""
    if found.kind != "bank":
        return {row: f"item:{short(row)}" for row in kept.rows}
    contrasts = find_method(store.knowledge.bank(found.id).method).contrasts
    if contrasts is None:
        return {}
    facts = store.knowledge.facts_by_id(kept.rows, readable=True)
    return {each.row: each.text for each in contrasts.of_facts(facts.values())}


def bank_sections(
    store: Store, item_sets: Sequence[ItemSet], audience: Audience
) -> Iterator[Section]:
    """Return the sections of all stored maps of item sets and their banks."""
    banks = dict.fromkeys(item_set.bank for item_set in item_sets if item_set.bank is not None)
    named = (
        *(f"bank:{bank.hex()}" for bank in banks),
        *(f"form:{item_set.id.hex()}" for item_set in item_sets),
    )
    maps = (stored_map_section(store, store.lookup.find(name), audience) for name in named)
    yield from (section for section in maps if section is not None)
