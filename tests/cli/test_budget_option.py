"""--budget as a person meets it: exit code 4, what was spent, and the line that goes on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripted_server import answer
from serving import configure, serving
from told import Proofstone

QUESTIONS = 8
PRICE = 'price = { input = 2.0, output = 10.0, date = "2025-11-01", source = "https://e.x" }'


def test_reaching_it_ends_with_4_and_the_printed_line_goes_on(
    made: Path, proofstone: Proofstone
) -> None:
    with serving(answer(prompt_tokens=300, completion_tokens=20)) as server:
        configure(made, server.url, PRICE)
        run = ("run", "old-books", "-m", "scripted/one", "--max-tokens", 20, "-w", made)
        said = proofstone(*run, "--budget", "0.007USD")
        assert said.code == 4
        assert re.search(r"\d of 8 scored, incomplete  0\.00\d+ USD, [\d,]+ tokens\n", said.out)
        assert re.search(
            r"error \[PS-401\] the budget of 0\.007 USD is reached: 0\.00\d+ USD spent, and another"
            r" call of scripted/one may cost 0\.00\d+ USD\n  what was done is kept; resume with a "
            r"further --budget\n",
            said.err,
        )
        step = re.search(r"go on: proofstone (resume run:\w{8} --budget) AMOUNT\n", said.err)
        assert step is not None
        done = proofstone(*step[1].split(), "1USD", "-w", made)
        assert done.code == 0
        assert server.requests == QUESTIONS


def test_the_result_has_it_for_programs(made: Path, proofstone: Proofstone) -> None:
    with serving(answer(prompt_tokens=300, completion_tokens=20)) as server:
        configure(made, server.url, PRICE)
        run = ("run", "old-books", "-m", "scripted/one", "--max-tokens", 20, "-w", made)
        (result,) = proofstone(*run, "--budget", "5Mtok", "--json").json
    assert result["over_budget"] is False
    assert result["spent"]["calls"] == QUESTIONS
    assert result["spent"]["cost_usd"] == pytest.approx(QUESTIONS * (300 * 2 + 20 * 10) / 1e6)


@pytest.mark.parametrize("budget", ["20", "20EUR", "lots"])
def test_what_is_no_budget_is_refused(made: Path, proofstone: Proofstone, budget: str) -> None:
    said = proofstone("run", "old-books", "-m", "sim/ann", "--budget", budget, "-w", made)
    assert said.code == 2
    assert f"'{budget}' is no budget\n  write an amount of money or tokens: 20USD" in said.err


def test_a_model_without_a_price_is_refused_with_the_lines_to_add(
    made: Path, proofstone: Proofstone
) -> None:
    with serving(answer()) as server:
        configure(made, server.url)
        said = proofstone("run", "old-books", "-m", "scripted/one", "--budget", "1USD", "-w", made)
        assert server.requests == 0
    assert said.code == 2
    assert said.err.startswith(
        "error [PS-213] a budget in money needs the price of scripted/one\n"
        "  add to proofstone.toml, in US dollars per million tokens from the provider's page:\n"
        '      [models."scripted/one"]\n      price = { input = INPUT, output = OUTPUT, date = "20'
    )
