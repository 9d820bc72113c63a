"""What recall offers besides: answers held against a reference, review sheets, a section on its
pages and a command of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from msgspec import Struct

from proofstone.files.tables import RowReader
from proofstone.method import Contrast, Contrasts, Reviewing, Verifying
from proofstone.page.section import Section
from proofstone.records.ids import short
from proofstone.records.items import LoadedItem
from proofstone.records.knowledge import Fact
from proofstone.records.reviews import ReviewText
from proofstone.records.runs import Response, Run, VerifiedRun, run_label
from proofstone.results.sections.evidence import Evidence
from proofstone.session.session import Session, Target, find_target


class Sampled(Struct, frozen=True, kw_only=True):
    """How much is verified: everything."""


def verify(
    session: Session, runs: Sequence[Target], *, reference: Target | Path, **_asking: Any
) -> list[VerifiedRun]:
    """Each run's answers, held against the answers of a file: no judge is needed for that."""
    known = {row.values["question"]: row.values["answer"] for row in RowReader(Path(reference))}
    made = []
    for target in runs:
        key, run = session.store.runs.run(find_target(session.store, target, ("run",)).id)
        counts = Counter(
            "supported" if known.get(question) == answer else "not supported"
            for question, answer in answers_of(session, key, run)
        )
        made.append(
            VerifiedRun(
                run=f"run:{short(run.id)}", label=run_label(run), scoring="", judges="nobody",
                reference=Path(reference).name, drawn="all answers", n=counts.total(), waiting=0,
                counts={"precision": dict(counts)},
            )
        )  # fmt: skip
    return made


def answers_of(session: Session, key: int, run: Run) -> Iterator[tuple[str, str]]:
    """The questions of a run with the last words of its replies."""
    for page in session.store.items.pages(run.item_set):
        for stored in page:
            for _sample, step, call in session.store.runs.calls_of_item(key, stored.key):
                if step == run.last_step:
                    answer = call.raw.decode("utf-8", "replace")
                    yield stored.loaded.facts[0].payload.question, _last_word(answer)


def _last_word(raw: str) -> str:
    import json  # noqa: PLC0415 - the wire of simulated models

    return str(json.loads(raw)["choices"][0]["message"]["content"]).strip(" .")


def said_rows(
    session: Session, found: Any, _options: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """A row an answer."""
    key, run = session.store.runs.run(found.id)
    for question, answer in answers_of(session, key, run):
        yield {"question": question, "answer": answer}


def show_board(_session: Session, targets: Sequence[str], *_rest: Any, as_json: bool) -> bool:
    """Says whose answers are held against what."""
    click.echo(f"answers of {', '.join(targets)}, verified one by one")
    return not as_json


def section(evidence: Evidence) -> Section | None:
    """How many models recalled something."""
    n = sum(len(each.ranked) for each in evidence.board.standings)
    return Section(name="recalled", title="Recalled", finding=f"{n} runs recalled something.")


def review_text(fact: Fact) -> ReviewText:
    """A pair as a reviewer reads it."""
    return ReviewText(
        text=fact.payload.question, field="question", claim=fact.payload.answer, key_field="answer"
    )


def of_facts(facts: Iterable[Fact]) -> Iterator[Contrast]:
    """Questions, none of them false."""
    for fact in facts:
        yield Contrast(text=fact.payload.question, is_second=False, source="", row=fact.id)


def of_items(items: Iterable[LoadedItem]) -> Iterator[Contrast]:
    """The questions of items."""
    for item in items:
        yield from of_facts(item.facts)


def show_response(_item: LoadedItem, responses: Mapping[str, Response]) -> str:
    """The answer."""
    return responses["answer"].text if "answer" in responses else ""


REVIEWING = Reviewing(review_text=review_text)
CONTRASTS = Contrasts(
    kinds={"fact": ("true", "false"), "item": ("true", "false")},
    of_facts=of_facts,
    of_items=of_items,
)
VERIFYING = Verifying(
    called="answer",
    settings=Sampled,
    verify=verify,
    forecast=lambda *_runs, **_asking: None,
    check_judged=lambda _run: None,
    has_reference=lambda columns: {"question", "answer"} <= set(columns),
    reference_columns="question and answer",
    listed_in=lambda _row: 1,
    is_listed=lambda _fact: True,
    show_response=show_response,
    verdicts_shown=lambda _store, _run, _item, _sample: (),
    counts_shown=lambda _store, _scoring: "",
    settings_shown=lambda _settings: {"judges": "", "reference": "", "drawn": ""},
    statistics=lambda _store, _method, _runs: (),
    said_rows=said_rows,
    verdict_rows=said_rows,
    ranked=lambda runs: frozenset(range(len(runs))),
    board=lambda *_asked, **_options: None,
    show_board=show_board,
    show_analysis=lambda *_asked, **_options: None,
    write_page=lambda *_asked, **_options: None,
    compare=lambda *_asked, **_options: None,
)


@click.command("quiz")
@click.argument("numbers", nargs=-1, type=int)
def quiz_command(numbers: tuple[int, ...]) -> None:
    """Add numbers up, as a pair for recall."""
    click.echo(f"What is {' + '.join(map(str, numbers))}?={sum(numbers)}")


SECTIONS = (section,)
COMMANDS = {"quiz": quiz_command}
