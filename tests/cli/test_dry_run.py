"""``run --dry-run`` and ``--show`` as a person meets them: the screens whole, and exit codes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from proofstone.models.budget import price_lines
from proofstone.records.calls import ImagePart, Message, TextPart
from proofstone.records.runs import Spent
from proofstone.run.forecast import (
    Amounts,
    DryRun,
    Part,
    Range,
    Reach,
    RenderedPrompt,
    SentAs,
    forecast_lines,
    prompt_lines,
    shown_range,
)
from scripted_server import Act, answer, error
from serving import configure, serving
from told import Proofstone

QUESTIONS = 8
PRICE = 'price = { input = 2.0, output = 10.0, date = "2025-11-01", source = "https://e.x" }'
PLAIN = answer(prompt_tokens=300, completion_tokens=20)


def test_times_are_ranges_with_both_ends() -> None:
    """Also where the lower one is nothing; a cell where no time is needed is empty."""
    assert shown_range(Range(0.0, 0.4, 0.2), "time") == "<1 s [0 s, <1 s]"
    assert shown_range(Range(0.0, 300.0), "time") == "0 s .. 5 min"
    assert shown_range(Range(0.0, 0.0, 0.0), "time") == ""
    assert shown_range(None, "time") == "?"


def test_the_screen_of_a_dry_run(made: Path, proofstone: Proofstone) -> None:
    """All replies cost 300 * 2 + 20 * 10 dollars a million, so nothing is in doubt but time."""
    with serving(PLAIN) as server:
        configure(made, server.url, PRICE)
        run = (
            "run",
            "old-books",
            "-m",
            "scripted/one",
            "--prompt-method",
            "direct,cot",
            "-w",
            made,
        )
        said = proofstone(*run, "--dry-run", "--pilot", 3, "--budget", "1USD")
        assert (said.code, server.requests) == (0, 6)
        assert proofstone(*run).code == 0
        assert server.requests == 2 * QUESTIONS
        assert "nothing is left to ask" in proofstone(*run, "--dry-run").out
    time = re.compile(r"  +(time|(<1|\d+) s( \[.*\])?)$")
    assert [time.sub("", line) for line in said.out.splitlines()] == [
        "                        cached  to ask  requests  tokens      USD",
        "scripted/one  direct         3       5         5   1.60k  0.00400",
        "scripted/one  cot            3       5         5   1.60k  0.00400",
        "              all ways       6      10        10   3.20k  0.00800",
        "pilot    6 questions answered in 6 requests: 0.00480 USD, 1,920 tokens",
        "         responses are stored: the run takes them from the cache",
        "95% prediction intervals for what is left to ask, with reasoning and retries as in the "
        "pilot",
        "if every response had the maximum length: 0.261 USD",
        "a broken connection may be billed as well, up to 0.0433 USD each: none broke in the pilot",
        "budget   1 USD covers what is left to ask",
    ]


def part(model: str, prompt_method: str, n: int, *, money: bool = True, **more: object) -> Part:
    fields: dict[str, object] = {"questions": 500, "cached": 0, "asked": 20, "to_ask": n, **more}
    amounts = Amounts(
        requests=Range(n, 1.1 * n, 1.04 * n),
        tokens=Range(300.0 * n, 900.0 * n, 500.0 * n),
        cost_usd=Range(0.001 * n, 0.004 * n, 0.002 * n) if money else None,
        seconds=Range(0.2 * n, 0.5 * n, 0.3 * n),
    )
    longest = Amounts(tokens=Range(100.0 * n, 5000.0 * n),
                      cost_usd=Range(0.0, 0.05 * n) if money else None)  # fmt: skip
    return Part(
        model=model, prompt_method=prompt_method, amounts=amounts, longest=longest, **fields
    )  # type: ignore[arg-type]


def test_ranges_reasoning_retries_and_missing_prices() -> None:
    found = DryRun(
        parts=(
            part("acme/large", "direct", 480, settings="thinking=on"),
            part("acme/large", "direct", 480, settings="thinking=off"),
            part("acme/new", "direct", 480, money=False, unpriced=True),
        ),
        models=(part("acme/large", "", 960),),
        total=part("", "", 1440, unpriced=True, reasoning=0.815, sampled=60, asked=60),
        pilot=20,
        spent=Spent(calls=62, prompt_tokens=9000, completion_tokens=2000, cost_usd=0.0493),
        requests=66,
        again=6,
        call_usd=0.0435,
        broken=2,
        reach=Reach(budget="2 USD", verdict="does not cover", low=0.35, high=0.99),
        unpriced=("acme/new",),
    )
    assert forecast_lines(found) == [
        "                                 cached  to ask              requests              tokens"
        "                  USD                   time",
        "acme/large  direct thinking=on       20     480        499 [480, 528]   240k [144k, 432k]"
        "  0.960 [0.480, 1.92]   2 min [2 min, 4 min]",
        "acme/large  direct thinking=off      20     480        499 [480, 528]   240k [144k, 432k]"
        "  0.960 [0.480, 1.92]   2 min [2 min, 4 min]",
        "            all ways                 20     960      998 [960, 1.06k]   480k [288k, 864k]"
        "   1.92 [0.960, 3.84]   5 min [3 min, 8 min]",
        "acme/new    direct                   20     480        499 [480, 528]   240k [144k, 432k]"
        "                    ?   2 min [2 min, 4 min]",
        "total                                60   1,440  1.50k [1.44k, 1.58k]  720k [432k, 1.30M]"
        "   2.88 [1.44, 5.76]+  7 min [5 min, 12 min]",
        "pilot    60 questions answered in 66 requests (6 of them retries): 0.0493 USD, "
        "11,000 tokens",
        "         responses are stored: the run takes them from the cache",
        "95% prediction intervals for what is left to ask, with reasoning and retries as in the "
        "pilot",
        "82% of response tokens are reasoning",
        "if every response had the maximum length: 72.00 USD",
        "a broken connection may be billed as well, up to 0.0435 USD each: 2 broke in the pilot",
        "budget   2 USD falls short: it covers 35% to 99% of what is left to ask",
        "no price is known for acme/new; to estimate the cost,",
        *price_lines(["acme/new"]),
    ]


def test_a_budget_that_may_do_and_a_pilot_from_the_cache() -> None:
    whole = part("acme/large", "direct", 480, asked=0, cached=20, sampled=20)
    reach = Reach(budget="2 USD", verdict="may cover", low=0.61, high=1.0)
    found = DryRun(parts=(whole,), models=(), total=whole, pilot=20, reach=reach)
    lines = forecast_lines(found)
    assert lines[2] == "pilot    20 questions, all from the cache: no API calls"
    assert lines[-1] == "budget   2 USD may fall short: it covers 61% to all of what is left to ask"


def test_without_a_pilot_a_range_has_no_middle() -> None:
    bounds = Amounts(requests=Range(12, 12), tokens=Range(2142, 14430), cost_usd=None)
    whole = Part(
        model="acme/large", prompt_method="cot", questions=12, cached=0, asked=0, to_ask=12,
        amounts=bounds, longest=bounds, unpriced=True,
    )  # fmt: skip
    found = DryRun(
        parts=(whole,), models=(), total=whole, pilot=0, unpriced=("acme/large",), one_request=False
    )
    assert forecast_lines(found) == [
        "                 cached  to ask  requests          tokens  USD",
        "acme/large  cot       0      12        12  2.14k .. 14.4k    ?",
        "from prompts alone to responses of max_tokens, without retries; no API calls were made",
        "the first request of each question only: later ones depend on responses",
        "no price is known for acme/large; to estimate the cost,",
        *price_lines(["acme/large"]),
    ]


def test_a_pilot_that_fails_cannot_tell(made: Path, proofstone: Proofstone) -> None:
    with serving(error(400, {"error": {"message": "no"}})) as server:
        configure(made, server.url, PRICE)
        run = ("run", "old-books", "-m", "scripted/one", "-w", made, "--dry-run", "--pilot", 20)
        said = proofstone(*run, "--pilot", 3, "--budget", "1USD")
    assert said.code == 3
    assert re.search(r"\nscripted/one  direct +0 +8 +\? +\? +\?", said.out)
    assert said.out.endswith("budget   1 USD: coverage is unknown\n")
    assert "note: scripted/one direct: 3 questions of the pilot failed: bad_request 3\n" in said.err
    assert "no estimate per question from 0 questions" in said.err


def test_a_refused_key_ends_with_5_and_a_budget_reached_with_4(
    made: Path, proofstone: Proofstone
) -> None:
    refused = error(401, {"error": {"message": "Incorrect API key", "code": "invalid_api_key"}})
    acts: list[Act] = [refused]
    with serving(lambda _seen: acts[0]) as server:
        configure(made, server.url, PRICE)
        run = ("run", "old-books", "-m", "scripted/one", "-w", made, "--dry-run", "--pilot", 20)
        said = proofstone(*run)
        assert said.code == 5
        assert re.search(r"^error\[PS-\d+\]: scripted/one: bad_key: ", said.err, re.MULTILINE)
        acts[0] = PLAIN
        said = proofstone(*run, "--max-tokens", 20, "--budget", "0.007USD")
    assert said.code == 4
    assert "error[PS-401]: the budget of 0.007 USD is reached: " in said.err


def test_the_result_is_there_for_programs(made: Path, proofstone: Proofstone) -> None:
    with serving(PLAIN) as server:
        configure(made, server.url, PRICE)
        run = ("run", "old-books", "-m", "scripted/one", "-w", made, "--json")
        found = proofstone(*run, "--dry-run", "--pilot", 3).json
        both = proofstone(*run, "--show", 1).json
    assert found["total"]["amounts"]["tokens"] == {"low": 1600, "high": 1600, "likely": 1600}
    assert found["spent"]["calls"] == 3
    assert both["prompts"][0]["messages"][0]["role"] == "user"
    assert both["dry_run"]["pilot"] == 0


def test_prompts_alone_ask_nobody(made: Path, proofstone: Proofstone) -> None:
    with serving(PLAIN) as server:
        configure(made, server.url, PRICE)
        run = ("run", "old-books", "-m", "scripted/one,sim/ann", "-w", made)
        said = proofstone(*run, "--prompt-method", "direct,cot", "--show", 1)
        assert (said.code, server.requests) == (0, 0)
    heads = [line for line in said.out.splitlines() if line.startswith(("===", "---"))]
    assert [re.sub(r"\w{4}   item:\w{8}", "FORM   ITEM", head) for head in heads] == [
        "=== direct   old-books-FORM   ITEM   to scripted/one, sim/ann",
        '--- settings of scripted/one: {"max_tokens":1024,"temperature":0.0}',
        "--- settings of sim/ann: {}; not sent: max_tokens, temperature",
        "--- user",
        "=== cot   old-books-FORM   ITEM   to scripted/one, sim/ann",
        '--- settings of scripted/one: {"max_tokens":4096,"temperature":0.0}',
        "--- settings of sim/ann: {}; not sent: max_tokens, temperature",
        "--- user",
    ]
    assert "no API calls were made" in said.out


def test_images_are_named_and_nothing_moves_the_cursor() -> None:
    picture = ImagePart(bytes(range(32)), "image/png")
    prompt = RenderedPrompt(
        prompt_method="direct", form="plates-1a2b", item=bytes(32), step="answer",
        messages=(Message("system", "Be\tbrief."),
                  Message("user", (TextPart("What is \x1b[2Jthis?\nSay."), picture))),
        to=(SentAs(model="acme/large", settings={"top_p": 0.5}),),
    )  # fmt: skip
    assert list(prompt_lines([prompt])) == [
        "=== direct   plates-1a2b   item:00000000   to acme/large",
        '--- settings of acme/large: {"top_p":0.5}',
        "--- system",
        "Be\tbrief.",
        "--- user",
        f"What is \ufffd[2Jthis?\nSay.\n[image/png, sha256 {bytes(range(32)).hex()}]",
        "",
    ]


def test_a_run_file_is_tried_too(made: Path, tmp_path: Path, proofstone: Proofstone) -> None:
    plan = tmp_path / "run.toml"
    with serving(PLAIN) as server:
        configure(made, server.url, PRICE)
        plan.write_text(
            f'target = "old-books"\nworkspace = "{made.as_posix()}"\nbudget = "1USD"\n'
            'models = ["scripted/one"]\nprompt_method = ["direct", "cot"]\n',
            encoding="utf-8",
        )
        said = proofstone("run", plan, "--dry-run", "--pilot", 2)
        assert (said.code, server.requests) == (0, 4)
    assert "budget   1 USD covers what is left to ask\n" in said.out


@pytest.mark.parametrize(
    ("options", "says"),
    [(("--pilot", "3"), "--pilot goes with --dry-run"),
     (("--dry-run", "--pilot", "1"), "expected a pilot of 2 questions or more, got 1")],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(
    made: Path, proofstone: Proofstone, options: tuple[str, ...], says: str
) -> None:
    said = proofstone("run", "old-books", "-m", "sim/ann", "-w", made, *options)
    assert said.code == 2
    assert says in said.err
