"""The demo in three acts: an audit of a published table, a real model, and a ranking to show.

Act 1 audits a bundled table and needs no workspace. Acts 2 and 3 work in an ordinary workspace with
an ordinary bank, forms and runs; everything in it can be looked at with the other commands.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from proofstone.build.banks import compose_forms, make_bank
from proofstone.choices.likelihood import OPTION
from proofstone.errors import Incomplete
from proofstone.ingest.bank_files import read_form
from proofstone.records.ids import Draws
from proofstone.records.items import ItemSet
from proofstone.records.knowledge import Bank, Fact
from proofstone.results.audit.audit import Asked, Audit, audit_files, audit_page
from proofstone.results.board_text import Leaderboard
from proofstone.results.page_files import write_page
from proofstone.results.report import leaderboard, write_report
from proofstone.results.sentences import standing_answer
from proofstone.run.campaign import RunResult, report_control, run_specs
from proofstone.run.plan import RunSpec
from proofstone.run.run_facts import ControlReport
from proofstone.session.progress import Watch
from proofstone.session.session import Session

BUNDLED_MODEL = "local/smollm2-135m"


# Act 1. The table as it is printed: 42 models in 12 disciplines, each value the mean of four runs.

TABLE = "kina-table-3.csv"


SOURCE = "Knowledge Index of Noah's Ark (KINA), Table 3, by Jin et al. (2077ai.com)"


_RUNS = 4


class AuditShown(Struct, frozen=True, kw_only=True):
    """The audit of the published table and its page."""

    audit: Audit
    page: Path
    seconds: float

    @property
    def summary(self) -> str:
        """Return the numbers of models and pairs, and which model leads by how much."""
        group = self.audit.board.standings[0]
        resolved = sum(pair.resolved for pair in group.compared)
        return (
            f"{len(group.ranked)} models on {group.n_items:,} questions. {standing_answer(group)} "
            f"{resolved} of {len(group.compared)} pairs differ significantly (Holm-adjusted)."
        )


def audit_table(folder: Path) -> AuditShown:
    """Audit the bundled table and write its page into ``folder``, which is made where missing."""
    started = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "audit.html"
    with resources.as_file(resources.files(__package__) / TABLE) as path:
        audit = audit_files([path], Asked(runs=_RUNS))
    audit = structs.replace(audit, notes=(f"Source: {SOURCE}.", *audit.notes))
    write_page(audit_page(audit, now=time.time(), command="proofstone demo"), page)
    return AuditShown(audit=audit, page=page, seconds=time.monotonic() - started)


# Acts 2 and 3: four-option questions and composed questions, both from the same bank.

TABLES = ("elements", "countries", "codes")


# Statements of which the end is an option, by what they say; one of each bundled package.
_TOPICS = {
    "capital": re.compile(r"(The capital of .+ is) (.+)\."),
    "symbol": re.compile(r"(The chemical symbol of .+ is) (.+)\."),
    "currency": re.compile(r"(The ISO 4217 code of the currency named .+ is) (.+)\."),
}


QUESTIONS, COMPOSED = 60, 10


# Abilities of simulated models, marked as such wherever they are shown: a lead, and a tie.
SIMULATED = ("sim/strong?ability=0.9", "sim/medium?ability=0.6", "sim/weak?ability=0.55")


WHOLE_S = 180.0  # what all may take but writing the pages, so that the whole is under four minutes


_SCORED_S = 100.0  # of it the questions whose options are scored


_OPTIONS, _FEWEST, _PILOT = 4, 2, 6


_SEED, _PILOT_SEED, _PILOT_QUESTIONS = 40, 39, 2


# The bundled model answers at once or not at all; another model keeps the method's defaults.
_LOCAL_SETTINGS: dict[str, Any] = {"max_tokens": 16, "logprobs": True}


class Demonstration(Struct, frozen=True, kw_only=True):
    """Hold the results of acts 2 and 3: the four-option questions first, then the composed ones."""

    bank: Bank
    forms: tuple[ItemSet, ItemSet]
    results: tuple[RunResult, ...]
    control: ControlReport
    boards: tuple[Leaderboard, Leaderboard]
    pages: tuple[Path, Path]
    seconds: float


def demonstrate(
    session: Session,
    model: str,
    *,
    questions: int | None = None,
    watch: Watch | None = None,
    tell: Callable[[str], None] = lambda _line: None,
) -> Demonstration:
    """Build, ask, score and report. A repeated call resumes.

    ``questions`` of each form: as given, or 60 and 10, or as many as the model's measured speed
    allows. Raises NotFound if the packages of facts are missing, EndpointUnusable if the model is,
    KeyboardInterrupt after responses in flight are stored.
    """
    started = time.monotonic()
    bank = make_bank(session, "statements", TABLES, name="facts")
    facts = list(session.store.knowledge.bank(bank.id).facts())
    tell(f"bank      {len(facts):,} statements from the facts of three packages")
    control = report_control(session, model)
    tell(f"model     {model}   {control.summary}")
    models = (model, *(each for each in SIMULATED if each != model))

    file = session.folder / "questions.jsonl"
    file.write_bytes(b"".join(_lines(facts, questions or QUESTIONS)))
    scored = read_form(session, file, name="four-options")
    limit = None if questions else _fitting(session, scored, model, watch)
    tell(f"questions {limit or scored.n_items} with four options each, asked by option likelihood")
    likely = _ask(session, scored, models, OPTION, watch, limit)

    size = questions or _composed_before(session, bank)
    if size is None:
        (pilot,) = compose_forms(
            session, bank, seeds=[_PILOT_SEED], questions=_PILOT_QUESTIONS, name="pilot"
        )
        speed = _ask(session, pilot, [model], "direct", None)[0].seconds / _PILOT_QUESTIONS
        left = WHOLE_S - (time.monotonic() - started)
        size = max(_FEWEST, min(COMPOSED, int(left / speed))) if speed > 0 else COMPOSED
    (composed,) = compose_forms(session, bank, seeds=[_SEED], questions=size)
    tell(f"composed  {size} questions over several statements each, asked directly")
    direct = _ask(session, composed, models, "direct", watch)

    for results in (likely, direct):
        if not results[0].n_scored:
            stopped = results[0].stopped or "no response came"
            raise Incomplete(f"{model} answered nothing: {stopped}", hint="see: proofstone doctor")
    boards, pages = [], []
    for name, results in (("questions", likely), ("composed", direct)):
        runs = [result.planned.run for result in results]
        pages.append(session.folder / f"{name}.html")
        write_report(session, *runs, path=pages[-1], control=control, command="proofstone demo")
        boards.append(leaderboard(session, *runs))
    return Demonstration(
        bank=bank,
        forms=(scored, composed),
        results=(*likely, *direct),
        control=control,
        boards=(boards[0], boards[1]),
        pages=(pages[0], pages[1]),
        seconds=time.monotonic() - started,
    )


def _lines(facts: Sequence[Fact], n: int) -> Iterator[bytes]:
    """Yield ``n`` questions as lines of JSON, topics in turn: the correct option and three correct
    ones of other questions of the topic, sampled with a fixed seed."""
    known = {
        topic: sorted(
            (found[1], found[2], fact.stratum.field)
            for fact in facts
            if fact.payload.correct and (found := pattern.fullmatch(fact.payload.text))
        )
        for topic, pattern in _TOPICS.items()
    }
    chosen = {
        topic: Draws(_SEED, 0, f"demo {topic}").shuffled(rows) for topic, rows in known.items()
    }
    for number in range(n):
        topic = tuple(chosen)[number % len(chosen)]
        rows, place = chosen[topic], number // len(chosen)
        if place >= len(rows):
            continue
        question, right, field = rows[place]
        draws = Draws(_SEED, number, "demo options")
        others = sorted({answer for _question, answer, _field in rows} - {right})
        options = draws.shuffled([right, *draws.sample(others, _OPTIONS - 1)])
        row = {
            "question": question,
            "options": options,
            "answer_index": options.index(right),
            "language": "en",
            "field": field,
        }
        yield msgspec.json.encode(row) + b"\n"


def _fitting(session: Session, form: ItemSet, model: str, watch: Watch | None) -> int | None:
    """The number of first questions that fit the time, by the first few, which count; None for
    all of them."""
    (tried,) = _ask(session, form, [model], OPTION, watch, min(_PILOT, form.n_items))
    fitting = int(_SCORED_S * _PILOT / tried.seconds) if tried.seconds > 0 else form.n_items
    return None if fitting >= form.n_items else max(_PILOT, fitting)


def _ask(
    session: Session,
    form: ItemSet,
    models: Sequence[str],
    prompt_method: str,
    watch: Watch | None,
    limit: int | None = None,
) -> list[RunResult]:
    """The form asked of each model. KeyboardInterrupt passes, once the responses in flight are
    kept."""
    specs = [
        RunSpec(
            item_set=form.id,
            model=model,
            prompt_method=prompt_method,
            limit=limit,
            settings=_LOCAL_SETTINGS if model == BUNDLED_MODEL and prompt_method != OPTION else {},
        )
        for model in models
    ]
    results = run_specs(session, specs, watch=watch)
    if any(result.interrupted for result in results):
        raise KeyboardInterrupt
    return results


def _composed_before(session: Session, bank: Bank) -> int | None:
    """Return the size of the form of an earlier demo, which this one resumes."""
    store = session.store
    forms = [store.items.item_set(identity) for identity in store.items.sets_of_bank(bank.id)]
    return next((form.n_items for form in forms if form.seed == _SEED), None)
