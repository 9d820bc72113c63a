"""Option likelihood from the command's request to the leaderboard: what is asked of which endpoint,
what is kept, counted and graded, and that it is never ranked together with generated answers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from proofstone.api import Workspace
from proofstone.choices.likelihood import LETTER, OPTION
from proofstone.errors import BadUsage
from proofstone.records.items import ItemSet
from proofstone.results.report import board_of, selection_of
from proofstone.results.request import BoardAsked
from proofstone.results.sections.calibration import calibration_section
from scripted_acts import (
    Act,
    Script,
    Seen,
    answer,
    echoing,
    error,
    listing_prompt,
    next_tokens,
    text_answer,
)
from serving import configure, serving
from small_bank import write_lines

BASE = ('[models."scripted/base"]', 'wire = "openai-completions"', "max_connections = 1")
CITIES = ("Paris", "Lima", "City of San Marino", "Old Town Hall")
CAPITALS = {"France": "Paris", "Peru": "Lima", "San Marino": "City of San Marino"}


def knowing(before: str, token: str) -> float:
    """Each token of the right capital is probable (-0.5), of others less so (-1.9). So the four
    words of one capital have the highest mean, and a lower sum than the one word of another."""
    country = next((name for name in CAPITALS if f"capital of {name} is" in before), "")
    said = before[before.rfind(" is") + len(" is") :] + token
    return -0.5 if country and f" {CAPITALS[country]}".startswith(said) else -1.9


@pytest.fixture
def capitals(workspace: Workspace, tmp_path: Path) -> ItemSet:
    rows = [
        {"question": f"The capital of {country} is", "options": list(CITIES), "answer": capital}
        for country, capital in CAPITALS.items()
    ]
    return workspace.import_form(write_lines(tmp_path / "capitals.jsonl", rows))


def kept_scores(workspace: Workspace, measure: str) -> list[tuple[str, float | None]]:
    with workspace.store.database.reading() as connection:
        rows = connection.exec_driver_sql(
            f"SELECT answer, value FROM score WHERE measure = '{measure}' ORDER BY answer, value"
        ).all()
    return [(row[0], row[1]) for row in rows]


@pytest.mark.parametrize(("script", "more"), [(echoing(knowing), 0), (listing_prompt(knowing), 1)])
def test_the_whole_text_of_each_option_is_scored_once(
    workspace: Workspace, capitals: ItemSet, script: Script, more: int
) -> None:
    """By an echo, or by the prompt's log-probabilities where nothing is echoed: that is found out
    by one request more. The mean is graded; the sum of the long option is lower."""
    with serving(script) as server:
        configure(workspace.folder, server.url, *BASE)
        (result,) = workspace.run(capitals, models="scripted/base", prompt_method=OPTION)
        prompts = [seen.json["prompt"] for seen in server.seen]
        (again,) = workspace.run(capitals, models="scripted/base", prompt_method=OPTION)
        assert server.requests == len(prompts) == 12 + more
        assert {seen.json["max_tokens"] for seen in server.seen} == {1}
    assert (result.complete, again.complete, result.failed) == (True, True, 0)
    assert prompts[-4:] == [f"The capital of San Marino is {city}" for city in CITIES]
    assert kept_scores(workspace, "accuracy") == [("A", 1.0), ("B", 1.0), ("C", 1.0)]
    assert kept_scores(workspace, "by_sum") == [("A", 0.0), ("A", 1.0), ("B", 1.0)]
    assert len(kept_scores(workspace, "confidence")) == 3


def test_stored_log_probabilities_are_scored_again_without_asking(
    workspace: Workspace, capitals: ItemSet
) -> None:
    with serving(echoing(knowing)) as server:
        configure(workspace.folder, server.url, *BASE)
        (result,) = workspace.run(capitals, models="scripted/base", prompt_method=OPTION)
        before = server.requests
        workspace.score(result.planned.run, again=True)
        assert server.requests == before
    assert Counter(kept_scores(workspace, "accuracy")) == {
        ("A", 1.0): 2,
        ("B", 1.0): 2,
        ("C", 1.0): 2,
    }


def test_a_failed_option_is_a_failure_and_only_what_is_missing_is_asked_again(
    workspace: Workspace, capitals: ItemSet
) -> None:
    """The item has no score until each of its options has its log-probabilities."""
    broken = True

    def act(seen: Seen) -> Act:
        if broken and seen.json["prompt"] == "The capital of Peru is Lima":
            return error(400, {"error": {"message": "no"}})
        return echoing(knowing)(seen)

    with serving(act) as server:
        configure(workspace.folder, server.url, *BASE)
        (result,) = workspace.run(capitals, models="scripted/base", prompt_method=OPTION)
        assert (result.complete, result.failed, result.n_scored) == (False, 1, 2)
        assert len(kept_scores(workspace, "accuracy")) == 2
        broken, before = False, server.requests
        (again,) = workspace.resume(result.planned.run)
        asked = [seen.json["prompt"] for seen in server.seen][before:]
    assert (again.complete, again.n_scored) == (True, 3)
    assert asked == [f"The capital of Peru is {city}" for city in CITIES[1:]]


@pytest.mark.parametrize("script", [text_answer(" more"), text_answer("")])
def test_a_completions_endpoint_without_log_probabilities_of_prompts_is_told(
    workspace: Workspace, capitals: ItemSet, script: Act
) -> None:
    with serving(script) as server:
        configure(workspace.folder, server.url, *BASE)
        (result,) = workspace.run(capitals, models="scripted/base", prompt_method=OPTION)
        assert server.requests == 2
    assert result.n_scored == 0
    assert "no_logprobs: it returns neither an echo nor" in result.stopped
    assert "need log-probabilities, which base at" in result.stopped
    assert kept_scores(workspace, "accuracy") == []


def test_of_a_chat_endpoint_the_letter_is_asked_for_and_the_run_says_so(
    workspace: Workspace, capitals: ItemSet
) -> None:
    """One request a question, for the most probable next tokens."""
    with serving(next_tokens({" B": -0.2, "A": -2.0, "The": -3.0})) as server:
        configure(workspace.folder, server.url)
        (result,) = workspace.run(capitals, models="scripted/chat", prompt_method=OPTION)
        assert server.requests == 3
        body = server.seen[0].json
    assert (body["logprobs"], body["top_logprobs"], body["max_tokens"]) == (True, 20, 1)
    assert "likelihood" not in body
    assert body["messages"][0]["content"].endswith("Reply with its letter alone (A, B, C, D).")
    run = result.planned.run
    assert (run.prompt_method, run.settings["likelihood"]) == (LETTER, "letter")
    assert any(f"this run is {LETTER}, not {OPTION}" in note for note in result.planned.notes)
    assert kept_scores(workspace, "accuracy") == [("B", 0.0), ("B", 0.0), ("B", 1.0)]
    assert kept_scores(workspace, "by_sum") == []


def test_a_chat_endpoint_without_log_probabilities_is_told(
    workspace: Workspace, capitals: ItemSet
) -> None:
    """Its answer is no response to be graded: it is a failure, and the model is asked no more."""
    with serving(answer("B")) as server:
        configure(workspace.folder, server.url, "max_connections = 1")
        (result,) = workspace.run(capitals, models="scripted/chat", prompt_method=LETTER)
        assert server.requests == 1
    assert (result.n_scored, result.complete) == (0, False)
    assert "no_logprobs: it returns no top log-probabilities" in result.stopped
    assert kept_scores(workspace, "accuracy") == []


def test_letters_are_scored_as_texts_where_texts_can_be(
    workspace: Workspace, capitals: ItemSet
) -> None:
    with serving(echoing(knowing)) as server:
        configure(workspace.folder, server.url, *BASE)
        (result,) = workspace.run(capitals, models="scripted/base", prompt_method=LETTER)
        prompts = [seen.json["prompt"] for seen in server.seen]
    assert result.complete
    assert [prompt[-len("Answer: A") :] for prompt in prompts[:4]] == [
        f"Answer: {letter}" for letter in "ABCD"
    ]
    assert all("C) City of San Marino" in prompt for prompt in prompts)


def test_settings_of_generated_answers_are_refused(workspace: Workspace, capitals: ItemSet) -> None:
    for said in ({"temperature": 1.0}, {"max_tokens": 20}, {"stop": ["\n"]}, {"top_p": 0.5}):
        with pytest.raises(BadUsage, match=f"generates no response, so {next(iter(said))} cannot"):
            workspace.run(capitals, models="sim/ann", prompt_method=OPTION, **said)
    with pytest.raises(BadUsage, match="takes no answer format"):
        workspace.run(
            capitals, models="sim/ann", prompt_method=OPTION, answer_format="regex:([A-D])"
        )
    del workspace.config
    configure(workspace.folder, "http://127.0.0.1:9/v1", 'unsupported = ["logprobs"]')
    with pytest.raises(BadUsage, match="lists logprobs as unsupported"):
        workspace.run(capitals, models="scripted/chat", prompt_method=LETTER)


def test_several_right_options_are_refused(workspace: Workspace, tmp_path: Path) -> None:
    rows = [{"question": "Which are prime?", "options": ["2", "3", "4"], "answer": "A, B"}]
    several = workspace.import_form(write_lines(tmp_path / "several.jsonl", rows))
    with pytest.raises(BadUsage, match="asks for several options"):
        workspace.run(several, models="sim/ann", prompt_method=OPTION)


def test_composed_questions_and_single_statements_can_be_scored(
    workspace: Workspace, form: str
) -> None:
    """Of a composed question the options are lists of numerals, of a statement its two verdicts;
    neither shows letters to a model whose options are scored by their text."""
    (bank,) = workspace.store.lookup.every("bank")
    singles = workspace.build_form(f"bank:{bank.id.hex()[:8]}", setting="statements", sample=4)
    with serving(echoing(lambda _before, _token: -1.0)) as server:
        configure(workspace.folder, server.url, *BASE)
        composed, single = (
            workspace.run(target, models="scripted/base", prompt_method=OPTION)[0]
            for target in (form, singles)
        )
        prompts = [seen.json["prompt"] for seen in server.seen]
    assert composed.complete
    assert single.complete
    assert not any("\nA) " in prompt for prompt in prompts)
    assert prompts[0].startswith("Question: ")
    assert [prompt.rpartition("\nAnswer:")[2] for prompt in prompts[-2:]] == [" True", " False"]
    with pytest.raises(BadUsage, match="needs options with letters"):
        workspace.run(singles, models="scripted/base", prompt_method=LETTER)


def test_worked_examples_stand_before_the_question(workspace: Workspace, form: str) -> None:
    with serving(echoing(lambda _before, _token: -1.0)) as server:
        configure(workspace.folder, server.url, *BASE)
        workspace.run(form, models="scripted/base", prompt_method=OPTION, shots=2, limit=1)
        prompt = server.seen[0].json["prompt"]
    assert prompt.count("Question: ") == 3
    assert prompt.count("\nAnswer: ") == 3
    assert "\n\nQuestion: " in prompt


def test_an_own_template_puts_the_question(
    workspace: Workspace, capitals: ItemSet, tmp_path: Path
) -> None:
    template = tmp_path / "mine.jinja"
    template.write_text("Geography. {{ question }}:", encoding="utf-8")
    with serving(echoing(knowing)) as server:
        configure(workspace.folder, server.url, *BASE)
        workspace.run(
            capitals,
            models="scripted/base",
            prompt_method=OPTION,
            prompt_template=template,
            limit=1,
        )
        assert server.seen[0].json["prompt"] == "Geography. The capital of France is: Paris"


def test_a_dry_run_counts_a_request_an_option(workspace: Workspace, capitals: ItemSet) -> None:
    with serving(echoing(knowing)) as server:
        configure(workspace.folder, server.url, *BASE)
        found = workspace.dry_run(capitals, models="scripted/base", prompt_method=OPTION, pilot=0)
        assert server.requests == 0
        tried = workspace.dry_run(capitals, models="scripted/base", prompt_method=OPTION, pilot=2)
        assert server.requests == 8
        (result,) = workspace.run(capitals, models="scripted/base", prompt_method=OPTION)
        assert server.requests == 12
    assert found.total.amounts.requests is not None
    assert (found.total.amounts.requests.low, found.one_request) == (12.0, True)
    assert tried.requests == 8
    assert result.complete


def test_a_budget_counts_each_option(workspace: Workspace, capitals: ItemSet) -> None:
    """Each request is put aside with its worst case, so none is sent past the budget."""
    with serving(echoing(knowing)) as server:
        configure(workspace.folder, server.url, *BASE)
        (result,) = workspace.run(
            capitals, models="scripted/base", prompt_method=OPTION, budget="400tok"
        )
        assert 0 < server.requests < 12
    assert "budget" in result.stopped


def test_it_is_never_ranked_together_with_generated_answers(
    workspace: Workspace, capitals: ItemSet
) -> None:
    """Three prompting methods are three rankings, each with its own ties: no pair of rows from two
    of them is compared, nor has a rank among the others. Its calibration is shown all the same."""
    models = ["sim/ann?ability=0.9", "sim/bob?ability=0.1", "sim/cat"]
    workspace.run(capitals, models=models, prompt_method=["direct", OPTION, LETTER])
    made = board_of(workspace, selection_of(workspace, (capitals,)), BoardAsked())
    by_scale = {
        group.scale.name if group.scale else "": {row.prompt_method for row in group.ranked}
        for group in made.board.standings
    }
    assert by_scale == {
        "": {"direct"},
        "Letter likelihood": {LETTER},
        "Option likelihood": {OPTION},
    }
    for group in made.board.standings:
        assert len(group.compared) == 3
        assert max(row.rank.high for row in group.ranked) <= 3
    section = calibration_section(made.evidence)
    assert section is not None
    shown = [row[0] for row in section.tables[0].rows]
    assert sum(OPTION in str(label) for label in shown) == 3
    assert sum(LETTER in str(label) for label in shown) == 3


def test_a_simulated_model_chooses_by_its_ability(workspace: Workspace, tmp_path: Path) -> None:
    """One draw for all options of an item: the expected accuracy is that of an answer."""
    rows = [
        {
            "question": f"Number {n} is",
            "options": [f"{n}{end}" for end in "wxyz"],
            "answer": "ABCD"[n % 4],
        }
        for n in range(300)
    ]
    target = workspace.import_form(write_lines(tmp_path / "numbers.jsonl", rows))
    workspace.run(target, models="sim/ann?ability=0.6", prompt_method=OPTION)
    values = [value for _answer, value in kept_scores(workspace, "accuracy")]
    assert len(values) == 300
    assert sum(value or 0 for value in values) / 300 == pytest.approx(0.7, abs=0.09)
