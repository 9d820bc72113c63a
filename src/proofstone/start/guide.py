"""The guided start: documents of a folder, a pilot on some of them, and what all of it takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path, PurePath
from typing import Any, Literal, TypeVar, get_args

import msgspec
from msgspec import Struct, structs

from proofstone.build.banks import build_in_steps, compose_forms, forecast_build
from proofstone.documents.sources import Stated
from proofstone.errors import BadInput, BadUsage, BudgetReached, Incomplete
from proofstone.ingest.ingest import Ingested, IngestReport, ingest_paths
from proofstone.ingest.ingest import Watch as ReadWatch
from proofstone.ingest.pages import remember_documents
from proofstone.method import find_method
from proofstone.page.html import Beside, QuestionBeside, beside_page
from proofstone.records.calls import CallRecord
from proofstone.records.ids import Draws, short
from proofstone.records.items import ContextName, ItemSet, context_of
from proofstone.records.knowledge import Bank, Passage
from proofstone.records.runs import Estimate, run_label
from proofstone.results.compare_inputs import compare_targets
from proofstone.run.asked_items import asked_page
from proofstone.run.campaign import RunResult, run_specs
from proofstone.run.evidence import with_evidence
from proofstone.run.forecast import CONFIDENCE, BuildForecast, Range
from proofstone.run.request import Asking, RunRequest
from proofstone.run.run_file import run_file_text
from proofstone.run.run_options import MOST_TOKENS
from proofstone.session.folders import MARK
from proofstone.session.progress import Watch, start_spending
from proofstone.session.session import Session
from proofstone.session.terminal import pasted
from proofstone.stats.power import Sampled, forecast_total
from proofstone.store.store import Store
from proofstone.texts.languages import in_languages, main_language
from proofstone.wording.messages import counted

# The answers, which are kept for the next start on the same documents.

Want = Literal["memory", "reading", "both"]


WANTS: tuple[Want, ...] = get_args(Want)


_CONTEXTS: dict[Want, tuple[ContextName, ...]] = {
    "memory": ("none",),
    "reading": ("evidence",),
    "both": ("none", "evidence"),
}


class Answers(Struct, frozen=True, kw_only=True):
    """Hold the answers so far; None if unanswered. ``license`` "" means private documents.

    ``languages`` () means all detected ones, ``people`` 0 no reviewers, ``budget`` "" no budget.
    """

    want: Want | None = None
    license: str | None = None
    languages: tuple[str, ...] | None = None
    writer: str | None = None
    judge: str | None = None
    models: tuple[str, ...] | None = None
    questions: int | None = None
    people: int | None = None
    budget: str | None = None

    def contexts(self, *, private: bool) -> tuple[ContextName, ...]:
        """Return the contexts of a run. Private documents are run in both: closed-book alone would
        only show that no model knows them."""
        return _CONTEXTS["both" if private else self.want or "both"]


_KEPT = "start.json"


def kept_answers(mark: Path, documents: Path) -> Answers:
    """The answers of an earlier start on these documents in this workspace; none where there are
    none. Raises BadUsage where their file cannot be read."""
    path = mark / _KEPT
    try:
        found = _read_kept(path)
    except FileNotFoundError:
        return Answers()
    except (OSError, msgspec.MsgspecError) as error:
        raise BadUsage(
            f"{path} cannot be read: {error}", hint="delete it, and the questions are asked again"
        ) from error
    return found.get(str(documents.resolve()), Answers())


def keep_answers(mark: Path, documents: Path, answers: Answers) -> None:
    """Keeps the answers for the next start on these documents."""
    path = mark / _KEPT
    try:
        found = _read_kept(path)
    except (OSError, msgspec.MsgspecError):
        found = {}
    found[str(documents.resolve())] = answers
    fresh = path.with_suffix(".new")
    fresh.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=2))
    fresh.replace(path)


def _read_kept(path: Path) -> dict[str, Answers]:
    return msgspec.json.decode(path.read_bytes(), type=dict[str, Answers])


# What a guided start found: documents, ten questions beside their pages, what all of it takes.


class SideBySide(Struct, frozen=True, kw_only=True):
    """One model on the pilot's questions: with nothing (memory) and with the evidence (reading);
    None where it was not asked so. ``gain`` is reading minus memory, item by item."""

    model: str
    memory: Estimate | None = None
    reading: Estimate | None = None
    gain: Estimate | None = None
    simulated: bool = False


class AskingForecast(Struct, frozen=True, kw_only=True):
    """Estimate the cost of asking one model all questions in all contexts from its pilot; None if
    unknown."""

    model: str
    questions: int
    sampled: int
    tokens: Range | None = None
    cost_usd: Range | None = None
    seconds: Range | None = None
    failed: Mapping[str, int] = {}


class StartReport(Struct, frozen=True, kw_only=True):
    """All of it. ``documents`` are the files that the pilot's passages came from; ``private``: the
    license of one that was read permits no publication, or it has none."""

    folder: str
    answers: Answers
    private: bool
    contexts: tuple[ContextName, ...]
    read: IngestReport
    languages: Mapping[str, int]
    documents: tuple[str, ...]
    n_passages: int
    build: BuildForecast
    bank: str
    n_statements: int
    form: str
    questions: tuple[QuestionBeside, ...]
    single_statements: bool
    asked: tuple[AskingForecast, ...]
    side_by_side: tuple[SideBySide, ...]
    run_file: str
    page: str
    next_steps: tuple[tuple[str, str], ...]


# Documents and passages of a pilot, drawn over a folder.

Thing = TypeVar("Thing")


DOCUMENTS, PASSAGES, SHOWN = 6, 20, 10


_FEWEST_CHARACTERS = 200  # a shorter passage is a caption or a stray line: it says little


class Candidate(Struct, frozen=True, kw_only=True):
    """A document that may be chosen: its file within the folder, of which ``kind`` it is, and its
    ``size`` (passages, bytes: whatever orders documents by length)."""

    file: str
    kind: str
    size: int

    @property
    def group(self) -> tuple[str, str]:
        """Return its first folder and kind."""
        return self.file.rpartition("/")[0].partition("/")[0], self.kind


def choose_documents(candidates: Sequence[Candidate], n: int, seed: int) -> list[Candidate]:
    """Choose up to ``n`` candidates, in the order of their files.

    Each subfolder and kind of file gets one before any gets a second. If there are more groups than
    places, they are sampled. Within a group, one candidate is sampled from each of equal parts by
    size.
    """
    draws = Draws(seed, 0, "documents of a pilot")
    groups: dict[tuple[str, str], list[Candidate]] = {}
    for each in sorted(candidates, key=lambda each: (each.size, each.file)):
        groups.setdefault(each.group, []).append(each)
    lists = [groups[name] for name in draws.shuffled(sorted(groups))]
    return sorted(_dealt_out(lists, n, draws), key=lambda each: each.file)


def spread_over(things: Sequence[Thing], n: int, draws: Draws) -> list[Thing]:
    """Return up to ``n`` things in their order, one sampled from each of as many equal parts."""
    n = min(n, len(things))
    ends = [place * len(things) // n for place in range(n + 1)] if n else [0]
    return [things[start + draws.below(end - start)] for start, end in pairwise(ends)]


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


def _dealt_out(lists: Sequence[Sequence[Thing]], n: int, draws: Draws) -> list[Thing]:
    """Up to ``n`` things of several lists, dealt among these and spread over each."""
    places = dealt(list(map(len, lists)), n)
    return [
        thing for own, k in zip(lists, places, strict=True) for thing in spread_over(own, k, draws)
    ]


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
    for entry in report.taken:
        if found := _passages(session, entry, languages):
            by_file.setdefault(entry.file, []).extend(found)
    if not by_file:
        wanted = f" in {', '.join(languages)}" if languages else ""
        raise BadInput(
            f"the documents have no passage{wanted} to make a statement of",
            hint="scanned pages need OCR first; --languages names other languages",
        )
    candidates = [
        Candidate(file=file, kind=PurePath(file).suffix.lower(), size=len(found))
        for file, found in by_file.items()
    ]
    chosen = [candidate.file for candidate in choose_documents(candidates, DOCUMENTS, seed)]
    # Of each those with something to state; all, where none is long enough.
    lists = [
        [each for each in by_file[file] if len(each.text) >= _FEWEST_CHARACTERS] or by_file[file]
        for file in chosen
    ]
    passages = _dealt_out(lists, n, Draws(seed, 0, "passages of a pilot"))
    return passages, chosen, sum(map(len, by_file.values()))


def _passages(session: Session, entry: Ingested, languages: Sequence[str]) -> list[Passage]:
    return [
        passage
        for passage in session.store.knowledge.passages_of(entry.id)
        if in_languages(passage.language, languages)
    ]


# Questions beside the pages that they rest on.

_AROUND = 400  # characters of a page before and after a passage


def questions_beside(store: Store, item_set: ItemSet, n: int) -> list[QuestionBeside]:
    """Return the first ``n`` questions of a set that have source passages, with these."""
    method = find_method(item_set.method)
    plain = method.prepare(next(iter(method.prompt_methods)), 0, item_set, None)
    prompt_method = with_evidence(store, plain, item_set, 10 * MOST_TOKENS)
    items = [
        each.loaded for each in asked_page(store, prompt_method, item_set.id, -1, item_set.n_items)
    ]
    return [
        QuestionBeside(text=method.show(item), rests_on=tuple(_pages(store, item.passages)))
        for item in items[:n]
    ]


def _pages(store: Store, passages: tuple[Passage, ...]) -> Iterator[Beside]:
    sources = store.knowledge.sources({passage.source for passage in passages})
    placed = store.pages.placed([passage.id for passage in passages])
    for passage in passages:
        there = placed.get(passage.id)
        whole = "" if there is None else there.page.text
        start, end = (passage.start, passage.end) if whole else (0, 0)
        label = "" if there is None else there.page.label
        yield Beside(
            title=sources[passage.source].title,
            page=label or ("" if passage.page is None else str(passage.page)),
            heading=passage.heading,
            before=whole[max(0, start - _AROUND) : start],
            text=passage.text,
            after=whole[end : end + _AROUND],
        )


# Of the pilot's questions that models were asked: what all questions take, and what memory and
# reading came to, model by model.


def _asking_forecast(
    store: Store, model: str, own: Sequence[RunResult], questions: int
) -> AskingForecast:
    """What ``questions`` in each context take of a model, by the calls of these runs."""
    groups = [store.runs.some_calls(result.planned.key) for result in own]
    return AskingForecast(
        model=model,
        questions=questions * len(own),
        sampled=sum(map(len, groups)),
        tokens=_total(groups, questions, _tokens),
        cost_usd=_total(groups, questions, lambda call: call.cost_usd),
        seconds=_total(groups, questions, lambda call: call.latency_s),
        failed=Counter(error for result in own for error in result.errors),
    )


def _side_by_side(session: Session, model: str, own: Sequence[RunResult]) -> SideBySide | None:
    """Compare a model's scores in both contexts, on the questions that it answered in both."""
    runs = {context_of(result.planned.run.settings): result for result in own}
    if len(runs) < 2 or not all(result.n_scored for result in runs.values()):
        return None
    memory, reading = (f"run:{short(runs[c].planned.run.id)}" for c in ("none", "evidence"))
    (pair,) = compare_targets(session, memory, reading).pairs
    found = pair.difference
    if found is None:
        return None
    return SideBySide(
        model=model,
        memory=found.before,
        reading=found.after,
        gain=found.estimate,
        simulated=own[0].planned.run.simulated,
    )


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


# The pilot, and what is written and said of it.

KIND = "statements"


_SOURCES_NAMED = 4


# Documents of a folder are seldom in a taxonomy, and few statements of each are left: a question
# takes statements of one language from all of them.
_MIXED: dict[str, Any] = {"within": "discipline", "allocate": "discipline", "skip_small": True}


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
        name = "".join(c if c.isalnum() else "-" for c in self.folder.resolve().name.lower())
        self.name = name.strip("-") or "documents"
        self.languages = self.answers.languages or ()
        self.private = not all(entry.is_public for entry in self.read.taken)
        self.contexts = self.answers.contexts(private=self.private)
        self.sources = [
            entry.id for entry in self.read.taken if _passages(self.session, entry, self.languages)
        ]

    def perform(self) -> StartReport:
        """Run the pilot, estimate the whole cost, and write the page of questions and the run file.

        The pilot builds statements from a few passages, composes questions and asks the models. A
        repeated call uses stored results. Raises Incomplete if the pilot made too few questions,
        BudgetReached if the budget ended it, KeyboardInterrupt after responses in flight are
        stored.
        """
        session, answers, store = self.session, self.answers, self.session.store
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
        by_model: dict[str, list[RunResult]] = {}
        for result in self._ask(form):
            by_model.setdefault(result.planned.run.respondent, []).append(result)
        page = self._place() / f"{self.name}-questions.html"
        run_file = self._write_run_file()
        questions = tuple(questions_beside(store, form, self.n_questions))
        folder = self.folder.resolve().name
        page.write_text(beside_page(folder, questions), encoding="utf-8", newline="\n")
        store.written.add(page, "source", self.sources, session.clock.now())
        compared = [_side_by_side(session, *each) for each in by_model.items()]
        return StartReport(
            folder=folder,
            answers=answers,
            private=self.private,
            contexts=self.contexts,
            read=self.read,
            languages=languages_of(session, self.read),
            documents=tuple(documents),
            n_passages=n_all,
            build=forecast,
            bank=f"{bank.name}-{short(bank.id, 4)}",
            n_statements=len(bank.facts),
            form=f"{form.name}-{short(form.id, 4)}",
            questions=questions,
            single_statements=form.recipe.get("setting") == "statements",
            asked=tuple(
                _asking_forecast(store, model, own, answers.questions or 0)
                for model, own in by_model.items()
                if not own[0].planned.run.simulated  # these take nothing
            ),
            side_by_side=tuple(each for each in compared if each is not None),
            run_file=str(run_file),
            page=str(page),
            next_steps=tuple(self._next_steps(run_file)),
        )

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
                hint=f"the same command resumes; Next: proofstone show {build} --pending",
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
            KIND, self._named_sources(), name=self.name, models=self.answers.writer or "",
            judge=self.answers.judge or "", seed=self.seed, languages=self.languages,
            pilot_rows=names, budget=self.answers.budget or None,
        )  # fmt: skip

    def _form(self, bank: Bank) -> ItemSet:
        """Composed questions; where the pilot has too few statements for one, the statements
        themselves."""
        n = self.n_questions
        single: dict[str, Any] = {"setting": "statements", "sample": min(n, len(bank.facts))}
        try:
            (form,) = compose_forms(self.session, bank, seeds=[self.seed], questions=n, **_MIXED)
        except BadInput:
            (form,) = compose_forms(self.session, bank, seeds=[self.seed], **single)
        return form

    def _ask(self, form: ItemSet) -> list[RunResult]:
        """The pilot's questions asked of the models in every context."""
        models = self.answers.models
        if not models:
            return []
        self.tell(
            f"pilot: {counted(form.n_items, 'question')} to {counted(len(models), 'model')}"
            f", context {' and '.join(self.contexts)}"
        )
        results = run_specs(self.session,
            self._request().specs([form.id]), spending=self.spending, watch=self.watch,
            on_interrupt=self.on_interrupt,
        )  # fmt: skip
        if any(result.interrupted for result in results):
            raise KeyboardInterrupt
        for result in results:
            if not result.complete:
                why = result.stopped or ", ".join(result.errors) or "responses are missing"
                self.tell(f"incomplete: {run_label(result.planned.run)}: {why}")
        return results

    def _request(self, **whole: Any) -> RunRequest:
        models = {model: Asking() for model in self.answers.models or ()}
        whole = {"context": self.contexts, **whole}
        return RunRequest(targets=(self.name,), models=models, whole=whole)

    def _named_sources(self) -> list[str]:
        return [f"source:{identity.hex()}" for identity in self.sources]

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
        path, budget = self._place() / f"{self.name}-run.toml", self.answers.budget
        heading = (
            f"Asks the forms of the bank {self.name}, which are to be built first:\n"
            "proofstone init --guided prints the commands."
        )
        request = self._request(**({"budget": budget} if budget else {}))
        text = run_file_text(request, path.parent, heading=heading)
        path.write_text(text, encoding="utf-8", newline="\n")
        return path

    def _next_steps(self, run_file: Path) -> Iterable[tuple[str, str]]:
        """Yield the next commands. Many sources are listed in a separate file."""
        answers, sources = self.answers, self._named_sources()
        inputs = " ".join(f"source:{source[7:15]}" for source in sources)
        if len(sources) > _SOURCES_NAMED:
            listed = self._place() / f"{self.name}-sources.txt"
            lines = "".join(f"{source}\n" for source in sources)
            listed.write_text(lines, encoding="utf-8", newline="\n")
            inputs = f"$(cat {pasted(listed)})"
        chosen = f" --languages {','.join(self.languages)}" if self.languages else ""
        budget = f" --budget {answers.budget}" if answers.budget else ""
        place = f" -w {pasted(self.session.folder)}"
        yield (
            "build",
            f"proofstone build {KIND} {inputs} --name {self.name} -m {answers.writer} "
            f"--judge {answers.judge}{chosen}{budget}{place}",
        )
        if answers.people:
            sheets = pasted(self._place() / f"{self.name}-review.xlsx")
            shared = "" if answers.people > 1 else " --shared 0%"
            given = f"--per-person {answers.people}{shared}{place}"
            yield "review", f"proofstone review export {self.name} --to {sheets} {given}"
        n = answers.questions
        mixed = "--within discipline --allocate discipline --skip-small"
        yield "form", f"proofstone build form {self.name} --questions {n} {mixed}{place}"
        if answers.models:
            yield "run", f"proofstone run {pasted(run_file)}{place}"
            yield "read", f"proofstone leaderboard {self.name}{place}"
