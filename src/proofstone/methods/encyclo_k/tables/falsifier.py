"""False sentences made of true ones, each provably false against its table.

A replacement is taken from the same column of another row (or, for ``swap_key``, another row's
label), so that it is plausible, and kept only if ``table.is_false_against`` proves the new claim
false and its text is that of no true sentence and of no false one made before. Where no such value
exists there is no false sentence.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from proofstone.draws import Draws
from proofstone.methods.encyclo_k.error_types import ErrorType
from proofstone.methods.encyclo_k.tables.candidates import Pool, make_pool
from proofstone.methods.encyclo_k.tables.sentences import Stated, render, written
from proofstone.methods.encyclo_k.tables.table import (
    Cell,
    Claim,
    FactTable,
    is_false_against,
    normalised,
)
from proofstone.methods.encyclo_k.tables.template import Point

__all__ = ["Falsified", "Falsifier"]


@dataclass(frozen=True, slots=True)
class Falsified:
    """A false sentence, the claim it makes, what kind of error it holds and why it is false."""

    claim: Claim
    text: str
    error_type: ErrorType
    reason: str


@dataclass(slots=True)
class Falsifier:
    """Falsifies one table's true sentences. ``true_texts`` are all texts (normalised) that are
    true anywhere in the build. The only state is which false texts it has made."""

    table: FactTable
    true_texts: AbstractSet[str]
    made: set[str] = field(default_factory=set)
    pools: dict[tuple[str, str], Pool] = field(default_factory=dict)

    def falsify(self, stated: Stated, draws: Draws) -> Falsified | None:
        """A false version of the sentence, or None where the table can prove none."""
        key, column = self.table.template.key, stated.point.column
        ways = draws.shuffled([column, key]) if stated.point.swap_key else [column]
        for way in ways:
            found = self._replace(stated, way, draws)
            if found is not None:
                return found
        return None

    def _replace(self, stated: Stated, column: str, draws: Draws) -> Falsified | None:
        pool = self._pool(stated.point, column)
        for value in pool.candidates(stated.entity, draws):
            claim = self._claim_with(stated.claim, column, value)
            text = render(self.table.template, stated.pattern, claim)
            if self._is_usable(claim, stated.point.column, text):
                self.made.add(normalised(text))
                swapped = column == self.table.template.key
                kind: ErrorType = "concept substitution" if swapped else stated.point.error_type
                return Falsified(claim, text, kind, self._reason(stated.point, claim))
        return None

    def _pool(self, point: Point, column: str) -> Pool:
        if (point.name, column) not in self.pools:
            self.pools[point.name, column] = make_pool(self.table, point, column)
        return self.pools[point.name, column]

    def _claim_with(self, claim: Claim, column: str, value: Cell) -> Claim:
        if column == self.table.template.key:
            return replace(claim, label=str(value))
        decimals = self.table.template.column(column).decimals
        new = value if isinstance(value, str) else round(value, decimals)
        stated = tuple((name, new if name == column else old) for name, old in claim.stated)
        return replace(claim, stated=stated)

    def _is_usable(self, claim: Claim, column: str, text: str) -> bool:
        """Whether the table contradicts the point's own part of the claim (so the claim as a whole,
        and the reason can say how), in words that are no true sentence's."""
        shown = normalised(text)
        if shown in self.true_texts or shown in self.made:
            return False
        own = tuple(part for part in claim.stated if part[0] == column)
        return is_false_against(self.table, replace(claim, stated=own))

    def _reason(self, point: Point, claim: Claim) -> str:
        """Why it is false, computed from the row that the false sentence names."""
        template, column = self.table.template, self.table.template.column(point.column)
        cells = self.table.by_label[normalised(claim.label)].cells[point.column]
        title = render(template, point.title, replace(claim, stated=()))
        true = [written(column, cell) for cell in cells]
        said = written(column, dict(claim.stated)[point.column])
        several = column.values == "many" and not point.only_single
        return _because(template.language, title, true, said, several=several)


def _because(language: str, title: str, true: list[str], said: str, *, several: bool) -> str:
    """The sentence in Chinese for Chinese tables, else in English."""
    if language.partition("-")[0] == "zh":
        listed = "、".join(true)
        if several:
            return f"据表，{title}有{listed}，其中没有{said}。"
        return f"据表，{title}是{listed}，不是{said}。"
    listed = ", ".join(true)
    if several:
        return f"According to the table, the {title} are: {listed}; {said} is not among them."
    return f"According to the table, the {title} is {listed}, not {said}."
