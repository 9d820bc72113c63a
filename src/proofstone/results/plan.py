"""Preregistrations: creation, the runs under each, and outcomes of planned comparisons."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from msgspec import structs

from proofstone.errors import BadUsage
from proofstone.method import find_method
from proofstone.models.config import scrubber_of
from proofstone.models.simulator import stored_name
from proofstone.page.section import points, shown_interval
from proofstone.page.text import printable
from proofstone.records.ids import short
from proofstone.records.runs import POPULATIONS, Plan, PlanAsked, Run, plan_id, population_name
from proofstone.results.board import Board, BoardRow, PlanMark
from proofstone.results.trace import Ancestry
from proofstone.run.run_facts import plan_in_force
from proofstone.session.session import Session, Target, find_target
from proofstone.session.terminal import Description, minute
from proofstone.stats.power import resolution_before
from proofstone.stats.ranks import Comparison
from proofstone.store.lookup import Found
from proofstone.store.store import Store
from proofstone.wording.messages import counted, listed, say, word

_ONCE = "once, when every response of the planned runs is there"


def make_plan(session: Session, target: Target, asked: PlanAsked | None = None) -> Plan:
    """Preregister the analysis of a form's or bank's runs.

    With k comparisons, power is computed at confidence 1 - (1 - c) / k, the first step of Holm's
    method. Raises BadUsage for an unknown measure or an invalid comparison.
    """
    asked, store = asked or PlanAsked(), session.store
    found = find_target(store, target, ("form", "bank"))
    owner = store.items.item_set if found.kind == "form" else store.knowledge.bank
    method = find_method(owner(found.id).method)
    scrubber = scrubber_of(session.config)

    def scrub(text: str) -> str:
        return scrubber.raw(text.encode()).decode()

    measures = [measure.name for measure in method.measures]
    measure = asked.measure or method.headline
    if measure not in measures:
        raise BadUsage(f"there is no measure {measure!r}", hint=f"measures: {', '.join(measures)}")
    _check(asked)
    n_items = asked.n_items or _n_items(store, found)
    corrected = 1 - (1 - asked.confidence) / max(len(asked.comparisons), 1)
    resolution = resolution_before(
        n_items, asked.assumed, samples=asked.samples, confidence=corrected, power=asked.power
    )
    plan = Plan(
        kind="form" if found.kind == "form" else "bank",
        target=found.id,
        measure=measure,
        population=asked.population,
        level=asked.level,
        confidence=asked.confidence,
        power=asked.power,
        comparisons=tuple((scrub(a), scrub(b)) for a, b in asked.comparisons),
        exclusions=tuple(scrub(text) for text in asked.exclusions),
        n_items=n_items,
        samples=asked.samples,
        stopping=scrub(asked.stopping or _ONCE),
        assumed=structs.asdict(asked.assumed),
        resolves=None if math.isnan(resolution.difference) else resolution.difference,
        at=session.clock.now(),
    )
    plan = structs.replace(plan, id=plan_id(plan))
    store.plans.add(plan)
    return plan


def _check(asked: PlanAsked) -> None:
    if asked.n_items is not None and asked.n_items < 1:
        raise BadUsage(f"--items takes 1 or more, not {asked.n_items}")
    if asked.samples < 1:
        raise BadUsage(f"--samples takes 1 or more, not {asked.samples}")
    for first, second in asked.comparisons:
        if not first.strip() or stored_name(first) == stored_name(second):
            raise BadUsage(
                f"{first!r} and {second!r} cannot be compared", hint="name two different models"
            )
    ranges: Mapping[str, tuple[float, float, float]] = {
        "--accuracy": (asked.assumed.accuracy, 0.0, 1.0),
        "--repeatability": (asked.assumed.repeatability, 0.0, 1.0),
        "--correlation": (asked.assumed.correlation, -1.0, 1.0),
        "--design-effect": (asked.assumed.design_effect, 1.0, math.inf),
    }
    for option, (value, low, high) in ranges.items():
        if not low <= value <= high:
            raise BadUsage(f"{option} takes {low:g} to {high:g}, not {value:g}")


def _n_items(store: Store, found: Found) -> int:
    """Return the number of items of a form, or of a bank's forms, without excluded ones."""
    sets = [found.id]
    if found.kind == "bank":
        sets = store.items.sets_of_bank(found.id)
        superseded = store.items.superseded(sets)
        sets = [each for each in sets if each not in superseded]
    n = sum(store.items.item_set(each).n_items for each in sets)
    n -= store.corrections.excluded(sets).n_places if sets else 0
    if n < 1:
        raise BadUsage(
            f"{found.name or short(found.id)} has no items yet", hint="say how many: --items 500"
        )
    return n


# Preregistrations of a leaderboard's runs, and their comparisons.

# Fields that a mark copies from its plan.
_ALIKE = (
    "measure", "population", "level", "confidence", "comparisons", "exclusions", "n_items",
    "samples",
    "stopping", "resolves",
)  # fmt: skip


def plan_marks(store: Store, runs: Sequence[tuple[int, Run]]) -> tuple[PlanMark, ...]:
    """Return the plans of these runs, oldest first, with their numbers of runs.

    ``n_after`` counts the runs with a response before the plan.
    """
    marks: dict[bytes, tuple[Plan, list[bool]]] = {}
    for key, run in runs:
        found = plan_in_force(store, key, run)
        if found is not None:
            plan, is_after = found
            marks.setdefault(plan.id, (plan, []))[1].append(is_after)
    return tuple(
        PlanMark(
            id=short(plan.id),
            made_at=minute(plan.at),
            n_runs=len(after),
            n_after=sum(after),
            n_unplanned=len(runs) - len(after),
            **{name: getattr(plan, name) for name in _ALIKE},
        )
        for plan, after in sorted(marks.values(), key=lambda each: (each[0].at, each[0].id))
    )


def plan_lines(board: Board) -> Iterator[str]:
    """Yield the plan, its time and deviations from it; nothing without a plan."""
    for mark in board.plans:
        yield printable(_head(mark))
        for text in _departures(board, mark):
            yield printable(say("departs from the plan {plan}: {how}", plan=mark.id, how=text))
        for first, second in mark.comparisons:
            found = _outcome(board, mark, first, second)
            late = mark.n_after == mark.n_runs
            said = say("named late: {found}" if late else "planned: {found}", found=found)
            yield printable(said)


def unplanned_line(board: Board, *, is_ours: bool) -> str:
    """Return a sentence that no plan is known; empty with a plan or without scores."""
    if board.plans or not board.standings:
        return ""
    if is_ours:
        return say(
            "No analysis plan was registered, so every comparison on this page is exploratory."
        )
    return say(
        "Whether the analysis was preregistered is not recorded, so every comparison on this "
        "page is exploratory."
    )


def _head(mark: PlanMark) -> str:
    parts = [
        word(mark.measure),
        counted(mark.n_items, "item"),
        counted(mark.samples, "sample"),
    ]
    if mark.resolves is not None:
        parts.append(say("to find {points} points", points=points(mark.resolves)))
    plan = {"at": mark.made_at, "plan": mark.id, "what": listed(parts)}
    if mark.n_after == mark.n_runs:
        return say(
            "planned {at} {plan}, made after the first response: everything here is "
            "exploratory ({what})",
            **plan,
        )
    late = mark.n_after + mark.n_unplanned
    if late:
        return say(
            "planned {at} {plan}: {what}; {runs} here without a plan made before; everything else "
            "here is exploratory",
            runs=counted(late, "run"),
            **plan,
        )
    return say("planned {at} {plan}: {what}; everything else here is exploratory", **plan)


def _departures(board: Board, mark: PlanMark) -> Iterator[str]:
    names = {str(name): population_name(name) for name in POPULATIONS}
    population = names.get(mark.population, mark.population)
    for what, here, then in (
        ("measure", board.measure, mark.measure),
        ("intervals generalize to", board.population, population),
        ("averaged by", board.level, mark.level),
        ("confidence", f"{board.confidence:g}", f"{mark.confidence:g}"),
    ):
        if here != then:
            yield say(
                "{what} {here}, planned {then}", what=word(what), here=word(here), then=word(then)
            )
    if board.n_items < mark.n_items:
        yield say("{items}, planned {n:,}", items=counted(board.n_items, "item"), n=mark.n_items)


def _outcome(board: Board, mark: PlanMark, first: str, second: str) -> str:
    """Return the result of one planned comparison."""
    found = _compared(board, first, second)
    head = f"{first} - {second}"
    absent = [name for name in (first, second) if not _is_run(board, name)]
    if absent:
        return say("{pair}: no run of {models}", pair=head, models=listed(absent))
    if found is None:
        return say(
            "{pair}: comparison unavailable: each model needs exactly one ranked run", pair=head
        )
    pair, sign = found
    low, high = sorted((sign * pair.low, sign * pair.high))
    k = len(mark.comparisons)
    p = min(1.0, pair.p * k)
    is_apart = p < 1 - mark.confidence
    return say(
        "{pair}: {difference} {interval} points, p {p:.2g}{times}: {told}",
        pair=head,
        difference=points(sign * pair.difference),
        interval=shown_interval(low, high),
        p=p,
        times=say(", times {k} planned", k=k) if k > 1 else "",
        told=say("significant" if is_apart else "not significant"),
    )


def _is_run(board: Board, name: str) -> bool:
    return any(_is_of(row, name) for group in board.standings for row in group.rows)


def _is_of(row: BoardRow, name: str) -> bool:
    """Return True if a planned name is the row's name or label, in any spelling of the model."""
    model, gap, asked = name.partition(" ")
    return f"{stored_name(model)}{gap}{asked}" in (row.name, row.full_label)


def _compared(board: Board, first: str, second: str) -> tuple[Comparison, int] | None:
    """Return the comparison of two ranked rows if each name or label matches exactly one."""
    for group in board.standings:
        places = [
            [at for at, row in enumerate(group.ranked) if _is_of(row, name)]
            for name in (first, second)
        ]
        if [len(each) for each in places] != [1, 1]:
            continue
        (a,), (b,) = places
        for pair in group.compared:
            if {pair.first, pair.second} == {a, b}:
                return pair, 1 if pair.first == a else -1
    return None


def describe_plan(store: Store, found: Found) -> Description:
    """Describe a plan and its minimum detectable difference."""
    plan = store.plans.one(found.key)

    population = population_name(plan.population)
    average = (
        "each item counts the same" if plan.level == "sample" else f"each {plan.level} the same"
    )
    lines = [
        ("plan", plan.id.hex()),
        ("made", minute(plan.at)),
        (plan.kind, f"{plan.kind}:{short(plan.target)}"),
        ("measure", f"{plan.measure}; {average}; intervals generalize to {population}"),
        *(("compare", f"{first} - {second}") for first, second in plan.comparisons),
        *(("exclude", text) for text in plan.exclusions),
        ("size", f"{counted(plan.n_items, 'item')}, {counted(plan.samples, 'sample')} each"),
        ("stop", plan.stopping),
        ("confidence", f"{100 * plan.confidence:g}% for all comparisons together"),
    ]
    assumed = ", ".join(
        f"{name.replace('_', ' ')} {value:g}" for name, value in plan.assumed.items()
    )
    if plan.resolves is None:
        lines.append(("power", "unknown: too few independent items"))
    else:
        power = f"{100 * plan.power:g}% power"
        lines.append(("power", f"{100 * plan.resolves:.1f} points with {power}, if {assumed}"))
    came_from = tuple(Ancestry(store).of_row(found))
    return Description(title=f"plan:{short(plan.id)}", lines=tuple(lines), ancestors=came_from)
