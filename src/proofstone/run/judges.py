"""What judging would take: calls, tokens and money of each judge, before anybody is asked."""

from __future__ import annotations

from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from proofstone.errors import BadUsage, CallFailed, NotAsked
from proofstone.judging.attacks import (
    AttackResult,
    attacks,
    summarise_attacks,
    try_attacks,
)
from proofstone.judging.panel import JudgingRules, Panel
from proofstone.judging.verdicts import JudgeAccount, judge_accounts
from proofstone.models.ask import Asker
from proofstone.models.config import ModelConfig
from proofstone.models.registry import leaves_to
from proofstone.records.calls import CallRecord, Clock, Judge, Message, Model, ModelRequest
from proofstone.records.ids import canonical_json, digest, short
from proofstone.records.runs import Estimate, Response
from proofstone.records.verdicts import (
    JudgeQuestion,
    JudgeVote,
    Majority,
    PanelRules,
    PanelVerdict,
    Passage,
)
from proofstone.run.run_options import JUDGING, RunAsked
from proofstone.run.scorings import Judging
from proofstone.session.askers import on_record
from proofstone.session.egress import Load, Loads
from proofstone.session.permits import Outgoing
from proofstone.stats.ranks import share_estimate
from proofstone.store.provenance import Origin
from proofstone.store.store import Store

# What judges said of one reply, as people read it: each judge's label and its reason.


def verdict_lines(verdict: PanelVerdict) -> Iterator[str]:
    """A head and, where there is one, a reason a judge; of several also what they came to."""
    for judge_vote in verdict.judge_votes:
        yield f"--- judge {judge_vote.judge}: {_label(judge_vote)}"
        said = judge_vote.reason or _unread(judge_vote)
        if said:
            yield said
    if len(verdict.judge_votes) > 1 or verdict.by_rule:
        came_to = verdict.label or {"tied": "tied", "no_quorum": "too few votes"}[verdict.state]
        yield f"--- together: {came_to}" + (", by the rule for ties" if verdict.by_rule else "")
    if isinstance(verdict.rests_on, Passage):
        where = ", ".join(filter(None, (verdict.rests_on.title, verdict.rests_on.url)))
        yield f"--- rests on{f' ({where})' if where else ''}"
        yield verdict.rests_on.text


def judges_of_response(store: Store, run: int, item: int, sample: int) -> Iterator[str]:
    """What judges said of a reply in each whole scoring of its run, newest first, by the keys of
    run and item; nothing where no judge was asked."""
    for scoring in reversed(store.scores.of_run(run)):
        if scoring.settings:  # what a method judges in a way of its own is told by itself
            continue
        for score in store.traces.scores(scoring.key, item):
            if score.sample == sample and score.verdict is not None:
                head = f"--- judged in scoring:{short(scoring.id)}, {score.measure}"
                yield "\n".join([head, *verdict_lines(score.verdict)])


def _label(judge_vote: JudgeVote) -> str:
    """A vote; or why there is none, and after how many replies."""
    if judge_vote.state == "voted":
        return judge_vote.label
    said = {"unparsed": "no label", "split": "different labels", "failed": "not heard"}
    times = f" in {len(judge_vote.heard)} replies" if len(judge_vote.heard) > 1 else ""
    why = f" ({judge_vote.trouble.replace('_', ' ')})" if judge_vote.trouble else ""
    return f"{said[judge_vote.state]}{times}{why}"


def _unread(judge_vote: JudgeVote) -> str:
    """What a judge without a label last said."""
    return next((each.reason for each in reversed(judge_vote.heard) if each.reason), "")


# Models as judges: each asked through its asker, every call kept, with the purpose "judge"; and
# several of them as a panel that scores.

# Room for a reason and a label; a judge that thinks aloud is given more by its entry.
JUDGE_SETTINGS: Mapping[str, Any] = MappingProxyType({"temperature": 0.0, "max_tokens": 512})


def takes_schema(model: Model) -> bool:
    """Whether a model's endpoint holds replies to a JSON schema."""
    _sent, dropped = model.sent_settings({"schema": {"type": "object"}})
    return "schema" not in dropped


class AskedJudge:
    """A ``JudgeModel`` over an asker. ``keep`` is awaited with each call that is not from the
    cache; ``settings`` go with every question."""

    def __init__(
        self,
        asker: Asker,
        keep: Callable[[CallRecord], Awaitable[None]],
        settings: Mapping[str, Any] = JUDGE_SETTINGS,
    ) -> None:
        self.name = asker.model.name
        self.takes_schema = takes_schema(asker.model)
        self._asker = asker
        self._keep = keep
        self._settings = dict(settings)

    async def __call__(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        reask: int,
        vote: int,
    ) -> Response:
        """The reply; CallFailed where none came, the call kept all the same."""
        prompt = canonical_json(messages)
        request = ModelRequest(
            messages=tuple(messages),
            prompt=prompt,
            prompt_hash=digest(prompt),
            settings=self._settings if schema is None else {**self._settings, "schema": schema},
            sample=vote,
            reask=reask,
            purpose="judge",
        )
        asked = await self._asker.ask(request, self._keep)
        if asked.key is None:
            await self._keep(asked.record)
        if asked.response is None:
            raise CallFailed(asked.record.error, asked.record.detail)
        return asked.response


class JudgeSpec(Struct, frozen=True, kw_only=True):
    """Who is to judge, and how they decide: see ``JudgingRules`` and ``PanelRules``. A quorum of 0
    is all of them."""

    models: tuple[str, ...]
    votes: int = 1
    orders: int = 1
    quorum: int = 0
    majority: Majority = "half"

    @property
    def asking(self) -> JudgingRules:
        """How each is asked."""
        return JudgingRules(votes=self.votes, orders=self.orders)

    @property
    def rules(self) -> PanelRules:
        """How their votes decide."""
        return PanelRules(quorum=self.quorum or len(self.models), majority=self.majority)


class Bench:
    """The judges of a spec with their askers, ready to sit.

    A judge that cannot be asked any more (no budget, no endpoint) leaves its questions open.
    """

    def __init__(self, spec: JudgeSpec, askers: Sequence[Asker]) -> None:
        self._spec = spec
        self._askers = tuple(sorted(askers, key=lambda asker: asker.model.name))

    @property
    def name(self) -> str:
        """By which a scoring knows them: their names, and what of the rules is not as usual."""
        said = [", ".join(asker.model.name for asker in self._askers)]
        usual = JudgeSpec(models=self._spec.models)
        for rule in ("votes", "orders", "quorum", "majority"):
            value = getattr(self._spec, rule)
            said += [f"{rule}={value}"] if value != getattr(usual, rule) else []
        return " ".join(said)

    @property
    def stopped(self) -> Exception | None:
        """Why one of them cannot be asked any more."""
        return next((a.stopped for a in self._askers if a.stopped is not None), None)

    def sitting(self, keep: Callable[[CallRecord], Awaitable[None]]) -> Judge:
        """The judges as one, each of whose calls goes to ``keep``: what could not be put to them
        has failed, and may be put again. Raises BadUsage for rules that cannot be."""
        judges = [AskedJudge(asker, keep) for asker in self._askers]
        panel = Panel(judges, asking=self._spec.asking, rules=self._spec.rules)

        async def judge(question: JudgeQuestion) -> PanelVerdict:
            try:
                return await panel.decide(question)
            except NotAsked as stopped:
                silent = [
                    JudgeVote(judge=name, state="failed", trouble=stopped.kind)
                    for name in panel.names
                ]
                return PanelVerdict(state="no_quorum", judge_votes=tuple(silent), rules=panel.rules)

        return judge


# Judges of runs: named, told what would leave, seated.

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


def judges_asked(asked: RunAsked) -> JudgeSpec | None:
    """Who is to judge by what was asked, and how they decide. Raises as ``judge_spec``."""
    rules = {name: getattr(asked, name) for name in JUDGING[1:]}
    return judge_spec(JudgeSpec(models=asked.judge, **rules))


def loads_of(
    judges: JudgeSpec,
    config: ModelConfig,
    texts: Mapping[bytes, tuple[Iterable[Origin], int]],
    *,
    about: int = _ABOUT,
) -> Loads:
    """The same of ``texts`` by what they are of: their origins, and how many replies they are;
    ``about`` so many characters go with each."""
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


# Trying a model as a judge: how often a text under judgement talks it into a label.

_CONFIDENCE = 0.95


class JudgeTrial(Struct, frozen=True, kw_only=True):
    """What attacks on one judge came to. ``sound`` is the share of attacks on texts that it judges
    rightly without them; ``fooled`` and ``silenced`` are shares of these: it gave the label that
    the attack was after, or none. ``by_carrier``: fooled and sound ones of each."""

    model: str
    sound: Estimate
    fooled: Estimate
    silenced: Estimate
    by_carrier: dict[str, tuple[int, int]]
    account: JudgeAccount
    results: tuple[AttackResult, ...]


async def perform_judge_trial(
    store: Store,
    asker: Asker,
    kept: Callable[[CallRecord], None] | None = None,
    *,
    limit: int | None = None,
) -> JudgeTrial:
    """Asks a judge the packaged attacks (the first ``limit`` of them, spread over all carriers),
    and their texts without them. Every call is kept; a second time comes from the cache.

    Raises EndpointUnusable where the model cannot be used at all, BudgetReached where a budget
    does not cover it.
    """
    chosen = attacks()
    if limit is not None:
        chosen = chosen[:: max(1, len(chosen) // max(1, limit))][:limit]
    async with store.writer(kept) as writer:
        panel = Panel([AskedJudge(asker, writer.write)])
        results = await try_attacks(panel, chosen)
    if asker.stopped is not None:
        raise asker.stopped
    counts = summarise_attacks(results)

    def share(count: int, n: int) -> Estimate:
        return share_estimate(count / n if n else float("nan"), n, _CONFIDENCE)

    return JudgeTrial(
        model=asker.model.name,
        sound=share(counts.sound, counts.n),
        fooled=share(counts.fooled, counts.sound),
        silenced=share(counts.silenced, counts.sound),
        by_carrier=dict(counts.by_carrier),
        account=judge_accounts(result.verdict for result in results)[0],
        results=results,
    )
