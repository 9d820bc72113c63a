"""Elicited triples from the rows of anybody's file, read one by one."""

from __future__ import annotations

from msgspec import Struct

from proofstone.engines.ingest import Fields, read_json
from proofstone.errors import Problem
from proofstone.methods.bequ.verification.records import GivenTriple
from proofstone.methods.bequ.verification.texts import object_text
from proofstone.ports import Row
from proofstone.records.triples import Group

__all__ = ["DOMAIN", "IDENTITY", "ElicitedRow", "read_elicited", "read_tier"]

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
