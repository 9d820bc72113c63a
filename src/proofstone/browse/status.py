"""What a workspace holds, and which of its runs are unfinished."""

from __future__ import annotations

from msgspec import Struct

from proofstone.method import find_method
from proofstone.records.ids import short
from proofstone.records.items import ItemSet
from proofstone.records.runs import Run, Spent, responses_wanted, run_label
from proofstone.store.calls import Expense
from proofstone.store.store import Store


class RunState(Struct, frozen=True, kw_only=True):
    """Hold the progress of a run: ``done`` of ``total`` (item, sample), errors of others, and the
    cost of its calls.

    ``total`` counts the first ``limit`` of ``n_items`` if the run has a limit.
    """

    id: str
    label: str
    form: str
    done: int
    total: int
    failed: int
    errors: tuple[str, ...]
    simulated: bool
    spent: Spent
    limit: int | None = None
    n_items: int = 0
    score: float | None = None
    """Mean of the headline measure over the current scoring, corrections ignored."""
    last_at: float = 0.0
    """Time of the last call in seconds since 1970; 0 without calls."""

    @property
    def status(self) -> str:
        """``complete``, ``incomplete``, or ``partial`` for a run that reached its limit."""
        if self.done < self.total:
            return "incomplete"
        return "complete" if self.limit is None else "partial"


class Listing(Struct, frozen=True, kw_only=True):
    """A row of a listing: ``about`` says in few words what tells it from others of its name."""

    kind: str
    id: bytes
    name: str
    about: str = ""


class Overview(Struct, frozen=True, kw_only=True):
    """Hold row counts by kind, incomplete and limited runs, and the cost of all calls by purpose.

    ``lost`` is what interrupted commands may have been billed for in addition.
    """

    counts: dict[str, int]
    unfinished: tuple[RunState, ...]
    limited: tuple[RunState, ...]
    spent: dict[str, Spent]
    lost: tuple[Expense, ...]


def look_over(store: Store) -> Overview:
    """The state of a whole workspace."""
    counts = {kind: store.lookup.count(kind) for kind in ("source", "fact", "bank", "form", "run")}
    states = run_states(store)
    unfinished = tuple(state for state in states if state.done < state.total)
    limited = tuple(each for each in states if each.limit and each.done >= each.total)
    return Overview(
        counts=counts,
        unfinished=unfinished,
        limited=limited,
        spent=store.spent.by_purpose(),
        lost=tuple(store.expenses.lost()),
    )


def things_of(store: Store, kind: str) -> list[Listing]:
    """The sources, banks, forms, lists of entities (read from a file, made from a wiki) or
    references of a store, newest first."""
    if kind == "form":
        return _forms(store)
    if kind == "entities":
        return [*_forms(store, only=kind), *_banks_of(store, ".entity")]
    if kind == "reference":
        return _banks_of(store, ".reference")
    purged = {stone.source for stone in store.tombstones.in_force()}
    return [
        Listing(kind=kind, id=row.id, name=row.name, about="purged" if row.id in purged else "")
        for row in store.lookup.every(kind)
    ]


def _forms(store: Store, only: str = "") -> list[Listing]:
    found = store.lookup.every("form")
    superseded = store.items.superseded([row.id for row in found])
    sets = [store.items.item_set(row.id) for row in found]
    return [
        Listing(kind="form", id=each.id, name=each.name, about=_about(each, each.id in superseded))
        for each in sets
        if not only or each.kind == only
    ]


def _about(form: ItemSet, is_superseded: bool) -> str:
    what = "entities" if form.kind == "entities" else "questions"
    seed = "" if form.seed is None else f"   seed {form.seed}"
    return f"{form.n_items:,} {what}{seed}{'   corrected since' * is_superseded}"


def _banks_of(store: Store, kind: str) -> list[Listing]:
    """The banks whose facts are of a kind that ends so."""
    listed = []
    for row in store.lookup.every("bank"):
        first = next(store.knowledge.pages_of_bank(row.key, 1), [])
        if first and first[0].kind.endswith(kind):
            n = store.knowledge.size_of_bank(row.key)
            about = f"{n:,} facts" if n != 1 else "1 fact"
            listed.append(Listing(kind="bank", id=row.id, name=row.name, about=about))
    return listed


def _mean_score(store: Store, key: int, run: Run) -> float | None:
    scoring = store.scores.current(key)
    if scoring is None:
        return None
    headline = find_method(run.method).headline
    tallies = [each for each in store.scores.tallies(scoring.key) if each.measure == headline]
    n = sum(each.n for each in tallies)
    return sum(each.total for each in tallies) / n if n else None


def run_states(store: Store) -> list[RunState]:
    """Return all runs with their progress, oldest first."""
    states = []
    runs = list(store.runs.every())
    limits = store.runs.limits([key for key, _run in runs])
    for key, run in runs:
        item_set = store.items.item_set(run.item_set)
        failures = store.runs.failures(key, run.last_step)
        done, whole = (
            store.runs.count_done(key, run.last_step),
            responses_wanted(run, item_set.n_items),
        )
        first = limits.get(key, item_set.n_items)
        limit = first if first < item_set.n_items and done < whole else None
        within = whole if limit is None else limit * int(run.settings.get("samples", 1))
        states.append(
            RunState(
                id=short(run.id),
                label=run_label(run),
                form=f"{item_set.name}-{short(item_set.id, 4)}",
                done=done,
                total=min(whole, within),
                failed=len(failures),
                errors=tuple(sorted({failure.error for failure in failures})),
                simulated=run.simulated,
                spent=Spent() if run.simulated else store.spent.of_runs([key]),
                limit=limit,
                n_items=item_set.n_items,
                score=_mean_score(store, key, run),
                last_at=store.runs.totals(key).last_at,
            )
        )
    return states
