"""The study of web search: paired differences, searches and cited hosts, computed a second time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up import ACCURACY, Row, table_of
from scipy.stats import t as student

from proofstone.api import Workspace, create_workspace
from proofstone.errors import BadUsage
from proofstone.records.runs import Estimate
from proofstone.records.scores import Respondent
from proofstone.results.answer_paths import Sampled
from proofstone.results.search_use import Searched, host_of, is_at
from proofstone.results.sections.catalogue import perform_analysis
from proofstone.results.sections.parts import Analysis, HowAsked, Part, drawn_figures
from scripted_server import Act, Seen
from serving import HurriedClock, serving
from small_bank import write_lines
from table_texts import rows

N, SAMPLES = 60, 4
PLAIN: Mapping[str, Any] = {"max_tokens": 900}
SEARCH = PLAIN | {"tools": "web-search", "blocked_hosts": "bank.example"}
Asked = tuple[str, Mapping[str, Any], np.ndarray]  # model, settings, values (units, samples)


def study(asked: Sequence[Asked], *searched: Mapping[Sampled, Searched]) -> Analysis:
    made: list[Row] = [
        (unit, place, sample, "answered", float(value))
        for place, (_model, _settings, values) in enumerate(asked)
        for unit, row in enumerate(values)
        for sample, value in enumerate(row)
        if not np.isnan(value)
    ]
    who = [
        Respondent(model, "cot", settings=" ".join(f"{n}={v}" for n, v in settings.items()))
        for model, settings, _values in asked
    ]
    expected = [int((~np.isnan(values)).sum()) for _model, _settings, values in asked]
    part = Part(
        name="questions", kind="form", seed=0, recipe={}, measure=ACCURACY,
        table=table_of(who, made, n_units=N, expected=expected),
        asked=tuple(HowAsked(model, "cot", settings) for model, settings, _values in asked),
        searched=(*searched, *({} for _ in asked[len(searched):])),
    )  # fmt: skip
    return perform_analysis("tools", [part])


def drawn(seed: int, share: float) -> np.ndarray:
    return (np.random.default_rng(seed).random((N, SAMPLES)) < share).astype(float)


def item(unit: int) -> bytes:
    return bytes([unit % 256, unit // 256])


def uses(counts: np.ndarray, **cited: tuple[str, ...]) -> dict[Sampled, Searched]:
    """Searches by unit and sample; ``cited`` of the first sample of unit ``u3``."""
    return {
        Sampled(item(unit), sample): Searched(
            int(counts[unit, sample]), cited.get(f"u{unit}", ()) if sample == 0 else ()
        )
        for unit in range(N)
        for sample in range(SAMPLES)
    }


def test_the_difference_is_paired_by_question() -> None:
    """Mean and interval of the differences of the question's means, by Student's t."""
    before, after = drawn(1, 0.4), drawn(2, 0.6)
    made = study(
        [("lab/a", PLAIN, before), ("lab/a", SEARCH, after)],
        {}, uses(np.ones((N, SAMPLES))),
    )  # fmt: skip
    (row,) = made.tables[0].rows
    change = row[4]
    assert isinstance(change, Estimate)
    each = after.mean(axis=1) - before.mean(axis=1)
    half = student.ppf(0.975, N - 1) * each.std(ddof=1) / N**0.5
    assert change.value == pytest.approx(each.mean())
    assert (change.low, change.high) == pytest.approx((each.mean() - half, each.mean() + half))
    assert made.finding.startswith(
        f"With web search, accuracy changes by +{100 * each.mean():.1f} points "
        f"[{100 * change.low:.1f}, {100 * change.high:.1f}] on 60 questions for lab/a cot"
    )
    (figure,) = drawn_figures(made)
    assert [mark.value for mark in figure.marks] == pytest.approx([before.mean(), after.mean()])


def test_searches_are_counted_and_accuracy_by_their_number_is_observational() -> None:
    before, after = drawn(3, 0.4), drawn(4, 0.6)
    counts = np.random.default_rng(5).choice([0, 1, 3, 5, 12], (N, SAMPLES))
    made = study([("lab/a", PLAIN, before), ("lab/a", SEARCH, after)], {}, uses(counts))
    (row,) = made.tables[0].rows
    assert row[5] == pytest.approx(counts.mean())
    share = row[6]
    assert isinstance(share, Estimate)
    assert share.value == pytest.approx((counts > 0).mean())
    k = int((counts > 0).sum())
    assert f"{k} of 240 responses ({100 * k / 240:.1f}%) used a search." in made.finding
    groups = {cells[1]: cells for cells in made.tables[1].rows}
    assert list(groups) == ["0", "1", "2\u20133", "4\u20137", "8+"]
    for name, number in zip(groups, (0, 1, 3, 5, 12), strict=True):
        is_in = counts == number
        units = is_in.any(axis=1)
        own = [values[chosen].mean() for values, chosen in zip(after, is_in, strict=True)
               if chosen.any()]  # fmt: skip
        _model, _name, n, accuracy, without = groups[name]
        assert isinstance(accuracy, Estimate)
        assert isinstance(without, Estimate)
        assert n == is_in.sum()
        assert accuracy.value == pytest.approx(np.mean(own))
        assert without.value == pytest.approx(before[units].mean())
    assert made.tables[1].note.startswith("Observational")


def test_cited_blocked_hosts_are_listed_and_the_difference_is_shown_without_them() -> None:
    before, after = drawn(6, 0.4), drawn(7, 0.6)
    pages = ("https://bank.example/1", "https://www.bank.example/2")
    searched = uses(np.ones((N, SAMPLES)), u3=pages, u8=pages[:1])
    made = study([("lab/a", PLAIN, before), ("lab/a", SEARCH, after)], {}, searched)
    (row,) = made.tables[0].rows
    left = np.delete(after - before, [3, 8], axis=0)
    assert row[7] == 2
    assert isinstance(row[8], Estimate)
    assert row[8].value == pytest.approx(left.mean())
    assert made.finding.endswith("2 responses cite a blocked host.")
    assert [cells[4] for cells in rows(made, 2)] == [", ".join(pages), pages[0]]
    assert rows(made, 2)[0][1] == "item:0300"


def test_nothing_found_is_said() -> None:
    values = drawn(8, 0.5)
    none = uses(np.zeros((N, SAMPLES)))
    made = study([("lab/a", PLAIN, values), ("lab/a", SEARCH, values)], {}, none)
    assert made.finding.endswith("No response used a search. No response cites a blocked host.")
    assert made.tables[0].rows[0][8] is None
    unknown = {at: Searched(None, unread=("A page",)) for at in none}
    made = study([("lab/a", PLAIN, values), ("lab/a", SEARCH, values)], {}, unknown)
    assert "No provider here reports its searches." in made.finding
    assert rows(made)[0][5:7] == ("\u2014", "\u2014")
    assert len(made.tables) == 1
    assert "240 responses cite titles without a host, which cannot be compared." in made.notes
    assert "The searches of 240 responses are unknown." in made.notes
    open_web = PLAIN | {"tools": "web-search"}
    made = study([("lab/a", PLAIN, values), ("lab/a", open_web, values)], {}, none)
    assert "host" not in made.finding
    assert rows(made)[0][7] == "\u2014"


def test_several_models_have_their_median_and_are_told_apart() -> None:
    low, high = np.zeros((N, SAMPLES)), np.ones((N, SAMPLES))
    mixed = drawn(9, 0.5)
    open_web = PLAIN | {"tools": "web-search"}
    made = study(
        [("lab/a", PLAIN, mixed), ("lab/a", SEARCH, high), ("lab/a", open_web, low),
         ("lab/b", PLAIN, mixed), ("lab/b", open_web, mixed)],
    )  # fmt: skip
    names = [cells[0] for cells in rows(made)]
    assert len(set(names)) == 3
    assert names[2] == "lab/b cot max_tokens=900"
    assert made.finding.startswith(
        "With web search, accuracy changes by +0.0 points in the median of 3 models. The interval "
        "excludes 0 for 1 that rise and 1 that fall."
    )


def test_runs_that_cannot_be_paired_are_refused() -> None:
    values = drawn(10, 0.5)
    for asked in (
        [("lab/a", SEARCH, values)],
        [("lab/a", PLAIN, values)],
        [("lab/a", SEARCH, values), ("lab/b", PLAIN, values)],
        [("lab/a", SEARCH, values), ("lab/a", {"max_tokens": 9}, values)],
    ):
        with pytest.raises(BadUsage, match="both with web search and without") as caught:
            study(asked)
        assert "--tools web-search" in caught.value.hint
    first, last = values.copy(), values.copy()
    first[N // 2 :], last[: N // 2] = np.nan, np.nan
    with pytest.raises(BadUsage, match="no question in common"):
        study([("lab/a", PLAIN, first), ("lab/a", SEARCH, last)])


@pytest.mark.parametrize(("address", "host"), [
    ("https://Bank.example:443/a?b#c", "bank.example"), ("bank.example", "bank.example"),
    ("www.bank.example./x", "www.bank.example"), ("A page on tin", ""), ("Tin", ""), ("", ""),
    ("https://[bank", ""),
])  # fmt: skip
def test_hosts_of_cited_addresses(address: str, host: str) -> None:
    assert host_of(address) == host


def test_a_blocked_host_holds_for_all_below_it() -> None:
    assert is_at("www.bank.example", ["bank.example"])
    assert not is_at("notbank.example", ["bank.example"])
    assert not is_at("", ["bank.example"])


# The whole way: the provider's package, the scripted server, stored responses, the analysis.


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    lines = [
        {"question": f"Which sample is {n}?", "options": ["tin", "lead", "zinc"], "answer": "B"}
        for n in range(4)
    ]
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        opened.import_form(write_lines(tmp_path / "questions.jsonl", lines))
        yield opened


def responses_api(request: Seen) -> Act:
    """Question n is searched for n times; with a search the answer is right."""
    number = int(request.body.decode().partition("Which sample is ")[2][0])
    n_searches = number if "web_search" in request.body.decode() else 0
    calls = [
        {"type": "web_search_call", "id": f"ws_{n}", "status": "completed",
         "action": {"type": "search", "query": f"sample {n}"}}
        for n in range(n_searches)
    ]  # fmt: skip
    page = "https://www.bank.example/q" if number == 3 else "https://a.example/tin"
    cited = [{"type": "url_citation", "url": page, "title": "T", "start_index": 0, "end_index": 6}]
    letter = "B" if n_searches else "A"
    text = {"type": "output_text", "text": f"The answer is {letter}.", "logprobs": [],
            "annotations": cited if n_searches else []}  # fmt: skip
    message = {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
               "content": [text]}  # fmt: skip
    usage = {"input_tokens": 98, "output_tokens": 12, "total_tokens": 110,
             "input_tokens_details": {"cached_tokens": 0},
             "output_tokens_details": {"reasoning_tokens": 0}}  # fmt: skip
    return Act(json.dumps({
        "id": "resp_1", "object": "response", "created_at": 1, "status": "completed",
        "model": "gpt-5", "output": [*calls, message], "usage": usage, "error": None,
        "incomplete_details": None, "instructions": None, "metadata": {}, "tools": [],
        "parallel_tool_calls": True, "temperature": 1.0, "tool_choice": "auto", "top_p": 1.0,
    }).encode())  # fmt: skip


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_stored_responses_of_a_providers_search_are_analyzed(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k-0123456789")
    pytest.importorskip("inspect_ai")
    pytest.importorskip("openai")
    (form,) = workspace.store.lookup.every("form")
    target = f"form:{form.id.hex()}"
    with serving(responses_api) as server:
        entry = f'[providers."inspect/openai"]\nbase_url = "{server.url}"\n'
        (workspace.folder / "proofstone.toml").write_text(entry, encoding="utf-8")
        workspace.run(target, models="inspect/openai/gpt-5")
        with pytest.raises(BadUsage, match="both with web search and without"):
            workspace.analysis("tools", target)
        workspace.run(target, models="inspect/openai/gpt-5", tools="web-search",
                      blocked_hosts="bank.example")  # fmt: skip
    made = workspace.analysis("tools", target)
    (row,) = rows(made)
    assert [row[place].split()[0] for place in (2, 3, 4)] == ["0.0", "75.0", "+75.0"]
    assert (row[5], row[6].split()[0], row[7]) == ("1.5", "75.0", "1")
    assert [cells[1:3] for cells in rows(made, 1)] == [("0", "1"), ("1", "1"), ("2\u20133", "2")]
    assert rows(made, 2)[0][4] == "https://www.bank.example/q"
