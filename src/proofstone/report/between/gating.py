"""Whether a run may pass, by intervals: it passes where the data exclude a drop that is too large,
fails where they show one, and where they do neither that is what is said.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats import (
    PairedDifference,
    SharedKeys,
    compare_pair,
    equal_weights,
    error_of_looks,
    look_confidence,
    mean_estimates,
    units_to_pass,
)
from proofstone.errors import BadUsage
from proofstone.records.results import Estimate
from proofstone.report.between.changes import NOT_KNOWN
from proofstone.report.between.compare_text import signed
from proofstone.report.between.compared import PairCompared, Party
from proofstone.report.between.comparing import Ask, Paired, compare_sides, pair_values
from proofstone.report.between.gated import Check, Gated, GateRule, LookMade, Verdict
from proofstone.report.between.looks import Look, look_at
from proofstone.report.between.side import Common, Side, common_items
from proofstone.report.numbers import points, shown_estimate, shown_interval, two_digits
from proofstone.wording import counted, joined

__all__ = ["gate_sides"]

# With one of these unlike, the same replies would have other scores: the two are no comparison.
_SCORED_BY = ("scorer", "judge", "measure")


def gate_sides(
    baseline: Side,
    run: Side,
    rule: GateRule,
    ask: Ask,
    *,
    earlier: Sequence[Look] = (),
    single: bool = False,
) -> Gated:
    """The run (one respondent) against its baseline (one respondent).

    ``earlier`` are former looks at the same pair; ``single`` plans this look as the only one.
    Raises BadUsage where a side has several respondents, what the rule asks has no meaning, or a
    single look is not the first.
    """
    _check(baseline, run, rule)
    compared = compare_sides(baseline, run, ask)
    (pair,) = compared.pairs
    look = _look_made(earlier, ask.confidence, look_at(baseline, run, at=0.0).n, single=single)
    at_look = replace(ask, confidence=look.confidence)
    checks = tuple(_checks(baseline, run, pair, rule, _Asked(at_look, ask.confidence, look)))
    verdicts = {check.verdict for check in checks}
    verdict: Verdict = "cannot tell" if "cannot tell" in verdicts else "pass"
    return Gated(
        verdict="fail" if "fail" in verdicts else verdict,
        rule=rule,
        checks=checks,
        compared=compared,
        look=look,
    )


class _Asked(NamedTuple):
    """How the intervals of this look are made, and what all looks together shall hold."""

    ask: Ask
    confidence: float
    look: LookMade


def _look_made(earlier: Sequence[Look], confidence: float, n: int, *, single: bool) -> LookMade:
    if single and earlier:
        raise BadUsage(
            f"this pair was looked at before, the last time at {earlier[-1].n:,} items, so this is "
            "not its only look",
            hint="leave --single-look out: the intervals then allow for the looks before",
        )
    seen = tuple(look.n for look in earlier)
    return LookMade(
        number=len(seen) + 1,
        earlier=seen,
        confidence=confidence if single else look_confidence(confidence, n, seen),
        error=error_of_looks(confidence, after_single=any(look.single for look in earlier)),
        single=single,
    )


def _check(baseline: Side, run: Side, rule: GateRule) -> None:
    for name, side in (("the run", run), ("the baseline", baseline)):
        if len(side.parties) != 1:
            labels = ", ".join(party.label for party in side.parties[:6])
            raise BadUsage(
                f"a gate compares one respondent with one, and {name} {side.shown.name} has "
                f"{len(side.parties)}",
                hint=f"name one run: {labels}",
            )
    if run.parties[0].runs and run.parties[0].runs == baseline.parties[0].runs:
        raise BadUsage(
            f"the run and the baseline are the same: {run.shown.name}",
            hint="name the run that came before as --baseline",
        )
    if not 0.0 <= rule.max_drop <= 1.0:
        raise BadUsage(f"--max-drop takes points from 0 to 100, not {100 * rule.max_drop:g}")
    if rule.minimum is not None and not 0.0 <= rule.minimum <= 1.0:
        raise BadUsage(f"--min takes points from 0 to 100, not {100 * rule.minimum:g}")


def _checks(
    baseline: Side, run: Side, pair: PairCompared, rule: GateRule, asked: _Asked
) -> Iterator[Check]:
    comparable = _comparable(pair)
    yield comparable
    yield _complete(pair)
    if pair.difference is not None and comparable.verdict == "pass":
        yield _drop(baseline, run, pair, rule, asked)
    if rule.minimum is not None:
        yield _minimum(run, rule.minimum, rule, asked)


def _comparable(pair: PairCompared) -> Check:
    """Whether the difference is one of the runs, and not of what scored them."""
    scored = [change.factor for change in pair.changes if change.factor in _SCORED_BY]
    if pair.difference is None:
        return Check(name="paired", verdict="cannot tell", said=" ".join(pair.cannot))
    half_known = [
        change.factor for change in pair.changes
        if change.factor == "judge" and NOT_KNOWN in (change.before, change.after)
    ]  # fmt: skip
    if half_known and scored == half_known:
        said = "the judge is known of one side alone, so it may differ between run and baseline"
        return Check(name="paired", verdict="cannot tell", said=said)
    if scored:
        verb = "differs" if len(scored) == 1 else "differ"
        again = " (--rescore scores old replies again)" if "scorer" in scored else ""
        said = f"the {joined(scored)} {verb} between run and baseline{again}"
        return Check(name="paired", verdict="cannot tell", said=said)
    alone = pair.only_before + pair.only_after
    said = f"on {counted(pair.difference.estimate.n, 'common item')}"
    if alone:
        said += f"; {counted(alone, 'item')} on one side alone, left out"
    return Check(name="paired", verdict="pass", said=said)


def _complete(pair: PairCompared) -> Check:
    short = [
        f"the {name} lacks {counted(party.missing, 'reply', 'replies')}"
        for name, party in (("run", pair.after), ("baseline", pair.before))
        if not party.is_complete
    ]
    if not short:
        said = f"all {counted(pair.after.n_replies, 'reply', 'replies')} of the run came"
        return Check(name="complete", verdict="pass", said=said)
    said = f"{joined(short)}; what is incomplete cannot pass"
    return Check(name="complete", verdict="cannot tell", said=said)


def _drop(baseline: Side, run: Side, pair: PairCompared, rule: GateRule, asked: _Asked) -> Check:
    """The paired difference against the largest drop that is allowed."""
    ask = asked.ask
    common = common_items(baseline, run)
    is_whole = pair.before.is_complete and pair.after.is_complete
    paired = pair_values(baseline, run, 0, 0, common)
    if not is_whole:
        paired = _at_best(baseline, run, common, paired)
    found = compare_pair(
        paired.first, paired.second, paired.keys, estimand=ask.estimand, confidence=ask.confidence
    )
    limit = f"at most {points(rule.max_drop)} points down are allowed"
    verdict = _side_of(-rule.max_drop, found.estimate)
    if not is_whole:
        return _incomplete_drop(found, pair, verdict, limit)
    said = f"run - baseline {_shown(found.estimate)} points; {limit}"
    if verdict != "cannot tell":
        return Check(name="drop", verdict=verdict, said=said)
    more = _more(paired.first, paired.second, paired.keys, -rule.max_drop, rule, asked)
    return Check(name="drop", verdict=verdict, said=f"{said}; {_decide(more, rule)}", more=more)


def _at_best(baseline: Side, run: Side, common: Common, paired: Paired) -> Paired:
    """All common items as they turn out at best for the run: what it lacks is right, and what the
    baseline lacks was wrong."""
    first, second = baseline.sheet.values[common.before, 0], run.sheet.values[common.after, 0]
    return replace(
        paired,
        first=np.nan_to_num(first, nan=0.0),
        second=np.nan_to_num(second, nan=1.0),
        keys=common.keys,
        units=common.after,
    )


def _incomplete_drop(
    found: PairedDifference, pair: PairCompared, verdict: Verdict, limit: str
) -> Check:
    """An incomplete run fails only where no missing reply could save it, and never passes."""
    several = any(party.made.get("samples", "1") != "1" for party in (pair.before, pair.after))
    if verdict == "fail" and not several:
        said = f"at best, with all that is missing right, {_shown(found.estimate)} points; {limit}"
        return Check(name="drop", verdict="fail", said=said)
    return Check(name="drop", verdict="cannot tell", said=f"not all replies are there; {limit}")


def _minimum(run: Side, minimum: float, rule: GateRule, asked: _Asked) -> Check:
    """The run's own score, on all of its items, against what it must reach."""
    ask = asked.ask
    values: NDArray[np.float64] = run.sheet.values[:, 0]
    units = np.flatnonzero(~np.isnan(values))
    own, keys = values[units], run.sheet.keys.among(units)
    limit = f"at least {points(minimum)} are asked"
    if not len(units):
        return Check(name="minimum", verdict="cannot tell", said=f"no scores; {limit}")
    (estimate,) = mean_estimates(
        own[:, None], equal_weights(len(own)), keys,
        estimand=ask.estimand, confidence=ask.confidence,
    )  # fmt: skip
    said = f"score {shown_estimate(estimate)} on {counted(len(own), 'item')}; {limit}"
    if not _party(run).is_complete:
        return Check(name="minimum", verdict="cannot tell", said=f"incomplete; so far {said}")
    verdict = _side_of(minimum, estimate)
    if verdict != "cannot tell":
        return Check(name="minimum", verdict=verdict, said=said)
    more = _more(np.zeros_like(own), own, keys, minimum, rule, asked)
    return Check(name="minimum", verdict=verdict, said=f"{said}; {_decide(more, rule)}", more=more)


def _party(side: Side) -> Party:
    return side.parties[0]


def _side_of(bound: float, estimate: Estimate) -> Verdict:
    """Pass where the whole interval is above the bound, fail where it is below. A bound that is
    the end of the scale, with no further down or up, is no drop at all."""
    if estimate.low > bound or (estimate.low >= bound and bound in (0.0, -1.0)):
        return "pass"
    return "fail" if estimate.high < bound else "cannot tell"


def _more(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    keys: SharedKeys,
    bound: float,
    rule: GateRule,
    asked: _Asked,
) -> float:
    """How many more items the next look needs; its level depends on them, so a few rounds."""
    n = len(first)
    seen = (*asked.look.earlier, n)
    needed = 2.0 * n
    for _ in range(4):
        if math.isnan(needed) or math.isinf(needed):
            return needed
        level = look_confidence(asked.confidence, max(round(needed), n + 1), seen)
        needed = units_to_pass(
            first, second, keys, bound,
            estimand=asked.ask.estimand, confidence=level, power=rule.power,
        )  # fmt: skip
    return max(needed - n, 1.0)


def _decide(more: float, rule: GateRule) -> str:
    if math.isnan(more):
        return "how many more questions would decide is not known from so few"
    if math.isinf(more):
        return "it lies on the limit itself, so no number of questions would decide"
    power = f"{100 * rule.power:g}%"
    n = f"{two_digits(more):,} more question{'' if more == 1 else 's'} like these"
    return f"{n} would decide with {power} power, if this is the true value"


def _shown(estimate: Estimate) -> str:
    return f"{signed(estimate.value)} {shown_interval(estimate.low, estimate.high)}"
