"""The method as stages see it: each part delegated to the module that knows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from proofstone.methods.bequ import (
    ask,
    bank_rows,
    compose,
    entity_rows,
    entity_statistics,
    listing,
    measures,
    own_prompts,
    score,
    showing,
    verified_units,
    ways,
)
from proofstone.methods.bequ import reference as references
from proofstone.methods.bequ.payloads import ElicitedTriple, Entity, KnownTriple, entity_of
from proofstone.methods.bequ.presets import presets
from proofstone.ports import (
    BankReader,
    BuiltFact,
    Call,
    FactBuilder,
    Judge,
    Parameter,
    PayloadType,
    Row,
    Sifter,
    StepBuilder,
    TokenCounter,
)
from proofstone.records import (
    Fact,
    Item,
    ItemSet,
    LoadedItem,
    Measure,
    OwnPrompt,
    Preset,
    Reply,
    Scale,
    Score,
    Tabulation,
    Unit,
    Way,
)
from proofstone.records.triples import EntityFacts, TripleText

__all__ = ["BeQu"]


class BeQu:
    """BeQu as a ``ports.Method``."""

    def __init__(self) -> None:
        self.name = "bequ"
        self.title = "BeQu: open elicitation of triples"
        self.scorer_version = score.SCORER_VERSION
        self.items_called = "entities"
        self.facts_called = "triples"
        self.payloads: Mapping[str, PayloadType] = {
            "bequ.entity": PayloadType(Entity),
            "bequ.triple": PayloadType(ElicitedTriple),
            "bequ.known": PayloadType(KnownTriple),
            "bequ.reference": PayloadType(references.ReferenceFact),
        }
        self.ways: Mapping[str, str] = ways.WAYS
        self.scales: Mapping[str, Scale] = {}
        self.measures: tuple[Measure, ...] = measures.MEASURES
        self.headline = measures.HEADLINE
        self.builders: Mapping[str, tuple[FactBuilder, tuple[Parameter, ...]]] = {}
        self.pipelines: Mapping[str, StepBuilder] = {**listing.PIPELINES, **references.PIPELINES}
        self.parameters: tuple[Parameter, ...] = compose.PARAMETERS
        self.bank_run = ""
        self.presets: Mapping[str, Preset] = presets()
        self.sift: Sifter | None = None
        self.prompt_variables: Mapping[str, str] = own_prompts.VARIABLES

    @property
    def ranges(self) -> Sequence[str]:
        """See ``ways.ranges``."""
        return tuple(ways.ranges())

    def recognises(self, columns: Iterable[str]) -> bool:
        """See ``entity_rows.recognises``."""
        return entity_rows.recognises(columns)

    def recognises_facts(self, columns: Iterable[str]) -> bool:
        """See ``reference.recognises``."""
        return references.recognises(columns)

    def recipe(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """See ``compose.recipe``."""
        return compose.recipe(params)

    def compose(self, bank: BankReader, recipe: Mapping[str, Any], seed: int) -> Iterator[Item]:
        """See ``compose.compose``."""
        return compose.compose(bank, recipe, seed)

    def read_facts(self, rows: Iterable[Row]) -> Sequence[BuiltFact]:
        """See ``bank_rows.read_facts``."""
        return bank_rows.read_facts(rows)

    def write_fact(self, built: BuiltFact, facts: Mapping[bytes, Fact]) -> dict[str, Any]:
        """See ``bank_rows.write_fact``."""
        return bank_rows.write_fact(built, facts)

    def triples_in(self, row: Row) -> int:
        """See ``reference.triples_in``."""
        return references.triples_in(row)

    def is_triple(self, fact: Fact) -> bool:
        """Whether a fact of a reference is a triple; else it is a text."""
        return isinstance(fact.payload, references.ReferenceFact) and bool(fact.payload.predicate)

    def read_items(self, rows: Iterable[Row]) -> Sequence[Item]:
        """See ``entity_rows.read_entities``."""
        return entity_rows.read_entities(rows)

    def write_item(self, item: LoadedItem) -> dict[str, Any]:
        """See ``entity_rows.write_entity``."""
        return entity_rows.write_entity(item)

    def settings(self, way: str) -> dict[str, Any]:
        """See ``ways.settings``."""
        return ways.settings(way)

    def prepare(self, way: str, shots: int, item_set: ItemSet, bank: BankReader | None) -> Way:
        """See ``ask.prepare``."""
        return ask.prepare(way, shots, item_set, bank)

    def check_prompt(self, prompt: OwnPrompt, way: str, item_set: ItemSet) -> None:
        """See ``own_prompts.check_prompt``."""
        own_prompts.check_prompt(prompt, way, item_set)

    async def ask(self, item: LoadedItem, way: Way, call: Call) -> None:
        """See ``ask.ask``."""
        await ask.ask(item, way, call)

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
        """What to search for: the entity's name."""
        return entity_of(item).name

    def show(self, item: LoadedItem) -> str:
        """See ``showing.show_entity``."""
        return showing.show_entity(item)

    def show_reply(self, item: LoadedItem, replies: Mapping[str, Reply]) -> str:
        """See ``showing.show_reply``."""
        return showing.show_reply(item, replies)

    def triple_rows(
        self, item: LoadedItem, replies: Mapping[str, Reply]
    ) -> Sequence[dict[str, Any]]:
        """See ``showing.triple_rows``."""
        return showing.triple_rows(item, replies)

    def triple_text(self, entity: str, payload: Any) -> TripleText:
        """See ``verified_units.triple_text``."""
        return verified_units.triple_text(entity, payload)

    def entity_facts(self, item: LoadedItem) -> EntityFacts:
        """See ``verified_units.entity_facts``."""
        return verified_units.entity_facts(item)

    def fact_statistics(self, facts: Iterable[Fact], tokens: TokenCounter) -> Sequence[Tabulation]:
        """None: entities are no facts."""
        return ()

    def item_statistics(
        self, items: Iterable[LoadedItem], tokens: TokenCounter
    ) -> Sequence[Tabulation]:
        """See ``entity_statistics.entity_statistics``."""
        return entity_statistics.entity_statistics(items)
