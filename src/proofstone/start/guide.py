"""The guided start: documents of a folder, a pilot on some of them, and what all of it takes."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path, PurePath
from typing import Any, TypeVar

from msgspec import Struct, structs

from proofstone.build.banks import build_in_steps, compose_forms, forecast_build
from proofstone.documents.sources import Stated
from proofstone.errors import BadInput, BudgetReached, Incomplete
from proofstone.ingest.ingest import Ingested, IngestReport, ingest_paths
from proofstone.ingest.ingest import Watch as ReadWatch
from proofstone.ingest.pages import remember_documents
from proofstone.method import find_method
from proofstone.page.html import Beside, QuestionBeside, beside_page
from proofstone.records.calls import CallRecord
from proofstone.records.ids import Draws, short
from proofstone.records.items import ItemSet, LoadedItem, Way, context_of
from proofstone.records.knowledge import Bank, Passage
from proofstone.records.runs import run_label
from proofstone.results.compare import Compared
from proofstone.results.compare_inputs import compare_targets
from proofstone.run.campaign import RunResult, run_specs
from proofstone.run.evidence import asked_page, with_evidence
from proofstone.run.forecast import CONFIDENCE, BuildForecast, Range
from proofstone.run.request import Asking, RunRequest
from proofstone.run.run_file import run_file_text
from proofstone.run.run_options import MOST_TOKENS
from proofstone.session.costs import start_spending
from proofstone.session.folders import MARK
from proofstone.session.progress import Watch
from proofstone.session.session import Session
from proofstone.start.answers import Answers, AskingForecast, SideBySide, StartReport
from proofstone.stats.power import Sampled, forecast_total
from proofstone.store.store import Store
from proofstone.texts.languages import in_languages, main_language
from proofstone.wording.messages import counted

Thing = TypeVar("Thing")


class Candidate(Struct, frozen=True, kw_only=True):
    """A document that may be chosen: its file within the folder, of which ``kind`` it is, and its
    ``size`` (passages, bytes: whatever orders documents by length)."""

    file: str
    kind: str
    size: int

    @property
    def group(self) -> tuple[str, str]:
        """Where it stands, by its first folder, and what it is."""
        return self.file.rpartition("/")[0].partition("/")[0], self.kind


def choose_documents(candidates: Sequence[Candidate], n: int, seed: int) -> list[Candidate]:
    """Up to ``n`` of the candidates, in the order of their files.

    Each subfolder and kind of file gets one before any gets a second; which come first, where there
    are fewer places than groups, is drawn. Within a group the places are spread over its sizes: one
    drawn from each of as many equal parts of it, small to large.
    """
    draws = Draws(seed, 0, "documents of a pilot")
    groups: dict[tuple[str, str], list[Candidate]] = {}
    for each in sorted(candidates, key=lambda each: (each.size, each.file)):
        groups.setdefault(each.group, []).append(each)
    order = draws.shuffled(sorted(groups))
    places = dealt([len(groups[name]) for name in order], n)
    chosen = [
        candidate
        for name, k in zip(order, places, strict=True)
        for candidate in _one_of_each_part(groups[name], k, draws)
    ]
    return sorted(chosen, key=lambda each: each.file)


def spread_over(things: Sequence[Thing], n: int, draws: Draws) -> list[Thing]:
    """Up to ``n`` things in their order, one drawn from each of as many equal parts."""
    return _one_of_each_part(things, min(n, len(things)), draws)


def dealt(sizes: Sequence[int], n: int) -> list[int]:
    """How many of ``n`` each group gets, dealt one by one in turn, no group more than it has."""
    given = [0] * len(sizes)
    left = min(n, sum(sizes))
    while left:
        for at, size in enumerate(sizes):
            if left and given[at] < size:
                given[at] += 1
                left -= 1
    return given


def _one_of_each_part(things: Sequence[Thing], n: int, draws: Draws) -> list[Thing]:
    ends = [place * len(things) // n for place in range(n + 1)] if n else [0]
    return [things[start + draws.below(end - start)] for start, end in pairwise(ends)]


# Questions beside the pages that they rest on.

_AROUND = 400  # characters of a page before and after a passage


def questions_beside(store: Store, item_set: ItemSet, n: int) -> list[QuestionBeside]:
    """The first ``n`` questions of a set that rest on passages, with these."""
    way = with_evidence(store, _plain(item_set), item_set, 10 * MOST_TOKENS)
    found: list[QuestionBeside] = []
    for stored in asked_page(store, way, item_set.id, -1, item_set.n_items):
        if len(found) < n:
            found.append(_beside(store, item_set, stored.loaded))
    return found


def _plain(item_set: ItemSet) -> Way:
    method = find_method(item_set.method)
    return method.prepare(next(iter(method.ways)), 0, item_set, None)


def _beside(store: Store, item_set: ItemSet, item: LoadedItem) -> QuestionBeside:
    text = find_method(item_set.method).show(item)
    return QuestionBeside(text=text, rests_on=tuple(_pages(store, item.passages)))


def _pages(store: Store, passages: tuple[Passage, ...]) -> Iterator[Beside]:
    sources = store.knowledge.sources({passage.source for passage in passages})
    placed = store.pages.placed([passage.id for passage in passages])
    for passage in passages:
        source, there = sources[passage.source], placed.get(passage.id)
        whole = "" if there is None else there.page.text
        start, end = (passage.start, passage.end) if whole else (0, 0)
        label = "" if there is None else there.page.label
        yield Beside(
            title=source.title,
            page=label or ("" if passage.page is None else str(passage.page)),
            heading=passage.heading,
            before=whole[max(0, start - _AROUND) : start],
            text=passage.text,
            after=whole[end : end + _AROUND],
        )


# Of the pilot's questions that models were asked: what all questions take, and what memory and
# reading came to, model by model.


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


KIND = "statements"


DOCUMENTS, PASSAGES, SHOWN = 6, 20, 10


_SOURCES_NAMED = 4


# Documents of a folder are seldom in a taxonomy, and few statements of each are left: a question
# takes statements of one language from all of them.
_MIXED: dict[str, Any] = {"within": "discipline", "allocate": "discipline", "skip_small": True}


_FEWEST_CHARACTERS = 200  # a shorter passage is a caption or a stray line: it says little


def read_documents(
    session: Session, folder: Path, stated: Stated, watch: ReadWatch | None = None
) -> IngestReport:
    """All documents of a folder as sources. What was read before is not stored twice, also where
    something else was stated of it then: those sources stay what they are. A file that is the same
    document as one before it is counted as a copy."""
    report = ingest_paths(
        session.store, [folder], clock=session.clock, stated=stated, watch=watch,
        located=partial(remember_documents, session), keeps_sources=True,
    )  # fmt: skip
    first = {entry.id: entry for entry in reversed(report.taken)}
    return structs.replace(
        report,
        taken=tuple(entry for entry in report.taken if first[entry.id] is entry),
        copies=tuple(entry.file for entry in report.taken if first[entry.id] is not entry),
    )


def languages_of(session: Session, report: IngestReport) -> dict[str, int]:
    """How many passages there are in each language, most first."""
    found = Counter(
        main_language(passage.language)
        for entry in report.taken
        for passage in session.store.knowledge.passages_of(entry.id)
    )
    return dict(found.most_common())


def pilot_passages(
    session: Session, report: IngestReport, languages: Sequence[str], *, n: int, seed: int
) -> tuple[list[Passage], list[str], int]:
    """``n`` passages of documents chosen over the folder, the files of these, and how many passages
    there are in all. Raises BadInput where there is none in these languages."""
    by_file: dict[str, list[Passage]] = {}
    kinds: dict[str, str] = {}
    for entry in report.taken:
        found = _passages(session, entry, languages)
        if found:
            by_file.setdefault(entry.file, []).extend(found)
            kinds[entry.file] = PurePath(entry.file).suffix.lower()
    if not by_file:
        wanted = f" in {', '.join(languages)}" if languages else ""
        raise BadInput(
            f"the documents have no passage{wanted} to make a statement of",
            hint="scanned pages need OCR first; --languages names other languages",
        )
    candidates = [
        Candidate(file=file, kind=kinds[file], size=len(found)) for file, found in by_file.items()
    ]
    chosen = choose_documents(candidates, DOCUMENTS, seed)
    draws = Draws(seed, 0, "passages of a pilot")
    lists = [_telling(by_file[candidate.file]) for candidate in chosen]
    places = dealt([len(own) for own in lists], n)
    passages = [
        passage
        for own, k in zip(lists, places, strict=True)
        for passage in spread_over(own, k, draws)
    ]
    n_all = sum(map(len, by_file.values()))
    return passages, [candidate.file for candidate in chosen], n_all


@dataclass(kw_only=True)
class Start:
    """A guided start on the documents of a folder, as ``read``; ``answers`` must be whole.

    ``spending`` is shared by all that the pilot asks. ``tell`` hears what is done next.
    """

    session: Session
    folder: Path
    answers: Answers
    read: IngestReport
    seed: int = 0
    n_passages: int = PASSAGES
    n_questions: int = SHOWN
    watch: Watch | None = None
    on_interrupt: Callable[[int], None] | None = None
    tell: Callable[[str], None] = lambda _line: None

    def __post_init__(self) -> None:
        self.spending = start_spending(self.session, self.answers.budget or None)
        self.name = _bank_name(self.folder)
        self.languages = self.answers.languages or ()
        self.private = not all(entry.is_public for entry in self.read.taken)
        self.contexts = self.answers.contexts(private=self.private)

    def perform(self) -> StartReport:
        """The pilot: statements from a few passages, questions of them, asked of the models; then
        what all of it takes, the page of questions and the run file.

        The same again takes all that was made from what is kept. Raises Incomplete where the pilot
        made too little to show, BudgetReached where the budget ended it, KeyboardInterrupt once the
        replies in flight are kept.
        """
        session, answers = self.session, self.answers
        passages, documents, n_all = pilot_passages(
            session, self.read, self.languages, n=self.n_passages, seed=self.seed
        )
        names = [f"passage:{passage.id.hex()}" for passage in passages]
        self.tell(
            f"pilot: statements from {counted(len(names), 'passage')} of "
            f"{counted(len(documents), 'document')}"
        )
        bank = self._bank(names)
        forecast = self._forecast(names)
        form = self._form(bank)
        results = self._ask(form)
        page = self._place() / f"{self.name}-questions.html"
        run_file = self._write_run_file()
        questions = tuple(questions_beside(session.store, form, self.n_questions))
        _write_page(self.folder.resolve().name, questions, page)
        sources = [entry.id for entry in self._with_passages()]
        session.store.written.add(page, "source", sources, session.clock.now())
        return StartReport(
            folder=self.folder.resolve().name,
            answers=answers,
            private=self.private,
            contexts=self.contexts,
            read=self.read,
            languages=languages_of(session, self.read),
            documents=tuple(documents),
            n_passages=n_all,
            build=forecast,
            bank=_shown(bank.name, bank.id),
            n_statements=len(bank.facts),
            form=_shown(form.name, form.id),
            questions=questions,
            single_statements=form.recipe.get("setting") == "statements",
            asked=tuple(asking_forecasts(session.store, results, answers.questions or 0)),
            side_by_side=tuple(side_by_side(partial(compare_targets, session), results)),
            run_file=str(run_file),
            page=str(page),
            next_steps=tuple(self._next_steps(run_file)),
        )

    # ---- the pilot

    def _bank(self, names: Sequence[str]) -> Bank:
        """The bank of the pilot's passages. Raises where there is none."""
        result = build_in_steps(
            self.session, KIND, names, name=f"{self.name}-pilot", models=self.answers.writer or "",
            judge=self.answers.judge or "", seed=self.seed, budget=self.spending,
            watch=self.watch, on_interrupt=self.on_interrupt,
        )  # fmt: skip
        if result.interrupted:
            raise KeyboardInterrupt
        if result.over_budget:
            raise BudgetReached(f"the pilot ended at its budget: {result.stopped}")
        build = f"build:{short(result.build.id)}"
        if result.bank is None:
            raise Incomplete(
                f"the pilot is not whole: {result.stopped or 'some calls failed'}",
                hint=f"the same command goes on; look: proofstone show {build} --pending",
            )
        if not result.bank.facts:
            raise Incomplete(
                "no statement of the pilot was left: what the models wrote did not hold",
                hint=f"see why: proofstone show {build} --dropped; or name a stronger --writer",
            )
        return result.bank

    def _forecast(self, names: Sequence[str]) -> BuildForecast:
        """What the statements of all documents take, by the passages that are through already."""
        return forecast_build(self.session,
            KIND, self._sources(), name=self.name, models=self.answers.writer or "",
            judge=self.answers.judge or "", seed=self.seed, languages=self.languages,
            pilot_rows=names, budget=self.answers.budget or None,
        )  # fmt: skip

    def _form(self, bank: Bank) -> ItemSet:
        """Composed questions; where the pilot has too few statements for one, the statements
        themselves."""
        n = self.n_questions
        try:
            (form,) = compose_forms(self.session, bank, seeds=[self.seed], questions=n, **_MIXED)
        except BadInput:
            (form,) = compose_forms(
                self.session,
                bank,
                seeds=[self.seed],
                setting="statements",
                sample=min(n, len(bank.facts)),
            )
        return form

    def _ask(self, form: ItemSet) -> list[RunResult]:
        """The pilot's questions asked of the models in every context."""
        answers = self.answers
        if not answers.models:
            return []
        self.tell(
            f"pilot: {counted(form.n_items, 'question')} to {counted(len(answers.models), 'model')}"
            f", context {' and '.join(self.contexts)}"
        )
        request = RunRequest(
            models={model: Asking() for model in answers.models}, whole={"context": self.contexts}
        )
        results = run_specs(self.session,
            request.specs([form.id]), spending=self.spending, watch=self.watch,
            on_interrupt=self.on_interrupt,
        )  # fmt: skip
        if any(result.interrupted for result in results):
            raise KeyboardInterrupt
        for result in results:
            if not result.complete:
                why = result.stopped or ", ".join(result.errors) or "replies are missing"
                self.tell(f"incomplete: {run_label(result.planned.run)}: {why}")
        return results

    # ---- what is written, and what comes next

    def _sources(self) -> list[str]:
        return [f"source:{entry.id.hex()}" for entry in self._with_passages()]

    def _with_passages(self) -> list[Ingested]:
        taken = self.read.taken
        return [entry for entry in taken if _passages(self.session, entry, self.languages)]

    def _place(self) -> Path:
        """Where files are written: the workspace's folder, but nothing among the documents, where
        the next start would read it as one of them."""
        folder, documents = self.session.folder.resolve(), self.folder.resolve()
        if documents != folder and documents not in folder.parents:
            return self.session.folder
        place = self.session.folder / MARK / "start"
        place.mkdir(exist_ok=True)
        return place

    def _write_run_file(self) -> Path:
        path = self._place() / f"{self.name}-run.toml"
        request = RunRequest(
            targets=(self.name,),
            models={model: Asking() for model in self.answers.models or ()},
            whole={
                "context": self.contexts,
                **({"budget": self.answers.budget} if self.answers.budget else {}),
            },
        )
        heading = (
            f"Asks the forms of the bank {self.name}, which are to be built first:\n"
            "proofstone start prints the commands."
        )
        text = run_file_text(request, path.parent, heading=heading)
        path.write_text(text, encoding="utf-8", newline="\n")
        return path

    def _next_steps(self, run_file: Path) -> Iterable[tuple[str, str]]:
        """What to do next, as commands; many sources stand in a file of their own."""
        answers, sources = self.answers, self._sources()
        inputs = " ".join(f"source:{source[7:15]}" for source in sources)
        if len(sources) > _SOURCES_NAMED:
            listed = self._place() / f"{self.name}-sources.txt"
            lines = "".join(f"{source}\n" for source in sources)
            listed.write_text(lines, encoding="utf-8", newline="\n")
            inputs = f"$(cat {pasted_path(listed)})"
        chosen = f" --languages {','.join(self.languages)}" if self.languages else ""
        budget = f" --budget {answers.budget}" if answers.budget else ""
        place = f" -w {pasted_path(self.session.folder)}"
        yield (
            "build",
            f"proofstone build {KIND} {inputs} --name {self.name} -m {answers.writer} "
            f"--judge {answers.judge}{chosen}{budget}{place}",
        )
        if answers.people:
            sheets = pasted_path(self._place() / f"{self.name}-review.xlsx")
            shared = "" if answers.people > 1 else " --overlap 0%"
            given = f"--per-person {answers.people}{shared}{place}"
            yield "review", f"proofstone review export {self.name} --to {sheets} {given}"
        n = answers.questions
        mixed = "--within discipline --allocate discipline --skip-small"
        yield "form", f"proofstone build form {self.name} --questions {n} {mixed}{place}"
        if answers.models:
            yield "run", f"proofstone run {pasted_path(run_file)}{place}"
            yield "read", f"proofstone leaderboard {self.name}{place}"


def _passages(session: Session, entry: Ingested, languages: Sequence[str]) -> list[Passage]:
    return [
        passage
        for passage in session.store.knowledge.passages_of(entry.id)
        if in_languages(passage.language, languages)
    ]


def _telling(passages: Sequence[Passage]) -> Sequence[Passage]:
    """Passages with something to state; all, where none is long enough."""
    return [each for each in passages if len(each.text) >= _FEWEST_CHARACTERS] or passages


def _write_page(title: str, questions: Sequence[QuestionBeside], path: Path) -> None:

    path.write_text(beside_page(title, questions), encoding="utf-8", newline="\n")


def pasted_path(path: Path) -> str:
    """A path as a shell takes it for one word."""
    return shlex.quote(str(path))


def _bank_name(folder: Path) -> str:
    """The folder's name as banks are called: letters, digits, hyphens."""
    name = folder.resolve().name.lower()
    plain = "".join(c if c.isalnum() else "-" for c in name).strip("-")
    return plain or "documents"


def _shown(name: str, identity: bytes) -> str:
    return f"{name}-{short(identity, 4)}"
