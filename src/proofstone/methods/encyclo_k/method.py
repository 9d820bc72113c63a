"""The method as stages see it: each part delegated to the module that knows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from proofstone.method import ComparedQuestion, Contrast, Method, Parameter, PayloadType
from proofstone.methods.encyclo_k import ask as own_prompts
from proofstone.methods.encyclo_k import (
    compose,
    edit,
    measures,
    question_text,
    questions,
    recipe,
    review,
    score,
    statements,
)
from proofstone.methods.encyclo_k import rows as compared
from proofstone.methods.encyclo_k.build import BUILDERS
from proofstone.methods.encyclo_k.extraction.pipeline import PIPELINES
from proofstone.methods.encyclo_k.filters.sifting import sift
from proofstone.methods.encyclo_k.payloads import (
    ChoiceQuestion,
    ComposedQuestion,
    JudgedStatement,
    SingleStatement,
    Statement,
)
from proofstone.methods.encyclo_k.rows import presets
from proofstone.methods.encyclo_k.statistics import question_statistics, statement_statistics
from proofstone.records.banks import BankReader, BuiltFact, FactBuilder, Sifter, TokenCounter
from proofstone.records.building import StepBuilder
from proofstone.records.calls import Call, Judge
from proofstone.records.items import Item, ItemSet, LoadedItem, OwnPrompt, Preset, Unit, Way
from proofstone.records.knowledge import Fact
from proofstone.records.reviews import ReviewText
from proofstone.records.runs import Measure, Reply, Scale, Score
from proofstone.records.tables import Row, Tabulation


class EncycloK:
    """Encyclo-K as a ``ports.Method``."""

    def __init__(self) -> None:
        self.name = "encyclo_k"
        self.title = "Encyclo-K: dynamically composed knowledge statements"
        self.scorer_version = score.SCORER_VERSION
        self.facts_called = "statements"
        self.payloads: Mapping[str, PayloadType] = {
            "encyclo_k.statement": PayloadType(Statement),
            "encyclo_k.composed": PayloadType(ComposedQuestion),
            "encyclo_k.choice": PayloadType(ChoiceQuestion),
            "encyclo_k.single": PayloadType(SingleStatement),
            "encyclo_k.judged": PayloadType(JudgedStatement),
        }
        self.ways: Mapping[str, str] = question_text.WAYS
        self.scales: Mapping[str, Scale] = measures.SCALES
        self.measures: tuple[Measure, ...] = measures.MEASURES
        self.headline = measures.HEADLINE
        self.builders: Mapping[str, tuple[FactBuilder, tuple[Parameter, ...]]] = BUILDERS
        self.pipelines: Mapping[str, StepBuilder] = PIPELINES
        self.parameters: tuple[Parameter, ...] = recipe.PARAMETERS
        self.presets: Mapping[str, Preset] = presets()
        self.sift: Sifter | None = sift
        self.prompt_variables: Mapping[str, str] = own_prompts.VARIABLES
        self.compared: Mapping[str, ComparedQuestion] = compared.COMPARED
        self.kinds: Mapping[Literal["fact", "item"], tuple[str, str]] = review.KINDS

    def recognises(self, columns: Iterable[str]) -> bool:
        """See ``rows.recognises``."""
        return questions.recognises(columns)

    def recipe(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """See ``recipe.recipe``."""
        return recipe.recipe(params)

    def compose(self, bank: BankReader, recipe: Mapping[str, Any], seed: int) -> Iterator[Item]:
        """See ``compose.compose``."""
        return compose.compose(bank, recipe, seed)

    def read_facts(self, rows: Iterable[Row]) -> Sequence[BuiltFact]:
        """See ``rows.read_facts``."""
        return statements.read_facts(rows)

    def write_fact(self, built: BuiltFact, facts: Mapping[bytes, Fact]) -> dict[str, Any]:
        """See ``rows.write_fact``."""
        return statements.write_fact(built, facts)

    def read_items(self, rows: Iterable[Row]) -> Sequence[Item]:
        """See ``rows.read_items``."""
        return questions.read_items(rows)

    def write_item(self, item: LoadedItem) -> dict[str, Any]:
        """See ``rows.write_item``."""
        return questions.write_item(item)

    def fact_contrasts(self, facts: Iterable[Fact]) -> Iterator[Contrast]:
        """See ``contrasts.fact_contrasts``."""
        return review.fact_contrasts(facts)

    def item_contrasts(self, items: Iterable[LoadedItem]) -> Iterator[Contrast]:
        """See ``contrasts.item_contrasts``."""
        return review.item_contrasts(items)

    def review_text(self, fact: Fact) -> ReviewText:
        """See ``reviewing.review_text``."""
        return review.review_text(fact)

    def fact_fields(self, fact: BuiltFact) -> dict[str, Any]:
        """See ``revising.fact_fields``."""
        return edit.fact_fields(fact)

    def revise_fact(
        self,
        fact: BuiltFact,
        changes: Mapping[str, Any],
        naming: Sequence[BuiltFact],
        theirs: Mapping[bytes, Mapping[str, Any]] | None = None,
    ) -> Sequence[BuiltFact]:
        """See ``revising.revise_fact``."""
        return edit.revise_fact(fact, changes, naming, theirs)

    def naming(self, fact: Fact, facts: Iterable[Fact]) -> Sequence[Fact]:
        """See ``revising.naming``."""
        return edit.naming(fact, facts)

    def item_fields(self, item: LoadedItem) -> dict[str, Any]:
        """See ``revising.item_fields``."""
        return edit.item_fields(item)

    def revise_item(self, item: LoadedItem, changes: Mapping[str, Any]) -> Item:
        """See ``revising.revise_item``."""
        return edit.revise_item(item, changes)

    def rest_anew(self, item: LoadedItem, facts: Mapping[bytes, Fact]) -> Item:
        """See ``revising.rest_anew``."""
        return edit.rest_anew(item, facts)

    def settings(self, way: str) -> dict[str, Any]:
        """See ``ask.settings``."""
        return own_prompts.settings(way)

    def prepare(self, way: str, shots: int, item_set: ItemSet, bank: BankReader | None) -> Way:
        """See ``ask.prepare``."""
        return own_prompts.prepare(way, shots, item_set, bank)

    def check_prompt(self, prompt: OwnPrompt, way: str, item_set: ItemSet) -> None:
        """See ``own_prompts.check_prompt``."""
        own_prompts.check_prompt(prompt, way, item_set)

    async def ask(self, item: LoadedItem, way: Way, call: Call) -> None:
        """See ``ask.ask``."""
        await own_prompts.ask(item, way, call)

    def units(self, item: LoadedItem, replies: Mapping[str, Reply], sample: int) -> Sequence[Unit]:
        """See ``score.units``."""
        return score.units(item, replies, sample)

    async def score(self, units: Sequence[Unit], judge: Judge | None) -> Sequence[Score]:
        """See ``score.score``."""
        return await score.score(units, judge)

    def gold(self, unit: Unit) -> tuple[str, int]:
        """See ``score.gold``."""
        return score.gold(unit)

    def query(self, item: LoadedItem) -> str:
        """See ``rendering.query``."""
        return question_text.query(item)

    def show(self, item: LoadedItem) -> str:
        """See ``rendering.show``."""
        return question_text.show(item)

    def fact_statistics(self, facts: Iterable[Fact], tokens: TokenCounter) -> Sequence[Tabulation]:
        """See ``statement_statistics.statement_statistics``."""
        return statement_statistics(facts, tokens)

    def item_statistics(
        self, items: Iterable[LoadedItem], tokens: TokenCounter
    ) -> Sequence[Tabulation]:
        """See ``question_statistics.question_statistics``."""
        return question_statistics(items, tokens)


METHOD: Method = EncycloK()
