"""A model's card and price: read from files, checked fact by fact, carried, and put to use."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.errors import BadInput
from proofstone.models.budget import cost_usd
from proofstone.models.config import ModelConfig, card_of, load_config, resolve
from proofstone.models.entries import bundled_cards, known_as, wrong_card, wrong_price
from proofstone.models.names import parse_model_name
from proofstone.records.models import Card, Price, merged_card
from proofstone.records.runs import Usage

KEY = "sk-a-key-of-the-tests"


def load(folder: Path, text: str) -> ModelConfig:
    (folder / "proofstone.toml").write_text(text, encoding="utf-8")
    environ = {"OPENAI_API_KEY": KEY, "OPENROUTER_API_KEY": KEY}
    return load_config(folder, environ=environ, user_folder=folder / "user")


def card(config: ModelConfig, name: str) -> Card:
    return card_of(parse_model_name(name), config)


def test_a_card_is_read_from_the_models_table(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        '[providers.acme]\nbase_url = "http://h/v1"\n[models."acme/large".card]\nlab = "Acme"\n'
        'family = "Large"\nkind = "hybrid"\nopenness = "open weights"\nlicense = "MIT"\n'
        'total_parameters_b = 235\nactive_parameters_b = 22.5\narchitecture = "mixture"\n'
        'released = "2025-07"\nlanguages = ["en", "zh-Hant"]\nrefuses = ["temperature"]\n'
        'max_tokens_field = "max_completion_tokens"\nsource = "https://acme.example"\n',
    )
    assert card(config, "acme/large") == Card(
        lab="Acme", family="Large", kind="hybrid", openness="open weights", license="MIT",
        total_parameters_b=235.0, active_parameters_b=22.5, architecture="mixture",
        released="2025-07", languages=("en", "zh-Hant"), refuses=("temperature",),
        max_tokens_field="max_completion_tokens", source="https://acme.example",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"knid": "chat"}, "card: unknown key 'knid'; did you mean 'kind'?"),
        (
            {"kind": "resoning"},
            "card.kind: expected one of base, chat, reasoning, hybrid, got 'resoning'; "
            "did you mean 'reasoning'?",
        ),
        (
            {"openness": "open"},
            "card.openness: expected one of closed, open weights, fully open, got 'open'",
        ),
        ({"total_parameters_b": "8B"}, "card.total_parameters_b: Expected `float | null`, got"),
        (
            {"total_parameters_b": 8e9},
            "card.total_parameters_b: expected billions of parameters, above 0 and below 100,000",
        ),
        (
            {"total_parameters_b": 3, "active_parameters_b": 8},
            "card.active_parameters_b: 8 is above total_parameters_b, 3",
        ),
        (
            {"total_parameters_b": 8, "active_parameters_b": 3, "architecture": "dense"},
            'card.architecture: a "dense" model uses all of its parameters',
        ),
        ({"released": "2025-13"}, "card.released: expected a year, month or day"),
        ({"released": "last year"}, "card.released: expected a year, month or day"),
        ({"languages": ["English"]}, "card.languages: expected a language code"),
        (
            {"refuses": ["temprature"]},
            "card.refuses: unknown setting 'temprature'; did you mean 'temperature'?",
        ),
    ],
)
def test_what_is_wrong_with_a_card_is_said_with_its_key(
    fields: dict[str, object], says: str
) -> None:
    (wrong,) = wrong_card(fields)
    assert wrong.startswith(says)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"input": 1, "output": 2, "source": "x"}, ["price: date is missing"]),
        (
            {"input": 1, "ouput": 2, "date": "2025-01-01", "source": "x"},
            ["price: unknown key 'ouput'; did you mean 'output'?", "price: output is missing"],
        ),
        (
            {"input": 1, "output": 2, "date": "1/2/25", "source": ""},
            [
                "price.date: expected the day it was read, as in \"2025-11-01\", got '1/2/25'",
                "price.source: expected the page it was read from",
            ],
        ),
        (
            {"input": 1, "output": 2, "reasoning": -3, "date": "2025-01-01", "source": "x"},
            ["price.reasoning: expected a finite number of 0 or more, got -3"],
        ),
        (
            {"input": 1, "output": 2, "date": "2025-01-01", "source": "x", "currency": "EUR"},
            ["price.currency: expected one of USD, got 'EUR'"],
        ),
        (3, ["price: expected a table, got int"]),
    ],
)
def test_what_is_wrong_with_a_price_is_said_with_its_key(fields: object, says: list[str]) -> None:
    assert wrong_price(fields) == says


def test_a_file_names_every_bad_card_with_its_table_and_key(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        load(
            tmp_path,
            '[models."acme/a".card]\nknid = "chat"\n[models."acme/b"]\n'
            'price = { input = 1, output = 2, date = 2025-01-01, source = "x" }\n',
        )
    said = [str(problem).removeprefix(str(tmp_path)) for problem in caught.value.problems]
    file = str(Path("/proofstone.toml"))
    assert said == [
        f"{file}, [models.\"acme/a\"]: card: unknown key 'knid'; did you mean 'kind'?",
        f'{file}, [models."acme/b"]: price.date: write the day in quotation marks: "2025-01-01"',
    ]


def test_an_own_card_adds_to_the_carried_one(tmp_path: Path) -> None:
    """Field by field: what the file says wins, what it leaves out stays."""
    config = load(tmp_path, '[models."openrouter/qwen/qwen3-8b".card]\nlicense = "ours"\n')
    known = card(config, "openrouter/qwen/qwen3-8b")
    assert (known.lab, known.kind, known.license) == ("Alibaba", "hybrid", "ours")


@pytest.mark.parametrize(
    "name",
    [
        "vllm/Qwen/Qwen3-8B",
        "openrouter/qwen/qwen3-8b",
        "ollama/qwen3:8b",
        "local/models/Qwen3-8B-Q4_K_M.gguf?ctx=4096",
        "local/Qwen3-8B.gguf",
    ],
)
def test_one_model_has_one_card_wherever_it_is_served(name: str, tmp_path: Path) -> None:
    assert card(load(tmp_path, ""), name).total_parameters_b == 8.2


def test_the_carried_model_is_the_instructed_one(tmp_path: Path) -> None:
    """Its short name is that of the base model elsewhere."""
    config = load(
        tmp_path, '[models."local/ours"]\nmodel = "smollm2-135m"\nwire = "openai-completions"\n'
    )
    assert card(config, "local/smollm2-135m?ctx=512").kind == "chat"
    assert card(config, "local/ours").kind == "chat"
    assert card(config, "vllm/HuggingFaceTB/SmolLM2-135M").kind == "base"


def test_a_name_of_ones_own_is_known_by_the_name_that_is_sent(tmp_path: Path) -> None:
    config = load(tmp_path, '[models."vllm/ours"]\nmodel = "Qwen/Qwen3-8B"\n')
    assert card(config, "vllm/ours").family == "Qwen3"


def test_a_simulated_respondent_has_no_card(tmp_path: Path) -> None:
    assert card(load(tmp_path, ""), "sim/qwen3-8b").is_empty


def test_every_carried_card_is_sound_and_has_its_source() -> None:
    """The carried file passes the very checks that people's files do."""
    for name, found in bundled_cards().items():
        fields = {
            key: value
            for key in Card.__struct_fields__
            if (value := getattr(found, key)) not in ("", (), None)
        }
        assert wrong_card(fields) == [], name
        assert known_as(name) == name
        assert found.source.startswith("https://"), name
        assert all((found.lab, found.family, found.kind, found.openness)), name
        if found.openness != "closed":
            assert all((found.total_parameters_b, found.license)), name


def test_a_reasoning_model_is_not_sent_what_it_refuses(tmp_path: Path) -> None:
    """By its bundled card, whoever serves it; a provider's own list adds to it."""
    config = load(tmp_path, '[providers.openrouter]\nunsupported = ["seed"]\n')
    found = resolve(parse_model_name("openrouter/openai/o3"), config)
    assert {"temperature", "top_p", "seed"} <= found.unsupported
    assert found.max_tokens_field == "max_completion_tokens"
    plain = resolve(parse_model_name("openrouter/openai/gpt-4o"), config)
    assert plain.unsupported == {"seed"}
    assert plain.max_tokens_field == "max_tokens"


def test_the_models_own_entry_wins_over_its_card(tmp_path: Path) -> None:
    config = load(
        tmp_path, '[models."openai/o3"]\nunsupported = []\nmax_tokens_field = "max_tokens"\n'
    )
    found = resolve(parse_model_name("openai/o3"), config)
    assert (found.unsupported, found.max_tokens_field) == (frozenset(), "max_tokens")


def test_hidden_thought_may_have_a_price_of_its_own() -> None:
    """100 of 500 prompt tokens cached, 300 of 400 reply tokens hidden."""
    price = Price(input=2, output=8, cached=0.5, reasoning=10, date="2025-01-01", source="x")
    usage = Usage(prompt=500, completion=400, cached=100, reasoning=300)
    wanted = (400 * 2 + 100 * 0.5 + 100 * 8 + 300 * 10) / 1_000_000
    assert cost_usd(price, usage, 200) == pytest.approx(wanted, rel=1e-12)


def test_hidden_thought_costs_as_output_where_nothing_else_is_said() -> None:
    price = Price(input=2, output=8, date="2025-01-01", source="x")
    usage = Usage(prompt=500, completion=400, reasoning=300)
    assert cost_usd(price, usage, 200) == pytest.approx((500 * 2 + 400 * 8) / 1e6, rel=1e-12)


some_cards = st.builds(
    Card,
    lab=st.sampled_from(["", "Acme", "Other"]),
    kind=st.sampled_from(["", "chat", "base"]),
    total_parameters_b=st.sampled_from([None, 1.0, 8.0]),
    languages=st.sampled_from([(), ("en",), ("zh",)]),
)


@given(some_cards, some_cards, some_cards)
def test_merging_cards_keeps_what_is_known(one: Card, two: Card, three: Card) -> None:
    """It does not matter in which pairs they are merged, an empty one adds nothing, and the last
    that knows a fact has the say."""
    assert merged_card([merged_card([one, two]), three]) == merged_card([one, two, three])
    assert merged_card([one, merged_card([two, three])]) == merged_card([one, two, three])
    assert merged_card([one, Card()]) == merged_card([Card(), one]) == one
    assert merged_card([one, two]).lab == (two.lab or one.lab)
