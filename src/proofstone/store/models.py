"""What is known of models over time: their cards and prices, and what checks of them came to.

Rows are only added. A card that changed is a new row, so that what was in force when something
was run stays known; of cards and checks the newest of a model is in force.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

import msgspec
from sqlalchemy import Connection, Row, select

from proofstone.records.ids import canonical_json, content_id
from proofstone.records.models import Card, CardSnapshot, CheckState, ModelCheck, Price
from proofstone.store import schema
from proofstone.store.rows import StorePart, among, insert_record, insert_rows, record_of

_NO_MODELS = ("sim/", "human/", "import/")  # respondents that no endpoint could list


class _Payload(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a row of ``model_card`` holds; a field of a newer version is left out on reading."""

    card: Card
    price: Price | None = None


class ModelFacts(StorePart):
    """Adds and reads what is known of models."""

    def record(self, snapshots: Iterable[CardSnapshot], runs: Mapping[int, str]) -> None:
        """Keeps what is known now of models, and that it is in force for ``runs`` (key -> model).

        A snapshot that says what the model's newest one says adds no row; one that knows nothing
        is none.
        """
        known = [s for s in snapshots if not s.card.is_empty or s.price is not None]
        with self._database.writing() as connection:
            newest = _newest_cards(connection, [snapshot.model for snapshot in known])
            keys = {model: key for model, (key, _snapshot) in newest.items()}
            for snapshot in known:
                before = newest.get(snapshot.model)
                if before is None or not _is_same(before[1], snapshot):
                    keys[snapshot.model] = _add_card(connection, snapshot)
            links = [(run, keys[model]) for run, model in runs.items() if model in keys]
            columns = ("run_id", "model_card_id")
            insert_rows(connection, schema.run_card, columns, links, or_ignore=True)

    def cards(self, models: Sequence[str]) -> dict[str, CardSnapshot]:
        """The snapshot in force of each model that has one."""
        with self._database.reading() as connection:
            found = _newest_cards(connection, models)
        return {model: snapshot for model, (_key, snapshot) in found.items()}

    def cards_of_runs(self, runs: Sequence[int]) -> dict[int, CardSnapshot]:
        """The snapshot that was in force when each of ``runs`` was last asked; none for runs of
        before cards were kept."""
        link, card = schema.run_card, schema.model_card
        query = (
            select(link.c.run_id, card)
            .join(card, card.c.id == link.c.model_card_id)
            .order_by(card.c.recorded_at, card.c.id)
        )
        return {row.run_id: _snapshot(row) for row in self._among(query, link.c.run_id, runs)}

    def add_checks(self, checks: Sequence[ModelCheck]) -> None:
        """Keeps what checks came to."""
        with self._database.writing() as connection:
            for check in checks:
                identity = content_id("model_check", check)
                insert_record(connection, schema.model_check, check, hash=identity)

    def last_checks(self) -> dict[str, ModelCheck]:
        """What the newest check of each model came to."""
        table = schema.model_check
        query = select(table).order_by(table.c.checked_at, table.c.id)
        return {row.model: _check(row) for row in self._rows(query)}

    def once_run(self) -> list[str]:
        """The models of which there is at least one reply in a run, by name."""
        run, response = schema.run, schema.response
        replied = select(response.c.id).where(response.c.run_id == run.c.id).exists()
        query = (
            select(run.c.respondent)
            .distinct()
            .where(run.c.simulated.is_(False), replied)
            .order_by(run.c.respondent)
        )
        names: list[str] = self._scalars(query)
        return [name for name in names if not name.startswith(_NO_MODELS)]


def _newest_cards(
    connection: Connection, models: Sequence[str]
) -> dict[str, tuple[int, CardSnapshot]]:
    table = schema.model_card
    query = select(table).order_by(table.c.recorded_at, table.c.id)
    rows = among(connection, query, table.c.model, models)
    return {row.model: (row.id, _snapshot(row)) for row in rows}


def _add_card(connection: Connection, snapshot: CardSnapshot) -> int:
    payload = canonical_json(_Payload(snapshot.card, snapshot.price))
    identity = content_id("model_card", [snapshot.model, snapshot.recorded_at, payload])
    return insert_record(connection, schema.model_card, snapshot, hash=identity, payload=payload)


def _is_same(one: CardSnapshot, other: CardSnapshot) -> bool:
    return (one.card, one.price) == (other.card, other.price)


def _snapshot(row: Row[Any]) -> CardSnapshot:
    payload = msgspec.json.decode(row.payload, type=_Payload)
    return record_of(CardSnapshot, row, **msgspec.structs.asdict(payload))


def _check(row: Row[Any]) -> ModelCheck:
    state = row.state if row.state in get_args(CheckState) else "failed"
    return record_of(ModelCheck, row, state=state)
