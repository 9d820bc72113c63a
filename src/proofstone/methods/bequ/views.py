"""Show entities, responses and triples, and export them as rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from msgspec import UNSET

from proofstone.errors import BadUsage
from proofstone.method import Method
from proofstone.methods.bequ.entities import Entity, entity_of
from proofstone.methods.bequ.records import plain_triple
from proofstone.methods.bequ.response_triples import Elicited, elicited, read_text
from proofstone.methods.bequ.verification.stored_verdicts import NONEXISTENT, said_by
from proofstone.records.calls import EmbeddingModel, TokenCounter
from proofstone.records.ids import short
from proofstone.records.items import LoadedItem
from proofstone.records.knowledge import Stratum
from proofstone.records.runs import Response, Run, run_label
from proofstone.records.tables import Cell, Column, Tabulation
from proofstone.results.trace import responses_of
from proofstone.search.index import SentenceEncoder
from proofstone.session.session import Session, response_name
from proofstone.store.lookup import Found
from proofstone.store.store import Store
from proofstone.wording.messages import say

_WIKIDATA = "https://www.wikidata.org/wiki/"


def show_entity(loaded: LoadedItem) -> str:
    """Show the entity with the data from its list."""
    entity, stratum = entity_of(loaded), loaded.item.stratum
    lines = [
        entity.name,
        entity.description,
        " / ".join(filter(None, (stratum.discipline, stratum.field))),
        _fiction(entity),
        f"also: {', '.join(entity.aliases)}" if entity.aliases else "",
        f"{_WIKIDATA}{entity.wikidata}" if entity.wikidata else "",
        entity.wikipedia,
    ]
    return "\n".join(filter(None, lines))


def show_response(item: LoadedItem, responses: Mapping[str, Response]) -> str:
    """Show the triples of a response with their positions, and its unparsed parts."""
    entity = entity_of(item)
    said = elicited(entity, responses)
    others = set(map(id, said.about_others(entity)))
    lines = [_head(said)]
    for triple in said.triples:
        first = triple.first
        notes = [
            f"recovered: {', '.join(first.faults)}" if first.faults else "",
            f"elicited {triple.times} times" if triple.again else "",
            "about another entity" if id(triple) in others else "",
        ]
        told = "; ".join(filter(None, notes))
        place = f"{first.start}-{first.end}"
        text = f"{first.subject} | {first.predicate} | {first.object}"
        lines.append(f"{place:>13}  {text}" + (f"   [{told}]" if told else ""))
    text = read_text(responses)
    for part in said.unread:
        place = f"{part.start}-{part.end}"
        lines.append(
            f"{place:>13}  unparsed, {part.why}: {_shortened(text[part.start : part.end])}"
        )
    return "\n".join(lines)


def triple_rows(item: LoadedItem, responses: Mapping[str, Response]) -> list[dict[str, Any]]:
    """Yield one row per distinct triple, BeQu's columns first, with the count of repetitions."""
    entity = entity_of(item)
    said = elicited(entity, responses)
    others = set(map(id, said.about_others(entity)))
    return [
        {
            "subject": triple.first.subject,
            "predicate": triple.first.predicate,
            "object": triple.first.object,
            "subject_name": entity.name,
            "start": triple.first.start,
            "end": triple.first.end,
            "recovered": ", ".join(triple.first.faults),
            "said": triple.times,
            "about_another": id(triple) in others,
            "domain": item.item.stratum.discipline,
            "popularity": item.item.stratum.field,
            "wikidata_id": entity.wikidata,
            "nonexistent": entity.is_nonexistent,
        }
        for triple in said.triples
    ]


def _fiction(entity: Entity) -> str:
    if not entity.is_nonexistent:
        return ""
    kind = "" if entity.fiction is UNSET else f", and {entity.fiction}"
    return f"non-existent{kind}: nothing has this name"


def _head(said: Elicited) -> str:
    if said.has_abstained:
        return "no triples: the response states no knowledge"
    n = len(said.triples)
    parts = ["1 triple" if n == 1 else f"{n:,} triples"]
    parts += [f"{said.n_recovered} recovered"] if said.n_recovered else []
    parts += [f"{said.n_said - n} repeated"] if said.n_said > n else []
    parts += [f"{len(said.unread)} parts unparsed"] if said.unread else []
    return ", ".join(parts)


def _shortened(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= 80 else f"{plain[:77]}..."


# Statistics of an entity list: domains, tiers and available data.

_Rows = Sequence[tuple[Stratum, Entity]]


def entity_statistics(items: Iterable[LoadedItem], _tokens: TokenCounter) -> Sequence[Tabulation]:
    """Count entities by domain and popularity tier.

    Also counts non-existent entities and Wikidata numbers, and gives medians of the popularity
    counts.
    """
    rows = [(item.item.stratum, entity_of(item)) for item in items]
    kinds: list[tuple[str, str, Callable[[Stratum], str]]] = [
        (say("Entities by domain"), say("domain"), lambda place: place.discipline),
        (say("Entities by popularity"), say("tier"), lambda place: place.field),
    ]
    stated = [each for each in kinds if any(each[2](place) for place, _entity in rows)]
    return [_table(rows, title, head, kind) for title, head, kind in stated or kinds[:1]]


def _table(rows: _Rows, title: str, head: str, kind: Callable[[Stratum], str]) -> Tabulation:
    groups: dict[str, list[Entity]] = {}
    for place, entity in rows:
        groups.setdefault(kind(place) or say("not stated"), []).append(entity)
    lines = [(name, *_row(groups[name])) for name in sorted(groups)]
    if len(groups) != 1:
        lines.insert(0, (say("all"), *_row([entity for _place, entity in rows])))
    columns = (
        Column(key="name", name=head),
        Column(key="n", name="n"),
        Column(key="nonexistent", name=say("nonexistent")),
        Column(key="wikidata", name="Wikidata"),
        Column(key="aliases", name=say("with other names")),
        Column(key="statements", group=say("median"), name=say("statements")),
        Column(key="length", group=say("median"), name=say("characters")),
    )
    return Tabulation(title=title, columns=columns, rows=tuple(lines))


def _row(entities: Sequence[Entity]) -> tuple[Cell, ...]:
    return (
        len(entities),
        sum(entity.is_nonexistent for entity in entities),
        sum(bool(entity.wikidata) for entity in entities),
        sum(bool(entity.aliases) for entity in entities),
        _median([e.statements for e in entities if e.statements is not None]),
        _median([e.length for e in entities if e.length is not None]),
    )


def _median(numbers: list[int]) -> Cell:
    return median(numbers) if numbers else None


_PAGE = 256


_COUNT = re.compile(r"([\d,]+) (.+)")


Fold = Callable[[Sequence[dict[str, Any]]], Sequence[dict[str, Any]]]


def triples_of_run(store: Store, key: int, run: Run, fold: Fold = list) -> Iterator[dict[str, Any]]:
    """Yield one row per triple of a run, in item and response order.

    Each row names its response. ``fold`` receives the rows of each response.
    """
    for page in store.items.pages(run.item_set, _PAGE):
        for stored in page:
            item = stored.loaded.item
            for sample in range(int(run.settings.get("samples", 1))):
                responses = responses_of(store, key, stored.key, sample)
                if run.last_step not in responses:
                    continue
                response = f"response:{response_name(run.id, item.id, sample)}"
                said_by = {
                    "model": run.respondent,
                    "setting": run.prompt_method,
                    "response": response,
                }
                for row in fold([*triple_rows(stored.loaded, responses)]):
                    yield {**row, **said_by}


def export_triples(
    session: Session, found: Found, options: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield one row per triple of a run.

    With the option ``fold_near`` (a cosine), paraphrased triples of a response are merged.
    """
    key, run = session.store.runs.run(found.id)
    near: float | None = options.get("fold_near")
    if near is None:
        return triples_of_run(session.store, key, run)

    check_bar(near)
    encoder = SentenceEncoder()
    return triples_of_run(session.store, key, run, lambda said: fold_alike(said, encoder, near))


def triples_by_run(
    store: Store, method: Method, runs: Sequence[tuple[int, Run]]
) -> Sequence[Tabulation]:
    """Return one row per run: entities with triples, triples, recovered and repeated ones.

    Includes non-existent entities if there are any.
    """
    rows = [row for key, run in runs if (row := _run_row(store, method, key, run)) is not None]
    if not rows:
        return ()
    real, other = say("entities"), say("of these fictional")
    columns = [
        Column(key="run", name=say("run")),
        Column(key="model", name=say("model and way")),
        Column(key="n", group=real, name="n"),
        Column(key="given", group=real, name=say("with triples")),
        Column(key="abstained", group=real, name=say("abstained")),
        Column(key="unread", group=real, name=say("not read")),
        Column(key="triples", group=say("triples"), name="n"),
        Column(key="per_entity", group=say("triples"), name=say("an entity")),
        Column(key="recovered", group=say("triples"), name=say("recovered")),
        Column(key="again", group=say("triples"), name=say("said again")),
        Column(key="others", group=say("triples"), name=say("about others")),
        Column(key="nonexistent", group=other, name="n"),
        Column(key="nonexistent_given", group=other, name=say("with triples")),
        Column(key="nonexistent_triples", group=other, name=say("triples")),
    ]
    notes = (say("Each triple of an entity counts once; repetitions are counted separately."),)
    return (
        Tabulation(title=say("Triples"), columns=tuple(columns), rows=tuple(rows), notes=notes),
    )


def _run_row(store: Store, method: Method, key: int, run: Run) -> tuple[Cell, ...] | None:
    current = store.scores.current(key)
    if current is None:
        return None
    tallies = store.scores.tallies(current.key)
    of_triples = next(measure for measure in method.measures if measure.unit != "item").of
    said = said_by(tallies, of_triples)
    made_up = said_by([each for each in tallies if each.answer_key == NONEXISTENT], of_triples)
    counted: Counter[str] = Counter()  # what the flags of responses count: ``3 said again``
    for flag in store.scores.flags(current.key, method.headline):
        if count := _COUNT.fullmatch(flag):
            counted[count[2]] += int(count[1].replace(",", ""))
    return (
        f"run:{short(run.id)}",
        run_label(run),
        said.entities,
        said.given,
        said.abstained,
        said.unread,
        said.triples,
        said.each,
        round(sum(each.total for each in tallies if each.measure == of_triples)),
        counted["said again"],
        counted["about another entity"],
        made_up.entities,
        made_up.given,
        made_up.triples,
    )


# Near-duplicate triples within one response, merged at a given threshold.
#
# High similarity of sentence embeddings seldom means the same fact. Over 25,178 triples of eight
# models, the nearest ones of an entity differ in one name, number or rank (README.md). So
# triples are compared only if subject, object and all numbers are equal. The threshold for their
# predicates is the user's choice, and by default nothing is merged.

ALSO_SAID = "also_said"


_LEAST = 0.5  # lower values match everything


_NUMBER = re.compile(r"\d+")


def check_bar(least: float) -> None:
    """Raise BadUsage if a cosine threshold is out of range."""
    if not _LEAST <= least <= 1.0:
        raise BadUsage(f"the similarity threshold must be {_LEAST} to 1, got {least}")


def fold_alike(
    rows: Sequence[Mapping[str, Any]], embedding_model: EmbeddingModel, least: float
) -> list[dict[str, Any]]:
    """Merge the rows of one response that state the same fact.

    A row is dropped if the cosine of its predicate and object with an earlier row is at least
    ``least``. The earlier row counts it under ``said`` and adds its predicate to ``also_said``. Row
    order is kept.
    """
    kept = [{**row, ALSO_SAID: ""} for row in rows]
    gone: set[int] = set()
    for group in _comparable(rows):
        vectors = embedding_model.embed(
            [f"{rows[at]['predicate']} {rows[at]['object']}" for at in group]
        )
        near = vectors @ vectors.T >= least
        for later in range(1, len(group)):
            first = next((e for e in range(later) if group[e] not in gone and near[e, later]), None)
            if first is not None:
                gone.add(group[later])
                _count(kept[group[first]], kept[group[later]])
    return [row for at, row in enumerate(kept) if at not in gone]


def _comparable(rows: Sequence[Mapping[str, Any]]) -> list[list[int]]:
    """Return groups of rows with equal subject, object and numbers, of two rows or more."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for at, row in enumerate(rows):
        subject, predicate, said = plain_triple(row["subject"], row["predicate"], row["object"])
        key = (subject, said, tuple(sorted(_NUMBER.findall(predicate))))
        groups.setdefault(key, []).append(at)
    return [group for group in groups.values() if len(group) > 1]


def _count(row: dict[str, Any], again: Mapping[str, Any]) -> None:
    row["said"] += again["said"]
    row[ALSO_SAID] = ", ".join(filter(None, (row[ALSO_SAID], again["predicate"])))
