"""Ask LLM judges about responses, estimate what that takes, and show their verdicts."""

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

# Text output of verdicts: each judge's label and its reason.


def verdict_lines(verdict: PanelVerdict) -> Iterator[str]:
    """Yield a heading and reason per judge; for several judges also the joint verdict."""
    for judge_vote in verdict.judge_votes:
        yield f"--- judge {judge_vote.judge}: {_label(judge_vote)}"
        said = judge_vote.reason or _unread(judge_vote)
        if said:
            yield said
    if len(verdict.judge_votes) > 1 or verdict.by_rule:
        came_to = verdict.label or {"tied": "tied", "no_quorum": "too few votes"}[verdict.state]
        yield f"--- panel: {came_to}" + (", by the tie rule" if verdict.by_rule else "")
    if isinstance(verdict.rests_on, Passage):
        where = ", ".join(filter(None, (verdict.rests_on.title, verdict.rests_on.url)))
        yield f"--- evidence{f' ({where})' if where else ''}"
        yield verdict.rests_on.text


def judges_of_response(store: Store, run: int, item: int, sample: int) -> Iterator[str]:
    """Yield what judges said of a response in each complete scoring of its run, newest first.

    ``run`` and ``item`` are keys. Yields nothing if no judge was asked.
    """
    for scoring in reversed(store.scores.of_run(run)):
        if scoring.settings:  # a method with its own form of judging shows its verdicts itself
            continue
        for score in store.traces.scores(scoring.key, item):
            if score.sample == sample and score.verdict is not None:
                head = f"--- judged in scoring:{short(scoring.id)}, {score.measure}"
                yield "\n".join([head, *verdict_lines(score.verdict)])


def _label(judge_vote: JudgeVote) -> str:
    """Return a vote, or why there is none and after how many responses."""
    if judge_vote.state == "voted":
        return judge_vote.label
    said = {"unparsed": "no label", "split": "different labels", "failed": "no response"}
    times = f" in {len(judge_vote.heard)} responses" if len(judge_vote.heard) > 1 else ""
    why = f" ({judge_vote.trouble.replace('_', ' ')})" if judge_vote.trouble else ""
    return f"{said[judge_vote.state]}{times}{why}"


def _unread(judge_vote: JudgeVote) -> str:
    """Return the last reason of a judge without a label."""
    return next((each.reason for each in reversed(judge_vote.heard) if each.reason), "")


# Judges are models asked through their askers, every call stored with the purpose "judge". Several
# form a panel.

# Tokens for a reason and a label; the entry of a reasoning model allows more.
JUDGE_SETTINGS: Mapping[str, Any] = MappingProxyType({"temperature": 0.0, "max_tokens": 512})


def takes_schema(model: Model) -> bool:
    """Return True if a model's endpoint enforces a JSON schema on responses."""
    _sent, dropped = model.sent_settings({"schema": {"type": "object"}})
    return "schema" not in dropped


class AskedJudge:
    """A ``JudgeModel`` over an asker.

    ``keep`` is awaited with each call that is not from the cache; ``settings`` go with every
    question.
    """

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
        """Return the response, or raise CallFailed; the call is stored in either case."""
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
    """Name the judges and how they decide: see ``JudgingRules`` and ``PanelRules``.

    A quorum of 0 means all of them.
    """

    models: tuple[str, ...]
    votes: int = 1
    orders: int = 1
    quorum: int = 0
    majority: Majority = "half"

    @property
    def asking(self) -> JudgingRules:
        """Return how each judge is asked."""
        return JudgingRules(votes=self.votes, orders=self.orders)

    @property
    def rules(self) -> PanelRules:
        """Return how their votes decide."""
        return PanelRules(quorum=self.quorum or len(self.models), majority=self.majority)


class Bench:
    """The judges of a spec with their askers.

    A judge that cannot be asked any more (no budget, no endpoint) leaves its questions open.
    """

    def __init__(self, spec: JudgeSpec, askers: Sequence[Asker]) -> None:
        self._spec = spec
        self._askers = tuple(sorted(askers, key=lambda asker: asker.model.name))

    @property
    def name(self) -> str:
        """Return the name for scorings: the judges, and rules that differ from the defaults."""
        said = [", ".join(asker.model.name for asker in self._askers)]
        usual = JudgeSpec(models=self._spec.models)
        for rule in ("votes", "orders", "quorum", "majority"):
            value = getattr(self._spec, rule)
            said += [f"{rule}={value}"] if value != getattr(usual, rule) else []
        return " ".join(said)

    @property
    def stopped(self) -> Exception | None:
        """Return why one of them cannot be asked any more; None if all can."""
        return next((a.stopped for a in self._askers if a.stopped is not None), None)

    def sitting(self, keep: Callable[[CallRecord], Awaitable[None]]) -> Judge:
        """Return the judges as one; each call goes to ``keep``.

        A question that could not be asked has failed and may be asked again. Raises BadUsage for
        invalid rules.
        """
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


# Judges of runs: who they are and what would be sent.

# A model, several of them, or a spec with rules.
Judges = str | Sequence[str] | JudgeSpec


_ABOUT = 300  # characters of a question's frame: task, labels, marks


def judge_spec(judges: Judges) -> JudgeSpec | None:
    """Return the judges of a text or spec; None for none.

    Raises BadUsage for a simulated model, which reads no text.
    """
    if isinstance(judges, str):
        judges = (judges,) if judges else ()
    if not isinstance(judges, JudgeSpec):
        judges = JudgeSpec(models=tuple(dict.fromkeys(judges)))
    made_up = [name for name in judges.models if name.startswith("sim/")]
    if made_up:
        raise BadUsage(
            f"{', '.join(made_up)} cannot judge: simulated models read no text",
            hint="name another model: --judge provider/model",
        )
    return judges if judges.models else None


def judges_asked(asked: RunAsked) -> JudgeSpec | None:
    """Return the requested judges and how they decide. Raises as ``judge_spec``."""
    rules = {name: getattr(asked, name) for name in JUDGING[1:]}
    return judge_spec(JudgeSpec(models=asked.judge, **rules))


def loads_of(
    judges: JudgeSpec,
    config: ModelConfig,
    texts: Mapping[bytes, tuple[Iterable[Origin], int]],
    *,
    about: int = _ABOUT,
) -> Loads:
    """Return what judging ``texts`` would send to each remote host.

    ``texts`` gives the number of responses by their origins; ``about`` is the length of each in
    characters.
    """
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
    """Run the judges, with every call stored in ``store``. Raises at the end what stopped one."""
    bench = Bench(spec, list(askers.values()))
    recorded = on_record(store, askers.values(), clock)
    async with recorded as kept, store.writer(kept) as writer:
        sitting = bench.sitting(writer.write)
        yield Judging(bench.name, sitting, is_stopped=lambda: bench.stopped is not None)
    if bench.stopped is not None:
        raise bench.stopped


# Judge robustness test: how often a prompt injection in the judged text changes the label.

_CONFIDENCE = 0.95


class JudgeTrial(Struct, frozen=True, kw_only=True):
    """Hold the result of attacks on one judge.

    ``sound`` is the share of attacked texts that it judges correctly without the attack. ``fooled``
    and ``silenced`` are shares of these: it gave the attacker's label, or none. ``by_carrier``
    counts (fooled, sound) per carrier.
    """

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
    """Ask a judge the bundled attacks and the same texts without them.

    ``limit`` takes that many attacks, spread over all carriers. Every call is stored; repeating it
    uses the cache. Raises EndpointUnusable if the model cannot be used, BudgetReached if a budget
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
