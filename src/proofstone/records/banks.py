"""What meets where knowledge is read and built: banks, facts with their origin, filters, tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

from proofstone.records.knowledge import Fact, Role, Source
from proofstone.records.tables import Row, SiftedRows


class BankReader(Protocol):
    """A bank as its composer reads it: facts in the order of their ids (the bank's own order)."""

    id: bytes
    name: str

    def facts(self) -> Sequence[Fact]: ...


class TokenCounter(Protocol):
    """Counts the tokens of texts; ``name`` says by which vocabulary."""

    name: str

    def __call__(self, text: str) -> int: ...


class BuiltFact(Struct, frozen=True, gc=False):
    """A fact as a builder yields it, with its source and the models that had a hand in it."""

    fact: Fact
    source: Source | None = None
    roles: tuple[Role, ...] = ()


class Parameter(Struct, frozen=True, gc=False, kw_only=True):
    """One parameter of a builder or composer: commands, help and checks are made from it.

    ``range`` is written LOW-HIGH or a single number and read as a pair of integers.
    """

    name: str
    kind: Literal["int", "float", "range", "flag", "choice", "text"]
    default: Any
    help: str
    choices: tuple[str, ...] = ()


class FactBuilder(Protocol):
    """Builds facts from inputs (fact tables, later passages): ``build KIND INPUT...``."""

    def __call__(
        self, inputs: Sequence[str], params: Mapping[str, Any], seed: int
    ) -> Iterable[BuiltFact]: ...


class Sifter(Protocol):
    """A method's filters over the rows of a file, before its facts are read."""

    def __call__(self, rows: Iterable[Row]) -> SiftedRows: ...
