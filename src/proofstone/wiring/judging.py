"""Judges of runs: named, told what would leave, seated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from proofstone.engines.models import Asker, ModelConfig, Spending, leaves_to
from proofstone.engines.store import Store
from proofstone.errors import BadUsage
from proofstone.ports import Clock, Method
from proofstone.records import Run
from proofstone.stages.budgeting import on_record
from proofstone.stages.judging import Bench, JudgeSpec
from proofstone.stages.outgoing import Outgoing
from proofstone.stages.score import Judging, Scored, score_run

if TYPE_CHECKING:
    from proofstone.wiring.egress import Loads

__all__ = ["Judges", "judge_loads", "judge_spec", "judged_score"]

# A model, several of them, or how they decide besides.
Judges = str | Sequence[str] | JudgeSpec
_ABOUT = 300  # characters of a question's frame: task, labels, marks


def judge_spec(judges: Judges) -> JudgeSpec | None:
    """Who is meant; None for nobody. Raises BadUsage for a simulated respondent, which sees no
    text."""
    if isinstance(judges, str):
        judges = (judges,) if judges else ()
    if not isinstance(judges, JudgeSpec):
        judges = JudgeSpec(models=tuple(dict.fromkeys(judges)))
    made_up = [name for name in judges.models if name.startswith("sim/")]
    if made_up:
        raise BadUsage(
            f"{', '.join(made_up)} cannot judge: a simulated respondent reads nothing",
            hint="name a model: --judge provider/model",
        )
    return judges if judges.models else None


def judge_loads(
    store: Store, item_sets: Sequence[bytes], judges: JudgeSpec, config: ModelConfig
) -> Loads:
    """What judging the replies to these item sets would send to each host that is not this machine,
    at the most: each question with its answer, once for each that judges there."""
    from proofstone.wiring.egress import Load  # noqa: PLC0415

    loads: Loads = {}
    for judge in judges.models:
        to = leaves_to(judge, config)
        if to is None or to.is_local:
            continue
        for identity in dict.fromkeys(item_sets):
            n_items = store.items.item_set(identity).n_items
            requests = n_items * judges.votes * judges.orders
            outgoing = Outgoing(
                items=n_items,
                requests=requests,
                characters=requests * _ABOUT,
                origins=tuple(store.origins.of_set(identity, n_items)),
            )
            loads[to] = loads.get(to, Load()).with_run(judge, identity, outgoing)
    return loads


async def judged_score(
    store: Store,
    method: Method,
    key: int,
    run: Run,
    spec: JudgeSpec,
    askers: Sequence[Asker],
    *,
    clock: Clock,
    spending: Spending | None,
    again: bool,
) -> Scored:
    """``score_run`` with judges, every call of theirs kept. Raises what stopped one of them."""
    bench = Bench(spec, askers)
    async with on_record(store, askers, spending, clock) as kept, store.writer(kept) as writer:
        judging = Judging(bench.name, bench.sitting(writer.write))
        scored = await score_run(store, method, key, run, clock=clock, again=again, judging=judging)
    if bench.stopped is not None:
        raise bench.stopped
    return scored
