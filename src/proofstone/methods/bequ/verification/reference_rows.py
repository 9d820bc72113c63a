"""What is known of entities, from the rows of a reference in any of its forms.

A row is a triple with its passage, a passage or article of an entity, or all that is known of an
entity: its texts and lists of triples (``triples_wiki``, ``triples_web``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from proofstone.engines.ingest import Fields, came, read_json
from proofstone.errors import Problem
from proofstone.methods.bequ.verification.elicited_rows import DOMAIN, IDENTITY, read_tier
from proofstone.methods.bequ.verification.records import ReferenceRow, ReferenceTriple
from proofstone.methods.bequ.verification.texts import object_text
from proofstone.ports import Row
from proofstone.records.triples import Passage

__all__ = ["NamedReference", "read_reference"]

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
