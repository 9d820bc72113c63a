"""What is known of entities, from the rows of a reference in any of its forms.

A row is a triple with its passage, a passage or article of an entity, or all that is known of an
entity: its texts and lists of triples (``triples_wiki``, ``triples_web``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from proofstone.errors import Problem
from proofstone.files.fields import Fields, came, read_json
from proofstone.methods.bequ.records import GivenTriple, ReferenceRow, ReferenceTriple, object_text
from proofstone.methods.bequ.verification.records import (
    EntityFacts,
    Group,
    Measured,
    Verified,
    VerifiedRuns,
)
from proofstone.records.tables import Row
from proofstone.records.verdicts import Passage

# Results as rows of files: a verdict a row, and tables in the columns that BeQu publishes.

_METRICS = {"precision": "Precision (RAG)", "recall": "Recall"}


def verdict_row(
    found: Verified, groups: Sequence[Group], entities: Sequence[EntityFacts]
) -> dict[str, Any]:
    """A triple with its verdict, and the empty columns that people fill."""
    group, facts, verdict = groups[found.group], entities[found.entity], found.verdict
    return {
        "id": found.id,
        "drawn": found.drawn,
        "direction": found.direction,
        "model": group.model,
        "setting": group.setting,
        "subject": found.subject,
        "predicate": found.predicate,
        "object": found.object,
        "subject_name": facts.name,
        "wikidata_id": facts.identity,
        "domain": facts.domain,
        "popularity": facts.popularity,
        "family": found.family,
        "source": found.source,
        "verdict": verdict.label or verdict.basis,
        "basis": verdict.basis,
        "passage": verdict.passage.text,
        "title": verdict.passage.title,
        "url": verdict.passage.url,
        "reason": verdict.reason,
        "trouble": verdict.trouble,
        "people": "",
        "is_true": "",
    }


def result_tables(
    measured: Sequence[Measured], parts: Sequence[Measured]
) -> dict[str, Iterator[dict[str, Any]]]:
    """The tables by the names of their files; those of a breakdown only where ``parts`` hold it."""
    by = {name: [part for part in parts if part.by == name] for name in ("domain", "popularity")}
    found = {
        "results.csv": counted_rows(measured),
        "combined_results.csv": combined_rows([*measured, *by["domain"]]),
    }
    named = {"domain": ("category", "Domain"), "popularity": ("popularity", "Popularity")}
    for name, (file, column) in named.items():
        if by[name]:
            found[f"results_by_{file}.csv"] = counted_rows(by[name], column)
    return found


def counted_rows(measured: Iterable[Measured], column: str = "") -> Iterator[dict[str, Any]]:
    """A row a group and direction, as in ``results.csv``: all triples of the sample, and how many
    of them were which. Unparsed verdicts and triples without a reference are neutral there, as
    published; their own counts stand behind. ``column`` names a breakdown's."""
    for each in measured:
        for direction, metric in _METRICS.items():
            n = {name: count for name, count in each.counts[direction].items() if name != "waiting"}
            if not n:
                continue
            right = n.get("entailment", 0) + n.get("covered", 0)
            against = n.get("contradiction", 0)
            yield {
                "Model": each.group.model,
                "Metric": metric,
                "Setting": each.group.setting,
                **({column: each.value} if column else {}),
                "Total #Triples": sum(n.values()),
                "Entailment": right,
                "Contradiction": against,
                "Neutral": sum(n.values()) - right - against,
                "Unparsed": n.get("unparsed", 0),
                "Without reference": n.get("no reference", 0),
            }


def combined_rows(measured: Iterable[Measured]) -> Iterator[dict[str, Any]]:
    """A row a group, as in ``combined_results``: F1, precision and recall; by domain where the
    measures are."""
    for each in measured:
        estimates = each.estimates
        yield {
            "Model": each.group.model,
            "Setting": each.group.setting,
            "Domain": each.value if each.by == "domain" else "",
            **{name: _value(estimates, key) for name, key in _COMBINED.items()},
        }


_COMBINED = {
    "Entailment_F1": "f1",
    "Entailment_Precision": "precision",
    "Entailment_Recall": "recall",
}


def _value(estimates: Mapping[str, Any], name: str) -> float | None:
    return round(estimates[name].value, 4) if name in estimates else None


# Verified triples of stored runs as rows of a file, which people fill and hand back.


def verdict_rows(verified: VerifiedRuns) -> Iterator[dict[str, Any]]:
    """A row a triple, in the columns of ``verify-triples``, with the reply that it stands in and
    the passage that a reference triple was taken from."""
    for found in verified.read():
        row = verdict_row(found, verified.groups, verified.entities)
        yield {
            **row,
            "known_from": found.known.text,
            "known_title": found.known.title,
            "known_url": found.known.url,
            "page": verified.entities[found.entity].page,
            "response": found.response,
        }


# Elicited triples from the rows of anybody's file, read one by one.

IDENTITY = ("wikidata_id", "wikibase_item", "wikidata", "qid")


DOMAIN = ("domain",)


_TIER = ("tier", "popularity_bucket", "popularity")


class ElicitedRow(Struct, frozen=True, gc=False):
    """A row: the triple, the entity it was elicited for, and by whom."""

    group: Group
    name: str
    identity: str
    domain: str
    popularity: str
    triple: GivenTriple


def read_elicited(row: Row, model: str, problems: list[Problem]) -> ElicitedRow | None:
    """The triple of a row; None for one with a problem, which is noted.

    The entity is ``subject_name``, or the subject where a row has none. ``model`` is whose triples
    they are where no column says so. An object may be text, a number, a list of these (joined) or
    missing: such a triple says nothing, and is counted.
    """
    fields = Fields(row, problems)
    subject = fields.label("subject")
    name = fields.label("subject_name", "entity") or subject
    if not name.strip():
        fields.wrong("subject_name", "is missing or empty")
    predicate = fields.required_text("predicate")
    found = ElicitedRow(
        group=Group(fields.label("model") or model, fields.label("setting")),
        name=name,
        identity=fields.label(*IDENTITY),
        domain=fields.label(*DOMAIN),
        popularity=read_tier(fields),
        triple=GivenTriple(
            subject=subject or name, predicate=predicate, object=_object(row.values.get("object"))
        ),
    )
    return found if fields.is_sound else None


def read_tier(fields: Fields) -> str:
    """The tier of popularity that a row states; a number (of visits, say) is none."""
    tier = fields.label(*_TIER)
    return "" if tier.replace(".", "").isdecimal() else tier


def _object(value: object) -> str:
    if isinstance(value, str) and value.startswith("["):
        listed = read_json(value)
        return object_text(listed) if isinstance(listed, list) else value.strip()
    return object_text(value)


_NAMES = ("subject_name", "entity", "title", "name")


_TEXTS = ("passage", "text", "article", "content", "snippet")


_LISTS = {"triples_wiki": "wiki", "triples_web": "web", "triples": ""}


class NamedReference(Struct, frozen=True, gc=False):
    """A row of a reference and the entity it is about. ``is_whole``: it lists an entity's triples,
    so that a second row of that kind means another entity."""

    name: str
    identity: str
    domain: str
    popularity: str
    row: ReferenceRow
    is_whole: bool


def read_reference(row: Row, problems: list[Problem]) -> NamedReference | None:
    """What a row says; None for one with a problem, which is noted."""
    fields = Fields(row, problems)
    is_triple = fields.has("predicate")
    name = fields.label(*_NAMES) or (fields.label("subject") if is_triple else "")
    if not name.strip():
        fields.wrong("entity", "is missing or empty")
    source = fields.label("source")
    passages = tuple(_passages(fields, source))
    listed = [field for field in _LISTS if row.values.get(field) not in (None, "")]
    if is_triple:
        # A row's one passage is where its triple comes from.
        passage = passages[0] if passages else Passage("", source, "", fields.label("url"))
        value = object_text(row.values.get("object"))
        triples = [ReferenceTriple(fields.required_text("predicate"), value, passage)]
    else:
        triples = [each for field in listed for each in _triples(fields, field, source)]
    if fields.is_sound and not passages and not triples and not listed:
        fields.wrong("text", "expected a triple (predicate, object), a text or lists of triples")
    if not fields.is_sound:
        return None
    return NamedReference(
        name=name,
        identity=fields.label(*IDENTITY),
        domain=fields.label(*DOMAIN),
        popularity=read_tier(fields),
        row=ReferenceRow(passages, tuple(each for each in triples if each.object.strip())),
        is_whole=bool(listed) and not is_triple,
    )


def _passages(fields: Fields, source: str) -> Iterator[Passage]:
    """The texts of a row. A snippet is the beginning of an article: of a row with the article it
    says nothing more."""
    name, text = fields.find(*_TEXTS)
    title = fields.label("title") if fields.has("subject_name", "entity") else ""
    if isinstance(text, str) and text.strip():
        yield Passage(text, source, title, fields.label("url"))
    elif text is not None:
        fields.text(name)
    for each in _listed(fields, "passages"):
        if isinstance(each, str) and each.strip():
            yield Passage(each, source)
        elif isinstance(each, dict) and isinstance(each.get("text"), str):
            said = {key: str(each.get(key) or "") for key in ("source", "title", "url")}
            yield Passage(each["text"], said["source"] or source, said["title"], said["url"])
        else:
            fields.wrong("passages", f"expected texts, or objects with a text, came {came(each)}")


def _triples(fields: Fields, field: str, source: str) -> Iterator[ReferenceTriple]:
    """The triples of a list: [predicate, object], with the title of its document behind, or objects
    with these names."""
    source = _LISTS[field] or source
    for place, each in enumerate(_listed(fields, field), start=1):
        if isinstance(each, dict):
            text, title = str(each.get("passage") or ""), str(each.get("title") or "")
            predicate, value = each.get("predicate"), each.get("object")
            passage = Passage(
                text, str(each.get("source") or source), title, str(each.get("url") or "")
            )
        elif isinstance(each, list) and len(each) in (2, 3):
            predicate, value = each[:2]
            passage = Passage("", source, str(each[2]) if len(each) == 3 else "")
        else:
            fields.wrong(field, f"entry {place}: expected [predicate, object], came {came(each)}")
            continue
        if not isinstance(predicate, str) or not predicate.strip():
            if object_text(value):  # with neither it is nothing
                fields.wrong(field, f"entry {place}: the predicate is missing")
            continue
        yield ReferenceTriple(predicate, object_text(value), passage)


def _listed(fields: Fields, field: str) -> list[Any]:
    """The entries of a list, or of a cell that spells one as JSON; none where it is missing."""
    value = fields.values.get(field)
    if isinstance(value, str) and value:
        value = read_json(value)
        if not isinstance(value, list):
            fields.wrong(field, "expected a list as JSON")
    if isinstance(value, list):
        return value
    if value is not None and value != "":
        fields.wrong(field, f"expected a list, came {came(value)}")
    return []
