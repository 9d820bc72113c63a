"""The method as stages see it: each part delegated to the module that knows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import structs

from proofstone.errors import BadInput, BadUsage
from proofstone.method import Method, Parameter, PayloadType
from proofstone.methods.bequ import ask as ways
from proofstone.methods.bequ import bank_rows, entity_views, measures, score
from proofstone.methods.bequ import entities as entity_rows
from proofstone.methods.bequ.ask import presets
from proofstone.methods.bequ.entities import ElicitedTriple, Entity, KnownTriple, entity_of
from proofstone.methods.bequ.listing import pipeline
from proofstone.methods.bequ.reference import facts as references
from proofstone.methods.bequ.reference import pipeline as reference_pipeline
from proofstone.records.banks import BankReader, BuiltFact, FactBuilder, Sifter, TokenCounter
from proofstone.records.building import StepBuilder
from proofstone.records.calls import Call, Judge
from proofstone.records.ids import Draws
from proofstone.records.items import (
    Item,
    ItemSet,
    LoadedItem,
    OwnPrompt,
    Preset,
    Unit,
    Way,
    item_id,
)
from proofstone.records.knowledge import Fact
from proofstone.records.runs import Measure, Reply, Scale, Score
from proofstone.records.tables import Row, Tabulation
from proofstone.records.triples import EntityFacts, TripleText

# A form of a bank of entities: all of them, or so many drawn by the seed, each asked about.

COMPOSER_VERSION = 1


PARAMETERS = (
    Parameter(
        name="entities",
        kind="int",
        default=None,
        help="This many entities, drawn by the seed, instead of all.",
    ),
)


def recipe(params: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters, checked, with the composer's version. Raises BadUsage."""
    unknown = sorted(params.keys() - {"entities", "composer"})
    if unknown:
        raise BadUsage(f"no parameter is named {', '.join(unknown)}", hint="there is: entities")
    entities = params.get("entities")
    is_number = isinstance(entities, int) and not isinstance(entities, bool)
    if entities is not None and not (is_number and entities > 0):
        raise BadUsage(f"entities is a whole number of 1 or more, not {entities!r}")
    return {"composer": COMPOSER_VERSION, "entities": entities}


def compose(bank: BankReader, recipe: Mapping[str, Any], seed: int) -> Iterator[Item]:
    """The items of one form, in an order drawn by the seed. Raises BadInput for a bank of anything
    else, and where it has fewer entities than are wanted."""
    facts = Draws(seed, 0, "entities").shuffled(bank.facts())
    if any(not isinstance(fact.payload, Entity) for fact in facts):
        raise BadInput(
            f"{bank.name} is a reference: what is known of entities, and nothing that is asked",
            hint="proofstone export BANK -o reference.jsonl, for verify-triples --reference",
        )
    wanted = recipe["entities"] or len(facts)
    if wanted > len(facts):
        raise BadInput(
            f"{wanted} entities were wanted; {bank.name} has {len(facts)}",
            hint="ask for fewer, or leave the number out for all",
        )
    for number, fact in enumerate(facts[:wanted]):
        item = Item(
            kind=fact.kind, payload=fact.payload, facts=(fact.id,), language=fact.language,
            stratum=fact.stratum, number=number,
        )  # fmt: skip
        yield structs.replace(item, id=item_id(item))


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
        self.pipelines: Mapping[str, StepBuilder] = {
            **pipeline.PIPELINES,
            **reference_pipeline.PIPELINES,
        }
        self.parameters: tuple[Parameter, ...] = PARAMETERS
        self.bank_run = ""
        self.presets: Mapping[str, Preset] = presets()
        self.sift: Sifter | None = None
        self.prompt_variables: Mapping[str, str] = ways.VARIABLES

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
        return recipe(params)

    def compose(self, bank: BankReader, recipe: Mapping[str, Any], seed: int) -> Iterator[Item]:
        """See ``compose.compose``."""
        return compose(bank, recipe, seed)

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
        return ways.prepare(way, shots, item_set, bank)

    def check_prompt(self, prompt: OwnPrompt, way: str, item_set: ItemSet) -> None:
        """See ``own_prompts.check_prompt``."""
        ways.check_prompt(prompt, way, item_set)

    async def ask(self, item: LoadedItem, way: Way, call: Call) -> None:
        """See ``ask.ask``."""
        await ways.ask(item, way, call)

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
        return entity_views.show_entity(item)

    def show_reply(self, item: LoadedItem, replies: Mapping[str, Reply]) -> str:
        """See ``showing.show_reply``."""
        return entity_views.show_reply(item, replies)

    def triple_rows(
        self, item: LoadedItem, replies: Mapping[str, Reply]
    ) -> Sequence[dict[str, Any]]:
        """See ``showing.triple_rows``."""
        return entity_views.triple_rows(item, replies)

    def triple_text(self, entity: str, payload: Any) -> TripleText:
        """See ``verified_units.triple_text``."""
        return measures.triple_text(entity, payload)

    def entity_facts(self, item: LoadedItem) -> EntityFacts:
        """See ``verified_units.entity_facts``."""
        return measures.entity_facts(item)

    def fact_statistics(self, facts: Iterable[Fact], tokens: TokenCounter) -> Sequence[Tabulation]:
        """None: entities are no facts."""
        return ()

    def item_statistics(
        self, items: Iterable[LoadedItem], tokens: TokenCounter
    ) -> Sequence[Tabulation]:
        """See ``entity_statistics.entity_statistics``."""
        return entity_views.entity_statistics(items)


METHOD: Method = BeQu()
