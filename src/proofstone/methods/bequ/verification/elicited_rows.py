"""Elicited triples from the rows of anybody's file, read one by one."""

from __future__ import annotations

from msgspec import Struct

from proofstone.engines.ingest import Fields, read_json
from proofstone.errors import Problem
from proofstone.methods.bequ.verification.records import GivenTriple, Group
from proofstone.methods.bequ.verification.texts import object_text
from proofstone.ports import Row

__all__ = ["DOMAIN", "IDENTITY", "POPULARITY", "ElicitedRow", "read_elicited"]

IDENTITY = ("wikidata_id", "wikibase_item", "entity_id")
DOMAIN = ("domain",)
POPULARITY = ("popularity", "popularity_bucket")


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
        popularity=fields.label(*POPULARITY),
        triple=GivenTriple(
            subject=subject or name, predicate=predicate, object=_object(row.values.get("object"))
        ),
    )
    return found if fields.is_sound else None


def _object(value: object) -> str:
    if isinstance(value, str) and value.startswith("["):
        listed = read_json(value)
        return object_text(listed) if isinstance(listed, list) else value.strip()
    return object_text(value)
