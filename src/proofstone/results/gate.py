"""Check a run against a baseline by confidence intervals.

A run passes if the interval excludes a drop beyond the limit, fails if the interval lies beyond the
limit, and is inconclusive otherwise.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Literal, NamedTuple
from xml.etree import ElementTree as ET

import msgspec
import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from proofstone.errors import BadInput, BadUsage, Problem, StoreFailed
from proofstone.page.section import points, shown_estimate, two_digits
from proofstone.page.text import printable
from proofstone.records.runs import Estimate
from proofstone.results.board_text import SIMULATED_BANNER
from proofstone.results.compare import (
    FILE,
    NOT_KNOWN,
    Compared,
    PairCompared,
    Pairing,
    Side,
    change_sentence,
    common_items,
    compare_sides,
    labelled,
    shown_difference,
    shown_item,
)
from proofstone.results.request import Ask
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.comparisons import compare_pair, units_to_pass
from proofstone.stats.estimates import mean_estimates
from proofstone.stats.intervals import equal_weights, error_of_looks, look_confidence
from proofstone.wording.messages import counted, joined

# Records of a gate.

Verdict = Literal["pass", "fail", "inconclusive"]


class GateRule(Struct, frozen=True, kw_only=True):
    """Largest allowed drop below the baseline, and the minimum score, as shares.

    ``power`` is used for the number of questions needed for a decision.
    """

    max_drop: float
    minimum: float | None = None
    power: float = 0.8


class LookMade(Struct, frozen=True, kw_only=True):
    """Position of this look among all looks at the pair.

    ``number`` counts from 1. ``earlier`` holds the numbers of items of earlier looks.
    ``confidence`` is the level of this look's intervals. ``error`` bounds the two-sided error
    probability over all looks. ``single``: declared as the only look.
    """

    number: int
    earlier: tuple[int, ...]
    confidence: float
    error: float
    single: bool = False


class Check(Struct, frozen=True, kw_only=True):
    """One requirement on a run.

    ``more`` is the number of further questions that would decide an inconclusive check (infinite if
    none would); None if not applicable.
    """

    name: Literal["paired", "complete", "drop", "minimum"]
    verdict: Verdict
    said: str
    more: float | None = None


class Gated(Struct, frozen=True, kw_only=True):
    """Verdict of a gate: fail if any check fails, otherwise inconclusive if any is, otherwise pass.

    ``compared`` has the baseline as A and the run as B. Its intervals are those of a single look.
    """

    verdict: Verdict
    rule: GateRule
    checks: tuple[Check, ...]
    compared: Compared
    look: LookMade

    @property
    def pair(self) -> PairCompared:
        """Return the run compared with its baseline."""
        return self.compared.pairs[0]

    @property
    def exit_code(self) -> int:
        """Return 0 for pass, 1 for fail, 3 for inconclusive."""
        return {"pass": 0, "fail": 1, "inconclusive": 3}[self.verdict]

    def __str__(self) -> str:
        return render_gate(self).rstrip("\n")


# The verdict as text, as Markdown for a CI summary, and as JUnit XML.

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#&~])")


def render_gate(gated: Gated, *, most: int = 5, width: int = 100) -> str:
    """Return verdict, checks, factors that differ, the first ``most`` items lost and the rule."""
    lines = [SIMULATED_BANNER] if _is_simulated(gated) else []
    lines += labelled(_told(gated, most, width), width)
    return "".join(f"{line}\n" for line in lines)


def _told(gated: Gated, most: int, width: int) -> Iterator[tuple[str, str]]:
    pair, compared = gated.pair, gated.compared
    yield "gate", gated.verdict.upper()
    yield from _sides(gated)
    yield "measure", f"{compared.measure} ({compared.denominator})"
    yield from ((check.name, f"{check.verdict}: {check.said}") for check in gated.checks)
    yield from (("differs", change_sentence(change)) for change in pair.changes)
    if pair.means:
        yield "so", pair.means
    if pair.difference is not None:
        found = pair.difference
        yield "items", f"won {found.rises:,}, lost {found.falls:,}, equal {found.level:,}"
        for item in pair.lost[:most]:
            yield "lost", f"{shown_item(item)}  {item.text}"[: width - 12]
    yield from (("note", note) for note in _notes(gated))
    yield "rule", rule_sentence(gated)


def rule_sentence(gated: Gated) -> str:
    """Return a sentence on the rule, this look, and the error over all looks."""
    look = gated.look
    drop = points(gated.rule.max_drop)
    said = (
        f"pass where the interval of run - baseline lies above -{drop} points, fail where it lies "
        "below, otherwise inconclusive"
    )
    if gated.rule.minimum is not None:
        said += f"; the same of the run's own score and {points(gated.rule.minimum)}"
    level = f"{100 * look.confidence:.4g}%"
    if look.single:
        said += f". The only look planned at this pair: {level} interval"
    elif look.earlier:
        seen = joined([f"{n:,}" for n in look.earlier])
        said += f". Look {look.number} at this pair (before: {seen} items): {level} interval"
    else:
        said += f". First look at this pair: {level} interval"
    over = "" if look.single else ", over all looks"
    each = f"{50 * look.error:.2g}%"
    return f"{said}. False-pass rate for a run exactly at the limit{over}: at most about {each}"


def to_markdown(gated: Gated, *, most: int = 20) -> str:
    """Return a summary for CI. Items are listed by id only, because such pages may be public."""
    pair = gated.pair
    lines = [f"## Gate: {gated.verdict.upper()}", ""]
    if _is_simulated(gated):
        lines += [f"**{SIMULATED_BANNER}**", ""]
    lines += ["| | |", "|---|---|"]
    lines += [f"| {name} | {_escaped(side)} |" for name, side in _sides(gated)]
    lines += ["", "| check | answer | |", "|---|---|---|"]
    lines += [f"| {c.name} | **{c.verdict}** | {_escaped(c.said)} |" for c in gated.checks]
    if pair.changes:
        lines += ["", "What differs:", ""]
        lines += [f"- {_escaped(change_sentence(change))}" for change in pair.changes]
    if pair.means:
        lines += ["", _escaped(pair.means)]
    if pair.difference is not None:
        lines += ["", f"{counted(pair.difference.rises, 'item')} won, {len(pair.lost):,} lost."]
        named = ", ".join(_escaped(shown_item(item)) for item in pair.lost[:most])
        more = f" and {len(pair.lost) - most:,} more" if len(pair.lost) > most else ""
        lines += [f"Lost: {named}{more}."] if named else []
    lines += ["", *(f"Note: {_escaped(note)}" for note in _notes(gated))]
    lines += [f"Rule: {_escaped(rule_sentence(gated))}."]
    return "".join(f"{line}\n" for line in lines)


def to_junit(gated: Gated) -> str:
    """Return one test case per check: a failure if it fails, an error if it is inconclusive."""
    verdicts = [check.verdict for check in gated.checks]
    counts = {
        "tests": str(len(verdicts)),
        "failures": str(verdicts.count("fail")),
        "errors": str(verdicts.count("inconclusive")),
    }
    root = ET.Element("testsuites", {"name": "proofstone compare --gate", **counts})
    suite = ET.SubElement(root, "testsuite", {"name": "proofstone compare --gate", **counts})
    for check in gated.checks:
        name, told = printable(gated.pair.after.label), printable(check.said)
        case = ET.SubElement(suite, "testcase", {
            "classname": "proofstone.gate", "name": f"{check.name}: {name}", "time": "0",
        })  # fmt: skip
        if check.verdict != "pass":
            kind = "failure" if check.verdict == "fail" else "error"
            ET.SubElement(case, kind, {"message": told, "type": check.verdict}).text = told
    ET.SubElement(suite, "system-out").text = "\n".join(
        printable(line) for line in render_gate(gated, most=0).splitlines()
    )
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _sides(gated: Gated) -> Iterator[tuple[str, str]]:
    """Yield the run and its baseline."""
    compared, pair = gated.compared, gated.pair
    for name, side, party in (
        ("run", compared.after, pair.after),
        ("baseline", compared.before, pair.before),
    ):
        on = f", {FILE}" if side.holds == FILE else f" on {side.holds}"
        excluded = f", {side.n_excluded:,} excluded" if side.n_excluded else ""
        yield name, f"{party.label}; {side.name}{on}, {counted(side.n_items, 'item')}{excluded}"


def _notes(gated: Gated) -> tuple[str, ...]:
    rescore = (gated.compared.rescore,) if gated.compared.rescore else ()
    return (*gated.compared.notes, *rescore)


def _is_simulated(gated: Gated) -> bool:
    return gated.pair.before.simulated or gated.pair.after.simulated


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", printable(text))


# Looks at a pair: earlier gates for the same run and baseline.
#
# Two looks are at the same pair if one has all items of the other, each with the same
# scores on both sides: the same two runs got more questions. With another score on any of
# them it is another candidate, and so a separate comparison.

_SIZE = 8  # bytes of an item's mark


class Look(Struct, frozen=True, kw_only=True):
    """One look: its time, number of items, and a hash of each item with its two scores.

    Hashes have 8 bytes each and are sorted. ``single``: declared as the only look.
    """

    at: float
    n: int
    marks: bytes
    single: bool = False

    def _set(self) -> frozenset[bytes]:
        marks = self.marks
        return frozenset(marks[at : at + _SIZE] for at in range(0, len(marks), _SIZE))

    def is_nested_in(self, other: Look) -> bool:
        """Return True if the other has all items of this look, with the same scores."""
        return self._set() <= other._set()


def look_at(baseline: Side, run: Side, *, at: float, single: bool = False) -> Look:
    """Return the look at two sides of one respondent each: their common items with both scores."""
    return _look_of(Pairing(baseline, run, common_items(baseline, run)), at=at, single=single)


def _look_of(pairing: Pairing, *, at: float, single: bool = False) -> Look:
    first, second = (each.tolist() for each in pairing.values)
    names = [pairing.after.item_names[place] for place in pairing.common.after.tolist()]
    marks = [
        blake2b(f"{name}\0{a!r}\0{b!r}".encode(), digest_size=_SIZE).digest()
        for name, a, b in zip(names, first, second, strict=True)
        if not (math.isnan(a) or math.isnan(b))
    ]
    return Look(at=at, n=len(marks), marks=b"".join(sorted(marks)), single=single)


def earlier_looks(look: Look, known: Iterable[Look]) -> tuple[Look, ...]:
    """Return the other looks at the same pair, oldest first, without repetitions of this look."""
    same_pair = [
        other
        for other in known
        if other.n and other.n != look.n and (other.is_nested_in(look) or look.is_nested_in(other))
    ]
    return tuple(sorted(same_pair, key=lambda other: other.at))


def gate_recorded(
    baseline: Side,
    run: Side,
    rule: GateRule,
    ask: Ask,
    record: Path | None,
    *,
    at: float,
    single: bool = False,
) -> Gated:
    """Run ``gate_sides`` with the looks at the same pair recorded in the file ``record``.

    This look is added if both runs are complete, because no other can pass.
    """
    known = [] if record is None else _recorded(record)
    if len(baseline.parties) != 1 or len(run.parties) != 1:
        return gate_sides(baseline, run, rule, ask)  # which refuses it
    look = look_at(baseline, run, at=at, single=single)
    earlier = earlier_looks(look, known)
    again = next((each for each in known if each.marks == look.marks), None)
    if again is not None:  # the same look answers the same
        earlier = tuple(each for each in earlier if each.at < again.at)
        single = again.single
    gated = gate_sides(baseline, run, rule, ask, earlier=earlier, single=single)
    is_complete = all(side.parties[0].is_complete for side in (baseline, run))
    if record is not None and again is None and is_complete and look.n:
        _add(record, look)
    return gated


def _recorded(record: Path) -> list[Look]:
    """Return the looks of a file with one per line. Raises BadInput naming invalid lines."""
    try:
        lines = record.read_bytes().splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise BadInput(f"cannot read {record}: {error.strerror or error}") from error
    found, problems = [], []
    for number, line in enumerate(lines, start=1):
        try:
            found.append(msgspec.json.decode(line, type=Look))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            problems.append(Problem(f"line {number}", str(error)))
    if problems:
        raise BadInput(f"{record} is not a record of looks", problems)
    return found


def _add(record: Path, look: Look) -> None:
    try:
        with record.open("ab") as file:
            file.write(msgspec.json.encode(look) + b"\n")
    except OSError as error:
        raise StoreFailed(
            f"the look could not be recorded in {record}: {error.strerror or error}",
            hint="name a file that you may write to: --looks FILE",
        ) from error


# If one of these differs, the same responses could have other scores: no comparison is valid.
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
    """Check a run (one model) against its baseline (one model).

    ``earlier`` are previous looks at the same pair; ``single`` declares this look as the only one.
    Raises BadUsage if a side has several models, if the rule is invalid, or if a single look is not
    the first.
    """
    _check(baseline, run, rule)
    compared = compare_sides(baseline, run, ask)
    pairing = Pairing(baseline, run, common_items(baseline, run))
    look = _look_made(earlier, ask.confidence, _look_of(pairing, at=0.0).n, single=single)
    at_look = structs.replace(ask, confidence=look.confidence)
    checks = tuple(_checks(_Asked(pairing, compared.pairs[0], rule, at_look, ask.confidence, look)))
    verdicts = {check.verdict for check in checks}
    verdict: Verdict = "inconclusive" if "inconclusive" in verdicts else "pass"
    return Gated(
        verdict="fail" if "fail" in verdicts else verdict,
        rule=rule,
        checks=checks,
        compared=compared,
        look=look,
    )


class _Asked(NamedTuple):
    """The run and its baseline; ``ask`` is for this look, ``confidence`` for all looks."""

    pairing: Pairing
    pair: PairCompared
    rule: GateRule
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
                f"a gate compares one model with one model, and {name} {side.shown.name} has "
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


def _checks(asked: _Asked) -> Iterator[Check]:
    comparable = _comparable(asked.pair)
    yield comparable
    yield _complete(asked.pair)
    if asked.pair.difference is not None and comparable.verdict == "pass":
        yield _drop(asked)
    if asked.rule.minimum is not None:
        yield _minimum(asked, asked.rule.minimum)


def _comparable(pair: PairCompared) -> Check:
    """Check that scorer, judge and measure are the same on both sides."""
    scored = [change.factor for change in pair.changes if change.factor in _SCORED_BY]
    if pair.difference is None:
        return Check(name="paired", verdict="inconclusive", said=" ".join(pair.cannot))
    half_known = [
        change.factor for change in pair.changes
        if change.factor == "judge" and NOT_KNOWN in (change.before, change.after)
    ]  # fmt: skip
    if half_known and scored == half_known:
        said = "the judge is known of one side alone, so it may differ between run and baseline"
        return Check(name="paired", verdict="inconclusive", said=said)
    if scored:
        verb = "differs" if len(scored) == 1 else "differ"
        again = " (--rescore rescores stored responses)" if "scorer" in scored else ""
        said = f"the {joined(scored)} {verb} between run and baseline{again}"
        return Check(name="paired", verdict="inconclusive", said=said)
    alone = pair.only_before + pair.only_after
    said = f"on {counted(pair.difference.estimate.n, 'common item')}"
    if alone:
        said += f"; {counted(alone, 'item')} on one side alone, excluded"
    return Check(name="paired", verdict="pass", said=said)


def _complete(pair: PairCompared) -> Check:
    short = [
        f"the {name} lacks {counted(party.missing, 'response', 'responses')}"
        for name, party in (("run", pair.after), ("baseline", pair.before))
        if not party.is_complete
    ]
    if not short:
        said = f"{counted(pair.after.n_responses, 'response')} of the run, none missing"
        return Check(name="complete", verdict="pass", said=said)
    said = f"{joined(short)}; an incomplete run cannot pass"
    return Check(name="complete", verdict="inconclusive", said=said)


def _drop(asked: _Asked) -> Check:
    """Check the paired difference against the largest allowed drop.

    An incomplete run is scored at its best case: its missing responses are right and those of the
    baseline wrong. It fails only if no missing response could change that, and it never passes.
    """
    pair, pairing, bound = asked.pair, asked.pairing, -asked.rule.max_drop
    limit = f"at most {points(asked.rule.max_drop)} points of drop are allowed"
    is_whole = pair.before.is_complete and pair.after.is_complete
    first, second, keys = pairing.paired.first, pairing.paired.second, pairing.paired.keys
    if not is_whole:
        first, second = pairing.values
        first, second = np.nan_to_num(first, nan=0.0), np.nan_to_num(second, nan=1.0)
        keys = pairing.common.keys
    found = compare_pair(
        first, second, keys, population=asked.ask.population, confidence=asked.ask.confidence
    )
    verdict, shown = _side_of(bound, found.estimate), shown_difference(found.estimate)
    if not is_whole:
        several = any(party.made.get("samples", "1") != "1" for party in pairing.parties)
        if verdict == "fail" and not several:
            said = f"at best, with all missing responses correct, {shown} points; {limit}"
            return Check(name="drop", verdict="fail", said=said)
        said = f"responses are missing; {limit}"
        return Check(name="drop", verdict="inconclusive", said=said)
    said = f"run - baseline {shown} points; {limit}"
    return _decided(
        asked, Check(name="drop", verdict=verdict, said=said), first, second, keys, bound
    )


def _minimum(asked: _Asked, minimum: float) -> Check:
    """Check the run's score on all of its items against the minimum."""
    run = asked.pairing.after
    values: NDArray[np.float64] = run.sheet.values[:, 0]
    units = np.flatnonzero(~np.isnan(values))
    own, keys = values[units], run.sheet.keys.among(units)
    limit = f"at least {points(minimum)} is required"
    if not len(units):
        return Check(name="minimum", verdict="inconclusive", said=f"no scores; {limit}")
    (estimate,) = mean_estimates(
        own[:, None], equal_weights(len(own)), keys,
        population=asked.ask.population, confidence=asked.ask.confidence,
    )  # fmt: skip
    said = f"score {shown_estimate(estimate)} on {counted(len(own), 'item')}; {limit}"
    if not run.parties[0].is_complete:
        return Check(name="minimum", verdict="inconclusive", said=f"incomplete; so far {said}")
    check = Check(name="minimum", verdict=_side_of(minimum, estimate), said=said)
    return _decided(asked, check, np.zeros_like(own), own, keys, minimum)


def _side_of(bound: float, estimate: Estimate) -> Verdict:
    """Return pass if the whole interval is above the bound, fail if it is below.

    A bound at the end of the scale, where no further change is possible, counts as no drop.
    """
    if estimate.low > bound or (estimate.low >= bound and bound in (0.0, -1.0)):
        return "pass"
    return "fail" if estimate.high < bound else "inconclusive"


def _decided(
    asked: _Asked,
    check: Check,
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    keys: SharedKeys,
    bound: float,
) -> Check:
    """Return the check with the number of further items that would decide it, if inconclusive.

    The level of the next look depends on that number, so it is iterated.
    """
    if check.verdict != "inconclusive":
        return check
    n = len(first)
    seen = (*asked.look.earlier, n)
    more = float(n)
    for _ in range(4):
        if math.isnan(more) or math.isinf(more):
            break
        level = look_confidence(asked.confidence, max(round(n + more), n + 1), seen)
        more = units_to_pass(
            first, second, keys, bound,
            population=asked.ask.population, confidence=level, power=asked.rule.power,
        ) - n  # fmt: skip
    more = max(more, 1.0)
    return structs.replace(check, said=f"{check.said}; {_decide(more, asked.rule)}", more=more)


def _decide(more: float, rule: GateRule) -> str:
    if math.isnan(more):
        return "the number of further questions cannot be estimated from so few"
    if math.isinf(more):
        return "the difference equals the limit, so no number of questions would decide"
    power = f"{100 * rule.power:g}%"
    n = f"{two_digits(more):,} more question{'' if more == 1 else 's'} like these"
    return f"{n} would decide with {power} power, if this is the true value"
