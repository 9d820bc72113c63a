"""Of the pilot's questions that models were asked: what all questions take, and what memory and
reading came to, model by model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from proofstone.engines.stats import Sampled, forecast_total
from proofstone.engines.store import Store
from proofstone.identity import short
from proofstone.ports import CallRecord
from proofstone.records import context_of
from proofstone.report.between import Compared
from proofstone.stages.campaign import RunResult
from proofstone.stages.forecasts import CONFIDENCE, Range
from proofstone.stages.start_report import AskingForecast, SideBySide

__all__ = ["asking_forecasts", "side_by_side"]


def asking_forecasts(
    store: Store, results: Sequence[RunResult], questions: int
) -> Iterator[AskingForecast]:
    """What ``questions`` in each context take of each model, by the calls of these runs. Nothing of
    simulated ones, which take nothing."""
    for model, own in _by_model(results).items():
        if own[0].planned.run.simulated:
            continue
        groups = [store.runs.some_calls(result.planned.key) for result in own]
        yield AskingForecast(
            model=model,
            questions=questions * len(own),
            sampled=sum(map(len, groups)),
            tokens=_total(groups, questions, _tokens),
            cost_usd=_total(groups, questions, lambda call: call.cost_usd),
            seconds=_total(groups, questions, lambda call: call.latency_s),
            failed=Counter(error for result in own for error in result.errors),
        )


def side_by_side(
    compare: Callable[[str, str], Compared], results: Sequence[RunResult]
) -> Iterator[SideBySide]:
    """What each model that was asked in both contexts came to in either, on the questions that it
    has answers to in both."""
    for model, own in _by_model(results).items():
        runs = {context_of(result.planned.run.settings): result for result in own}
        if len(runs) < 2 or not all(result.n_scored for result in runs.values()):
            continue
        first, second = (
            f"run:{short(runs[context].planned.run.id)}" for context in ("none", "evidence")
        )
        (pair,) = compare(first, second).pairs
        found = pair.difference
        if found is not None:
            yield SideBySide(
                model=model,
                memory=found.before,
                reading=found.after,
                gain=found.estimate,
                simulated=own[0].planned.run.simulated,
            )


def _by_model(results: Sequence[RunResult]) -> dict[str, list[RunResult]]:
    found: dict[str, list[RunResult]] = {}
    for result in results:
        found.setdefault(result.planned.run.respondent, []).append(result)
    return found


def _tokens(call: CallRecord) -> float | None:
    usage = call.usage
    if usage.prompt is None or usage.completion is None:
        return None if call.estimated_tokens is None else float(call.estimated_tokens)
    return float(usage.prompt + usage.completion)


def _total(
    groups: Sequence[Sequence[CallRecord]], n: int, of: Callable[[CallRecord], float | None]
) -> Range | None:
    """What ``n`` questions take in each group; None where a call does not say, or fewer than two
    were made."""
    sampled = []
    for calls in groups:
        values = [of(call) for call in calls]
        told = [value for value in values if value is not None]
        if len(told) < len(values) or len(told) < 2:
            return None
        sampled.append(Sampled(told, n))
    if not sampled:
        return None
    found = forecast_total(sampled, CONFIDENCE)
    return Range(found.low, found.high, found.likely)
