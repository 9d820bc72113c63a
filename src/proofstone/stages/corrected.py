"""The scores of a selection as people corrected them, or as the scorer left them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from msgspec import Struct

from proofstone.engines.store import Found, Retired, Store
from proofstone.engines.store.scores import ScoringInfo
from proofstone.errors import BadUsage, NotFound
from proofstone.identity import short
from proofstone.methods import find_method
from proofstone.records import (
    ANSWER_FORMAT,
    CONTEXT,
    CONTEXT_CHUNKS,
    CONTEXT_EMBEDDER,
    CONTEXT_SEARCH,
    CONTEXT_SETTINGS,
    CONTEXT_SOURCE,
    CONTEXT_TOKENS,
    PROMPT,
    PROMPT_NAME,
    ItemSet,
    Measure,
    Run,
    ScoreTable,
)
from proofstone.stages.dates import minute

if TYPE_CHECKING:
    from proofstone.report.corrected import TableRuling

__all__ = [
    "CURRENT",
    "View",
    "chosen_scorings",
    "corrected",
    "newer_forms",
    "not_run",
    "run_again",
]

FIRST = "first"


class View(Struct, frozen=True, kw_only=True):
    """Which scores are read. ``as_scored``: no ruling and no retirement is applied. ``scorings``
    are digits of scorings that stand for the current ones of their runs, or "first". ``until``:
    as it stood at that time, with nothing that was scored, ruled or retired since."""

    as_scored: bool = False
    scorings: tuple[str, ...] = ()
    until: float | None = None


CURRENT = View()


def corrected(
    store: Store,
    table: ScoreTable,
    runs: Mapping[bytes, int],
    retired: Retired,
    measure: Measure,
    until: float | None = None,
) -> ScoreTable:
    """``table`` with rulings applied and ``retired`` items left out. ``runs`` are ids and keys.

    Rulings are over whole replies, and hold for each part of one that is scored by itself.
    """
    from proofstone.report.corrected import (  # noqa: PLC0415 - numpy is loaded here
        apply_rulings,
        leave_out,
    )

    rulings = _rulings(store, table, runs, retired, until)
    kept = replace(leave_out(table, retired.ids), n_retired=len(retired.ids))
    return apply_rulings(kept, rulings, measure)


def _rulings(
    store: Store,
    table: ScoreTable,
    runs: Mapping[bytes, int],
    retired: Retired,
    until: float | None,
) -> list[TableRuling]:
    """The rulings in force over what the table's respondents replied."""
    from proofstone.report.corrected import TableRuling  # noqa: PLC0415 - numpy is loaded here

    place = {runs[run]: at for at, who in enumerate(table.respondents) for run in who.runs}
    return [
        TableRuling(place[found.run], found.ruling.item, found.sample, found.ruling.verdict)
        for found in store.rulings.in_force(list(place), until)
        if found.ruling.item not in retired.ids
    ]


def newer_forms(store: Store, item_sets: Sequence[ItemSet]) -> tuple[str, ...]:
    """A sentence on each of these sets that was corrected, naming its newer versions."""
    said = []
    for item_set in item_sets:
        found = store.lookup.find(f"form:{item_set.id.hex()}")
        newer = store.corrections.newer("form", found.key)
        if newer:
            names = ", ".join(_shown(store.items.item_set(identity)) for identity in newer)
            said.append(f"{_shown(item_set)} was corrected; the newer version: {names}")
            said += _left_to_ask(store, newer)
    return tuple(said)


def not_run(store: Store, targets: Iterable[Found], forms: Iterable[bytes]) -> NotFound:
    """That nothing was run on targets; of ``forms`` that were corrected, which runs their former
    versions have, what is left to ask, and the commands."""
    names = ", ".join(
        f"{target.name}-{short(target.id, 4)}" if target.name else short(target.id)
        for target in targets
    )
    told = [(each, _runs_before(store, each)) for each in forms]
    said = [
        f"its {_counted(len(runs), 'run')} {_is(len(runs))} of the former version "
        f"{_shown(former)}, and {_differing(store, form, former)} left to ask"
        for form, (former, runs) in told
        if former is not None
    ]
    asked = [line for form, (former, _runs) in told if former for line in _commands(store, form)]
    return NotFound(
        "; ".join([f"nothing was run on {names} yet", *said]),
        hint="\n  ".join(asked) or "proofstone run TARGET -m MODEL",
    )


def run_again(store: Store, form: bytes) -> list[str]:
    """The options of ``run`` by which a corrected form is asked as the version before it that was
    asked last, one a way of asking: its models and all settings that are not the method's own.
    Empty where none was."""
    former, runs = _runs_before(store, form)
    limits = store.runs.limits([key for key, _run in runs])
    models: dict[str, list[str]] = {}
    for key, run in runs:
        limit = limits.get(key)
        is_part = former is not None and limit is not None and limit < former.n_items
        asked = _options(store, run) + (f" --limit {limit}" if is_part else "")
        models.setdefault(asked, []).append(run.respondent)
    return [f"-m {quote(','.join(dict.fromkeys(names)))}{asked}" for asked, names in models.items()]


_PLAIN = {"temperature": "temperature", "max_tokens": "max-tokens",
          "reasoning_effort": "reasoning-effort", "thinking": "thinking",
          ANSWER_FORMAT: "answer-format"}  # fmt: skip
_CONTEXT = {CONTEXT: "context", CONTEXT_TOKENS: "context-tokens", CONTEXT_CHUNKS: "context-chunks",
            CONTEXT_SEARCH: "context-search", CONTEXT_SOURCE: "context-source",
            CONTEXT_EMBEDDER: "embedder"}  # fmt: skip


def _options(store: Store, run: Run) -> str:
    """How a run was asked, as options of ``run``."""
    settings = run.settings
    asked = "" if run.way == "direct" else f" --ask {quote(run.way)}"
    for name, usual in (("shots", 0), ("samples", 1)):
        value = settings.get(name, usual)
        asked += f" --{name} {value}" if value != usual else ""
    if name := settings.get(PROMPT_NAME, ""):
        file = store.own_prompts.file(bytes.fromhex(settings[PROMPT]))
        asked += f" --prompt {quote(name if file is None else _from_here(file))}"
    for name, option in _CONTEXT.items():
        asked += f" --{option} {quote(str(settings[name]))}" if name in settings else ""
    usual_ones = find_method(run.method).settings(run.way)
    ours = {"shots", "samples", "endpoint", PROMPT, PROMPT_NAME, *CONTEXT_SETTINGS}
    for name in sorted({*settings, *usual_ones} - ours):
        value = settings.get(name)
        # Thinking makes room for itself, unless the length is named.
        if value == usual_ones.get(name) and not (name == "max_tokens" and "thinking" in settings):
            continue
        if name in _PLAIN and value is not None:
            asked += f" --{_PLAIN[name]} {quote(str(value))}"
        else:
            asked += f" --set {quote(f'{name}={json.dumps(value, ensure_ascii=False)}')}"
    return asked + (f" --replicate {quote(run.replicate)}" if run.replicate else "")


def _from_here(file: Path) -> str:
    """A file as a command names it: from the current folder where it lies below it."""
    here = Path.cwd().resolve()
    return str(file.relative_to(here) if file.is_relative_to(here) else file)


def _runs_before(store: Store, form: bytes) -> tuple[ItemSet | None, list[tuple[int, Run]]]:
    """The newest former version of a form on which something was run, with its runs."""
    former = store.items.item_set(form).corrects
    while former is not None:
        found = store.items.item_set(former)
        if runs := store.runs.of_sets([former]):
            return found, runs
        former = found.corrects
    return None, []


def _left_to_ask(store: Store, forms: Sequence[bytes]) -> Iterator[str]:
    """Of corrected forms on which nothing was run yet, what is left to ask, and the commands."""
    asked = {run.item_set for _key, run in store.runs.of_sets(forms)}
    for form in forms:
        former, _runs = _runs_before(store, form)
        if form not in asked and former is not None:
            name = _shown(store.items.item_set(form))
            yield (
                f"nothing was run on {name} yet; {_differing(store, form, former)} left to ask: "
                + "; ".join(_commands(store, form))
            )


def _differing(store: Store, form: bytes, former: ItemSet) -> str:
    n_items = store.items.item_set(form).n_items
    now = {item for _place, item in store.items.places(form, -1, n_items)}
    then = {item for _place, item in store.items.places(former.id, -1, former.n_items)}
    n = len(now - then)
    return f"{n:,} of {_counted(n_items, 'item')} {_is(n)}"


def _commands(store: Store, form: bytes) -> list[str]:
    name = quote(_shown(store.items.item_set(form)))
    return [f"proofstone run {name} {options}" for options in run_again(store, form)]


def _shown(form: ItemSet) -> str:
    return f"{form.name}-{short(form.id, 4)}"


def _is(n: int) -> str:
    return "is" if n == 1 else "are"


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def chosen_scorings(
    store: Store, runs: Sequence[tuple[int, Run]], view: View
) -> dict[int, ScoringInfo]:
    """The scoring to read of each run that has one, by the run's key.

    Raises NotFound for digits that are no whole scoring of these runs, BadUsage where they fit
    several.
    """
    known = {key: _whole_by(store, key, view.until) for key, _run in runs}
    if view.scorings == (FIRST,):
        return {key: scorings[0] for key, scorings in known.items() if scorings}
    chosen = {key: _latest(scorings) for key, scorings in known.items() if scorings}
    every = [scoring for scorings in known.values() for scoring in scorings]
    for text in view.scorings:
        digits = text.removeprefix("scoring:")
        found = [scoring for scoring in every if digits and scoring.id.hex().startswith(digits)]
        if not found:
            listed = ", ".join(f"{short(s.id)} ({minute(s.created_at)})" for s in every[:8])
            raise NotFound(f"no scoring of these runs is {text!r}", hint=f"there is: {listed}")
        if len(found) > 1:
            raise BadUsage(f"{text!r} names {len(found)} scorings", hint="give more digits")
        chosen[found[0].run] = found[0]
    return chosen


def _whole_by(store: Store, run: int, until: float | None) -> list[ScoringInfo]:
    """The whole scorings of a run, oldest first; only those that were whole at a time."""
    scorings = store.scores.of_run(run)
    if until is None:
        return scorings
    return [each for each in scorings if each.completed_at and each.completed_at <= until]


def _latest(scorings: Sequence[ScoringInfo]) -> ScoringInfo:
    """The one that became whole last."""
    return max(scorings, key=lambda each: (each.completed_at or 0.0, each.key))
