"""Run files: layers over layers, read whole, and saved so that they mean the very same runs."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.errors import BadInput
from proofstone.records.ids import canonical_json
from proofstone.run.request import Asking, RunRequest
from proofstone.run.run_file import read_run_file, run_file_text

SETS = [bytes(32)]
DEFAULTS: dict[str, dict[str, Any]] = {
    "direct": {"max_tokens": 16, "temperature": 0.0},
    "cot": {"max_tokens": 2048, "temperature": 0.0},
}


def read(folder: Path, text: str) -> RunRequest:
    path = folder / "run.toml"
    path.write_text(text, encoding="utf-8")
    return read_run_file(path).request


def asked(request: RunRequest) -> dict[tuple[str, str], Asking]:
    """How each model is asked in each of its ways, over the method's defaults."""
    return {
        (model, prompt_method): request.asking(model, prompt_method).over(
            Asking(shots=0, samples=1, replicate="", settings=DEFAULTS[prompt_method])
        )
        for model in request.models
        for prompt_method in request.prompt_methods_of(model)
    }


WHOLE = """\
targets = ["old-books", "form:1a2b"]
samples = 2
temperature = 0
seed = 7
max_connections = 32
budget = "5USD"
cache = "any"

[prompt_method.direct]
max_tokens = 64
[prompt_method.cot]
shots = 3

[models."openai/gpt-5.1"]
reasoning_effort = "low"
max_tokens = 4096
temperature = "unset"
[models."acme/m"]
prompt_method = "direct"
samples = 5
replicate = "again"
limit = 10
stop = "\\n\\n"
set = { top_a = 0.5 }
"""


def test_a_model_is_asked_by_its_way_and_by_itself(tmp_path: Path) -> None:
    """All, then the way, then the model: the later wins."""
    request = read(tmp_path, WHOLE)
    assert request.targets == ("old-books", "form:1a2b")
    assert (request.asked.max_connections, request.asked.budget, request.asked.cache) == (
        32,
        "5USD",
        "any",
    )
    one = {"seed": 7, "reasoning_effort": "low", "max_tokens": 4096, "temperature": None}
    two = {"temperature": 0.0, "seed": 7, "max_tokens": 64, "stop": ["\n\n"], "top_a": 0.5}
    assert asked(request) == {
        ("openai/gpt-5.1", "direct"): Asking(shots=0, samples=2, replicate="", settings=one),
        ("openai/gpt-5.1", "cot"): Asking(shots=3, samples=2, replicate="", settings=one),
        ("acme/m", "direct"): Asking(shots=0, samples=5, replicate="again", limit=10, settings=two),
    }
    specs = request.specs(SETS)
    assert [(spec.model, spec.prompt_method) for spec in specs] == list(asked(request))
    assert (specs[2].samples, specs[2].limit, specs[2].replicate) == (5, 10, "again")


def test_the_short_form_names_models_and_ways(tmp_path: Path) -> None:
    request = read(tmp_path, 'target = "x"\nmodels = ["sim/a", "sim/b"]\nprompt_method = "cot"\n')
    assert list(asked(request)) == [("sim/a", "cot"), ("sim/b", "cot")]
    plain = read(tmp_path, 'target = "x"\nmodels = "sim/a"\n')
    assert [(spec.model, spec.prompt_method) for spec in plain.specs(SETS)] == [("sim/a", "direct")]


def test_0_and_0_0_are_one_temperature(tmp_path: Path) -> None:
    """Else they would be two runs."""
    request = read(tmp_path, 'models = "sim/a"\ntemperature = 0\ntop_p = 1\n')
    settings = request.asking("sim/a", "direct").settings
    assert {name: type(value) for name, value in settings.items()} == {
        "temperature": float,
        "top_p": float,
    }


def test_flags_come_over_all_layers(tmp_path: Path) -> None:
    """Models and ways named by the command are meant instead, and keep what the file says."""
    request = read(tmp_path, WHOLE).over(
        targets=["other"],
        models=["acme/m", "acme/new"],
        prompt_methods=["cot"],
        flags=Asking(samples=1, settings={"max_tokens": 9}),
        max_connections=4,
        cache="same",
    )
    assert request.targets == ("other",)
    assert (request.asked.max_connections, request.asked.cache) == (4, "same")
    settings = {"temperature": 0.0, "seed": 7, "max_tokens": 9}
    assert asked(request) == {
        ("acme/m", "cot"): Asking(
            shots=3, samples=1, replicate="again", limit=10,
            settings={**settings, "stop": ["\n\n"], "top_a": 0.5},
        ),
        ("acme/new", "cot"): Asking(shots=3, samples=1, replicate="", settings=settings),
    }  # fmt: skip


def test_every_problem_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text(
        'target = "x"\ntargets = ["y"]\ntempature = 0\nsamples = 0\nbudget = "lots"\n'
        "max_tokens = true\nstop = ['']\ncache = 'none'\n"
        '[prompt_method.direct]\nmax_tokns = 5\n[models."nope"]\n[models."a/b"]\nshotz = 1\n'
        'timeout_s = 0\n[models]\n"c/d" = 3\n',
        encoding="utf-8",
    )
    with pytest.raises(BadInput) as caught:
        read_run_file(path)
    said = [str(problem).removeprefix(f"{path}, line ") for problem in caught.value.problems]
    assert sorted(said, key=lambda line: int(line.partition(":")[0])) == [
        "2: target and targets mean the same: remove one",
        "3: unknown key 'tempature'; did you mean 'temperature'?",
        "4: samples: expected a whole number of 1 or more, got 0",
        '5: budget: expected an amount such as "5USD" or "2Mtok"; invalid budget \'lots\'',
        "6: max_tokens: expected a whole number of 1 or more, got True",
        "7: stop: expected a text or several; stop takes texts that end a response, got ['']",
        '8: cache: expected "same" or "any", got \'none\'',
        "10: unknown key 'max_tokns'; did you mean 'max_tokens'?",
        "11: invalid model name 'nope': it has no slash, so the provider is missing",
        "13: unknown key 'shotz'; did you mean 'shots'?",
        "14: timeout_s: expected a number of seconds, got 0",
        "16: expected a table [models.c/d], got 3",
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("target = ", "is not TOML"),
        ("models = 3", "models: expected names or tables, got 3"),
        ('budget = "2000000USD"', "expected a budget of at most 1,000,000 USD"),
    ],
)
def test_a_file_of_another_shape_is_refused(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(BadInput) as caught:
        read(tmp_path, text)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("temperature = 99", "temperature takes a number from 0 to 2, got 99"),
        ("temperature = -0.1", "temperature takes a number from 0 to 2, got -0.1"),
        ("top_p = 1.5", "top_p takes a number from 0 to 1, got 1.5"),
        ("frequency_penalty = -3", "frequency_penalty takes a number from -2 to 2, got -3"),
        ("repetition_penalty = -1", "repetition_penalty takes a number from 0 up, got -1"),
    ],
)
def test_what_no_provider_takes_is_refused(tmp_path: Path, setting: str, says: str) -> None:
    file = tmp_path / "run.toml"
    file.write_text(f'models = ["sim/ann"]\ntarget = "books"\n{setting}\n', encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        read_run_file(file)
    assert says in str(caught.value)


def test_a_file_that_is_not_there_or_no_text_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"run file .* not found"):
        read_run_file(tmp_path / "absent.toml")
    (tmp_path / "run.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match="cannot be read"):
        read_run_file(tmp_path / "run.toml")


def test_paths_are_meant_from_the_file_and_names_stay_as_written(tmp_path: Path) -> None:
    """So a run is the same run from whichever folder it is started."""
    folder = tmp_path / "plans"
    folder.mkdir()
    path = folder / "run.toml"
    path.write_text(
        'workspace = ".."\n[models."local/../small.gguf?ctx=2048"]\n'
        '[models."local/tiny"]\nfile = "tiny.gguf"\n[models."local/smollm2-135m"]\n'
        '[models."acme/m"]\nmax_connections = 3\ntimeout_s = 20\n',
        encoding="utf-8",
    )
    file = read_run_file(path)
    assert file.workspace == tmp_path.resolve()
    request = file.request
    assert next(iter(request.models)) == "local/../small.gguf?ctx=2048"
    assert {name: entry.model for name, entry in request.entries.items() if "local" in name} == {
        "local/../small.gguf?ctx=2048": f"{tmp_path.resolve() / 'small.gguf'}?ctx=2048",
        "local/tiny": str(folder.resolve() / "tiny.gguf"),
    }
    assert request.entries["acme/m"].max_connections == 3


def test_a_saved_request_read_again_finds_its_files(tmp_path: Path) -> None:
    """Also from another folder."""
    (tmp_path / "plans").mkdir()
    (tmp_path / "saved").mkdir()
    request = read(tmp_path / "plans", 'target = "x"\n[models."local/../small.gguf"]\n')
    text = run_file_text(request, tmp_path / "saved")
    again = read(tmp_path / "saved", text)
    assert again.entries == request.entries
    assert again.models == request.models


@pytest.mark.parametrize("value", [object(), [None], {"a": None}, "unset"])
def test_what_a_run_file_cannot_hold_is_refused(value: object) -> None:
    request = RunRequest(models={"sim/a": Asking(settings={"odd": value})})
    with pytest.raises(BadInput, match="the setting odd cannot be written"):
        run_file_text(request, Path())


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)
scalars = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-2, 2) | texts
settings = st.fixed_dictionaries(
    {},
    optional={
        "temperature": st.none() | st.floats(0, 2) | st.integers(0, 2),
        "max_tokens": st.none() | st.integers(-1, 99),
        "stop": st.lists(texts.filter(bool), min_size=1, max_size=2) | texts.filter(bool),
        "reasoning_effort": st.sampled_from(["low", "high"]),
        "odd key": st.dictionaries(texts.filter(bool), st.lists(st.integers(0, 3)), max_size=2),
        "top_a": scalars.filter(lambda value: value != "unset"),
    },
)
askings = st.builds(
    Asking,
    shots=st.none() | st.integers(0, 3),
    samples=st.none() | st.integers(1, 3),
    limit=st.none() | st.integers(1, 9),
    replicate=st.none() | texts,
    settings=settings,
)
prompt_methods = st.dictionaries(st.sampled_from(["direct", "cot"]), askings, max_size=2)
models = st.dictionaries(st.sampled_from(["sim/a", "sim/b?x=1", "acme/c d"]), askings, min_size=1)
requests = st.builds(
    RunRequest,
    targets=st.just(("form:00",)),
    models=models,
    prompt_methods=prompt_methods,
    for_all=askings,
    flags=askings,
    model_prompt_methods=st.dictionaries(st.just("sim/a"), st.just(("cot",))),
    whole=st.fixed_dictionaries(
        {},
        optional={
            "max_connections": st.integers(1, 9),
            "budget": st.just("5USD"),
            "cache": st.sampled_from(["same", "any"]),
        },
    ),
)


@given(requests)
def test_a_resolved_file_means_the_very_same_runs(request: RunRequest) -> None:
    """Whatever is layered over whatever: written, read and laid over other defaults, each model is
    asked in the same ways with the same settings."""
    resolved = request.resolved(["form:00"], lambda prompt_method: DEFAULTS[prompt_method])
    text = run_file_text(resolved, Path(), heading="two\nlines", names={"form:00": "a name"})
    document = tomllib.loads(text)
    assert document["targets"] == ["form:00"]
    again = _read_text(text)
    before, after = asked(request), asked(again)
    assert list(after) == list(before)
    for key, asking in before.items():
        assert canonical_json(after[key]) == canonical_json(asking)
    whole = (request.asked.max_connections, request.asked.budget, request.asked.cache)
    assert (again.asked.max_connections, again.asked.budget, again.asked.cache) == whole
    assert run_file_text(
        again.resolved(["form:00"], lambda _prompt_method: {}), Path()
    ) == run_file_text(again, Path())


def _read_text(text: str) -> RunRequest:
    import tempfile  # noqa: PLC0415 - hypothesis wants no folder of the test's own

    with tempfile.TemporaryDirectory() as folder:
        return read(Path(folder), text)
