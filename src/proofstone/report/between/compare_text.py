"""A comparison as plain text: what differs first, then by how much, then the items."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence

from proofstone.records.results import Estimate
from proofstone.report.between.compared import (
    FILE,
    Compared,
    Difference,
    Moved,
    PairCompared,
    Party,
    SideShown,
    TriplesCompared,
)
from proofstone.report.columns import aligned, printable
from proofstone.report.numbers import MISSING, points, shown_estimate, shown_interval
from proofstone.report.terminal import SIMULATED_BANNER
from proofstone.wording import counted

__all__ = ["labelled", "render_compared", "shown_item", "signed"]

_LABEL = 10
_TEXT = 60


def render_compared(compared: Compared, *, most: int = 5, width: int = 100) -> str:
    """All of it as text that ends in a newline. At most ``most`` items won, and as many lost, are
    listed a pair. Lines are broken at ``width`` cells, those of tables excepted."""
    lines = [_banner(compared)] if _banner(compared) else []
    for name, side in (("A", compared.before), ("B", compared.after)):
        lines += labelled(name, _side(compared, name, side), width)
    several = len(compared.pairs) > 1
    if several:
        lines += ["", *_overview(compared)]
    for pair in compared.pairs:
        if several:
            lines += ["", f"{printable(pair.before.label)}"]
        lines += _pair(compared, pair, most, width, several=several)
    if compared.triples is not None:
        lines += _triples(compared.triples, width)
    for text in compared.unpaired:
        lines += labelled("unpaired", text, width)
    for text in compared.notes:
        lines += labelled("note", text, width)
    if compared.rescore:
        lines += labelled("rescore", compared.rescore, width)
    share = f"{100 * compared.confidence:g}%"
    ends = f"{share} intervals for {compared.estimand}; paired on common items"
    counts = f"each item counts the same ({compared.denominator})"
    lines += textwrap.wrap(f"{ends}; {counts}", max(width, 40))
    return "".join(f"{line}\n" for line in lines)


def labelled(label: str, text: str, width: int) -> list[str]:
    """The text beside its label, broken at words."""
    room = max(width - _LABEL, 30)
    first, *others = textwrap.wrap(
        printable(text), room, break_on_hyphens=False, break_long_words=False
    ) or [""]
    return [f"{label:<{_LABEL}}{first}".rstrip(), *(" " * _LABEL + line for line in others)]


def signed(share: float) -> str:
    """A difference in points with its sign."""
    return f"+{points(share)}" if share > 0 else points(share + 0.0)


def shown_item(moved: Moved) -> str:
    """An item as commands take it, where it is one of ours."""
    is_id = len(moved.item) == 64 and not set(moved.item) - set("0123456789abcdef")
    return f"item:{moved.item[:8]}" if is_id else moved.item


def _banner(compared: Compared) -> str:
    parties = [party for pair in compared.pairs for party in (pair.before, pair.after)]
    return SIMULATED_BANNER if any(party.simulated for party in parties) else ""


def _side(compared: Compared, name: str, side: SideShown) -> str:
    of = "" if side.name == side.holds else f" on {side.holds}"
    of = f", {side.holds}" if side.holds == FILE else of
    said = f"{side.name}{of}, {counted(side.n_items, 'item')}"
    if side.n_retired:
        said += f", {side.n_retired:,} retired left out"
    if len(compared.pairs) == 1:
        (pair,) = compared.pairs
        party = pair.before if name == "A" else pair.after
        said = f"{party.label}; {said}" + _short(party)
    return said


def _short(party: Party) -> str:
    if party.is_complete:
        return ""
    return f"; INCOMPLETE, {counted(party.missing, 'reply', 'replies')} missing"


def _overview(compared: Compared) -> list[str]:
    """One line a pair, as far as they could be compared."""
    rows = [["", "n", "A", "B", "B - A", "p", "p Holm", "won", "lost"]]
    for pair in compared.pairs:
        found = pair.difference
        if found is None:
            rows.append([printable(pair.before.label), "0", *[MISSING] * 7])
            continue
        rows.append(
            [
                printable(pair.before.label),
                f"{found.estimate.n:,}",
                points(found.before.value),
                points(found.after.value),
                _difference(found.estimate),
                p_value(found.p),
                p_value(found.p_holm),
                f"{found.rises:,}",
                f"{found.falls:,}",
            ]
        )
    return aligned(rows, left=[0])


def _pair(
    compared: Compared, pair: PairCompared, most: int, width: int, *, several: bool
) -> Iterator[str]:
    for change in pair.changes:
        said = f"{change.factor}: {change.before} -> {change.after}; {change.consequence}"
        yield from labelled("differs", said, width)
    if pair.means:
        yield from labelled("so", pair.means, width)
    for reason in pair.cannot:
        yield from labelled("cannot", reason, width)
    if pair.unscored:
        noun = counted(pair.unscored, "common item")
        yield from labelled("left out", f"{noun} without a score on both sides", width)
    if pair.difference is not None and not several:
        yield from _numbers(compared, pair.difference, width)
    yield from _items("won", pair.won, most)
    yield from _items("lost", pair.lost, most)


def _numbers(compared: Compared, found: Difference, width: int) -> Iterator[str]:
    n = counted(found.estimate.n, "common item")
    said = f"{compared.measure} on {n}: A {shown_estimate(found.before)}, "
    yield from labelled("scores", said + f"B {shown_estimate(found.after)}", width)
    yield from labelled("B - A", f"{_difference(found.estimate)} points; {_said(found)}", width)
    yield from labelled("tests", _tests(found), width)
    yield from labelled("resolves", _resolves(found), width)
    yield from labelled(
        "items",
        f"won {found.rises:,} (B scores higher), lost {found.falls:,}, level {found.level:,}",
        width,
    )


def _triples(found: TriplesCompared, width: int) -> Iterator[str]:
    """What of verified triples differs; entities are drawn for both runs at once."""
    if found.cannot:
        yield from labelled("verified", f"not compared: {found.cannot}", width)
        return
    n = counted(found.entities, "entity", "entities")
    said = f"by {found.judges} against {found.reference}, over {n}; {found.sampling}"
    yield from labelled("verified", said, width)
    for each in found.rates:
        said = (
            f"A {shown_estimate(each.before)}, B {shown_estimate(each.after)}; B - A "
            f"{_difference(each.estimate)} points, p {p_value(each.p)}"
        )
        yield from labelled(each.name, said, width)
    shares = [
        f"{name} {100 * precision:.1f}% of precision, {100 * recall:.1f}% of recall"
        for name, (precision, recall) in zip("AB", found.unparsed, strict=True)
    ]
    yield from labelled("unparsed", "; ".join(shares), width)


def _difference(estimate: Estimate) -> str:
    interval = shown_interval(estimate.low, estimate.high)
    return f"{signed(estimate.value)} {interval}"


def _said(found: Difference) -> str:
    """What the interval says, in words."""
    if found.estimate.low > 0:
        return "B is significantly better"
    if found.estimate.high < 0:
        return "B is significantly worse"
    return "the difference is not significant"


def _tests(found: Difference) -> str:
    exact = f"exact McNemar p {p_value(found.mcnemar.p)} (items as independent)"
    said = f"clustered t p {p_value(found.p)}; {exact}"
    if found.mcnemar.left_out:
        said += f" (without {counted(found.mcnemar.left_out, 'item')} of a share between)"
    flips = found.permutation
    if flips is None:
        return f"{said}; sign flips do not apply, because items share facts in overlapping sets"
    how = "all" if flips.is_exact else f"seed {flips.seed},"
    patterns = f"{how} {flips.n_patterns:,} patterns over {flips.n_flipped:,} {flips.resampled}"
    return f"{said}; sign flips p {p_value(flips.p)} ({patterns})"


def _resolves(found: Difference) -> str:
    if math.isnan(found.resolves.difference):
        return "nothing: fewer than two independent groups of items"
    power = f"{100 * found.resolves.power:g}%"
    if found.resolves.standard_error == 0.0:
        return "nothing varies between the two, so no smallest difference can be computed"
    if found.resolves.difference >= 1.0:
        return f"with {power} power, no difference at all: too few independent groups of items"
    return f"with {power} power, a true difference of {points(found.resolves.difference)} points"


def _items(word: str, items: Sequence[Moved], most: int) -> Iterator[str]:
    if not items or not most:
        return
    rows = [
        [word if not at else "", shown_item(each), _scores(each), _cut(each.text)]
        for at, each in enumerate(items[:most])
    ]
    rows[0][0] = f"{word:<{_LABEL - 2}}"
    yield from aligned(rows, left=[0, 1, 2, 3])
    if len(items) > most:
        yield f"{'':<{_LABEL}}and {len(items) - most:,} more (-n {len(items)}, or -o FILE for all)"


def _scores(moved: Moved) -> str:
    before, after = f"A {moved.before:.3g}", f"B {moved.after:.3g}"
    return f"{before} {moved.before_ended}".rstrip() + f"  {after} {moved.after_ended}".rstrip()


def _cut(text: str) -> str:
    text = printable(text)
    return text if len(text) <= _TEXT else text[: _TEXT - 1] + "\u2026"


def p_value(p: float) -> str:
    """A probability with two significant digits; very small ones as a bound."""
    if math.isnan(p):
        return MISSING
    return "<0.0001" if p < 0.0001 else f"{p:.2g}"
