"""Asking models: the part of a workspace that may cost money."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proofstone.errors import BadInput
from proofstone.identity import short
from proofstone.methods import find_method
from proofstone.records import ContextName
from proofstone.stages.own_prompts import check_told_apart
from proofstone.stages.planning import PlannedRun, RunSpec, plan_run, spec_of, store_run
from proofstone.stages.progress import RunProgress
from proofstone.wiring.background import Background
from proofstone.wiring.judging import Judges, judge_spec
from proofstone.wiring.retrieving import Retrieving
from proofstone.wiring.specs import specs_of
from proofstone.wiring.targets import Target, find_target

if TYPE_CHECKING:
    from proofstone.engines.models import Asker, Budget, CacheUse, Spending
    from proofstone.engines.store import Expense
    from proofstone.stages.campaign import RunResult
    from proofstone.stages.control import ControlReport
    from proofstone.stages.judge_trial import JudgeTrial
    from proofstone.stages.judging import JudgeSpec
    from proofstone.stages.kin import Kin
    from proofstone.stages.retrieved import Retriever
    from proofstone.wiring.egress import Loads

__all__ = ["Asking", "Watch"]

Watch = Callable[[list[RunProgress]], None]


class Asking(Retrieving):
    """Runs on a workspace's ``store``, with what its configuration says of models, and scores.

    ``ask_egress`` is told before anything leaves this machine, and asked where nobody has allowed
    it yet.
    """

    def run(
        self,
        targets: Target | Sequence[Target],
        *,
        models: str | Sequence[str],
        ask: str | Sequence[str] = "direct",
        shots: int = 0,
        prompt: str | Path | None = None,
        context: ContextName | Sequence[ContextName] = "none",
        samples: int = 1,
        limit: int | None = None,
        replicate: str = "",
        max_connections: int | None = None,
        cache: CacheUse = "same",
        budget: Budget | str | None = None,
        judge: Judges = (),
        watch: Watch | None = None,
        on_interrupt: Callable[[int], None] | None = None,
        **settings: Any,
    ) -> list[RunResult]:
        """Asks models, scores their replies, and returns a result a run.

        What was asked before comes from the cache, where the model that answers now answered it;
        ``cache`` "any" takes it whichever model did. ``budget`` ("20USD", "5Mtok") is the most that
        this call may spend over all its models; what comes from the cache costs nothing.

        Where a method's replies need a ``judge`` to be scored, one model or a panel of them does
        so; without one, such replies wait for ``score``.

        ``prompt`` is the file of a template of your own, in place of the method's prompt: see
        docs/prompts.md. With the ``context`` "evidence" each question is asked with the passages
        that it rests on (docs/context.md), with "retrieved" with what a
        search of the sources finds for it; with several in a list once each way. ``settings``
        (temperature, max_tokens, ...) override the defaults of the way of asking. The same call
        again asks only what is missing. ``watch`` is called a few times a second with the progress
        of each run. KeyboardInterrupt once stops new requests, ``on_interrupt`` gets how many
        replies are waited for, and the results so far are returned; twice it passes.
        """
        specs = specs_of(
            self.store, targets, models=models, ask=ask, shots=shots, samples=samples, limit=limit,
            replicate=replicate, prompt=prompt, context=context, **settings,
        )  # fmt: skip
        return self.run_specs(
            specs,
            max_connections=max_connections,
            cache=cache,
            spending=self.spending(budget),
            judges=judge_spec(judge),
            watch=watch,
            on_interrupt=on_interrupt,
        )

    def resume(
        self,
        run: Target,
        *,
        watch: Watch | None = None,
        on_interrupt: Callable[[int], None] | None = None,
        max_connections: int | None = None,
        cache: CacheUse = "same",
        budget: Budget | str | Spending | None = None,
        judge: Judges = (),
    ) -> list[RunResult]:
        """Asks what a run still lacks, with the settings that it has. ``budget`` is what may be
        spent from now on: what the run took before does not count. ``judge`` as for ``run``."""
        found = find_target(self.store, run, ("run",))
        _key, record = self.store.runs.run(found.id)
        spec = spec_of(self.store, record, find_method(record.method))
        return self.run_specs(
            [spec],
            max_connections=max_connections,
            cache=cache,
            spending=self.spending(budget),
            judges=judge_spec(judge),
            watch=watch,
            on_interrupt=on_interrupt,
        )

    def control(self, model: str, *, spending: Spending | None = None) -> ControlReport:
        """Asks a model a few simple completions, kept and cached like every call."""
        from proofstone.stages.budgeting import on_record  # noqa: PLC0415
        from proofstone.stages.control import perform_control  # noqa: PLC0415

        self._clear_probe([model])

        async def work(stop: asyncio.Event) -> ControlReport:
            async with self._askers([model], None, stop, spending=spending) as askers:
                record = on_record(self.store, askers.values(), self.clock)
                async with record as kept:
                    return await perform_control(self.store, askers[model], kept)

        return Background(work).wait()

    def try_judge(
        self, model: str, *, limit: int | None = None, budget: Budget | str | None = None
    ) -> JudgeTrial:
        """Asks a model to judge texts that try to talk it into a label, ``limit`` of them; every
        call is kept and cached."""
        from proofstone.stages.budgeting import on_record  # noqa: PLC0415
        from proofstone.stages.judge_trial import perform_judge_trial  # noqa: PLC0415

        self._clear_probe([model])
        spending = self.spending(budget)

        async def work(stop: asyncio.Event) -> JudgeTrial:
            async with self._askers([model], None, stop, spending=spending) as askers:
                record = on_record(self.store, askers.values(), self.clock)
                async with record as kept:
                    return await perform_judge_trial(
                        self.store, askers[model], limit=limit, kept=kept
                    )

        return Background(work).wait()

    def kin_of_specs(self, specs: Sequence[RunSpec]) -> tuple[Kin, ...]:
        """The contestants of these runs that had a part in the items they are asked, themselves or
        through their family. Asks nobody."""
        from proofstone.stages.kin import kin_of_runs  # noqa: PLC0415

        return kin_of_runs(self.store, specs, self.family_of)

    def newly_lost(self) -> list[Expense]:
        """What commands that died since the last time may have been billed for besides what is
        stored; each is told once."""
        return self.store.expenses.find_dead(self.clock.now())

    def spending(self, budget: Budget | str | Spending | None) -> Spending:
        """What is spent under a budget, or without one, for calls that are to share it. One that is
        shared already is returned."""
        from proofstone.engines.models import Spending, read_budget  # noqa: PLC0415

        if isinstance(budget, Spending):
            return budget
        return Spending(read_budget(budget) if isinstance(budget, str) else budget)

    # ---- inside

    def run_specs(
        self,
        specs: Sequence[RunSpec],
        *,
        max_connections: int | None = None,
        cache: CacheUse = "same",
        spending: Spending | None = None,
        judges: JudgeSpec | None = None,
        watch: Watch | None = None,
        on_interrupt: Callable[[int], None] | None = None,
    ) -> list[RunResult]:
        """``run`` for runs whose settings differ from each other; results in their order. Calls
        that are handed the same ``spending`` share its budget."""
        shown: list[RunProgress] = []
        self._check_prompts(specs)
        # A question to a person is put on this thread, before the other one is at work.
        retriever = self.retriever(spending)
        tasks = self._clear_searches(specs, retriever, spending)
        if tasks:
            Background(lambda _stop: self._search(tasks, retriever)).wait()
        self._clear(Background(lambda _stop: self._plan_loads(specs, retriever)).wait())
        if judges is not None:
            self._clear(self._judge_loads([spec.item_set for spec in specs], judges))

        async def work(stop: asyncio.Event) -> list[RunResult]:
            return await self.perform(
                specs,
                max_connections=max_connections,
                cache=cache,
                spending=spending,
                judges=judges,
                progress=shown,
                stop=stop,
                cleared=retriever,
            )

        background = Background(work)
        watching = None if watch is None else lambda: watch(shown)

        def interrupted() -> None:
            if on_interrupt is not None:
                on_interrupt(sum(progress.in_flight for progress in shown))

        return background.wait_stoppable(watching, interrupted)

    async def perform(
        self,
        specs: Sequence[RunSpec],
        *,
        max_connections: int | None = None,
        cache: CacheUse = "same",
        spending: Spending | None = None,
        judges: JudgeSpec | None = None,
        progress: list[RunProgress] | None = None,
        stop: asyncio.Event | None = None,
        cleared: Retriever | None = None,
    ) -> list[RunResult]:
        """``run`` for callers with a loop of their own: asks and scores what ``specs`` mean.

        ``progress`` is filled with the counters of each run; setting ``stop`` ends new requests.
        ``cleared`` is what was searched for, where all that leaves was let out before.
        """
        from proofstone.stages.budgeting import on_record  # noqa: PLC0415
        from proofstone.stages.campaign import perform_campaign, progress_of  # noqa: PLC0415
        from proofstone.stages.catalogue import keep_cards  # noqa: PLC0415
        from proofstone.stages.judging import Bench  # noqa: PLC0415

        retriever = self.retriever(spending) if cleared is None else cleared
        if cleared is None:
            self._check_prompts(specs)
            await self._search(self._clear_searches(specs, retriever, spending), retriever)
            self._clear(await self._plan_loads(specs, retriever))
            if judges is not None:
                self._clear(self._judge_loads([spec.item_set for spec in specs], judges))

        stop = asyncio.Event() if stop is None else stop
        judging = () if judges is None else judges.models
        names = list(dict.fromkeys([*(spec.model for spec in specs), *judging]))
        async with self._askers(names, max_connections, stop, cache, spending) as askers:
            plans = self._planned(specs, askers, retriever)
            stored = [store_run(self.store, planned, self.clock) for planned in plans]
            runs = [(planned, progress_of(self.store, planned)) for planned in stored]
            if progress is not None:
                progress += [counters for _planned, counters in runs]
            keep_cards(self.store, self.config, runs, self.clock)
            by_name = {askers[name].model.name: askers[name] for name in names}
            named = [f"run:{short(planned.run.id)}" for planned in stored]
            record = on_record(self.store, askers.values(), self.clock, runs=named)
            async with record as kept:
                bench = None if judges is None else Bench(judges, [askers[n] for n in judging])
                return await perform_campaign(
                    self.store, find_method, runs, by_name,
                    stop=stop, clock=self.clock, kept=kept, bench=bench,
                )  # fmt: skip

    def _check_prompts(self, specs: Sequence[RunSpec]) -> None:
        """Raises BadInput for a template that holds a key of this workspace: it would be sent and
        kept; BadUsage where one would ask in several ways alike."""
        from proofstone.engines.models.redaction import scrubber_of  # noqa: PLC0415

        prompts = {spec.prompt for spec in specs if spec.prompt is not None}
        if not prompts:
            return
        scrubber = scrubber_of(self.config)
        for prompt in prompts:
            text = prompt.text.encode()
            if scrubber.raw(text) != text:
                raise BadInput(
                    f"the template {prompt.name} holds a key or password of this configuration: "
                    "it would be sent and kept",
                    hint="take it out of the template",
                )
        check_told_apart(self.store, find_method, specs)

    async def _plan_loads(self, specs: Sequence[RunSpec], retriever: Retriever) -> Loads:
        """What ``specs`` would send to each host that is not this machine."""
        from proofstone.wiring.egress import plan_loads  # noqa: PLC0415

        return await plan_loads(self.store, specs, self.config, self.clock, retriever)

    def _judge_loads(self, item_sets: Sequence[bytes], judges: JudgeSpec) -> Loads:
        """What judging replies to these item sets would send to each host that is not this
        machine."""
        from proofstone.wiring.judging import judge_loads  # noqa: PLC0415

        return judge_loads(self.store, item_sets, judges, self.config)

    def _clear_probe(self, names: Sequence[str]) -> None:
        from proofstone.wiring.egress import clear_probe  # noqa: PLC0415

        clear_probe(names, self.config, self.ask_egress)

    def _planned(
        self, specs: Sequence[RunSpec], askers: Mapping[str, Asker], retriever: Retriever
    ) -> list[PlannedRun]:
        """The runs that ``specs`` mean, all checked before one is stored."""
        from proofstone.stages.budgeting import check_bounded  # noqa: PLC0415

        plans = []
        for spec in specs:
            method = find_method(self.store.items.item_set(spec.item_set).method)
            model = askers[spec.model].model
            plans.append(plan_run(self.store, method, spec, model, retriever))
        check_bounded([(plan, askers[spec.model]) for plan, spec in zip(plans, specs, strict=True)])
        return plans

    def _askers(
        self,
        names: Sequence[str],
        max_connections: int | None,
        stop: asyncio.Event,
        cache: CacheUse = "same",
        spending: Spending | None = None,
    ) -> AbstractAsyncContextManager[dict[str, Asker]]:
        from proofstone.wiring.askers import open_askers  # noqa: PLC0415

        return open_askers(
            names,
            self.config,
            store=self.store.calls,
            clock=self.clock,
            stop=stop,
            max_connections=max_connections,
            cache=cache,
            spending=spending,
        )
