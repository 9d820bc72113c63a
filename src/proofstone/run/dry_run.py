"""Estimate what runs and their judging would take and send, before anything is sent."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct, structs

from proofstone.errors import BadUsage
from proofstone.judging.question import ResponseForm, pose
from proofstone.method import Method, find_method
from proofstone.models.ask import Asker
from proofstone.models.budget import Budget, Spending, cost_usd, total_tokens
from proofstone.models.tokens import counted_tokens
from proofstone.records.calls import CacheUse, Message
from proofstone.records.items import shown_name
from proofstone.records.runs import Response, Run, Spent, Usage, asked_as
from proofstone.records.verdicts import JudgeQuestion, JudgeVote, PanelVerdict
from proofstone.run.asked_items import asked_page
from proofstone.run.campaign import check_own_prompts, planned_specs
from proofstone.run.forecast import (
    CONFIDENCE,
    Amounts,
    DryRun,
    JudgeForecast,
    JudgingForecast,
    Part,
    Range,
    RenderedPrompt,
    SentAs,
    reach_of,
)
from proofstone.run.judges import JUDGE_SETTINGS, Bench, JudgeSpec, takes_schema
from proofstone.run.outbound import clear_searches, pilot_loads, remembered_retriever
from proofstone.run.pilot import (
    Group,
    Observed,
    Pilot,
    Survey,
    ask_pilots,
    first_request,
    group_surveys,
    pilot_of,
    survey_run,
)
from proofstone.run.plan import PlannedRun, RunSpec
from proofstone.run.request import specs_of
from proofstone.run.retriever import Retriever
from proofstone.run.scorings import pages_to_score, score_responses, score_units
from proofstone.session.askers import on_record, session_askers, with_askers
from proofstone.session.egress import let_out
from proofstone.session.progress import Watch, start_spending, watched
from proofstone.session.session import Session, Target
from proofstone.stats.power import Sampled, forecast_total
from proofstone.store.items import StoredItem
from proofstone.store.store import Store

PILOT = 20


def dry_run(
    session: Session,
    /,
    targets: Target | Sequence[Target],
    *,
    models: str | Sequence[str],
    prompt_method: str | Sequence[str] = (),
    pilot: int = PILOT,
    max_connections: int | None = None,
    cache: CacheUse = "same",
    budget: Budget | str | None = None,
    watch: Watch | None = None,
    on_interrupt: Callable[[int], None] | None = None,
    **asking: Any,
) -> DryRun:
    """Estimate what ``run`` with these arguments would take: requests, tokens, money and time.

    ``pilot`` questions of each model and prompting method, a seeded sample, are really asked. Their
    responses are stored, and the run takes them from the cache. With 0, no API calls are made, and
    ``max_tokens`` bounds the cost from above. ``budget`` limits the pilot; the result says whether
    the same amount would cover the rest.
    """
    return forecast_specs(
        session,
        specs_of(session, targets, models=models, prompt_method=prompt_method, **asking),
        pilot=pilot,
        max_connections=max_connections,
        cache=cache,
        spending=start_spending(session, budget),
        watch=watch,
        on_interrupt=on_interrupt,
    )


def forecast_specs(
    session: Session,
    specs: Sequence[RunSpec],
    *,
    pilot: int = PILOT,
    max_connections: int | None = None,
    cache: CacheUse = "same",
    spending: Spending | None = None,
    watch: Watch | None = None,
    on_interrupt: Callable[[int], None] | None = None,
) -> DryRun:
    """``dry_run`` for runs with different settings.

    Raises BadUsage for a pilot of one question, which gives no range.
    """
    if pilot == 1 or pilot < 0:
        raise BadUsage(
            f"expected a pilot of 2 questions or more, got {pilot}: a range needs two",
            hint="or 0, to make no API calls and see the cost of the longest responses",
        )
    check_own_prompts(session, specs)
    retriever = _told_retriever(session, specs, spending)
    groups = _surveyed(session, specs, retriever, max_connections, cache, spending)
    pilots = [pilot_of(group, pilot) for group in groups]
    if loads := pilot_loads(session.store, pilots, session.config):
        let_out(session, loads)  # calls of a pilot are stored like all others
    names = list(dict.fromkeys(spec.model for spec in specs))

    async def work(stop: asyncio.Event) -> DryRun:
        async with session_askers(session, names, max_connections, stop, cache, spending) as opened:
            askers = {asker.model.name: asker for asker in opened.values()}
            used = [askers[each.group.run.respondent] for each in pilots if each.sample]
            record = on_record(session.store, used, session.clock, runs=["a pilot"])
            async with record as kept:
                await ask_pilots(
                    session.store, pilots, askers, stop=stop, clock=session.clock, kept=kept
                )
        budget = None if spending is None else spending.budget
        return forecast_runs(pilots, askers, n=pilot, budget=budget, interrupted=stop.is_set())

    return watched(work, [each.progress for each in pilots if each.sample], watch, on_interrupt)


def forecast_judging(
    session: Session,
    specs: Sequence[RunSpec],
    judges: JudgeSpec,
    *,
    max_connections: int | None = None,
) -> JudgingForecast:
    """Bound what judging the future responses of these runs takes. Makes no API calls."""
    groups = _surveyed(session, specs, _told_retriever(session, specs), max_connections)
    surveys = [survey for group in groups for survey in group.surveys]
    return with_askers(
        session,
        judges.models,
        lambda askers: forecast_of_runs(session.store, surveys, judges, list(askers.values())),
        max_connections=max_connections,
    )


def _told_retriever(
    session: Session, specs: Sequence[RunSpec], spending: Spending | None = None
) -> Retriever:
    """Return a retriever that knows earlier searches only; no web search is made."""
    retriever = remembered_retriever(session, specs, spending)
    local = [each for each in specs if each.context_source == "local"]
    clear_searches(session, local, retriever, spending)
    return retriever


def _surveyed(
    session: Session,
    specs: Sequence[RunSpec],
    retriever: Retriever,
    max_connections: int | None = None,
    cache: CacheUse = "same",
    spending: Spending | None = None,
) -> list[Group]:
    """Group what is left of all runs; each group gets one pilot."""

    async def survey(askers: dict[str, Asker]) -> list[Group]:
        plans = planned_specs(session, specs, askers, retriever)
        pairs = zip(plans, specs, strict=True)
        return group_surveys(
            [await survey_run(session.store, plan, askers[spec.model]) for plan, spec in pairs]
        )

    return with_askers(
        session, list(dict.fromkeys(spec.model for spec in specs)), survey,
        max_connections=max_connections, cache=cache, spending=spending,
    )  # fmt: skip


# Render the prompts that would be sent.

_PROMPTS = 64


def rendered_prompts(session: Session, specs: Sequence[RunSpec], n: int) -> list[RenderedPrompt]:
    """Render the prompts of the first ``n`` questions in each prompting method.

    Models that receive the same prompt are grouped. One that receives another prompt (a text model)
    has its own.
    """
    check_own_prompts(session, specs)
    retriever = _told_retriever(session, specs)

    async def render(askers: dict[str, Asker]) -> list[RenderedPrompt]:
        plans = planned_specs(session, specs, askers, retriever)
        runs = [(plan, askers[spec.model]) for plan, spec in zip(plans, specs, strict=True)]
        return await _rendered(session.store, runs, n)

    return with_askers(session, list(dict.fromkeys(spec.model for spec in specs)), render)


async def _rendered(
    store: Store, runs: Sequence[tuple[PlannedRun, Asker]], n: int
) -> list[RenderedPrompt]:
    found: dict[tuple[str, bytes, tuple[Message, ...]], RenderedPrompt] = {}
    shown: dict[tuple[str, str, str], int] = {}
    for planned, asker in runs:
        run = planned.run
        # Forms follow each other: the rest of n goes to the next form of the same run.
        key = (run.respondent, run.prompt_method, str(run.settings))
        left = n - shown.get(key, 0)
        for stored in _first_asked(store, planned, left):
            shown[key] = shown.get(key, 0) + 1
            first = await first_request(planned, stored)
            if first is None:
                continue
            step, request = first
            settings, dropped = asker.model.sent_settings(request.settings)
            to = SentAs(model=run.respondent, settings=settings, dropped=dropped)
            place = (asked_as(run), stored.loaded.item.id, request.messages)
            known = found.get(place)
            if known is None:
                found[place] = RenderedPrompt(
                    prompt_method=asked_as(run),
                    form=shown_name(planned.item_set),
                    item=stored.loaded.item.id,
                    step=step,
                    messages=request.messages,
                    to=(to,),
                )
            elif to not in known.to:
                found[place] = structs.replace(known, to=(*known.to, to))
    return list(found.values())


def _first_asked(store: Store, planned: PlannedRun, n: int) -> Iterator[StoredItem]:
    """Yield the first ``n`` questions of a run that are asked."""
    for after in range(-1, planned.n_items - 1, _PROMPTS):
        size = min(_PROMPTS, planned.n_items - 1 - after)
        for stored in asked_page(store, planned.prompt_method, planned.item_set.id, after, size):
            if n <= 0:
                return
            n -= 1
            yield stored


# What is left takes, from a pilot or from bounds.

_BILLED = 200


class _Left(Struct, frozen=True):
    """Hold what is left of a group, its pilot, the asker of its model and its connections."""

    pilot: Pilot
    asker: Asker

    @property
    def run(self) -> Run:
        return self.pilot.group.run

    @property
    def surveys(self) -> tuple[Survey, ...]:
        return self.pilot.group.surveys

    @property
    def telling(self) -> list[Observed]:
        """Return the questions that show what one question takes."""
        return [each for each in self.pilot.observed if each.says_something]

    @property
    def asked(self) -> int:
        """Return the number of questions that the pilot answered without the cache."""
        return sum(each.was_asked and not each.error for each in self.pilot.observed)

    @property
    def to_ask(self) -> int:
        """Return the number of questions that remain."""
        return self.pilot.group.to_ask - self.asked

    @property
    def is_unpriced(self) -> bool:
        """Return True if money is to be spent and no price is known."""
        return self.asker.price is None and not self.run.simulated and self.to_ask > 0

    def usd(self, usage: Usage) -> float:
        """Return the cost of a call at its model's price in USD; 0 if no price is known."""
        return cost_usd(self.asker.price, usage, _BILLED) or 0.0


def forecast_runs(
    pilots: Sequence[Pilot],
    askers: Mapping[str, Asker],
    *,
    n: int,
    budget: Budget | None = None,
    interrupted: bool = False,
) -> DryRun:
    """Estimate what is left after the pilots; ``n`` questions were requested per pilot."""
    groups = [_Left(pilot, askers[pilot.group.run.respondent]) for pilot in pilots]
    by_model: dict[str, list[_Left]] = {}
    for group in groups:
        by_model.setdefault(group.run.respondent, []).append(group)
    total, reach = _part(groups, n), None
    # The largest amount reserved for one remaining call; 0 if none remains.
    bounds = [
        (group.usd(survey.most), total_tokens(survey.most))
        for group in groups
        if not group.run.simulated and group.to_ask
        for survey in group.surveys
    ]
    call_usd = max((usd for usd, _tokens in bounds), default=0.0)
    call_tokens = max((tokens for _usd, tokens in bounds), default=0)
    if budget is not None:
        in_usd = budget.unit == "USD"
        reach = reach_of(
            budget,
            total.amounts.cost_usd if in_usd else total.amounts.tokens,
            call_usd if in_usd else call_tokens,
            is_left=total.to_ask > 0,
        )
    anew = [each for pilot in pilots for each in pilot.observed if each.was_asked]
    return DryRun(
        parts=tuple(
            _part([group], n, told) for group, told in zip(groups, _told_apart(groups), strict=True)
        ),
        models=tuple(_part(each, n) for each in by_model.values() if len(each) > 1),
        total=total,
        pilot=n,
        spent=sum((pilot.progress.spent() for pilot in pilots), Spent()),
        requests=sum(each.requests for each in anew),
        again=sum(each.again for each in anew),
        reach=reach,
        call_usd=call_usd,
        call_tokens=call_tokens,
        broken=sum(each.broken for pilot in pilots for each in pilot.observed),
        unpriced=tuple(
            model for model, each in by_model.items() if any(one.is_unpriced for one in each)
        ),
        one_request=all(survey.is_one_request for group in groups for survey in group.surveys),
        interrupted=interrupted,
    )


def _part(groups: Sequence[_Left], n: int, settings: str = "") -> Part:
    models = {group.run.respondent for group in groups}
    observed = [each for group in groups for each in group.telling]
    prompt = sum(each.prompt_tokens for each in observed)
    response = sum(each.response_tokens for each in observed)
    one = groups[0] if len(groups) == 1 else None
    longest = _longest(groups)
    return Part(
        model=models.pop() if len(models) == 1 else "",
        prompt_method=asked_as(one.run) if one else "",
        settings=settings,
        simulated=all(group.run.simulated for group in groups),
        unpriced=any(group.is_unpriced for group in groups),
        questions=sum(len(survey.left) for group in groups for survey in group.surveys),
        cached=sum(len(survey.cached) for group in groups for survey in group.surveys),
        asked=sum(group.asked for group in groups),
        to_ask=sum(group.to_ask for group in groups),
        sampled=len(observed),
        failed=dict(sum((group.pilot.errors for group in groups), Counter[str]())),
        stopped=one.pilot.stopped if one else "",
        over_budget=any(group.pilot.over_budget for group in groups),
        reasoning=sum(each.reasoning_tokens for each in observed) / response if response else 0.0,
        prompt=prompt / (prompt + response) if prompt + response else 0.0,
        amounts=_from_pilot(groups) if n else longest,
        longest=longest,
    )


def _from_pilot(groups: Sequence[_Left]) -> Amounts:
    asked = [group for group in groups if not group.run.simulated]
    requests = _total(asked, lambda each: each.requests)
    if requests is not None:  # each question takes one at least
        least = float(sum(group.to_ask for group in asked))
        requests = Range(max(least, requests.low), requests.high, requests.likely)
    priced = _priced(asked)
    return Amounts(
        requests=requests,
        tokens=_total(asked, lambda each: each.tokens),
        cost_usd=None if priced is None else _total(priced, lambda each: each.cost_usd or 0.0),
        seconds=_seconds(asked),
    )


def _priced(groups: Sequence[_Left]) -> list[_Left] | None:
    """Return the groups with an estimable cost; None if all paid groups lack one."""
    left = [group for group in groups if group.to_ask]
    priced = [group for group in left if not group.is_unpriced]
    return priced if priced or not left else None


def _total(
    groups: Sequence[_Left], value: Callable[[Observed], float], per: int = 1
) -> Range | None:
    """Predict a total over groups, each value divided by ``per``.

    None if a group has something left and too few observations.
    """
    sampled = [
        Sampled([value(each) / per for each in group.telling], group.to_ask) for group in groups
    ]
    if any(each.left and len(each.values) < 2 for each in sampled):
        return None
    found = forecast_total(sampled, CONFIDENCE)
    return Range(found.low, found.high, found.likely)


def _seconds(groups: Sequence[_Left]) -> Range | None:
    """Predict the time until all is asked, in seconds.

    Models of one endpoint share its connections; endpoints run concurrently.
    """
    by_slots: dict[int, list[_Left]] = {}
    for group in groups:
        by_slots.setdefault(id(group.asker.limiter), []).append(group)
    longest = Range(0.0, 0.0, 0.0)
    for together in by_slots.values():
        left = sum(group.to_ask for group in together)
        at_once = max(1, min(together[0].asker.max_connections, left))
        took = _total(together, lambda each: each.seconds, at_once)
        if took is None:
            return None
        if took.high > longest.high:
            longest = took
    return longest


def _longest(groups: Sequence[_Left]) -> Amounts:
    """Return bounds from prompts alone to the longest responses, less the pilot's share."""
    asked = [group for group in groups if not group.run.simulated]
    tokens, cost = Range(0.0, 0.0), Range(0.0, 0.0)
    is_bounded = True
    for group in asked:
        all_of_it = group.pilot.group.to_ask
        share = group.to_ask / all_of_it if all_of_it else 0.0
        responses = [survey.response_tokens for survey in group.surveys]
        is_bounded &= None not in responses
        prompt = share * sum(survey.prompt_tokens for survey in group.surveys)
        response = 0.0 if None in responses else share * sum(each or 0 for each in responses)
        tokens += Range(prompt, prompt + response)
        cost += Range(
            group.usd(Usage(round(prompt), 0)), group.usd(Usage(round(prompt), round(response)))
        )
    requests = 0.0
    for group in asked:
        counted = sum(survey.requests for survey in group.surveys)
        requests += counted * group.to_ask / max(1, group.pilot.group.to_ask)
    return Amounts(
        requests=Range(requests, requests),
        tokens=tokens if is_bounded else None,
        cost_usd=cost if is_bounded and _priced(asked) is not None else None,
    )


def _told_apart(groups: Sequence[_Left]) -> Iterator[str]:
    """Yield the settings that distinguish each group within its model and prompting method."""
    by_name: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for group in groups:
        by_name.setdefault((group.run.respondent, asked_as(group.run)), []).append(
            group.run.settings
        )
    for group in groups:
        alike = by_name[group.run.respondent, asked_as(group.run)]
        yield " ".join(
            f"{key}={value}"
            for key, value in group.run.settings.items()
            if any(other.get(key) != value for other in alike)
        )


# Estimate judging: calls, tokens and money per judge, before any API call.

_COUNTED = 200  # questions whose tokens are counted; the others are assumed to be like these


_STAND_IN = "?"  # placeholder for a response that does not exist yet


class _Listening:
    """Record what a judge would be asked; it never answers, so nothing is scored."""

    def __init__(self) -> None:
        self.asked: list[JudgeQuestion] = []

    async def __call__(self, question: JudgeQuestion) -> PanelVerdict:
        self.asked.append(question)
        silent = JudgeVote(judge="nobody", state="failed", trouble="not asked")
        return PanelVerdict(state="no_quorum", judge_votes=(silent,))


async def forecast_of_responses(
    store: Store,
    method: Method,
    key: int,
    run: Run,
    spec: JudgeSpec,
    askers: Sequence[Asker],
    *,
    again: bool = False,
) -> JudgingForecast:
    """Estimate what grading a run's stored responses takes.

    Responses already graded by these judges count only with ``again``.
    """
    newest = store.scores.newest(key, method.scorer_version, Bench(spec, askers).name)
    listening, n = _Listening(), 0
    scoring = None if again or newest is None else newest.key
    for page in pages_to_score(store, key, run, scoring):
        n += len(page)
        await score_responses(store, method, page, listening)
    asked = len(listening.asked)
    return JudgingForecast(
        of=n,
        responses=Range(asked, asked, asked),
        judges=tuple(_of_judge(asker, spec, listening.asked, asked, 0) for asker in askers),
    )


def forecast_of_questions(
    questions: Iterable[JudgeQuestion], of: int, spec: JudgeSpec, askers: Sequence[Asker]
) -> JudgingForecast:
    """Estimate what these questions to judges take, out of ``of`` that a rule may have settled.

    Questions are counted and not stored.
    """
    held = iter(questions)
    sample = list(islice(held, _COUNTED))
    n = len(sample) + sum(1 for _question in held)
    return JudgingForecast(
        of=of,
        responses=Range(n, n, n),
        judges=tuple(_of_judge(asker, spec, sample, n, 0) for asker in askers),
    )


async def forecast_of_runs(
    store: Store,
    surveys: Sequence[Survey],
    spec: JudgeSpec,
    askers: Sequence[Asker],
) -> JudgingForecast:
    """Bound what grading the future responses of runs takes.

    Each question goes with its answer key and a response from empty to the longest possible one.
    """
    found = []
    for survey in surveys:
        longest = survey.planned.run.settings.get("max_tokens")
        sample = await _sampled(store, survey.planned.run)
        n = len(survey.left) if sample else 0
        found.append((sample, n, longest if isinstance(longest, int) else None))
    return JudgingForecast(
        of=sum(len(survey.left) for survey in surveys),
        responses=Range(0, sum(n for _sample, n, _longest in found)),
        judges=tuple(
            _together([_of_judge(asker, spec, *each) for each in found], asker.model.name)
            for asker in askers
        ),
    )


async def _sampled(store: Store, run: Run) -> list[JudgeQuestion]:
    """Return the judge questions for the first items of a run, with a placeholder as response."""
    method, response = find_method(run.method), Response(text=_STAND_IN, finish="stop")
    units = [
        unit
        for stored in store.items.page(run.item_set, -1, _COUNTED)
        for unit in method.units(stored.loaded, {run.last_step: response}, 0)
    ]
    listening = _Listening()
    await score_units(method, units, listening)
    return listening.asked


def _of_judge(
    asker: Asker,
    spec: JudgeSpec,
    sample: Sequence[JudgeQuestion],
    n: int,
    response_tokens: int | None,
) -> JudgeForecast:
    """Estimate one judge on ``n`` responses like those of ``sample``.

    Each response adds up to ``response_tokens`` that the sample does not count (None: unbounded).
    Retries are not counted.
    """
    form: ResponseForm = "json" if takes_schema(asker.model) else "line"
    prompts = [counted_tokens(pose(question, form)) for question in sample[:_COUNTED]]
    times = spec.votes * spec.orders
    least = sum(prompts) / len(prompts) * n * times if prompts else 0.0
    unpriced = asker.price is None and not asker.model.simulated and n > 0
    tokens = cost = None
    if response_tokens is not None:
        most_prompt = least + response_tokens * n * times
        most_response = float(JUDGE_SETTINGS["max_tokens"] * n * times)
        tokens = Range(least, most_prompt + most_response)
        ends = (Usage(round(least), 0), Usage(round(most_prompt), round(most_response)))
        if not unpriced:
            cost = Range(*(cost_usd(asker.price, usage, _BILLED) or 0.0 for usage in ends))
    requests = Range(float(n * times), float(n * times))
    return JudgeForecast(
        judge=asker.model.name,
        amounts=Amounts(requests=requests, tokens=tokens, cost_usd=cost),
        unpriced=unpriced,
    )


def _together(parts: Sequence[JudgeForecast], judge: str) -> JudgeForecast:
    """Sum one judge over several runs: from 0 (rules may settle all) to everything."""

    def summed(ranges: Sequence[Range | None]) -> Range | None:
        known = [each.high for each in ranges if each is not None]
        return Range(0.0, sum(known)) if len(known) == len(ranges) else None

    amounts = [part.amounts for part in parts]
    return JudgeForecast(
        judge=judge,
        amounts=Amounts(
            requests=summed([each.requests for each in amounts]),
            tokens=summed([each.tokens for each in amounts]),
            cost_usd=summed([each.cost_usd for each in amounts]),
        ),
        unpriced=any(part.unpriced for part in parts),
    )
