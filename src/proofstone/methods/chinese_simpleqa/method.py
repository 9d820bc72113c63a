"""The method as stages see it: each part delegated to the module that knows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from proofstone.method import Method, Parameter, PayloadType
from proofstone.methods.chinese_simpleqa import ask, compose, grades, prompting, review, score
from proofstone.methods.chinese_simpleqa import payloads as question_statistics
from proofstone.methods.chinese_simpleqa import rows as files
from proofstone.methods.chinese_simpleqa import sameness as measures
from proofstone.methods.chinese_simpleqa.build.pipeline import PIPELINES
from proofstone.methods.chinese_simpleqa.compose import presets
from proofstone.methods.chinese_simpleqa.payloads import (
    AskedChoice,
    AskedPair,
    Choice,
    Pair,
    ShortQuestion,
    Twin,
    asked_of,
    closed_of,
)
from proofstone.methods.chinese_simpleqa.prompting import choice_lines, marked_lines
from proofstone.records.banks import BankReader, BuiltFact, FactBuilder, Sifter, TokenCounter
from proofstone.records.building import StepBuilder
from proofstone.records.calls import Call, Judge
from proofstone.records.items import Item, ItemSet, LoadedItem, OwnPrompt, Preset, Unit, Way
from proofstone.records.knowledge import Fact
from proofstone.records.reviews import AnswerPolicy, CheckedAnswer, Review, ReviewText
from proofstone.records.runs import Measure, Reply, Scale, Score
from proofstone.records.tables import Row, Tabulation


class ChineseSimpleQA:
    """Chinese SimpleQA as a ``ports.Method``."""

    def __init__(self) -> None:
        self.name = "chinese_simpleqa"
        self.title = "Chinese SimpleQA: short factual questions"
        self.scorer_version = score.SCORER_VERSION
        self.payloads: Mapping[str, PayloadType] = {
            "chinese_simpleqa.question": PayloadType(ShortQuestion),
            "chinese_simpleqa.pair": PayloadType(Pair),
            "chinese_simpleqa.asked": PayloadType(AskedPair),
            "chinese_simpleqa.choice": PayloadType(Choice),
            "chinese_simpleqa.twin": PayloadType(Twin),
            "chinese_simpleqa.asked_choice": PayloadType(AskedChoice),
        }
        self.ways: Mapping[str, str] = ask.WAYS
        self.scales: Mapping[str, Scale] = {}
        self.measures: tuple[Measure, ...] = measures.MEASURES
        self.headline = measures.HEADLINE
        self.builders: Mapping[str, tuple[FactBuilder, tuple[Parameter, ...]]] = {}
        self.pipelines: Mapping[str, StepBuilder] = PIPELINES
        self.bank_run = "--judge PROVIDER/NAME"
        self.parameters: tuple[Parameter, ...] = compose.PARAMETERS
        self.presets: Mapping[str, Preset] = presets()
        self.sift: Sifter | None = None
        self.groupings: tuple[str, ...] = compose.GROUPINGS
        self.level_names: Mapping[str, str] = compose.LEVEL_NAMES
        self.prompt_variables: Mapping[str, str] = prompting.VARIABLES

    def recognises(self, columns: Iterable[str]) -> bool:
        """See ``rows.recognises``."""
        return files.recognises(columns)

    def recognises_facts(self, columns: Iterable[str]) -> bool:
        """See ``rows.recognises_facts``."""
        return files.recognises_facts(columns)

    def recipe(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """See ``compose.recipe``."""
        return compose.recipe(params)

    def compose(self, bank: BankReader, recipe: Mapping[str, Any], seed: int) -> Iterator[Item]:
        """See ``compose.compose``."""
        return compose.compose(bank, recipe, seed)

    def read_facts(self, rows: Iterable[Row]) -> Sequence[BuiltFact]:
        """See ``rows.read_facts``."""
        return files.read_facts(rows)

    def write_fact(self, built: BuiltFact, facts: Mapping[bytes, Fact]) -> dict[str, Any]:
        """See ``rows.write_fact``."""
        return files.write_fact(built, facts)

    def read_items(self, rows: Iterable[Row]) -> Sequence[Item]:
        """See ``rows.read_items``."""
        return files.read_items(rows)

    def write_item(self, item: LoadedItem) -> dict[str, Any]:
        """See ``rows.write_item``."""
        return files.write_item(item)

    def settings(self, way: str) -> dict[str, Any]:
        """See ``ask.settings``."""
        return ask.settings(way)

    def prepare(self, way: str, shots: int, item_set: ItemSet, bank: BankReader | None) -> Way:
        """See ``ask.prepare``."""
        return ask.prepare(way, shots, item_set, bank)

    def check_prompt(self, prompt: OwnPrompt, way: str, item_set: ItemSet) -> None:
        """See ``own_prompts.check_prompt``."""
        prompting.check_prompt(prompt, way, item_set)

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
        """What to search for: the question as it stands, with its options where it shows them."""
        closed = closed_of(item)
        return asked_of(item).question if closed is None else choice_lines(closed)

    def show(self, item: LoadedItem) -> str:
        """The question, and its answer with the aliases behind a mark; over options all of them,
        the right one marked."""
        closed = closed_of(item)
        if closed is not None:
            return marked_lines(closed)
        asked = asked_of(item)
        return "\n".join([asked.question, *(f"* {answer}" for answer in asked.answers)])

    def groups_of(self, item: LoadedItem) -> Mapping[str, str]:
        """See ``groupings.groups_of``."""
        return compose.groups_of(item)

    def read_replies(self, rows: Iterable[Row]) -> Sequence[Unit]:
        """See ``reply_rows.read_replies``."""
        return grades.read_replies(rows)

    def graded_row(self, values: Mapping[str, Any], scores: Sequence[Score]) -> dict[str, Any]:
        """See ``reply_rows.graded_row``."""
        return grades.graded_row(values, scores)

    def item_columns(self, item: LoadedItem) -> dict[str, Any]:
        """See ``reply_rows.item_columns``."""
        return grades.item_columns(item)

    def metrics_of(
        self, rows: Iterable[Row], by: Sequence[str], against: str = ""
    ) -> dict[str, Any]:
        """See ``grade_metrics.metrics_of``."""
        return grades.metrics_of(rows, by, against)

    def review_text(self, fact: Fact) -> ReviewText:
        """See ``reviewing.review_text``."""
        return review.review_text(fact)

    def model_answers(self, fact: Fact) -> tuple[str, ...]:
        """See ``reviewing.model_answers``."""
        return review.model_answers(fact)

    def same_answer(self, fact: Fact, first: str, second: str) -> bool:
        """See ``reviewing.same_answer``."""
        return review.same_answer(fact, first, second)

    def answer_policy(self, lines: Iterable[str] = (), name: str = "") -> AnswerPolicy:
        """See ``reviewing.answer_policy``."""
        return review.answer_policy(lines, name)

    def check_answers(
        self, facts: Sequence[Fact], reviews: Iterable[Review], policy: AnswerPolicy
    ) -> Sequence[CheckedAnswer]:
        """See ``reviewing.check_answers``."""
        return review.check_answers(facts, reviews, policy)

    def fact_statistics(self, facts: Iterable[Fact], tokens: TokenCounter) -> Sequence[Tabulation]:
        """See ``question_statistics.fact_statistics``."""
        return question_statistics.fact_statistics(facts, tokens)

    def item_statistics(
        self, items: Iterable[LoadedItem], tokens: TokenCounter
    ) -> Sequence[Tabulation]:
        """See ``question_statistics.item_statistics``."""
        return question_statistics.item_statistics(items, tokens)


METHOD: Method = ChineseSimpleQA()
