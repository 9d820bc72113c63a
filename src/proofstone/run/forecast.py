"""What runs will take, from a pilot or from bounds: requests, tokens, money and time, in ranges.

With a pilot a range is the 95% prediction interval of ``forecast_total``: what the questions asked
took (retries and reasoning counted, as they were billed) says what those left will take. Without
one it reaches from prompts alone to replies as long as they may be, no retry counted; nothing in
between is likelier than the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from proofstone.models.ask import Asker
from proofstone.models.budget import Budget, cost_usd, money, shown, total_tokens
from proofstone.records.runs import Spent, Usage, asked_as
from proofstone.run.pilot import Observed, Pilot
from proofstone.stats.power import Forecast, Sampled, forecast_total

CONFIDENCE = 0.95


class Range(Struct, frozen=True):
    """From ``low`` to ``high``; ``likely`` is None where no number between is likelier."""

    low: float
    high: float
    likely: float | None = None

    def __add__(self, other: Range) -> Range:
        """Both together, each end with its like."""
        likely = None
        if self.likely is not None and other.likely is not None:
            likely = self.likely + other.likely
        return Range(self.low + other.low, self.high + other.high, likely)


class Amounts(Struct, frozen=True, kw_only=True):
    """What is still to be asked takes: ``requests`` with retries, ``tokens`` of prompt and reply,
    ``cost_usd``, ``seconds`` at the connections allowed. None where it cannot be told: no price, or
    too few questions of a pilot that say something."""

    requests: Range | None = None
    tokens: Range | None = None
    cost_usd: Range | None = None
    seconds: Range | None = None


class Part(Struct, frozen=True, kw_only=True):
    """One model in one way, one model in all its ways (``way`` empty), or all (``model`` too).

    Of ``questions`` left when the dry run began (each sample counts) the cache answers ``cached``,
    the pilot answered ``asked`` anew, and ``to_ask`` remain, which take ``amounts``. ``sampled``
    questions of the pilot say what one takes, ``failed`` have no reply, by cause. ``reasoning`` is
    the share of their reply's tokens, ``prompt`` that of the prompt in all. ``longest`` is what
    the rest would take if every reply were as long as it may be, without retries. Where some of it
    is ``unpriced``, money is that of the others.
    """

    model: str = ""
    way: str = ""
    settings: str = ""
    simulated: bool = False
    unpriced: bool = False
    questions: int
    cached: int
    asked: int
    to_ask: int
    sampled: int = 0
    failed: dict[str, int] = {}
    stopped: str = ""
    over_budget: bool = False
    reasoning: float = 0.0
    prompt: float = 0.0
    amounts: Amounts
    longest: Amounts

    @property
    def is_known(self) -> bool:
        """Whether it can be told how many tokens are to come."""
        return self.amounts.tokens is not None


class Reach(Struct, frozen=True, kw_only=True):
    """Whether a budget covers what is left. The last call needs its worst case, so that is counted.

    ``low`` and ``high`` are the shares of what is left that it reaches, between 0 and 1.
    """

    budget: str
    verdict: Literal["covers", "may cover", "does not cover", "unknown"]
    low: float = 0.0
    high: float = 1.0


class DryRun(Struct, frozen=True, kw_only=True):
    """What runs would take. ``pilot`` is the number of questions asked of each model and way, 0
    where nobody was asked; ``spent`` what that took, in how many ``requests``, ``again`` those
    after a first one.

    ``models`` are sums over ways, of those asked in several. ``call_usd`` and ``call_tokens`` are
    the worst case of one call, which one that breaks is charged; ``broken`` did in the pilot.
    ``one_request``: where nobody was asked, whether a question takes no more than the request that
    was counted. ``unpriced`` are models of which no price is known.
    """

    parts: tuple[Part, ...]
    models: tuple[Part, ...]
    total: Part
    pilot: int
    confidence: float = CONFIDENCE
    spent: Spent = Spent()
    requests: int = 0
    again: int = 0
    reach: Reach | None = None
    call_usd: float = 0.0
    call_tokens: int = 0
    broken: int = 0
    unpriced: tuple[str, ...] = ()
    one_request: bool = True
    interrupted: bool = False


class StepForecast(Struct, frozen=True, kw_only=True):
    """One step of a build: the ``rows`` that enter it in all, by which ``models`` it asks, and what
    is left of it takes."""

    name: str
    models: tuple[str, ...] = ()
    rows: Range | None = None
    amounts: Amounts


class BuildForecast(Struct, frozen=True, kw_only=True):
    """What a build would take. Of ``n_inputs`` rows ``left`` are not through yet; ``sampled`` of
    the ``pilot`` rows say what one takes, the calls of the others ``failed``, by kind. ``rows`` are
    those behind the last step, of all. ``left_out`` are batch steps: a sample says nothing of them.
    ``spent`` is what the pilot took; ``unpriced`` are models of which no price is known."""

    steps: tuple[StepForecast, ...]
    total: Amounts
    rows: Range | None
    n_inputs: int
    left: int
    pilot: int
    sampled: int
    left_out: tuple[str, ...] = ()
    failed: dict[str, int] = {}
    spent: Spent = Spent()
    confidence: float = CONFIDENCE
    simulated: bool = False
    unpriced: tuple[str, ...] = ()
    reach: Reach | None = None
    stopped: str = ""
    over_budget: bool = False
    interrupted: bool = False

    @property
    def is_known(self) -> bool:
        """Whether it can be told what is left takes."""
        return self.total.tokens is not None


_BILLED = 200


class _Group(Struct, frozen=True):
    """A pilot with the asker of its model and its place among the connections."""

    pilot: Pilot
    asker: Asker
    settings: str

    @property
    def telling(self) -> list[Observed]:
        """Questions that say what one takes."""
        return [each for each in self.pilot.observed if each.says_something]

    @property
    def asked(self) -> int:
        """Questions that the pilot answered anew."""
        return sum(each.was_asked and not each.error for each in self.pilot.observed)

    @property
    def to_ask(self) -> int:
        """Questions that remain."""
        return self.pilot.group.to_ask - self.asked

    @property
    def is_unpriced(self) -> bool:
        """Whether money is to be spent and no price is known."""
        return self.asker.price is None and not self.is_made_up and self.to_ask > 0

    @property
    def is_made_up(self) -> bool:
        """Whether nothing is sent anywhere."""
        return self.pilot.group.planned.run.simulated


def forecast_runs(
    pilots: Sequence[Pilot],
    askers: Mapping[str, Asker],
    *,
    n: int,
    budget: Budget | None = None,
    interrupted: bool = False,
) -> DryRun:
    """What is left takes; ``n`` is the number of questions that each pilot was to ask."""
    names = _settings_told(pilots)
    groups = [
        _Group(pilot, askers[pilot.group.planned.run.respondent], name)
        for pilot, name in zip(pilots, names, strict=True)
    ]
    by_model: dict[str, list[_Group]] = {}
    for group in groups:
        by_model.setdefault(group.pilot.group.planned.run.respondent, []).append(group)
    total = _part(groups, n)
    anew = [each for pilot in pilots for each in pilot.observed if each.was_asked]
    surveys = [survey for pilot in pilots for survey in pilot.group.surveys]
    return DryRun(
        parts=tuple(_part([group], n) for group in groups),
        models=tuple(_part(each, n) for each in by_model.values() if len(each) > 1),
        total=total,
        pilot=n,
        spent=sum((pilot.progress.spent() for pilot in pilots), Spent()),
        requests=sum(each.requests for each in anew),
        again=sum(each.again for each in anew),
        reach=None if budget is None else _reach(budget, groups, total),
        call_usd=_worst_call(groups, _in_usd),
        call_tokens=round(_worst_call(groups, _in_tokens)),
        broken=sum(each.broken for pilot in pilots for each in pilot.observed),
        unpriced=tuple(
            model for model, each in by_model.items() if any(one.is_unpriced for one in each)
        ),
        one_request=all(survey.is_one_request for survey in surveys),
        interrupted=interrupted,
    )


def _part(groups: Sequence[_Group], n: int) -> Part:
    runs = [group.pilot.group.planned.run for group in groups]
    models, ways = {run.respondent for run in runs}, {asked_as(run) for run in runs}
    observed = [each for group in groups for each in group.telling]
    reply = sum(each.reply_tokens for each in observed)
    counted = reply + sum(each.prompt_tokens for each in observed)
    failed: dict[str, int] = {}
    for group in groups:
        for kind, times in group.pilot.errors.items():
            failed[kind] = failed.get(kind, 0) + times
    one = len(groups) == 1
    longest = _longest(groups)
    return Part(
        model=models.pop() if len(models) == 1 else "",
        way=ways.pop() if one else "",
        settings=groups[0].settings if one else "",
        simulated=all(group.is_made_up for group in groups),
        unpriced=any(group.is_unpriced for group in groups),
        questions=sum(len(s.left) for group in groups for s in group.pilot.group.surveys),
        cached=sum(group.pilot.group.n_cached for group in groups),
        asked=sum(group.asked for group in groups),
        to_ask=sum(group.to_ask for group in groups),
        sampled=len(observed),
        failed=failed,
        stopped=groups[0].pilot.stopped if one else "",
        over_budget=any(group.pilot.over_budget for group in groups),
        reasoning=sum(each.reasoning_tokens for each in observed) / reply if reply else 0.0,
        prompt=sum(each.prompt_tokens for each in observed) / counted if counted else 0.0,
        amounts=_forecast(groups) if n else longest,
        longest=longest,
    )


# ---------------------------------------------------------------- from a pilot


def _forecast(groups: Sequence[_Group]) -> Amounts:
    asked = [group for group in groups if not group.is_made_up]
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


def _priced(groups: Sequence[_Group]) -> list[_Group] | None:
    """Those whose money can be told; None where that would be nothing of what is to be spent."""
    left = [group for group in groups if group.to_ask]
    priced = [group for group in left if not group.is_unpriced]
    return priced if priced or not left else None


def _total(
    groups: Sequence[_Group], value: Callable[[Observed], float], per: int = 1
) -> Range | None:
    """The prediction of a total over groups, each value divided by ``per``; None where one of them
    has something left and says too little of it."""
    sampled = [
        Sampled([value(each) / per for each in group.telling], group.to_ask) for group in groups
    ]
    if any(each.left and len(each.values) < 2 for each in sampled):
        return None
    return _range(forecast_total(sampled, CONFIDENCE))


def _range(forecast: Forecast) -> Range:
    return Range(forecast.low, forecast.high, forecast.likely)


def _seconds(groups: Sequence[_Group]) -> Range | None:
    """The time until all is asked: models of one endpoint share its connections, endpoints go on
    beside each other."""
    by_slots: dict[int, list[_Group]] = {}
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


# ---------------------------------------------------------------- from bounds


def _longest(groups: Sequence[_Group]) -> Amounts:
    """From prompts alone to the longest replies; the pilot's share is taken off evenly."""
    asked = [group for group in groups if not group.is_made_up]
    tokens, cost = Range(0.0, 0.0), Range(0.0, 0.0)
    is_bounded, priced = True, _priced(asked)
    for group in asked:
        prompt, reply = _bounds(group)
        is_bounded &= reply is not None
        tokens += Range(prompt, prompt + (reply or 0))
        cost += Range(
            _in_usd(group, Usage(round(prompt), 0)),
            _in_usd(group, Usage(round(prompt), round(reply or 0))),
        )
    requests = float(sum(group.to_ask for group in asked))
    return Amounts(
        requests=Range(requests, requests),
        tokens=tokens if is_bounded else None,
        cost_usd=cost if is_bounded and priced is not None else None,
    )


def _bounds(group: _Group) -> tuple[float, float | None]:
    """Tokens of what is left: of its prompts, and at most of its replies."""
    surveys = group.pilot.group.surveys
    share = group.to_ask / group.pilot.group.to_ask if group.pilot.group.to_ask else 0.0
    prompt = share * sum(survey.prompt_tokens for survey in surveys)
    replies = [survey.reply_tokens for survey in surveys]
    if any(reply is None for reply in replies):
        return prompt, None
    return prompt, share * sum(reply or 0 for reply in replies)


# ---------------------------------------------------------------- a budget, and names


def _reach(budget: Budget, groups: Sequence[_Group], total: Part) -> Reach:
    in_usd = budget.unit == "USD"
    needed = total.amounts.cost_usd if in_usd else total.amounts.tokens
    worst = _worst_call(groups, _in_usd if in_usd else _in_tokens)
    return reach_of(budget, needed, worst, is_left=total.to_ask > 0)


def reach_of(budget: Budget, needed: Range | None, worst: float, *, is_left: bool) -> Reach:
    """Whether a budget covers what is ``needed`` in its unit, where one call may take ``worst``."""
    text = shown(budget.unit, budget.amount)
    if needed is None:
        return Reach(budget=text, verdict="unknown")
    if not is_left or not needed.high:
        return Reach(budget=text, verdict="covers", low=1.0)
    has = budget.amount / money(1.0) if budget.unit == "USD" else float(budget.amount)
    usable = max(0.0, has - worst)
    if usable >= needed.high:
        return Reach(budget=text, verdict="covers", low=1.0)
    low, high = usable / needed.high, min(1.0, usable / needed.low) if needed.low else 1.0
    return Reach(
        budget=text, verdict="may cover" if high == 1.0 else "does not cover", low=low, high=high
    )


def _worst_call(groups: Sequence[_Group], amount: Callable[[_Group, Usage], float]) -> float:
    """The most that is put aside for one call of what is left; 0 where nothing is."""
    return max(
        (
            amount(group, survey.most)
            for group in groups
            if not group.is_made_up and group.to_ask
            for survey in group.pilot.group.surveys
        ),
        default=0.0,
    )


def _in_usd(group: _Group, usage: Usage) -> float:
    return cost_usd(group.asker.price, usage, _BILLED) or 0.0


def _in_tokens(_group: _Group, usage: Usage) -> float:
    return float(total_tokens(usage))


def _settings_told(pilots: Sequence[Pilot]) -> list[str]:
    """For each pilot the settings that tell it from others of the same model and way."""
    runs = [pilot.group.planned.run for pilot in pilots]
    told = []
    for run in runs:
        name = (run.respondent, asked_as(run))
        alike = [other.settings for other in runs if (other.respondent, asked_as(other)) == name]
        differing = {
            key: run.settings[key]
            for key in run.settings
            if any(other.get(key) != run.settings[key] for other in alike)
        }
        told.append(" ".join(f"{key}={value}" for key, value in differing.items()))
    return told
