"""What stored calls took, by run and by purpose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, case, func, select, union

from proofstone.engines.store import schema
from proofstone.engines.store.opening import Database
from proofstone.records import Spent

__all__ = ["SpentRows", "spent_of", "totals"]


class SpentRows:
    """Adds up what calls were charged; those of simulated respondents are left out."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_runs(self, runs: Sequence[int]) -> Spent:
        """All calls behind the replies and failures of runs, each once, with their attempts that
        were billed and of no use. A reply that came from the cache has the price it once had."""
        call = schema.call
        asked = union(
            *(
                select(call.c.request_hash)
                .join(table, table.c.call_id == call.c.id)
                .where(table.c.run_id.in_(runs))
                for table in (schema.response, schema.failure)
            )
        )
        query = totals().where(call.c.request_hash.in_(asked))
        with self._database.reading() as connection:
            return spent_of(connection.execute(query).one())

    def by_purpose(self) -> dict[str, Spent]:
        """All calls of the workspace by purpose (ask, control, ...), in alphabetical order."""
        purpose = schema.call.c.purpose
        query = totals(purpose).group_by(purpose).order_by(purpose)
        with self._database.reading() as connection:
            return {row.purpose: spent_of(row) for row in connection.execute(query)}


def totals(*columns: Any) -> Any:
    """The query that adds up calls, to be narrowed down; simulated ones are left out."""
    call, profile = schema.call, schema.profile
    estimated = call.c.estimated_tokens
    counted = func.coalesce(call.c.prompt_tokens, 0) + func.coalesce(call.c.completion_tokens, 0)
    return (
        select(
            *columns,
            func.count().label("calls"),
            func.coalesce(func.sum(call.c.prompt_tokens), 0).label("prompt_tokens"),
            func.coalesce(func.sum(call.c.completion_tokens), 0).label("completion_tokens"),
            func.coalesce(func.sum(call.c.reasoning_tokens), 0).label("reasoning_tokens"),
            func.coalesce(func.sum(call.c.cost_usd), 0.0).label("cost_usd"),
            (func.count() - func.count(call.c.cost_usd)).label("unpriced"),
            func.count(estimated).label("estimated_calls"),
            func.coalesce(func.sum(estimated - counted), 0).label("estimated_tokens"),
            func.coalesce(
                func.sum(case((estimated.is_not(None), call.c.cost_usd), else_=0.0)), 0.0
            ).label("estimated_usd"),
        )
        .select_from(call)
        .join(profile, profile.c.id == call.c.profile_id)
        .where(call.c.state != "submitted", profile.c.simulated.is_(False))
    )


def spent_of(row: Row[Any]) -> Spent:
    """A row of ``totals``."""
    return Spent(
        calls=row.calls,
        prompt_tokens=int(row.prompt_tokens),
        completion_tokens=int(row.completion_tokens),
        reasoning_tokens=int(row.reasoning_tokens),
        cost_usd=float(row.cost_usd),
        unpriced=row.unpriced,
        estimated_calls=row.estimated_calls,
        estimated_tokens=int(row.estimated_tokens),
        estimated_usd=float(row.estimated_usd),
    )
