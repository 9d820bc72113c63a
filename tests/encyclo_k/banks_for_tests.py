"""Banks of statements without a store, of as many books, statements and pairs as a test says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from proofstone.methods.encyclo_k.payloads import Statement
from proofstone.records.items import Item, LoadedItem
from proofstone.records.knowledge import Fact, Stratum

# Table 1 of the paper: statements that are correct and that are not, by discipline.
TABLE_1 = {
    "Science": (5309, 5297),
    "Engineering": (3744, 3742),
    "Literature": (3529, 3524),
    "Medicine": (3152, 3148),
    "History": (2948, 2944),
    "Law": (810, 810),
    "Economics": (526, 526),
    "Agriculture": (478, 477),
    "Education": (465, 464),
    "Management": (308, 307),
    "Philosophy": (256, 255),
}
# Subfields by discipline (Table 1); 62 in all, as many as books.
_SUBFIELDS = (14, 23, 8, 5, 2, 1, 2, 1, 2, 2, 2)


@dataclass
class ListBank:
    """A bank that is a list of facts."""

    kept: Sequence[Fact]
    id: bytes = b"bank" * 8
    name: str = "bank"

    def facts(self) -> Sequence[Fact]:
        return self.kept

    def load(self, item: Item) -> LoadedItem:
        by_id = {fact.id: fact for fact in self.kept}
        return LoadedItem(item, tuple(by_id[identity] for identity in item.facts))


@dataclass(frozen=True)
class Book:
    """A book to make statements of. The first ``paired`` false ones come from a correct one."""

    stratum: Stratum
    correct: int
    false: int
    paired: int = 0
    language: str = "en"


def fact_of(book: Book, index: int, *, correct: bool, origin: bytes | None = None) -> Fact:
    text = f"{'True' if correct else 'False'} statement {index} of {book.stratum.book}."
    key = f"{book}|{index}|{correct}".encode()
    return Fact(
        id=sha256(key).digest(),
        kind="encyclo_k.statement",
        payload=Statement(
            text=text,
            correct=correct,
            origin=origin,
            reason="" if correct else f"It is number {index} that is wrong.",
        ),
        language=book.language,
        stratum=book.stratum,
    )


def bank_of(books: Iterable[Book]) -> ListBank:
    """The statements of all books, in the order of their ids as a bank has them."""
    facts: list[Fact] = []
    for book in books:
        correct = [fact_of(book, i, correct=True) for i in range(book.correct)]
        facts += correct
        for i in range(book.false):
            origin = correct[i % len(correct)].id if i < book.paired else None
            facts.append(fact_of(book, i, correct=False, origin=origin))
    return ListBank(sorted(facts, key=lambda fact: fact.id))


def paper_bank() -> ListBank:
    """62 books with the paper's statements by discipline, shared evenly among its books."""
    books = []
    for (discipline, (correct, false)), n in zip(TABLE_1.items(), _SUBFIELDS, strict=True):
        for i in range(n):
            stratum = Stratum(
                discipline, f"{discipline} {i // 2}", f"{discipline} {i}", f"Book {i}"
            )
            n_correct, n_false = _part(correct, n, i), _part(false, n, i)
            books.append(Book(stratum, n_correct, n_false, paired=min(n_correct, n_false)))
    return bank_of(books)


def _part(total: int, parts: int, index: int) -> int:
    return total * (index + 1) // parts - total * index // parts
