"""Scoring what was asked: the part of a workspace that asks judges at the most."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from proofstone.methods import find_method
from proofstone.stages.score import Scored, score_run
from proofstone.wiring.asking import Asking
from proofstone.wiring.background import Background
from proofstone.wiring.judging import Judges, judge_spec, judged_score
from proofstone.wiring.targets import Target, find_target

if TYPE_CHECKING:
    from proofstone.engines.models import Budget, CacheUse
    from proofstone.stages.kin import Kin

__all__ = ["Scoring"]


class Scoring(Asking):
    """The part of a workspace that scores stored replies."""

    def score(
        self,
        run: Target,
        *,
        again: bool = False,
        judge: Judges = (),
        max_connections: int | None = None,
        cache: CacheUse = "same",
        budget: Budget | str | None = None,
    ) -> Scored:
        """Scores a run's stored replies; returns how many have scores. Asks no contestant, and
        nobody at all without a ``judge``; with another judge than before it is another scoring.

        Raises what stopped the judges (EndpointUnusable, BudgetReached), once what they had judged
        is kept.
        """
        found = find_target(self.store, run, ("run",))
        key, record = self.store.runs.run(found.id)
        method = find_method(record.method)
        spec = judge_spec(judge)
        if spec is not None:
            self._clear(self._judge_loads([record.item_set], spec))

        async def work(stop: asyncio.Event) -> Scored:
            if spec is None:
                return await score_run(
                    self.store, method, key, record, clock=self.clock, again=again
                )
            spending = self.spending(budget)
            names = list(spec.models)
            async with self._askers(names, max_connections, stop, cache, spending) as askers:
                return await judged_score(
                    self.store, method, key, record, spec, list(askers.values()),
                    clock=self.clock, spending=spending, again=again,
                )  # fmt: skip

        return Background(work).wait()

    def respondent_of(self, run: Target) -> str:
        """The model whose run this is."""
        found = find_target(self.store, run, ("run",))
        return self.store.runs.run(found.id)[1].respondent

    def kin_of_judges(self, judge: Judges, contestants: Sequence[str]) -> tuple[Kin, ...]:
        """The judges that are, or whose family is, among the contestants whose replies they judge.
        Asks nobody."""
        from proofstone.stages.kin import kin_of  # noqa: PLC0415

        spec = judge_spec(judge)
        held = [("contestant", name) for name in contestants]
        return () if spec is None else kin_of(spec.models, held, self.family_of)
