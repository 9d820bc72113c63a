"""Judges of runs: named, told what would leave, seated."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from proofstone.engines.models import Asker, ModelConfig, leaves_to
from proofstone.engines.store import Origin, Store
from proofstone.errors import BadUsage
from proofstone.ports import Clock
from proofstone.stages.budgeting import on_record
from proofstone.stages.judging import Bench, JudgeSpec
from proofstone.stages.outgoing import Outgoing
from proofstone.stages.score import Judging

if TYPE_CHECKING:
    from proofstone.wiring.egress import Loads

__all__ = ["Judges", "judge_loads", "judge_spec", "loads_of", "seated"]

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
    sizes = {each: store.items.item_set(each).n_items for each in dict.fromkeys(item_sets)}
    return loads_of(
        judges, config, {each: (store.origins.of_set(each, n), n) for each, n in sizes.items()}
    )


def loads_of(
    judges: JudgeSpec,
    config: ModelConfig,
    texts: Mapping[bytes, tuple[Iterable[Origin], int]],
    *,
    about: int = _ABOUT,
) -> Loads:
    """The same of ``texts`` by what they are of: their origins, and how many replies they are;
    ``about`` so many characters go with each."""
    from proofstone.wiring.egress import Load  # noqa: PLC0415

    loads: Loads = {}
    for judge in judges.models:
        to = leaves_to(judge, config)
        if to is None or to.is_local:
            continue
        for identity, (origins, n) in texts.items():
            requests = n * judges.votes * judges.orders
            outgoing = Outgoing(
                items=n, requests=requests, characters=requests * about, origins=tuple(origins)
            )
            loads[to] = loads.get(to, Load()).with_run(judge, identity, outgoing)
    return loads


@asynccontextmanager
async def seated(
    store: Store,
    spec: JudgeSpec,
    askers: Mapping[str, Asker],
    clock: Clock,
) -> AsyncIterator[Judging]:
    """The judges at work, every call of theirs kept in ``store``. Raises at the end what stopped
    one of them."""
    bench = Bench(spec, list(askers.values()))
    recorded = on_record(store, askers.values(), clock)
    async with recorded as kept, store.writer(kept) as writer:
        sitting = bench.sitting(writer.write)
        yield Judging(bench.name, sitting, is_stopped=lambda: bench.stopped is not None)
    if bench.stopped is not None:
        raise bench.stopped
