"""Store runs: their identity, lease and progress, and model metadata over time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

import msgspec
from sqlalchemy import Connection, Row, func, or_, select

from proofstone.records.calls import CallRecord
from proofstone.records.ids import canonical_json, content_id
from proofstone.records.models import Card, CardSnapshot, CheckState, ModelCheck, Price
from proofstone.records.runs import Pace, Plan, Run
from proofstone.store import schema
from proofstone.store.calls import decompress, read_call, select_calls
from proofstone.store.database import Database, give_back_lease, take_lease
from proofstone.store.items import ItemStore, StoredItem
from proofstone.store.rows import (
    StorePart,
    among,
    chunks,
    insert_record,
    insert_rows,
    of_kind,
    record_of,
    with_ids,
)

# Number of questions answered in runs, and latency.

_MOST_CALLS = 2_000


class PaceRows(StorePart):
    """Count finished questions and read the times of their calls."""

    def of_runs(self, runs: Sequence[int]) -> Pace:
        """Return the pace of several runs together, timed by the questions of their first calls.

        The time of a question is the sum over its calls. A last question of which not all calls may
        have been read is left out.
        """
        response, run, call = schema.response, schema.run, schema.call
        finished = (
            select(func.count())
            .select_from(response.join(run))
            .where(response.c.run_id.in_(runs), response.c.step == run.c.last_step)
        )
        times = (
            select(response.c.run_id, response.c.item_id, response.c.sample, call.c.latency_s)
            .join(response, response.c.call_id == call.c.id)
            .where(response.c.run_id.in_(runs))
            .order_by(response.c.id)
            .limit(_MOST_CALLS)
        )
        with self._database.reading() as connection:
            n = int(connection.execute(finished).scalar_one())
            rows = connection.execute(times).all()
        seconds: dict[tuple[int, int, int], float] = {}
        for run_id, item, sample, latency in rows:
            seconds[run_id, item, sample] = seconds.get((run_id, item, sample), 0.0) + latency
        if len(rows) == _MOST_CALLS and len(seconds) > 1:
            del seconds[tuple(rows[-1][:3])]
        median = sorted(seconds.values())[len(seconds) // 2] if seconds else None
        return Pace(n_questions=n, median_latency_s=median)


class RawResponse(msgspec.Struct, frozen=True, gc=False):
    """A stored response: its raw body and the wire format to parse it."""

    wire: str
    raw: bytes


class ItemResponses(msgspec.Struct, frozen=True, gc=False):
    """An item with its stored responses, (sample, step) -> response."""

    item: StoredItem
    responses: dict[tuple[int, str], RawResponse]


class Failure(msgspec.Struct, frozen=True, gc=False):
    """Why the newest attempt of an unfinished (item, sample) failed."""

    item: int
    sample: int
    error: str
    detail: str


class RunTotals(msgspec.Struct, frozen=True, gc=False):
    """Totals of a run's calls. ``cost_usd`` covers priced calls; ``unpriced`` had no price."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int
    cost_usd: float
    unpriced: int
    mean_latency_s: float
    first_at: float
    last_at: float


class RunStore(StorePart):
    """Add and read runs, plan what is left of them, and hold their leases."""

    def __init__(self, database: Database, items: ItemStore) -> None:
        super().__init__(database)
        self._items = items

    def add(self, run: Run, now: float, version: str) -> int:
        """Store a run by its id and return its key; an existing one is kept."""
        with self._database.writing() as connection:
            return insert_record(
                connection, schema.run, run, {"item_set_id": run.item_set},
                settings=canonical_json(run.settings), created_at=now, version=version,
            )  # fmt: skip

    def ask_first(self, run: int, n_items: int) -> None:
        """Record that a run was asked the first ``n_items`` of its set."""
        with self._database.writing() as connection:
            insert_rows(
                connection, schema.run_limit, [(run, n_items)],
                or_ignore=True,
            )  # fmt: skip

    def limits(self, runs: Sequence[int]) -> dict[int, int]:
        """Return the largest number of items that each of these runs was asked, if known."""
        table = schema.run_limit
        query = (
            select(table.c.run_id, func.max(table.c.n_items).label("most"))
            .where(table.c.run_id.in_(runs))
            .group_by(table.c.run_id)
        )
        return {row.run_id: row.most for row in self._rows(query)}

    def run(self, identity: bytes) -> tuple[int, Run]:
        """Return the key and record of a run; KeyError if there is none."""
        row = self._one(_select_runs().where(schema.run.c.hash == identity), identity)
        return row.id, _run(row)

    def of_sets(self, item_sets: Sequence[bytes]) -> list[tuple[int, Run]]:
        """Return the runs on any of these item sets, oldest first."""
        query = (
            _select_runs().where(schema.item_set.c.hash.in_(item_sets)).order_by(schema.run.c.id)
        )
        return [(row.id, _run(row)) for row in self._rows(query)]

    def every(self) -> list[tuple[int, Run]]:
        """Return all runs, oldest first."""
        rows = self._rows(_select_runs().order_by(schema.run.c.id))
        return [(row.id, _run(row)) for row in rows]

    # ---- the lease

    def take_lease(self, run: int, owner: str, now: float) -> None:
        """Take or renew a run's lease. Raises RunInUse, naming the holder."""
        take_lease(self._database, schema.run, run, owner, now)

    def give_back_lease(self, run: int, owner: str) -> None:
        """Release a lease that this owner holds."""
        give_back_lease(self._database, schema.run, run, owner)

    # ---- progress

    def has_responses(self, run: int) -> bool:
        """Return True if any question of a run has a response at any step."""
        table = schema.response
        return self._row(select(table.c.id).where(table.c.run_id == run).limit(1)) is not None

    def count_done(self, run: int, last_step: str, first: int | None = None) -> int:
        """Return how many (item, sample) of a run have a response at their last step.

        ``first`` limits it to the first items of the set.
        """
        table, member = schema.response, schema.item_set_item
        query = select(func.count()).where(table.c.run_id == run, table.c.step == last_step)
        if first is not None:
            query = (
                query.select_from(table)
                .join(schema.run, schema.run.c.id == table.c.run_id)
                .join(
                    member,
                    (member.c.item_set_id == schema.run.c.item_set_id)
                    & (member.c.item_id == table.c.item_id),
                )
                .where(member.c.position < first)
            )
        return int(self._scalar(query))

    def answered(self, run: int, last_step: str) -> set[int]:
        """Return the keys of the items with a response at their last step, in any sample."""
        table = schema.response
        query = select(table.c.item_id).where(table.c.run_id == run, table.c.step == last_step)
        return set(self._scalars(query.distinct()))

    def steps_among(
        self, run: int, item_set: bytes, after: int, limit: int
    ) -> dict[tuple[int, int], set[str]]:
        """Return the steps with responses, by (item key, sample), for ``limit`` items after
        ``after``.
        """
        table = schema.response
        query = select(table.c.item_id, table.c.sample, table.c.step).where(
            table.c.run_id == run,
            table.c.item_id.in_(self._items.keys_within(item_set, after, limit)),
        )
        found: dict[tuple[int, int], set[str]] = {}
        for item, sample, step in self._rows(query):
            found.setdefault((item, sample), set()).add(step)
        return found

    def steps_done(self, run: int, item: int, sample: int) -> dict[str, RawResponse]:
        """Return the stored responses of one (item, sample), by step."""
        query = _select_responses(run).where(
            schema.response.c.item_id == item, schema.response.c.sample == sample
        )
        return {row.step: RawResponse(row.wire, decompress(row.raw)) for row in self._rows(query)}

    def call_key(self, run: int, item: int, sample: int, step: str) -> int:
        """Return the key of the call behind a stored response. KeyError if there is none."""
        table = schema.response
        query = select(table.c.call_id).where(
            table.c.run_id == run,
            table.c.item_id == item,
            table.c.sample == sample,
            table.c.step == step,
        )
        found: int | None = self._scalar(query)
        if found is None:
            raise KeyError(step)
        return found

    def response_pages(
        self, run: int, item_set: bytes, size: int = 256
    ) -> Iterator[list[ItemResponses]]:
        """Yield the items of a run's set in order with their responses, in pages."""
        for page in self._items.pages(item_set, size):
            within = self._items.keys_within(item_set, page[0].position - 1, len(page))
            query = _select_responses(run).where(schema.response.c.item_id.in_(within))
            responses: dict[int, dict[tuple[int, str], RawResponse]] = {}
            rows = self._rows(query)
            for row in rows:
                response = RawResponse(row.wire, decompress(row.raw))
                responses.setdefault(row.item_id, {})[row.sample, row.step] = response
            yield [ItemResponses(stored, responses.get(stored.key, {})) for stored in page]

    def calls_of_item(self, run: int, item: int) -> list[tuple[int, str, CallRecord]]:
        """Return the calls behind an item's responses in a run: (sample, step, call), in order."""
        return self.calls_of_items(run, [item]).get(item, [])

    def calls_of_items(
        self, run: int, items: Sequence[int]
    ) -> dict[int, list[tuple[int, str, CallRecord]]]:
        """Return the calls behind the responses to some items in a run, by item key.

        Each is (sample, step, call), in order. An item without a response has no entry.
        """
        table = schema.response
        found: dict[int, list[tuple[int, str, CallRecord]]] = {}
        for chunk in chunks(items, 4000):
            query = (
                select_calls()
                .add_columns(
                    table.c.item_id.label("response_item"),
                    table.c.step.label("step"),
                    table.c.sample.label("response_sample"),
                )
                .join(table, table.c.call_id == schema.call.c.id)
                .where(table.c.run_id == run, table.c.item_id.in_(chunk))
                .order_by(table.c.sample, table.c.id)
            )
            for row in self._rows(query):
                call = (row.response_sample, row.step, read_call(row))
                found.setdefault(row.response_item, []).append(call)
        return found

    def some_calls(self, run: int, limit: int = 500) -> list[CallRecord]:
        """Return the first calls behind a run's responses, up to ``limit``."""
        table = schema.response
        query = (
            select_calls()
            .join(table, table.c.call_id == schema.call.c.id)
            .where(table.c.run_id == run)
            .order_by(table.c.id)
            .limit(limit)
        )
        return [read_call(row) for row in self._rows(query)]

    def failures(self, run: int, last_step: str) -> list[Failure]:
        """Return the newest failure of each (item, sample) without a response at its last step."""
        table, done = schema.failure, schema.response.alias("done")
        query = (
            select(table.c.item_id, table.c.sample, schema.call.c.error, schema.call.c.detail)
            .join(schema.call, schema.call.c.id == table.c.call_id)
            .outerjoin(
                done,
                (done.c.run_id == table.c.run_id)
                & (done.c.item_id == table.c.item_id)
                & (done.c.sample == table.c.sample)
                & (done.c.step == last_step),
            )
            .where(table.c.run_id == run, done.c.id.is_(None))
            .order_by(table.c.id)
        )
        newest = {(row.item_id, row.sample): Failure(*row) for row in self._rows(query)}
        return list(newest.values())

    def totals(self, run: int) -> RunTotals:
        """Return the totals of a run's calls, cached ones at their original price."""
        call = schema.call
        query = (
            select(
                func.count(),
                func.coalesce(func.sum(call.c.prompt_tokens), 0),
                func.coalesce(func.sum(call.c.completion_tokens), 0),
                func.coalesce(func.sum(call.c.reasoning_tokens), 0),
                func.coalesce(func.sum(call.c.cost_usd), 0.0),
                func.count() - func.count(call.c.cost_usd),
                func.coalesce(func.avg(call.c.latency_s), 0.0),
                func.coalesce(func.min(call.c.started_at), 0.0),
                func.coalesce(func.max(call.c.started_at), 0.0),
            )
            .join(schema.response, schema.response.c.call_id == call.c.id)
            .where(schema.response.c.run_id == run)
        )
        with self._database.reading() as connection:
            n, prompt, completion, reasoning, cost, unpriced, latency, first, last = (
                connection.execute(query).one()
            )
        return RunTotals(
            n, int(prompt), int(completion), int(reasoning), float(cost), unpriced,
            float(latency), first, last,
        )  # fmt: skip

    def response_tokens(
        self, run: int
    ) -> list[tuple[bytes, int, int | None, int | None, float | None]]:
        """Return the tokens of a run's responses as reported by the endpoint, and their cost.

        (item, sample, completion, of it reasoning, US dollars), summed over steps, in item order.
        The cost is None if a call has no price.
        """
        call, response, item = schema.call, schema.response, schema.item
        query = (
            select(
                item.c.hash,
                response.c.sample,
                func.sum(call.c.completion_tokens),
                func.sum(call.c.reasoning_tokens),
                func.sum(call.c.cost_usd),
                func.count() - func.count(call.c.cost_usd),
            )
            .select_from(response.join(call).join(item))
            .where(response.c.run_id == run)
            .group_by(item.c.id, item.c.hash, response.c.sample)
            .order_by(item.c.id, response.c.sample)
        )
        return [
            (item, sample, _whole(completion), _whole(reasoning), None if unpriced else float(usd))
            for item, sample, completion, reasoning, usd, unpriced in self._rows(query)
        ]


def _whole(number: Any) -> int | None:
    """Return a sum of integers from the database (PostgreSQL: a decimal)."""
    return None if number is None else int(number)


def _select_runs() -> Any:
    return with_ids(schema.run, item_set="item_set_id")


def _run(row: Row[Any]) -> Run:
    return record_of(Run, row, settings=msgspec.json.decode(row.settings))


def _select_responses(run: int) -> Any:
    table = schema.response
    return (
        select(
            table.c.item_id, table.c.sample, table.c.step, schema.profile.c.wire, schema.call.c.raw
        )
        .select_from(table.join(schema.call).join(schema.profile))
        .where(table.c.run_id == run)
        .order_by(table.c.id)
    )


# Preregistered plans: rows that are added and never changed.


class PlanStore(StorePart):
    """Add and read plans."""

    def add(self, plan: Plan) -> None:
        """Store a plan by its id; its target must be stored."""
        given = {"payload": canonical_json(plan)}
        with self._database.writing() as connection:
            insert_record(connection, schema.plan, plan, of_kind(plan.kind, plan.target), **given)

    def one(self, key: int) -> Plan:
        """Return the plan with this key."""
        return _plan(self._scalar(_select().where(schema.plan.c.id == key)))

    def every(self) -> list[Plan]:
        """Return all plans, newest first."""
        return self._read(_select().order_by(schema.plan.c.created_at.desc(), schema.plan.c.hash))

    def of_sets(self, item_sets: Sequence[bytes]) -> list[Plan]:
        """Return the plans for these item sets or for the banks behind them, oldest first."""
        found, table = schema.item_set, schema.plan
        sets = select(found.c.id).where(found.c.hash.in_(item_sets))
        banks = select(found.c.bank_id).where(found.c.hash.in_(item_sets))
        query = _select().where(or_(table.c.item_set_id.in_(sets), table.c.bank_id.in_(banks)))
        return self._read(query.order_by(table.c.created_at, table.c.hash))

    def _read(self, query: Any) -> list[Plan]:
        return [_plan(payload) for payload in self._scalars(query)]


def _select() -> Any:
    return select(schema.plan.c.payload)


def _plan(payload: bytes) -> Plan:
    return msgspec.json.decode(payload, type=Plan)


# Model versions that endpoints reported in a run, with times.


class ReportedShare(msgspec.Struct, frozen=True, gc=False):
    """Responses of a run from one reported model version with one fingerprint.

    ``first_at`` and ``last_at`` are the times of the first and last request (seconds since the
    epoch).
    """

    model: str
    fingerprint: str
    responses: int
    first_at: float
    last_at: float


class ReportedRows(StorePart):
    """Read the model versions that calls report."""

    def of_run(self, run: int) -> tuple[ReportedShare, ...]:
        """Return the shares of a run's responses with a model version, in order of first use."""
        call, response = schema.call, schema.response
        began = func.min(call.c.started_at)
        query = (
            select(
                call.c.reported_model, call.c.fingerprint, func.count(), began,
                func.max(call.c.started_at),
            )
            .join(response, response.c.call_id == call.c.id)
            .where(response.c.run_id == run, call.c.reported_model != "")
            .group_by(call.c.reported_model, call.c.fingerprint)
            .order_by(began, call.c.reported_model, call.c.fingerprint)
        )  # fmt: skip
        return tuple(ReportedShare(*row) for row in self._rows(query))


# Model metadata over time: cards, prices and check results.
#
# Rows are only added. A changed card is a new row, so the one at the time of a run stays known. The
# newest card and check of a model apply.

_NO_MODELS = ("sim/", "human/", "import/")  # models that no endpoint could list


class _Payload(msgspec.Struct, frozen=True, omit_defaults=True):
    """Content of a row of ``model_card``; fields of a newer version are dropped on reading."""

    card: Card
    price: Price | None = None


class ModelFacts(StorePart):
    """Add and read model metadata."""

    def record(self, snapshots: Iterable[CardSnapshot], runs: Mapping[int, str]) -> None:
        """Store the current metadata of models, and link it to ``runs`` (key -> model).

        A snapshot equal to the model's newest one, or without any facts, adds no row.
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
            insert_rows(connection, schema.run_card, links, or_ignore=True)

    def cards(self, models: Sequence[str]) -> dict[str, CardSnapshot]:
        """Return the current snapshot of each model that has one."""
        with self._database.reading() as connection:
            found = _newest_cards(connection, models)
        return {model: snapshot for model, (_key, snapshot) in found.items()}

    def cards_of_runs(self, runs: Sequence[int]) -> dict[int, CardSnapshot]:
        """Return the snapshot in force when each of ``runs`` was last asked.

        Runs from before cards were stored have none.
        """
        link, card = schema.run_card, schema.model_card
        query = (
            select(link.c.run_id, card)
            .join(card, card.c.id == link.c.model_card_id)
            .order_by(card.c.recorded_at, card.c.id)
        )
        return {row.run_id: _snapshot(row) for row in self._among(query, link.c.run_id, runs)}

    def add_checks(self, checks: Sequence[ModelCheck]) -> None:
        """Store check results."""
        with self._database.writing() as connection:
            for check in checks:
                identity = content_id("model_check", check)
                insert_record(connection, schema.model_check, check, hash=identity)

    def last_checks(self) -> dict[str, ModelCheck]:
        """Return the newest check result of each model."""
        table = schema.model_check
        query = select(table).order_by(table.c.checked_at, table.c.id)
        return {row.model: _check(row) for row in self._rows(query)}

    def once_run(self) -> list[str]:
        """Return the names of models with at least one response in a run."""
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
