"""The share of prompt tokens that an endpoint serves from its prefix cache, as it reports it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from proofstone.api import Workspace, create_workspace
from proofstone.browse.show import look
from proofstone.records.ids import short
from proofstone.records.runs import Spent
from proofstone.session.progress import spent_text
from scripted_acts import completion
from scripted_server import Act, Seen
from serving import HurriedClock, configure, serving
from small_bank import rows, write_lines

QUESTIONS = 4


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        bank = opened.import_bank(write_lines(tmp_path / "books.jsonl", rows()))
        opened.build_form(bank, questions=QUESTIONS)
        yield opened


def reporting(usage: Callable[[int], dict[str, Any]]) -> Callable[[Seen], Act]:
    """Answers A, with further fields of usage by the number of the request."""
    n = iter(range(1000))

    def response(_request: Seen) -> Act:
        body = completion(prompt_tokens=200)
        body["usage"].update(usage(next(n)))
        return Act(json.dumps(body).encode())

    return response


def spent(workspace: Workspace, usage: Callable[[int], dict[str, Any]]) -> tuple[Spent, str]:
    """What the store and the run itself counted, which agree, and what is shown of the run."""
    (form,) = workspace.store.lookup.every("form")
    with serving(reporting(usage)) as server:
        configure(workspace.folder, server.url)
        (result,) = workspace.run(f"form:{form.id.hex()}", models="scripted/one")
    stored = workspace.store.spent.of_runs([result.planned.key])
    assert stored.cached_tokens == result.spent.cached_tokens
    assert stored.cacheable_tokens == result.spent.cacheable_tokens
    return stored, str(look(workspace.store, f"run:{short(result.planned.run.id)}"))


@pytest.mark.parametrize(
    "fields",
    [
        lambda n: {"prompt_tokens_details": {"cached_tokens": 150 if n else 0}},
        lambda n: {"prompt_cache_hit_tokens": 150 if n else 0},
        lambda n: {"cache_read_input_tokens": 150 if n else 0},
    ],
)
def test_the_share_is_read_from_usage(
    workspace: Workspace, fields: Callable[[int], dict[str, Any]]
) -> None:
    """The first question fills the cache, three of four hit it for 150 of 200 tokens."""
    found, shown = spent(workspace, fields)
    assert found.cacheable_tokens == 200 * QUESTIONS
    assert found.cached_share == pytest.approx(0.75 * 0.75)
    assert "56.2% of 800 prompt tokens" in shown
    assert "(56.2% of prompt tokens from the prefix cache)" in spent_text(found)


def test_an_endpoint_that_reports_none_has_no_share(workspace: Workspace) -> None:
    found, shown = spent(workspace, lambda _n: {})
    assert found.cached_share is None
    assert "prefix cache" not in shown
    assert "prefix cache" not in spent_text(found)


def test_only_calls_that_report_it_count(workspace: Workspace) -> None:
    found, _shown = spent(
        workspace, lambda n: {} if n % 2 else {"prompt_tokens_details": {"cached_tokens": 100}}
    )
    assert found.cacheable_tokens == 400
    assert found.cached_share == 0.5


def test_cached_tokens_counted_beside_the_prompt_are_at_most_all_of_it(
    workspace: Workspace,
) -> None:
    found, _shown = spent(workspace, lambda _n: {"cached_tokens": 900})
    assert found.cached_share == 1.0


def test_a_report_shows_it_where_it_is_known(workspace: Workspace, tmp_path: Path) -> None:
    spent(workspace, lambda _n: {"prompt_tokens_details": {"cached_tokens": 100}})
    (form,) = workspace.store.lookup.every("form")
    workspace.report(f"form:{form.id.hex()}", path=tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "from the prefix cache" in page
    assert ">50.0%<" in page
