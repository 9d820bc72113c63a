"""How many questions of runs were answered, and how fast."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, select

from proofstone.engines.store import schema
from proofstone.engines.store.opening import Database
from proofstone.records.pace import Pace

__all__ = ["PaceRows"]

_MOST_CALLS = 2_000


class PaceRows:
    """Counts finished questions and reads the times of their calls."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_runs(self, runs: Sequence[int]) -> Pace:
        """The pace of several runs together; times are those of their first 2,000 calls."""
        response, run, call = schema.response, schema.run, schema.call
        finished = (
            select(func.count())
            .select_from(response)
            .join(run, run.c.id == response.c.run_id)
            .where(response.c.run_id.in_(runs), response.c.step == run.c.last_step)
        )
        times = (
            select(call.c.latency_s)
            .join(response, response.c.call_id == call.c.id)
            .where(response.c.run_id.in_(runs))
            .order_by(response.c.id)
            .limit(_MOST_CALLS)
        )
        with self._database.reading() as connection:
            n = int(connection.execute(finished).scalar_one())
            latencies = sorted(connection.execute(times).scalars())
        median = latencies[len(latencies) // 2] if latencies else None
        return Pace(n_questions=n, median_latency_s=median)
