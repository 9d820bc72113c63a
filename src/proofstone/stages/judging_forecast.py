"""What judging would take: calls, tokens and money of each judge, before anybody is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from proofstone.engines.judging import ReplyForm, pose
from proofstone.engines.models import Asker
from proofstone.engines.models.cost import cost_usd
from proofstone.engines.store import Store
from proofstone.ports import Method
from proofstone.records import Ballot, JudgeQuestion, PanelVerdict, Reply, Run, Usage
from proofstone.stages.forecasts import Amounts, Range
from proofstone.stages.judging import JUDGE_SETTINGS, Bench, JudgeSpec, takes_schema
from proofstone.stages.prompt_tokens import counted_tokens
from proofstone.stages.score import pages_to_score, score_replies, score_units
from proofstone.stages.survey import Survey

__all__ = [
    "JudgeForecast",
    "JudgingForecast",
    "forecast_of_questions",
    "forecast_of_replies",
    "forecast_of_runs",
]

_COUNTED = 200  # questions whose tokens are counted; others are taken to be like these
_BILLED = 200
_STAND_IN = "?"  # a reply that nobody gave yet


class JudgeForecast(Struct, frozen=True, kw_only=True):
    """What one judge takes; ``unpriced``: no price is known, and money is not told."""

    judge: str
    amounts: Amounts
    unpriced: bool = False


class JudgingForecast(Struct, frozen=True, kw_only=True):
    """What judging takes. Of ``of`` replies so many are for judges (``replies``): exactly those,
    where the replies are there, else from none, as a rule may settle all, to all of them."""

    of: int
    replies: Range
    judges: tuple[JudgeForecast, ...]

    @property
    def unpriced(self) -> tuple[str, ...]:
        """The judges of which no price is known."""
        return tuple(each.judge for each in self.judges if each.unpriced)


class _Listening:
    """A judge who notes what it is asked, and is not heard: so that nothing is scored."""

    def __init__(self) -> None:
        self.asked: list[JudgeQuestion] = []

    async def __call__(self, question: JudgeQuestion) -> PanelVerdict:
        self.asked.append(question)
        silent = Ballot(judge="nobody", state="failed", trouble="not asked")
        return PanelVerdict(state="no_quorum", ballots=(silent,))


async def forecast_of_replies(
    store: Store,
    method: Method,
    key: int,
    run: Run,
    spec: JudgeSpec,
    askers: Sequence[Asker],
    *,
    again: bool = False,
) -> JudgingForecast:
    """What grading a run's stored replies takes; those that these judges graded already only where
    it is to be done ``again``."""
    newest = store.scores.newest(key, method.scorer_version, Bench(spec, askers).name)
    listening, n = _Listening(), 0
    scoring = None if again or newest is None else newest.key
    for page in pages_to_score(store, key, run, scoring):
        n += len(page)
        await score_replies(store, method, page, listening)
    asked = len(listening.asked)
    return JudgingForecast(
        of=n,
        replies=Range(asked, asked, asked),
        judges=tuple(_of_judge(asker, spec, listening.asked, asked, 0) for asker in askers),
    )


def forecast_of_questions(
    questions: Iterable[JudgeQuestion], of: int, spec: JudgeSpec, askers: Sequence[Asker]
) -> JudgingForecast:
    """What putting these questions takes, of ``of`` that a rule may have settled; they are counted
    and not held."""
    held = iter(questions)
    sample = list(islice(held, _COUNTED))
    n = len(sample) + sum(1 for _question in held)
    return JudgingForecast(
        of=of,
        replies=Range(n, n, n),
        judges=tuple(_of_judge(asker, spec, sample, n, 0) for asker in askers),
    )


async def forecast_of_runs(
    store: Store,
    method_of: Mapping[str, Method],
    surveys: Sequence[Survey],
    spec: JudgeSpec,
    askers: Sequence[Asker],
) -> JudgingForecast:
    """What grading the replies that are still to come takes, at the most: every question with its
    answer, and a reply from nothing to the longest that there may be."""
    found = [
        (survey, await _sampled(store, method_of[survey.planned.run.method], survey.planned.run))
        for survey in surveys
    ]
    judges = []
    for asker in askers:
        parts = [
            _of_judge(asker, spec, sample, len(survey.left) if sample else 0, _longest(survey))
            for survey, sample in found
        ]
        judges.append(_together(asker, parts))
    most = sum(len(survey.left) for survey, sample in found if sample)
    return JudgingForecast(
        of=sum(len(survey.left) for survey in surveys),
        replies=Range(0, most),
        judges=tuple(judges),
    )


async def _sampled(store: Store, method: Method, run: Run) -> list[JudgeQuestion]:
    """What judges would be asked of the first questions of a run, with a stand-in for a reply."""
    reply = Reply(text=_STAND_IN, finish="stop")
    units = [
        unit
        for stored in store.items.page(run.item_set, -1, _COUNTED)
        for unit in method.units(stored.loaded, {run.last_step: reply}, 0)
    ]
    listening = _Listening()
    await score_units(method, units, listening)
    return listening.asked


def _longest(survey: Survey) -> int | None:
    """The tokens of the longest reply that a contestant may give; None where nothing bounds it."""
    most = survey.planned.run.settings.get("max_tokens")
    return int(most) if isinstance(most, int) else None


def _of_judge(
    asker: Asker,
    spec: JudgeSpec,
    sample: Sequence[JudgeQuestion],
    n: int,
    reply_tokens: int | None,
) -> JudgeForecast:
    """One judge on ``n`` replies like those of ``sample``, each of which has up to ``reply_tokens``
    that are not counted in it; each request made once."""
    times = spec.votes * spec.orders
    prompts = list(_prompt_tokens(asker, sample[:_COUNTED]))
    per = sum(prompts) / len(prompts) if prompts else 0.0
    least = per * n * times
    requests = Range(float(n * times), float(n * times))
    unpriced = asker.price is None and not asker.model.simulated and n > 0
    if reply_tokens is None:
        return JudgeForecast(
            judge=asker.model.name, amounts=Amounts(requests=requests), unpriced=unpriced
        )
    most_prompt = least + reply_tokens * n * times
    most_reply = float(JUDGE_SETTINGS["max_tokens"] * n * times)
    cost = None
    if not unpriced:
        ends = (Usage(round(least), 0), Usage(round(most_prompt), round(most_reply)))
        low, high = (cost_usd(asker.price, usage, _BILLED) or 0.0 for usage in ends)
        cost = Range(low, high)
    return JudgeForecast(
        judge=asker.model.name,
        amounts=Amounts(
            requests=requests, tokens=Range(least, most_prompt + most_reply), cost_usd=cost
        ),
        unpriced=unpriced,
    )


def _prompt_tokens(asker: Asker, sample: Sequence[JudgeQuestion]) -> Iterator[int]:
    form: ReplyForm = "json" if takes_schema(asker.model) else "line"
    for question in sample:
        yield counted_tokens(pose(question, form))


def _together(asker: Asker, parts: Sequence[JudgeForecast]) -> JudgeForecast:
    """One judge over several runs: from nothing, as rules may settle all, to all of it."""

    def summed(name: str) -> Range | None:
        found = [getattr(part.amounts, name) for part in parts]
        if any(each is None for each in found):
            return None
        return Range(0.0, sum(each.high for each in found))

    return JudgeForecast(
        judge=asker.model.name,
        amounts=Amounts(
            requests=summed("requests"), tokens=summed("tokens"), cost_usd=summed("cost_usd")
        ),
        unpriced=any(part.unpriced for part in parts),
    )
