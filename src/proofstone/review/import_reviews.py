"""Import reviews from returned spreadsheets and from files of rows; all of it or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct, structs

from proofstone.errors import BadInput, Problem, ProofstoneError
from proofstone.files.tables import read_checked
from proofstone.files.write import write_rows
from proofstone.files.xlsx import WORKBOOK_SUFFIXES, read_grids
from proofstone.method import find_method
from proofstone.models.credentials import scrub
from proofstone.records.calls import Clock
from proofstone.records.knowledge import Fact
from proofstone.records.reviews import (
    QUESTIONS,
    AnswerPolicy,
    Review,
    ReviewSheet,
    latest,
    review_id,
)
from proofstone.records.tables import Grid
from proofstone.review.sheet_answers import (
    Answer,
    SheetOf,
    StatedReview,
    pages_of,
    read_answers,
    read_reviews,
    write_review,
)
from proofstone.review.state import ReviewState, are_private
from proofstone.review.workbook import is_private
from proofstone.session.session import Session, Target, acting_person
from proofstone.store.lookup import Found
from proofstone.store.store import Store


class ImportedReviews(Struct, frozen=True, kw_only=True):
    """Count imported reviews: new, changed and unchanged decisions, and others.

    Others are rows without a decision, and rows in no file (``missing``). ``without_now`` counts
    those of both that had a decision before, which stays valid. ``targets`` are the banks and forms
    of the spreadsheets. Rows of statements ``purged`` since are skipped, since decisions may quote
    them.
    """

    files: tuple[str, ...]
    new: int
    changed: int
    already: int
    empty: int
    missing: int
    without_now: int
    purged: int = 0
    targets: tuple[Found, ...] = ()


# A decision and its location, before comparison with stored ones.
_Taken = tuple[str, Review]


def import_reviews(
    session: Session, paths: Iterable[Path | str], *, encoding: str = ""
) -> ImportedReviews:
    """Store the decisions of spreadsheets (.xlsx, .ods, .csv) and of rows (.jsonl ...).

    A stored decision is skipped; a changed one becomes a row that corrects it. Raises BadInput with
    every problem of all files; then nothing was stored.
    """
    store, clock = session.store, session.clock
    files = [Path(path) for path in paths]
    problems: list[Problem] = []
    stated, grids = _read(files, problems, encoding)
    sheets = _Sheets(store)
    read = read_answers(grids, sheets.find)
    problems += read.problems
    rows, n_purged = _rows(store, stated, problems, clock)
    taken = [*_answered(read.answers, clock), *rows]
    problems += hand_problems(store, taken)
    if problems:
        count = "1 problem" if len(problems) == 1 else f"{len(problems):,} problems"
        raise BadInput(f"the reviews have {count}; nothing was imported", problems,
                       hint=(
                           "fix these cells, or ask the reviewers to, and import the same files "
                           "again"
                       )
                       )  # fmt: skip
    fresh = _fresh(store, [review for _where, review in taken])
    actors = {one.reviewer for one in fresh if one.reviewer}
    store.reviews.add(fresh, actors, clock.now())
    changed = sum(1 for one in fresh if one.corrects is not None)
    silent = [*read.empty, *read.missing]
    standing = latest(store.reviews.of_facts(place.target for _sheet, place in silent))
    held = {(one.reviewer, one.target, one.task) for one in standing}
    return ImportedReviews(
        files=tuple(path.name for path in files),
        new=len(fresh) - changed,
        changed=changed,
        already=len(taken) - len(fresh),
        empty=len(read.empty),
        missing=len(read.missing),
        without_now=sum(
            1 for sheet, place in silent if (sheet.reviewer, place.target, place.task) in held
        ),
        purged=read.n_purged + n_purged,
        targets=sheets.targets(),
    )


def _read(
    paths: Sequence[Path], problems: list[Problem], encoding: str
) -> tuple[list[tuple[Path, StatedReview]], list[tuple[str, list[Grid]]]]:
    """Read files of rows, and grids of spreadsheets; problems of rows come first."""
    stated: list[tuple[Path, StatedReview]] = []
    grids: list[tuple[str, list[Grid]]] = []
    for path in sorted(paths, key=_is_sheet):
        try:
            if _is_sheet(path):
                grids.append((path.name, read_grids(path, encoding)))
            else:
                stated += [(path, one) for one in read_checked(path, read_reviews)]
        except BadInput as error:
            problems += [Problem(f"{path.name}, {p.where}", p.what) for p in error.problems]
            hint = f" ({error.hint})" if error.hint and _is_sheet(path) else ""
            if not error.problems:
                problems.append(Problem(path.name, f"{error.message}{hint}"))
    return stated, grids


def _is_sheet(path: Path) -> bool:
    return path.suffix.lower() in WORKBOOK_SUFFIXES


class _Sheets:
    """Hold the spreadsheets that rows name, with the texts that they showed; each read once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._found: dict[str, SheetOf | None] = {}
        self._withdrawn = store.reviews.withdrawn()

    def find(self, digits: str) -> SheetOf | None:
        """Return the spreadsheet whose id has this prefix, if it was exported from this
        workspace."""
        if digits not in self._found:
            sheet = self._store.reviews.sheet(digits)
            self._found[digits] = None if sheet is None else self._shown(sheet)
        return self._found[digits]

    def targets(self) -> tuple[Found, ...]:
        """Return the banks and forms of these spreadsheets, without duplicates."""
        names = {
            (of.sheet.kind, of.sheet.target): f"{of.sheet.kind}:{of.sheet.target.hex()}"
            for of in self._found.values()
            if of is not None
        }
        return tuple(self._store.lookup.find(name) for name in names.values())

    def _shown(self, sheet: ReviewSheet) -> SheetOf:
        found = self._store.lookup.find(f"{sheet.kind}:{sheet.target.hex()}")
        facts = self._store.knowledge.facts_by_id(
            (place.target for place in sheet.places), readable=True
        )
        texts = ReviewState.of(self._store, found).texts(facts.values())
        return SheetOf(
            sheet=sheet,
            texts={identity: shown.text for identity, shown in texts.items()},
            fields={identity: shown.field for identity, shown in texts.items()},
            is_withdrawn=sheet.id in self._withdrawn,
        )


def _answered(answers: Iterable[Answer], clock: Clock) -> list[_Taken]:
    taken = []
    for answer in answers:
        # Additionally, the compared model answer, and whether a new wording is true.
        said = {"model": scrub(answer.model), "claim": answer.claim}
        rubric: dict[str, str | int | float] = {name: text for name, text in said.items() if text}
        review = Review(
            kind=answer.place.kind, target=answer.place.target, task=answer.place.task,
            verdict=answer.verdict, reviewer=answer.sheet.reviewer, reason=scrub(answer.why),
            changes={answer.field: scrub(answer.new)} if answer.new else {},
            round=answer.sheet.round, at=clock.now(), sheet=answer.sheet.id,
            answer=scrub(answer.said), urls=tuple(scrub(url) for url in answer.urls),
            rubric=rubric,
        )  # fmt: skip
        taken.append((answer.where, review))
    return taken


def _rows(
    store: Store,
    stated: Sequence[tuple[Path, StatedReview]],
    problems: list[Problem],
    clock: Clock,
) -> tuple[list[_Taken], int]:
    """Parse rows with the facts and items that they name, and the people behind names.

    Also returns the number of skipped rows of purged facts.
    """
    found: list[tuple[str, StatedReview, Found]] = []
    for path, one in stated:
        where = f"{path.name}, {one.where}"
        try:
            found.append((where, one, store.lookup.find(one.target, ("fact", "item"))))
        except ProofstoneError as error:
            problems.append(Problem(where, f"target: {error.message}"))
    if problems:
        return [], 0
    facts = {target.id for _where, _one, target in found if target.kind == "fact"}
    purged = facts - store.knowledge.facts_by_id(facts, readable=True).keys()
    kept = [row for row in found if row[2].id not in purged]
    actors: dict[str, bytes] = {}
    taken = []
    for where, one, target in kept:
        review = one.review
        if one.reviewer and one.reviewer != review.reviewer.hex():
            if one.reviewer not in actors:
                actors[one.reviewer] = acting_person(store, one.reviewer, clock).actor
            review = structs.replace(review, reviewer=actors[one.reviewer])
        review = structs.replace(
            review, kind="item" if target.kind == "item" else "fact", target=target.id,
            reason=scrub(review.reason), answer=scrub(review.answer),
            urls=tuple(scrub(url) for url in review.urls), at=review.at or clock.now(),
            corrects=None,
        )  # fmt: skip
        taken.append((where, review))
    return taken, len(found) - len(kept)


def _fresh(store: Store, reviews: Sequence[Review]) -> list[Review]:
    """Return decisions that differ from the reviewer's last one, each with a reference to it.

    Row order is kept, so that the later of two rows corrects the earlier.
    """
    facts = [one.target for one in reviews if one.kind == "fact"]
    items = [one.target for one in reviews if one.kind == "item"]
    known = latest([*store.reviews.of_facts(facts), *store.reviews.of_items(items)])
    newest = {_place(one): one for one in known}
    fresh = []
    for one in reviews:
        before = newest.get(_place(one))
        if before is not None and _said(before) == _said(one):
            continue
        corrects = before.id if before else None
        review = structs.replace(one, corrects=corrects)
        review = structs.replace(review, id=review_id(review))
        newest[_place(one)] = review
        fresh.append(review)
    return fresh


def _place(one: Review) -> tuple[object, ...]:
    return one.kind, one.target, one.task, one.who


def _said(one: Review) -> tuple[object, ...]:
    return one.verdict, one.reason, dict(one.changes), dict(one.rubric), one.answer, one.urls


# ---------------------------------------------------------- eligibility of reviewers


_TWICE = {
    "answer": "this person has seen others' answers to the question, and cannot answer it",
    "third": "this person already worked on the question: a different third person must decide",
    "same": "this person already worked on the question: another person must compare",
}


def hand_problems(store: Store, taken: Sequence[tuple[str, Review]]) -> Iterator[Problem]:
    """Return problems of decisions on questions, with their location, given the stored ones.

    A person may have worked on the question before. A third person may adopt no answer and name
    fewer than two pages.
    """
    own = [(where, one) for where, one in taken if one.task in QUESTIONS]
    targets = {one.target for _where, one in own}
    known = latest([*store.reviews.of_facts(targets), *(one for _where, one in own)])
    beside: dict[bytes, list[Review]] = {}
    for one in known:
        if one.task in QUESTIONS:
            beside.setdefault(one.target, []).append(one)
    facts = store.knowledge.facts_by_id(targets, readable=True)
    for where, one in own:
        others = beside[one.target]
        if any(o.who == one.who and o.task != one.task for o in others):
            yield Problem(where, _TWICE[one.task])
        elif (
            one.task == "third"
            and one.verdict == "answered"
            and one.target in facts
            and not _is_private(store, one, facts[one.target])
        ):
            yield from _unsupported(where, one, facts[one.target], others)


def _is_private(store: Store, one: Review, fact: Fact) -> bool:
    """Return True if a decision was made without the web: by its spreadsheet, or by the
    document."""
    sheet = None if one.sheet is None else store.reviews.sheet(one.sheet.hex())
    return are_private(store, [fact]) if sheet is None else is_private(sheet)


def _unsupported(
    where: str, one: Review, fact: Fact, others: Sequence[Review]
) -> Iterator[Problem]:
    method = find_method(fact.kind.partition(".")[0]).reviewing
    rule = None if method is None else method.answers
    if rule is None or len(pages_of(one.urls)) >= AnswerPolicy().urls:
        return
    answers = [o.answer for o in others if o.task == "answer"]
    if not any(rule.same_answer(fact, one.answer, answer) for answer in answers):
        yield Problem(where, (
            f"{one.answer!r} is not one of the collected answers, so it needs two pages as "
            "evidence"
        ))  # fmt: skip


def export_reviews(session: Session, target: Target, path: Path | str) -> int:
    """Write all reviews of a bank's or form's facts as rows; returns their number."""
    reviews = ReviewState.of(session.store, target).reviews
    return write_rows(Path(path), [write_review(one) for one in reviews])
