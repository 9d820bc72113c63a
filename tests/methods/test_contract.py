"""What every method keeps, whether it lies in the package or comes from outside."""

from __future__ import annotations

import pytest

from proofstone.choices.likelihood import VARIANTS
from proofstone.errors import BadInput, BadUsage, NotFound
from proofstone.method import Method, find_method, find_payload, method_names
from proofstone.records.items import ItemSet, OwnPrompt
from proofstone.records.runs import OUTCOMES
from proofstone.testing import _functions


@pytest.fixture(params=method_names())
def method(request: pytest.FixtureRequest) -> Method:
    return find_method(request.param)


def test_methods_inside_and_outside_the_package_are_found() -> None:
    """The package's own folder, and an entry point of another distribution."""
    assert {"encyclo_k", "recall"} <= set(method_names())


def test_an_unknown_method_is_named_with_those_there_are() -> None:
    with pytest.raises(NotFound, match="encyclo_k"):
        find_method("nothing")


def test_it_is_named_as_it_is_found(method: Method) -> None:
    assert find_method(method.name) is method
    assert method.title
    assert method.scorer_version >= 1


def test_it_has_every_part_of_the_record(method: Method) -> None:
    """Each function, those of its capabilities too, takes as many values as it is handed."""
    assert not list(_functions(method, ""))


def test_its_payload_kinds_carry_its_name_and_their_tag(method: Method) -> None:
    """A payload's kind is ``method.kind`` and the tag in its bytes."""
    for kind, payload in method.payloads.items():
        assert kind.startswith(f"{method.name}.")
        assert payload.type.__struct_config__.tag == kind
        assert find_payload(kind) is payload


def test_an_unknown_payload_kind_is_refused(method: Method) -> None:
    with pytest.raises(NotFound, match="no payload"):
        find_payload(f"{method.name}.nothing")


def test_its_headline_is_one_of_its_measures(method: Method) -> None:
    assert method.headline in {measure.name for measure in method.measures}


def test_its_measures_say_what_each_outcome_counts_as_and_never_count_failures(
    method: Method,
) -> None:
    """A failed call is no score: no measure has a worth for it."""
    for measure in method.measures:
        assert set(measure.counts) == set(OUTCOMES) - {"failed"}
        assert measure.denominator


def test_each_way_has_settings_and_an_unknown_one_is_refused(method: Method) -> None:
    for prompt_method in method.prompt_methods:
        assert "max_tokens" in method.settings(prompt_method)
    empty = ItemSet(name="empty", kind="imported", method=method.name)
    with pytest.raises(BadUsage):
        method.prepare("no such way", 0, empty, None)


def test_a_way_prepared_twice_is_the_same(method: Method) -> None:
    """The prompts' hash enters a run's id, so it may not change between processes."""
    empty = ItemSet(name="empty", kind="form", method=method.name)
    for prompt_method in method.prompt_methods:
        try:
            first = method.prepare(prompt_method, 0, empty, None)
        except BadUsage:  # a form without options has none to be scored
            assert prompt_method in VARIANTS
            continue
        assert first == method.prepare(prompt_method, 0, empty, None)
        assert len(first.prompt_hash) == 32


def test_the_recipe_is_complete_by_defaults_and_names_what_it_does_not_know(
    method: Method,
) -> None:
    assert method.recipe({})
    with pytest.raises(BadUsage, match="no_such_parameter"):
        method.recipe({"no_such_parameter": 1})


def test_its_statistics_of_nothing_are_tables_or_none(method: Method) -> None:
    """A bank without facts is counted, not refused; rows are as long as their columns."""

    class Tokens:
        name = "characters"

        def __call__(self, text: str) -> int:
            return len(text)

    for table in method.fact_statistics((), Tokens()):
        assert table.title
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert len({column.key for column in table.columns}) == len(table.columns)


def test_its_presets_can_be_taken(method: Method) -> None:
    """What a preset sets is a parameter of the method that it accepts, or a way and a setting of
    a run; what the paper leaves open says how it was decided."""
    for name, preset in method.presets.items():
        assert preset.name == name
        form = preset.values("build form")
        assert form.pop("seed", 0) >= 0
        assert form.keys() <= {parameter.name for parameter in method.parameters}
        assert form.keys() <= method.recipe(form).keys()
        run = preset.values("run")
        prompt_methods = run.pop("prompt_method", next(iter(method.prompt_methods)))
        for prompt_method in (
            [prompt_methods] if isinstance(prompt_methods, str) else prompt_methods
        ):
            assert "max_tokens" in method.settings(prompt_method)
        assert run.keys() <= {
            "shots", "samples", "temperature", "max_tokens", "reasoning_effort",
            "reasoning_tokens", "context", "context_tokens", "context_chunk_tokens",
        }  # fmt: skip
        assert preset.values("grade").keys() <= {
            "sample", "sample_per", "sampling", "seed", "k", "candidates", "recall",
        }  # fmt: skip
        for choice in preset.choices:
            assert choice.here
            assert choice.published
            assert bool(choice.at) == bool(choice.parameter)
            assert bool(choice.why) == (choice.status == "ours"), choice.what


def test_templates_may_use_what_is_declared_and_nothing_else(method: Method) -> None:
    """Where a method takes templates: every variable says what it holds, and one that is not among
    them, or a template that shows nothing, is refused in each way."""
    if method.prompts is None:
        return
    assert all(method.prompts.variables.values())
    form = ItemSet(name="form", kind="form", method=method.name)
    for prompt_method in method.prompt_methods:
        for text in ("Answer!", "{{ nothing_of_the_kind }}"):
            with pytest.raises(BadInput):
                method.prompts.check(OwnPrompt("mine.jinja", text), prompt_method, form)
