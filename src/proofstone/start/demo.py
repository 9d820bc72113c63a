"""The demonstration: from facts nobody here wrote to a page of results, with a real model.

An ordinary workspace with an ordinary bank, forms and runs; everything in it can be looked at with
the other commands afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from proofstone.build.banks import compose_forms, make_bank
from proofstone.errors import Incomplete
from proofstone.records.ids import short
from proofstone.records.items import ItemSet
from proofstone.records.knowledge import Bank
from proofstone.results.board_text import Leaderboard
from proofstone.results.report import leaderboard, write_report
from proofstone.run.campaign import RunResult, report_control, run_specs
from proofstone.run.plan import RunSpec
from proofstone.run.run_facts import ControlReport
from proofstone.session.progress import Watch
from proofstone.session.session import Session

BUNDLED_MODEL = "local/smollm2-135m"


TABLES = ("elements", "countries", "codes")


SEEDS = (40, 41, 42)


PROMPT_METHODS = ("direct", "cot")


QUESTIONS = 20


WHOLE_S = 190.0  # what all may take but writing the page, so that the whole is under four minutes


_FEWEST = 2


_PILOT_SEED, _PILOT_QUESTIONS = 39, 4


# The carried model answers at once or not at all; a stranger's model keeps the ways' defaults.
_LOCAL_SETTINGS: dict[str, dict[str, Any]] = {
    "direct": {"max_tokens": 16, "logprobs": True},
    "cot": {"max_tokens": 160, "logprobs": True},
}


class Demonstration(Struct, frozen=True, kw_only=True):
    """What came of it."""

    bank: Bank
    forms: tuple[ItemSet, ...]
    results: tuple[RunResult, ...]
    control: ControlReport
    board: Leaderboard
    page: Path
    seconds: float


def demonstrate(
    session: Session,
    model: str,
    *,
    questions: int | None = None,
    watch: Watch | None = None,
    tell: Callable[[str], None] = lambda _line: None,
) -> Demonstration:
    """Builds, composes, asks, scores and reports; again, it goes on where it stopped.

    ``questions`` a form: as given, or 20, or as many as the model's measured speed allows.
    Raises NotFound where the facts' packages are missing, EndpointUnusable where the model is,
    KeyboardInterrupt once the replies in flight are kept.
    """
    started = time.monotonic()
    bank = make_bank(session, "statements", TABLES, name="facts")
    books = {fact.stratum.book for fact in session.store.knowledge.bank(bank.id).facts()}
    tell(f"bank   {_shown(bank)}   {len(bank.facts):,} statements from {len(books)} fact tables")
    control = report_control(session, model)
    tell(f"model  {model}   {control.summary}")
    if questions is None:
        questions = _composed_before(session, bank)
    if questions is None:
        speed = _measured_speed(session, bank, model, tell)
        left = WHOLE_S - (time.monotonic() - started)
        fitting = int(left / (len(SEEDS) * speed)) if speed > 0 else QUESTIONS
        questions = max(_FEWEST, min(QUESTIONS, fitting))
    forms = compose_forms(session, bank, seeds=SEEDS, questions=questions)
    seeds = " ".join(str(form.seed) for form in forms)
    tell(f"form   {' '.join(map(_shown, forms))}   {questions} questions each, seeds {seeds}")
    results = _ask(session, forms, model, watch)
    page = session.folder / "report.html"
    runs = [result.planned.run for result in results]
    if not any(result.n_scored for result in results):
        stopped = next((result.stopped for result in results if result.stopped), "no reply came")
        raise Incomplete(f"{model} answered nothing: {stopped}", hint="see: proofstone doctor")
    write_report(session, *runs, path=page, control=control, command="proofstone demo")
    return Demonstration(
        bank=bank,
        forms=tuple(forms),
        results=tuple(results),
        control=control,
        board=leaderboard(session, *runs),
        page=page,
        seconds=time.monotonic() - started,
    )


def _measured_speed(session: Session, bank: Bank, model: str, tell: Callable[[str], None]) -> float:
    """Seconds that a question takes in all ways of asking, by a few that are not counted."""
    (pilot,) = compose_forms(
        session, bank, seeds=[_PILOT_SEED], questions=_PILOT_QUESTIONS, name="pilot"
    )
    seconds = 0.0
    for prompt_method, tried in zip(
        PROMPT_METHODS, _ask(session, [pilot], model, None), strict=True
    ):
        spent = tried.seconds / _PILOT_QUESTIONS
        tell(f"speed  {prompt_method:<7} {spent:.2f} s a question")
        seconds += spent
    return seconds


def _ask(
    session: Session, forms: Sequence[ItemSet], model: str, watch: Watch | None
) -> list[RunResult]:
    """The forms asked in each way, the model loaded once. KeyboardInterrupt passes, once the
    replies in flight are kept."""
    specs = [
        RunSpec(
            item_set=form.id,
            model=model,
            prompt_method=prompt_method,
            settings=_settings(model, prompt_method),
        )
        for prompt_method in PROMPT_METHODS
        for form in forms
    ]
    results = run_specs(session, specs, watch=watch)
    if any(result.interrupted for result in results):
        raise KeyboardInterrupt
    return results


def _composed_before(session: Session, bank: Bank) -> int | None:
    """The size of the forms of an earlier demonstration, which this one goes on with."""
    store = session.store
    forms = [store.items.item_set(identity) for identity in store.items.sets_of_bank(bank.id)]
    return next((form.n_items for form in forms if form.seed == SEEDS[0]), None)


def _settings(model: str, prompt_method: str) -> dict[str, Any]:
    return _LOCAL_SETTINGS[prompt_method] if model == BUNDLED_MODEL else {}


def _shown(thing: Bank | ItemSet) -> str:
    return f"{thing.name}-{short(thing.id, 4)}"
