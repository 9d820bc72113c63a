"""Taking reviews in: sheets as people sent them back, and rows of reviews; all of it or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct, structs

from proofstone.errors import BadInput, Problem, ProofstoneError
from proofstone.files.tables import read_checked
from proofstone.files.xlsx import WORKBOOK_SUFFIXES, read_grids
from proofstone.models.credentials import scrub
from proofstone.records.calls import Clock
from proofstone.records.reviews import Review, ReviewPlace, ReviewSheet, review_id
from proofstone.records.tables import Grid
from proofstone.review.decide import latest
from proofstone.review.review_answers import hand_problems
from proofstone.review.sheet_answers import (
    Answer,
    SheetOf,
    StatedReview,
    read_answers,
    read_reviews,
)
from proofstone.review.state import reviewed_texts, reviewing
from proofstone.session.people import acting_person
from proofstone.store.lookup import Found
from proofstone.store.store import Store


class ImportedReviews(Struct, frozen=True, kw_only=True):
    """What was taken in: decisions that are new, that changed a former one of the same reviewer,
    and that were here already; rows without a decision, rows that were given out and are in no file
    (``missing``), and how many of both had a decision before, which stands (``without_now``).
    ``targets`` are the banks and forms that the sheets were of. Rows of statements that were
    ``purged`` since are passed over: what is said there quotes them."""

    files: tuple[str, ...]
    new: int
    changed: int
    already: int
    empty: int
    missing: int
    without_now: int
    purged: int = 0
    targets: tuple[Found, ...] = ()


class _Taken(Struct, frozen=True, kw_only=True):
    """A decision before it is known whether it is new."""

    where: str
    review: Review


def import_reviews(
    store: Store, paths: Sequence[Path], *, clock: Clock, encoding: str = ""
) -> ImportedReviews:
    """Stores the decisions of sheets (.xlsx, .ods, .csv) and of rows (.jsonl ...).

    A decision that is here already is passed over; one that its reviewer changed becomes a row that
    corrects it. Raises BadInput with every problem of all files; then nothing was stored.
    """
    problems: list[Problem] = []
    stated = _stated(paths, problems)
    grids = _grids(paths, problems, encoding)
    sheets = _Sheets(store)
    read = read_answers(grids, sheets.find)
    problems += read.problems
    rows, n_purged = _rows(store, stated, problems, clock)
    taken = [*_answered(read.answers, clock), *rows]
    problems += hand_problems(store, [(one.where, one.review) for one in taken])
    if problems:
        count = "1 problem" if len(problems) == 1 else f"{len(problems):,} problems"
        raise BadInput(f"the reviews have {count}; nothing was taken in", problems,
                       hint="mend these cells, or ask for them, and import the same files again"
                       )  # fmt: skip
    fresh = _fresh(store, [one.review for one in taken])
    actors = {one.reviewer for one in fresh if one.reviewer}
    store.reviews.add(fresh, actors, clock.now())
    changed = sum(1 for one in fresh if one.corrects is not None)
    silent = [*read.empty, *read.missing]
    held = {(one.reviewer, one.target, one.task) for one in _standing(store, silent)}
    return ImportedReviews(
        files=tuple(path.name for path in paths),
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


# ---------------------------------------------------------------- reading


def _grids(
    paths: Sequence[Path], problems: list[Problem], encoding: str
) -> list[tuple[str, list[Grid]]]:
    found = []
    for path in paths:
        if path.suffix.lower() in WORKBOOK_SUFFIXES:
            try:
                found.append((path.name, read_grids(path, encoding)))
            except BadInput as error:
                hint = f" ({error.hint})" if error.hint else ""
                problems += [Problem(f"{path.name}, {p.where}", p.what) for p in error.problems]
                if not error.problems:
                    problems.append(Problem(path.name, f"{error.message}{hint}"))
    return found


def _stated(paths: Sequence[Path], problems: list[Problem]) -> list[tuple[Path, StatedReview]]:
    found: list[tuple[Path, StatedReview]] = []
    for path in paths:
        if path.suffix.lower() in WORKBOOK_SUFFIXES:
            continue
        try:
            found += [(path, one) for one in read_checked(path, read_reviews)]
        except BadInput as error:
            problems += [Problem(f"{path.name}, {p.where}", p.what) for p in error.problems]
            if not error.problems:
                problems.append(Problem(path.name, error.message))
    return found


class _Sheets:
    """The sheets that rows name, with the texts that they showed; each read once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._found: dict[str, SheetOf | None] = {}
        self._withdrawn = store.reviews.withdrawn()

    def find(self, digits: str) -> SheetOf | None:
        """The sheet whose id starts so, if it was given out from this workspace."""
        if digits not in self._found:
            sheet = self._store.reviews.sheet(digits)
            self._found[digits] = None if sheet is None else self._shown(sheet)
        return self._found[digits]

    def targets(self) -> tuple[Found, ...]:
        """The banks and forms that these sheets are of, each once."""
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
        texts = reviewed_texts(reviewing(self._store, found), facts.values())
        return SheetOf(
            sheet=sheet,
            texts={identity: shown.text for identity, shown in texts.items()},
            fields={identity: shown.field for identity, shown in texts.items()},
            is_withdrawn=sheet.id in self._withdrawn,
        )


def _answered(answers: Iterable[Answer], clock: Clock) -> list[_Taken]:
    return [
        _Taken(
            where=answer.where,
            review=Review(
                kind=answer.place.kind, target=answer.place.target, task=answer.place.task,
                verdict=answer.verdict, reviewer=answer.sheet.reviewer, reason=scrub(answer.why),
                changes={answer.field: scrub(answer.new)} if answer.new else {},
                round=answer.sheet.round, at=clock.now(), sheet=answer.sheet.id,
                answer=scrub(answer.said), urls=tuple(scrub(url) for url in answer.urls),
                rubric=_rubric(answer),
            ),
        )
        for answer in answers
    ]  # fmt: skip


def _rubric(answer: Answer) -> dict[str, str | int | float]:
    """What a decision holds besides: the model's answer that was compared, and whether the reader
    says that the new wording is true."""
    said = {"model": scrub(answer.model), "claim": answer.claim}
    return {name: text for name, text in said.items() if text}


def _rows(
    store: Store,
    stated: Sequence[tuple[Path, StatedReview]],
    problems: list[Problem],
    clock: Clock,
) -> tuple[list[_Taken], int]:
    """Rows of files, with the facts and items that they name, and the people behind names; how many
    were left out, being of facts that were purged."""
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
        taken.append(_Taken(where=where, review=review))
    return taken, len(found) - len(kept)


# ---------------------------------------------------------------- what is new


def _fresh(store: Store, reviews: Sequence[Review]) -> list[Review]:
    """Those that say something else than what their reviewer said last, each naming that one; in
    their order, so that of two rows the later corrects the earlier."""
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


def _standing(store: Store, empty: Sequence[tuple[ReviewSheet, ReviewPlace]]) -> list[Review]:
    return latest(store.reviews.of_facts(place.target for _sheet, place in empty))
