"""Maps in meaning as they were kept: for the card and the page, without being made again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proofstone.engines.store import Found, Store
from proofstone.identity import short
from proofstone.methods import find_method
from proofstone.ports import Contrasts
from proofstone.records import StoredMap
from proofstone.records.audience import Audience
from proofstone.report.mapped import MappedText, map_figure, map_section
from proofstone.report.sections.section import Figure, Section

if TYPE_CHECKING:  # numpy and SciPy
    from proofstone.stages.semantic_maps import SemanticMap

__all__ = ["drawn_figure", "keep_map", "stored_map_lines", "stored_map_section"]


def keep_map(store: Store, found: Found, drawn: SemanticMap, now: float) -> None:
    """Stores a map without its texts; the newest of a bank or form is the one that is shown."""
    store.maps.add("bank" if found.kind == "bank" else "form", found.id, _kept(drawn), now)


def drawn_figure(drawn: SemanticMap) -> Figure:
    """The figure of a map as it was just made, with its texts."""
    told = [MappedText(*each) for each in zip(drawn.rows, drawn.texts, strict=True)]
    return map_figure(_kept(drawn), told)


def _kept(drawn: SemanticMap) -> StoredMap:
    code = {group.name: place for place, group in enumerate(drawn.separation.groups)}
    return StoredMap(
        nature=drawn.nature,
        level=drawn.level,
        embedder=drawn.embedder,
        seed=drawn.seed,
        n_all=drawn.n_all,
        separation=drawn.separation,
        rows=drawn.rows,
        group=tuple(code[group] for group in drawn.groups),
        places=drawn.places,
    )


def stored_map_section(store: Store, found: Found, audience: Audience) -> Section | None:
    """The newest map of a bank or form for a page, None where none was made. For the public it
    holds no text of a statement."""
    kept = store.maps.every(found.id)
    if not kept:
        return None
    texts = _texts(store, found, kept[-1]) if audience == "internal" else {}
    told = [MappedText(row, texts.get(row, "")) for row in kept[-1].rows]
    return map_section(short(found.id), kept[-1], told)


def stored_map_lines(store: Store, found: Found) -> list[tuple[str, str]]:
    """What the newest map of a bank or form says in numbers, for its card; nothing without one."""
    return [
        (
            "map",
            f"separation of {len(kept.rows):,} {kept.nature} by {kept.level}: "
            f"{index.value:.2f} [{index.low:.2f}, {index.high:.2f}] (0 mixed, 1 apart), "
            f"{kept.embedder}",
        )
        for kept in store.maps.every(found.id)[-1:]
        for index in [kept.separation.index]
    ]


def _texts(store: Store, found: Found, kept: StoredMap) -> dict[bytes, str]:
    """What a dot stands for: the statement, where it was not purged; of a question its id."""
    if found.kind != "bank":
        return {row: f"item:{short(row)}" for row in kept.rows}
    method = find_method(store.knowledge.bank(found.id).method)
    if not isinstance(method, Contrasts):
        return {}
    facts = store.knowledge.facts_by_id(kept.rows, readable=True)
    return {each.row: each.text for each in method.fact_contrasts(facts.values())}
